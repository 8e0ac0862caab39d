// Puts the parts of a platform's bundle together: npm's registry takes no tarball of its size, so the largest files are
// in a package of their own. Runs when npm installs the package, or at the first start if scripts are switched off.
"use strict";

const fs = require("node:fs");
const path = require("node:path");

// The files of the part, by their paths in both packages.
const { name, parts } = require("./package.json");

function join() {
  const missing = parts.filter((file) => !fs.existsSync(path.join(__dirname, file)));
  if (missing.length === 0) return;
  const folder = path.dirname(require.resolve(`${name}-llvm/package.json`));
  for (const file of missing) {
    const [from, to] = [path.join(folder, file), path.join(__dirname, file)];
    // Another process may do the same: each renames a file of its own.
    const unfinished = `${to}.${process.pid}`;
    try {
      fs.linkSync(from, unfinished);
    } catch {
      // The packages are on different file systems, or on one without links.
      fs.copyFileSync(from, unfinished);
    }
    fs.renameSync(unfinished, to);
  }
}

module.exports = { join };

if (require.main === module) join();
