// The pages about servers, programs and permissions in a browser.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { accessible, missing } from "./accessible.mjs";
import { launch, open } from "./toolsmith.mjs";

const SCRIPT = "<img src=x onerror=alert(1)><script>alert(1)</script>";
const HOSTILE_SERVER = join(dirname(fileURLToPath(import.meta.url)), "hostile-server.mjs");
const PROGRAM = `//! Revenue by status for one customer.
//! Tags: orders
//! Example: customer = "c-01"

/// Whose orders.
struct Args {
    /// The customer's id, such as \`c-01\`.
    customer: String,
    /// Maximum number of orders.
    limit: Option<u32>,
}

async fn run(args: Args) -> Result<BTreeMap<String, i64>> {
    let page = demo::list_orders().limit(i64::from(args.limit.unwrap_or(50))).await?;
    let mut sums = BTreeMap::new();
    for order in page.orders.iter().filter(|order| order.customer_id == args.customer) {
        *sums.entry(order.status.to_string()).or_insert(0) += order.total_cents;
    }
    Ok(sums)
}
`;

let folder;
let options;
let site;
let acting;
let browser;

// The pages of `toolsmith ui` with these options.
function serve(...words) {
  const child = spawn(process.env.TOOLSMITH, ["ui", ...words], { ...options, stdio: ["ignore", "ignore", "pipe"] });
  const lines = createInterface({ input: child.stderr })[Symbol.asyncIterator]();
  const address = async () => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error("toolsmith ui has ended");
      const found = value.split("(works once): ")[1];
      if (found) return found.trim();
    }
  };
  return { address, end: () => child.kill("SIGINT") };
}

function allow(servers) {
  const file = join(folder, "config/toolsmith/permissions.json");
  writeFileSync(file, JSON.stringify({ version: 3, servers }));
}

// Runs a command of the user whose pages are shown.
function toolsmith(words, exit = 0, input = "") {
  const done = spawnSync(process.env.TOOLSMITH, words, { ...options, input, encoding: "utf8" });
  assert.equal(done.status, exit, `${words.join(" ")}: ${done.stderr}`);
  return done.stdout;
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "toolsmith-browser-"));
  const description = join(folder, "description");
  writeFileSync(description, `Reads. ${SCRIPT}`);
  const entry = JSON.stringify({ command: process.execPath, args: [HOSTILE_SERVER, description], timeout: 30 });
  const configuration = join(folder, "toolsmith.yaml");
  writeFileSync(
    configuration,
    `mcpServers:
  demo: { command: toolsmith, args: [demo-server], permissions: { "list_*": allow, "create_*": deny } }
  hostile: ${entry}
  remote: { url: "https://example.invalid/mcp", headers: { X-Key: secret-password } }
  unused: { command: "true", enabled: false }
  wrong: { command: "true", timeout: ${JSON.stringify(SCRIPT)} }
`,
  );
  const [XDG_CONFIG_HOME, XDG_STATE_HOME] = [join(folder, "config"), join(folder, "state")];
  const env = { ...process.env, XDG_CONFIG_HOME, XDG_STATE_HOME, TOOLSMITH_CONFIG: configuration };
  options = { cwd: join(folder, "work"), env };
  mkdirSync(options.cwd);
  site = serve();
  acting = serve("--allow-actions");
  browser = await launch();
  toolsmith(["mcp", "tools", "demo"]);
  // The other servers do not answer.
  const answering = join(folder, "answering.yaml");
  writeFileSync(answering, `mcpServers:\n  hostile: ${entry}\n`);
  toolsmith(["mcp", "lock", "--config", answering, "--lock", join(folder, "toolsmith.lock")]);
  writeFileSync(description, `Sends. ${SCRIPT}`);
  toolsmith(["mcp", "tools", "hostile"]);
  const program = join(folder, "revenue.rs");
  writeFileSync(program, PROGRAM);
  toolsmith(["program", "save", "revenue", program, "--yes"]);
  const described = `//! ${SCRIPT}\n//! Tags: ${SCRIPT}\n`;
  writeFileSync(program, described + PROGRAM.slice(PROGRAM.indexOf("\n\n")));
  toolsmith(["program", "save", "hostile", program, "--yes"]);
  writeFileSync(program, PROGRAM.replace("order.total_cents", "order.total"));
  toolsmith(["program", "save", "broken", program, "--yes"], 3);
  mkdirSync(join(folder, "config/toolsmith/programs"), { recursive: true });
  writeFileSync(join(folder, "config/toolsmith/programs/odd.rs"), `fn run() {} // ${SCRIPT}`);
  toolsmith(["program", "run", "revenue", "--customer", "c-01"]);
  const answer = { hash: "h", since: 1_795_000_000_000, by: "terminal" };
  allow({ identity: { name: "demo", allow: { list_orders: answer, [SCRIPT]: { hash: "h" } } } });
});

