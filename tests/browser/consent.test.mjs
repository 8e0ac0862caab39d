// Real clicks while the page changes under the mouse: none of them decides about something that its user has not seen.
//
// The page's clock stands still unless a test moves it on, so nothing here depends on how fast the machine is.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { Site, launch, open } from "./toolsmith.mjs";

// Until what has moved works again, and between two looks at the server, in milliseconds of the page.
const SETTLING = 1000;
const INTERVAL = 2000;
const STEP = 50;

// Two programs that ask for other tools.
const ORDERS = "demo::list_orders().limit(1).await?.orders.len()";
const NOTE = 'demo::create_note("Refund", "Paid twice.").await?';

let site;
let client;
let browser;

before(async () => {
  site = await Site.start();
  site.asks = 'mcpServers:\n  demo: { command: toolsmith, args: [demo-server], permissions: { "*": ask } }\n';
  browser = await launch();
});

// Each test has a server of its own, so that no answer for a session is left.
async function serve() {
  client = site.serve("--allow-actions");
  await client.shakeHands("consent");
  return client;
}

afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
  await client?.end();
  client = undefined;
});

after(async () => {
  await browser.close();
  site.end();
});

// The page of questions, with a clock that stands still.
async function questions(of) {
  const opened = await open(browser, of);
  const { page } = opened;
  await still(page);
  await page.goto(new URL("questions", page.url()).href);
  return opened;
}

// From the next page on, the clock stands still.
async function still(page) {
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 3_600_000);
}

// Moves the page's clock on until something is true, in steps that are short beside the time for which it is held.
async function until(page, isTrue) {
  while (!(await isTrue())) await page.clock.runFor(STEP);
}

const appears = (page, locator) => until(page, async () => (await locator.count()) > 0);

const card = (page, tool) => page.locator(".question", { hasText: tool });
const button = (page, tool, name) => card(page, tool).getByRole("button", { name });

// Where a person would click.
async function middle(locator) {
  const { x, y, width, height } = await locator.boundingBox();
  return [x + width / 2, y + height / 2];
}

// The tools that are allowed permanently.
const allowed = () => site.permissions().map(({ tool }) => tool);

// Two open questions, the first of which is withdrawn while the mouse is above its answer.
async function withdrawn(page, cancel, name) {
  const at = await middle(button(page, "list_orders", name));
  const below = await button(page, "create_note", name).boundingBox();
  await page.mouse.move(...at);
  cancel();
  await appears(page, page.locator(".question.closed"));
  return { at, below };
}

async function two(of) {
  const opened = await questions(of);
  const cancel = of.begin(ORDERS);
  await appears(opened.page, card(opened.page, "list_orders"));
  of.begin(NOTE);
  await appears(opened.page, card(opened.page, "create_note"));
  await opened.page.clock.runFor(SETTLING);
  return { ...opened, cancel };
}

for (const name of ["Yes, once", "Always"]) {
  test(`a click on "${name}" of a question that is withdrawn allows no other program`, async () => {
    const { context, page, problems, cancel } = await two(await serve());
    const { at, below } = await withdrawn(page, cancel, name);
    const first = card(page, "list_orders");
    assert.match(await first.textContent(), /No longer open/);
    assert.deepEqual(await button(page, "create_note", name).boundingBox(), below, "the other question has moved");
    // At once, and when everything works again.
    await page.mouse.click(...at);
    await page.clock.runFor(SETTLING + INTERVAL);
    assert.equal(await first.count(), 1);
    await page.mouse.click(...at);
    assert.ok(page.url().endsWith("/questions"));
    assert.equal(await card(page, "create_note").count(), 1);
    // When the note is dismissed, the other question moves to its place, and does nothing there yet.
    await first.getByRole("button", { name: "Dismiss" }).click();
    assert.equal(await first.count(), 0);
    await page.mouse.click(...at);
    await page.mouse.click(...(await middle(button(page, "create_note", name))));
    await page.clock.runFor(SETTLING - 1);
    await page.mouse.click(...(await middle(button(page, "create_note", name))));
    assert.ok(page.url().endsWith("/questions"));
    assert.equal(await page.locator(".question:not(.closed)").count(), 1);
    assert.deepEqual(allowed(), []);
    await page.clock.runFor(1);
    await page.mouse.click(...(await middle(button(page, "create_note", "No"))));
    await page.getByText("No question is open.").waitFor();
    assert.deepEqual(allowed(), []);
    assert.deepEqual(problems, []);
    await context.close();
  });
}

test("a click on the answer \"Always\" is about the question that is shown, once it has been shown for a second", async () => {
  const { context, page, problems } = await two(await serve());
  await page.mouse.click(...(await middle(button(page, "list_orders", "Always"))));
  await page.waitForFunction(() => document.querySelectorAll(".question").length === 1);
  assert.deepEqual(allowed(), ["list_orders"]);
  site.forget();
  assert.deepEqual(problems, []);
  await context.close();
});

