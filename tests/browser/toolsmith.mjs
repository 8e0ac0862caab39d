// A user's state with `toolsmith ui` over it, and a browser.

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const BINARY = process.env.TOOLSMITH;
const CONFIGURATION = "mcpServers:\n  demo: { command: toolsmith, args: [demo-server], trust: true }\n";

export class Site {
  static async start() {
    const site = new Site();
    site.folder = mkdtempSync(join(tmpdir(), "toolsmith-browser-"));
    writeFileSync(join(site.folder, "given.yaml"), CONFIGURATION);
    const state = join(site.folder, "state");
    site.options = {
      cwd: site.folder,
      env: { ...process.env, XDG_CONFIG_HOME: join(site.folder, "config"), XDG_STATE_HOME: state },
    };
    site.process = spawn(BINARY, ["ui"], { ...site.options, stdio: ["ignore", "ignore", "pipe"] });
    const lines = createInterface({ input: site.process.stderr })[Symbol.asyncIterator]();
    // Each address opens the page once.
    site.address = async () => {
      for (;;) {
        const { value, done } = await lines.next();
        if (done) throw new Error("toolsmith ui has ended");
        const address = value.split("(works once): ")[1];
        if (address) return address.trim();
      }
    };
    return site;
  }

  run(code, exit = 0) {
    const words = ["run", "-", "--config", "given.yaml", "--allow", "*"];
    const done = spawnSync(BINARY, words, { ...this.options, input: code, encoding: "utf8" });
    if (done.status !== exit) throw new Error(`exit code ${done.status}, not ${exit}: ${done.stderr}`);
  }

  end() {
    this.process.kill("SIGINT");
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function launch() {
  // Chromium's own sandbox does not work for root.
  const args = process.getuid() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath: process.env.CHROMIUM, args });
}

// Opens the site; `problems` collects errors, refused scripts and dialogs of all its pages.
export async function open(browser, site, options = {}) {
  const context = await browser.newContext(options);
  const problems = [];
  context.on("weberror", (error) => problems.push(String(error.error())));
  context.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(message.text());
  });
  context.on("dialog", (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  const page = await context.newPage();
  await page.goto(await site.address());
  await page.waitForURL("**/executions");
  return { context, page, problems };
}