after(async () => {
  await browser?.close();
  [site, acting].forEach((pages) => pages?.end());
  rmSync(folder, { recursive: true, force: true });
});

const SCRIPT_TOOL = `tool?${new URLSearchParams({ server: "hostile", name: SCRIPT })}`;
const ADDRESSES = [
  "servers",
  "server?name=demo",
  "server?name=hostile",
  "server?name=remote",
  "server?name=unused",
  "server?name=wrong",
  "tool?server=demo&name=list_orders",
  "tool?server=hostile&name=hostile",
  SCRIPT_TOOL,
  "programs",
  "program?name=revenue",
  "program?name=hostile",
  "program?name=odd",
  "permissions",
];

test("the pages are accessible and fit, in light and dark, also in a narrow window", async () => {
  await accessible(browser, site, ADDRESSES);
  await accessible(browser, acting, ["tool?server=hostile&name=hostile", "permissions"]);
});

test("nothing of a server, a program or an answer runs", async () => {
  const { context, page, problems } = await open(browser, site);
  for (const address of ADDRESSES) {
    await page.goto(new URL(address, page.url()).href);
    assert.equal(await page.locator("script").count(), 1, address);
    assert.equal(await page.locator("main img").count(), 0, address);
    assert.ok(!(await page.content()).includes("secret-password"), address);
  }
  for (const address of [SCRIPT_TOOL, "tool?server=hostile&name=hostile", "program?name=hostile", "permissions"]) {
    await page.goto(new URL(address, page.url()).href);
    assert.ok((await page.locator("main").textContent()).includes(SCRIPT), address);
  }
  assert.deepEqual(problems.filter((problem) => !missing(problem)), []);
  await context.close();
});

