#!/usr/bin/env node
// Starts the program of the platform's package, with the same arguments, standard streams, signals and exit code.
"use strict";

const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const PACKAGES = require("../package.json").optionalDependencies;

// What `toolsmith` itself returns for a failure of the host.
const HOST = 7;

function fail(message, help) {
  process.stderr.write(`toolsmith: ${message}\nhelp: ${help}\n`);
  process.exit(HOST);
}

// Whether the C library is that of GNU: only then has the report a version of it.
function hasGlibc() {
  return Boolean(process.report.getReport().header.glibcVersionRuntime);
}

function findProgram() {
  const platform = `${process.platform}-${process.arch}`;
  const name = `@toolsmith/${platform}`;
  if (!(name in PACKAGES)) {
    const known = Object.keys(PACKAGES).map((known) => known.replace("@toolsmith/", "")).join(", ");
    fail(`there is no package for ${platform} (packages: ${known})`,
      "snippets run on Linux only; on other systems, use a Linux virtual machine or a container");
  }
  if (!hasGlibc()) {
    fail("this system has no GNU C library, which the compiler in the package needs",
      "use a distribution such as Debian, Ubuntu or Fedora, for example in a container");
  }
  let manifest;
  try {
    manifest = require.resolve(`${name}/package.json`);
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error;
    fail(`the package ${name} is not installed`,
      "install @toolsmith/cli again without --omit=optional and --no-optional, with access to the registry");
  }
  const folder = path.dirname(manifest);
  const program = path.join(folder, "bin", "toolsmith");
  if (!fs.existsSync(program)) fail(`${program} is missing`, `remove ${folder} and install @toolsmith/cli again`);
  try {
    require(path.join(folder, "join.js")).join();
  } catch (error) {
    fail(`the parts of ${name} can't be put together in ${folder}: ${error.message}`,
      "start toolsmith once as the user who installed it, or install @toolsmith/cli again without --ignore-scripts");
  }
  return program;
}

// A terminal sends Ctrl-C to the program too. Toolsmith would take a second one for "stop at once".
function hasTerminal() {
  try {
    fs.closeSync(fs.openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}

function start(program) {
  const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
  const isShared = hasTerminal();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"]) {
    process.on(signal, () => {
      if (signal === "SIGTERM" || !isShared) child.kill(signal);
    });
  }
  child.on("error", (error) => fail(`${program} can't be started: ${error.message}`,
    "check that its file system allows programs (mount option noexec) and that it is executable"));
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    // Ends as the program did, for whatever waits for this process.
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    // Signals without an effect here, such as SIGKILL's that are still on their way.
    setTimeout(() => process.exit(128 + os.constants.signals[signal]), 1000);
  });
}

start(findProgram());