test("a second click answers no other question that has moved up", async () => {
  const { context, page } = await two(await serve());
  const at = await middle(button(page, "list_orders", "Yes, once"));
  await page.mouse.click(...at);
  await page.waitForFunction(() => document.querySelectorAll(".question").length === 1);
  const next = await button(page, "create_note", "Yes, once").boundingBox();
  assert.ok(next.y < at[1] && at[1] < next.y + next.height, "the other question is at the place of the first");
  await page.mouse.click(...at);
  await page.clock.runFor(INTERVAL);
  assert.equal(await card(page, "create_note").count(), 1);
  await context.close();
});

test("the keyboard waits as long, and a question that is new moves none", async () => {
  const of = await serve();
  const { context, page } = await questions(of);
  of.begin(ORDERS);
  await appears(page, card(page, "list_orders"));
  const yes = button(page, "list_orders", "Yes, once");
  await yes.focus();
  await page.keyboard.press("Enter");
  await page.clock.runFor(SETTLING);
  const place = await yes.boundingBox();
  of.begin(NOTE);
  await appears(page, card(page, "create_note"));
  assert.deepEqual(await yes.boundingBox(), place);
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Yes, once");
  assert.equal(await yes.getAttribute("aria-disabled"), null, "the first question works while the second is new");
  assert.equal(await button(page, "create_note", "Yes, once").getAttribute("aria-disabled"), "true");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelectorAll(".question").length === 1);
  await context.close();
});

test("an answer without what was shown, or with what another question showed, is refused", async () => {
  const { context, page } = await two(await serve());
  const value = (tool, name) => card(page, tool).locator(`input[name=${name}]`).inputValue();
  const token = await value("list_orders", "token");
  const question = await value("list_orders", "question");
  const other = await value("create_note", "shown");
  const answer = new URL("answer", page.url()).href;
  const send = (form) =>
    page.evaluate(async ([to, form]) => (await fetch(to, { method: "POST", body: new URLSearchParams(form) })).status, [answer, form]);
  for (const shown of [{}, { shown: "" }, { shown: other }]) {
    assert.equal(await send({ token, question, answer: "always", ...shown }), 400);
  }
  await page.reload();
  assert.equal(await page.locator(".question").count(), 2);
  assert.deepEqual(allowed(), []);
  await context.close();
});

test("a second click takes back no other permanent answer", async () => {
  const answer = (since) => ({ hash: "h", since, by: "terminal" });
  site.allow({ identity: { name: "demo", allow: { create_note: answer(1), list_orders: answer(2) } } });
  const { context, page, problems } = await open(browser, site);
  await still(page);
  await page.goto(new URL("permissions", page.url()).href);
  const first = page.getByRole("button", { name: "Take back demo.create_note" });
  const at = await middle(first);
  await page.mouse.click(...at);
  assert.deepEqual(allowed(), ["create_note", "list_orders"], "the page has just appeared");
  await page.clock.runFor(SETTLING);
  await page.mouse.click(...at);
  await page.waitForFunction(() => document.querySelectorAll("form[action=take-back]").length === 1);
  await page.mouse.click(...at);
  await page.clock.runFor(INTERVAL);
  assert.deepEqual(allowed(), ["list_orders"]);
  // An answer that was given again since is another one.
  site.allow({ identity: { name: "demo", allow: { list_orders: answer(3) } } });
  await page.mouse.click(...at);
  await page.getByText("is not as this page showed it").waitFor();
  assert.deepEqual(allowed(), ["list_orders"]);
  site.forget();
  assert.deepEqual(problems.filter((problem) => !problem.includes("400")), []);
  await context.close();
});

test("a row that comes to the list under the mouse is not chosen", async () => {
  site.run("// The first\n1 + 1");
  const { context, page, problems } = await open(browser, site);
  await still(page);
  await page.reload();
  const rows = page.locator(".list tbody tr");
  const count = await rows.count();
  const at = await middle(rows.first().locator("input"));
  site.run("// The second\n2 + 2");
  await until(page, async () => (await rows.count()) > count);
  await page.mouse.click(...at);
  assert.equal(await page.locator(".list input:checked").count(), 0);
  await page.clock.runFor(SETTLING);
  await page.mouse.click(...at);
  assert.equal(await page.locator(".list input:checked").count(), 1);
  assert.deepEqual(problems, []);
  await context.close();
});

test("no button is there before the script is", async () => {
  const of = await serve();
  const { context, page } = await open(browser, of);
  of.begin(ORDERS);
  await page.goto(new URL("questions", page.url()).href);
  await card(page, "list_orders").waitFor();
  let release;
  const released = new Promise((resolve) => (release = resolve));
  const requested = new Promise((resolve) => {
    page.route("**/script.js", async (route) => {
      resolve();
      await released;
      await route.continue();
    });
  });
  await still(page);
  await page.reload({ waitUntil: "commit" });
  await requested;
  assert.equal(await page.locator("button").count(), 0);
  release();
  const yes = button(page, "list_orders", "Yes, once");
  await yes.waitFor();
  await page.waitForLoadState();
  assert.equal(await yes.getAttribute("aria-disabled"), "true");
  await context.close();
});