test("servers are shown with their state, tools and pins, with the keyboard alone", async () => {
  const { context, page, problems } = await open(browser, site);
  await page.getByRole("link", { name: "Servers" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Servers" }).waitFor();
  const state = async (name) => page.locator(`tr:has(a[href="server?name=${name}"]) .badge`).first().textContent();
  assert.equal(await state("demo"), "enabled");
  assert.equal(await state("hostile"), "tools held back");
  assert.equal(await state("remote"), "enabled, never listed");
  assert.equal(await state("unused"), "disabled");
  assert.equal(await state("wrong"), "invalid");
  const demo = page.locator('tr:has(a[href="server?name=demo"])');
  assert.equal(await demo.locator('[data-label="Calls"]').textContent(), "1");
  assert.equal(await demo.locator('[data-label="Failures"]').textContent(), "0");
  await page.locator('a[href="server?name=hostile"]').focus();
  await page.keyboard.press("Enter");
  const difference = page.locator(".error pre");
  assert.match(await difference.textContent(), /hostile has changed[^]*Reads[^]*Sends/);
  assert.ok((await page.locator("main").textContent()).includes("nobody: held back"));
  await page.goto(new URL("tool?server=demo&name=list_orders", page.url()).href);
  assert.ok((await page.getByRole("region", { name: "Signature" }).textContent()).includes("list_orders(cursor?: String"));
  const member = page.getByRole("region", { name: "Arguments" }).locator("tr", { hasText: "limit" });
  assert.match(await member.first().textContent(), /integer/);
  await page.getByText("Arguments as JSON Schema").click();
  assert.ok((await page.locator("details[open] pre").textContent()).includes('"properties"'));
  assert.deepEqual(problems.filter((problem) => !missing(problem)), []);
  await context.close();
});

test("programs are shown with their check, approval and runs", async () => {
  const { context, page, problems } = await open(browser, site);
  await page.getByRole("link", { name: "Programs" }).click();
  const row = (name) => page.locator(`tr:has(a[href="program?name=${name}"])`);
  assert.equal(await row("revenue").locator('[data-label="Last check"]').textContent(), "fits");
  assert.equal(await row("revenue").locator('[data-label="Approved"]').textContent(), "yes");
  assert.equal(await row("revenue").locator('[data-label="Runs"]').textContent(), "1");
  assert.equal(await row("odd").locator('[data-label="Last check"]').textContent(), "invalid");
  await page.locator('a[href="program?name=revenue"]').click();
  const text = await page.locator("main").textContent();
  for (const part of ["programs::revenue(customer: String)", "demo.list_orders", "The customer's id", "1 in the history"]) {
    assert.ok(text.includes(part), `${part} in ${text}`);
  }
  await page.locator('a[href^="execution?id="]').first().click();
  await page.getByRole("heading", { name: "Timeline" }).waitFor();
  assert.deepEqual(problems.filter((problem) => !missing(problem)), []);
  await context.close();
});

test("permissions are shown with their time and place", async () => {
  const { context, page, problems } = await open(browser, site);
  await page.getByRole("link", { name: "Permissions" }).click();
  const answer = page.locator("tr", { hasText: "demo.list_orders" });
  assert.equal(await answer.locator('[data-label="Since"]').textContent(), "2026-11-18 11:06");
  assert.equal(await answer.locator('[data-label="Answered at"]').textContent(), "the terminal");
  assert.match(await answer.locator('[data-label="State"]').textContent(), /another server/);
  const older = page.locator("tr", { hasText: "demo.<img" });
  assert.equal(await older.locator('[data-label="Since"]').textContent(), "unknown");
  const rules = page.locator('tr:has(a[href="server?name=demo"])');
  assert.deepEqual(await rules.locator('[data-label="Permission"]').allTextContents(), ["allow", "deny", "ask"]);
  assert.deepEqual(problems.filter((problem) => !missing(problem)), []);
  await context.close();
});

test("a page that only reads has no forms that change anything", async () => {
  const { context, page, problems } = await open(browser, site);
  for (const address of ["permissions", "tool?server=demo&name=echo"]) {
    await page.goto(new URL(address, page.url()).href);
    assert.equal(await page.locator("form[method=post]").count(), 0, address);
  }
  const take = new URL("take-back", page.url()).href;
  const answer = await page.request.post(take, { form: { server: "demo", tool: "list_orders", identity: "identity" } });
  assert.equal(answer.status(), 403);
  assert.deepEqual(problems.filter((problem) => !missing(problem)), []);
  await context.close();
});

test("a permanent answer is taken back", async () => {
  const { context, page, problems } = await open(browser, acting);
  await page.getByRole("link", { name: "Permissions" }).click();
  await page.getByRole("button", { name: "Take back demo.list_orders" }).click();
  await page.waitForURL("**/permissions");
  assert.equal(await page.locator("#answers ~ table").first().locator("tbody tr").count(), 1);
  const left = JSON.parse(toolsmith(["permission", "list", "--json"]));
  assert.deepEqual(left.map(({ tool }) => tool), [SCRIPT]);
  assert.deepEqual(problems.filter((problem) => !missing(problem)), []);
  await context.close();
});

test("a call is tried: asked about, made, and its result runs nothing", async () => {
  const { context, page, problems } = await open(browser, acting);
  await page.goto(new URL("tool?server=demo&name=echo", page.url()).href);
  await page.getByLabel("message").fill(SCRIPT);
  await page.getByRole("button", { name: "Call it" }).click();
  const question = await page.locator("#question").textContent();
  assert.match(question, /A call needs your permission: demo.echo[^]*<script>alert\(1\)<\/script>/);
  await page.getByRole("button", { name: "Yes, once" }).click();
  const result = page.getByRole("region", { name: "Result" });
  assert.equal(await result.textContent(), SCRIPT);
  assert.equal(await page.locator("script").count(), 1);
  // A tool that needs no permission, with a number, and a wrong one.
  await page.goto(new URL("tool?server=demo&name=list_orders", page.url()).href);
  await page.getByLabel("limit").fill("2");
  await page.getByRole("button", { name: "Call it", disabled: false }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("Result as JSON").click();
  assert.ok((await page.locator("details[open] pre").textContent()).includes('"orders"'));
  await page.getByRole("link", { name: "Back to the tool" }).click();
  await page.getByLabel("limit").fill("two");
  await page.getByRole("button", { name: "Call it" }).click();
  assert.ok((await page.locator("main").textContent()).includes("limit is \"two\", and not an integer"));
  // A denied tool is not asked about.
  await page.goto(new URL("tool?server=demo&name=create_note", page.url()).href);
  await page.locator("textarea[name=rest]").fill('{"text": "n-1"}');
  await page.getByRole("button", { name: "Call it" }).click();
  assert.match(await page.locator(".error").textContent(), /denie/);
  assert.deepEqual(problems.filter((problem) => !missing(problem) && !problem.includes("400")), []);
  await context.close();
});

test("pictures for the documentation", { skip: !process.env.SCREENSHOTS }, async () => {
  const { context, page } = await open(browser, site, { viewport: { width: 1200, height: 760 } });
  await page.goto(new URL("server?name=demo", page.url()).href);
  await page.screenshot({ path: join(process.env.SCREENSHOTS, "ui-servers.png") });
  await page.goto(new URL("program?name=revenue", page.url()).href);
  await page.screenshot({ path: join(process.env.SCREENSHOTS, "ui-program.png") });
  await context.close();
});
