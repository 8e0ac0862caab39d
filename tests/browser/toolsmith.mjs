// A user's state with `toolsmith ui` over it, a client of `toolsmith serve --ui`, and a browser.

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const BINARY = process.env.TOOLSMITH;
const ASKS = `mcpServers:
  demo: { command: toolsmith, args: [demo-server], permissions: { echo: ask-each, create_note: ask-each, "*": ask } }
  forms: { command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(fileURLToPath(new URL("forms.mjs", import.meta.url)))}], trust: true }
`;
const CONFIGURATION = "mcpServers:\n  demo: { command: toolsmith, args: [demo-server], trust: true }\n";

export class Site {
  // The configuration of `serve`.
  asks = ASKS;

  static async start() {
    const site = new Site();
    site.folder = mkdtempSync(join(tmpdir(), "toolsmith-browser-"));
    writeFileSync(join(site.folder, "given.yaml"), CONFIGURATION);
    const state = join(site.folder, "state");
    site.options = {
      cwd: site.folder,
      env: { ...process.env, XDG_CONFIG_HOME: join(site.folder, "config"), XDG_STATE_HOME: state },
    };
    site.process = spawn(BINARY, ["ui", "--allow-actions", "--config", "given.yaml"], { ...site.options, stdio: ["ignore", "ignore", "pipe"] });
    const lines = createInterface({ input: site.process.stderr })[Symbol.asyncIterator]();
    site.address = addressesIn(lines);
    return site;
  }

  // A client that can't ask its user, and the page of its server.
  serve(...more) {
    writeFileSync(join(this.folder, "asks.yaml"), this.asks);
    return new Client(this.options, ["serve", "--config", "asks.yaml", "--ui", ...more]);
  }

  run(code, exit = 0) {
    const words = ["run", "-", "--config", "given.yaml", "--allow", "*"];
    const done = spawnSync(BINARY, words, { ...this.options, input: code, encoding: "utf8" });
    if (done.status !== exit) throw new Error(`exit code ${done.status}, not ${exit}: ${done.stderr}`);
  }

  // The permanent answers, as `toolsmith permission list` knows them.
  permissions() {
    const words = ["permission", "list", "--json", "--config", "given.yaml"];
    const done = spawnSync(BINARY, words, { ...this.options, encoding: "utf8" });
    if (done.status !== 0) throw new Error(done.stderr);
    return JSON.parse(done.stdout);
  }

  // Replaces the permanent answers.
  allow(servers) {
    const folder = join(this.folder, "config/toolsmith");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "permissions.json"), JSON.stringify({ version: 3, servers }));
  }

  forget() {
    this.allow({});
  }

  end() {
    this.process.kill("SIGINT");
    rmSync(this.folder, { recursive: true, force: true });
  }
}

// Each address opens the page once.
function addressesIn(lines) {
  return async () => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error("toolsmith has ended");
      const address = value.split("(works once): ")[1];
      if (address) return address.trim();
    }
  };
}

class Client {
  #process;
  #answers = new Map();
  #last = 0;

  constructor(options, words) {
    this.#process = spawn(BINARY, words, { ...options, stdio: ["pipe", "pipe", "pipe"] });
    this.address = addressesIn(createInterface({ input: this.#process.stderr })[Symbol.asyncIterator]());
    createInterface({ input: this.#process.stdout }).on("line", (line) => {
      // Nothing but the protocol is on standard output.
      const message = JSON.parse(line);
      this.#answers.get(message.id)?.(message);
    });
  }

  #send(message) {
    this.#process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  request(method, params) {
    this.#last += 1;
    const id = this.#last;
    const answer = new Promise((resolve) => this.#answers.set(id, resolve));
    this.#send({ id, method, params });
    return answer;
  }

  async shakeHands(name) {
    const clientInfo = { name, version: "1" };
    await this.request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    this.#send({ method: "notifications/initialized" });
  }

  async execute(code) {
    const { result } = await this.request("tools/call", { name: "execute_code", arguments: { code } });
    return result._meta["io.toolsmith/outcome"];
  }

  // Starts an execution; returns how it is cancelled, which withdraws its question.
  begin(code) {
    this.request("tools/call", { name: "execute_code", arguments: { code } });
    const requestId = this.#last;
    return () => this.#send({ method: "notifications/cancelled", params: { requestId } });
  }

  end() {
    const ended = new Promise((resolve) => this.#process.on("exit", resolve));
    this.#process.stdin.end();
    return ended;
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
    if (["error", "warning"].includes(message.type())) problems.push(`${message.text()} (${message.location().url})`);
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
