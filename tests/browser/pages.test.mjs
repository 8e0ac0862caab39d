// The pages of `toolsmith ui` and `toolsmith serve --ui` in a browser.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { broken } from "./accessible.mjs";
import { Site, launch, open } from "./toolsmith.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const FIFTY = `// Fifty orders at the same time
let calls = (1..=50).map(|n| async move { demo::list_orders().limit(n).await });
let all = futures::future::join_all(calls).await;
all.into_iter().filter_map(Result::ok).map(|page| page.orders.len()).sum::<usize>()`;
const WRONG = "// A name that is not there\nlet orders = demo::list_orders().await?;\norders_of(customer)";
const SCRIPT = "<img src=x onerror=alert(1)><script>alert(1)</script>";
const SVG = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`).toString("base64");
const HOSTILE = `// ${SCRIPT}
println!("{}", r#"${SCRIPT}"#);
emit(Content::image("${SVG}", "image/svg+xml"));
emit(r#"${SCRIPT}"#);
Err::<(), _>(anyhow!(r#"${SCRIPT}"#))`;

const ASKS = `// ${SCRIPT}
demo::echo(r#"${SCRIPT}"#).await?.text()`;

let site;
let client;
let browser;

before(async () => {
  site = await Site.start();
  client = site.serve("--allow-actions");
  await client.shakeHands(SCRIPT);
  browser = await launch();
  site.run("demo::list_orders().limit(2).await?.orders.len()");
  site.run(FIFTY);
  site.run(WRONG, 3);
  site.run(HOSTILE, 1);
});

after(async () => {
  await browser.close();
  await client.end();
  site.end();
});

// The addresses of all pages, relative to the folder of the pages.
async function addresses(page) {
  const found = await page.$$eval("td.title a", (links) => links.map((link) => link.getAttribute("href")));
  const ids = found.map((address) => address.split("id=")[1]);
  return ["executions", "executions?status=ok", ...found, `compare?of=${ids[0]}&of=${ids[1]}`, "savings", "questions", `save?id=${ids[0]}`, `again?id=${ids[0]}`, "execution?id=missing"];
}

// Colours and widths.
const VIEWS = [["light", 1280], ["dark", 1280], ["light", 375], ["dark", 375]].map(([colorScheme, width]) => ({
  colorScheme,
  viewport: { width, height: 800 },
  // Only for `check`, to bring its script into the page.
  bypassCSP: true,
}));

// An open page is accessible, and not wider than the window.
async function check(page, { colorScheme, viewport }) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => window.axe.run());
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`);
  const where = `${page.url()} ${colorScheme} ${viewport.width}`;
  assert.deepEqual(found, [], where);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(overflow <= 0, `${where} is ${overflow} pixels too wide`);
}

const missing = (problem) => problem.includes("404");

test("every page is accessible and fits, in light and dark, also in a narrow window", async () => {
  for (const view of VIEWS) {
    const { context, page, problems } = await open(browser, site, view);
    for (const address of await addresses(page)) {
      await page.goto(new URL(address, page.url()).href);
      await check(page, view);
    }
    assert.deepEqual(problems.filter((problem) => !missing(problem)), []);
    await context.close();
  }
});

test("a waiting execution goes on with the answer that the page gives", async () => {
  const { context, page, problems } = await open(browser, client);
  await page.getByRole("link", { name: "Questions" }).click();
  await page.getByText("No question is open.").waitFor();
  const running = client.execute(ASKS);
  // The page is updated, and has the question with its arguments as at a terminal.
  const question = page.locator(".question");
  await question.waitFor();
  const text = await question.locator("pre").textContent();
  assert.match(text, /^A call needs your permission: demo\.echo/);
  assert.ok(text.includes(JSON.stringify(SCRIPT).slice(1, -1)), text);
  assert.equal(await page.locator("main script, main img").count(), 0);
  assert.ok((await question.getByRole("heading").textContent()).includes(SCRIPT));
  assert.deepEqual(await question.getByRole("button").allTextContents(), ["Yes, once", "Yes, for this session", "No"]);
  await page.getByRole("button", { name: "Yes, once", disabled: false }).focus();
  await page.keyboard.press("Enter");
  const outcome = await running;
  assert.deepEqual([outcome.status, outcome.calls_total], ["ok", 1]);
  await page.getByText("No question is open.").waitFor();
  assert.ok(page.url().endsWith("/questions"));
  // A refusal, and who gave it.
  const refused = client.execute(ASKS);
  await page.getByRole("button", { name: "No" }).click();
  assert.equal((await refused).status, "denied");
  await page.goto(new URL("executions", page.url()).href);
  await page.locator("td.title a").first().click();
  await page.getByText("no, by page").waitFor();
  assert.deepEqual(problems, []);
  await context.close();
});

test("a server's form is accessible and fits, keeps what is typed, and is sent", async () => {
  const first = await open(browser, client);
  await first.page.goto(new URL("questions", first.page.url()).href);
  const running = client.execute("forms::ask().await?.text().to_owned()");
  await first.page.getByText("The server forms asks").waitFor();
  assert.ok(await first.page.getByLabel("Tuesday").isChecked(), "a default, although the page was open before");
  await first.context.close();
  for (const view of VIEWS) {
    const { context, page, problems } = await open(browser, client, view);
    await page.goto(new URL("questions", page.url()).href);
    await page.getByText("The server forms asks").waitFor();
    await check(page, view);
    assert.equal(await page.locator("script").count(), 1);
    assert.deepEqual(problems, []);
    await context.close();
  }
  const { context, page, problems } = await open(browser, client);
  await page.goto(new URL("questions", page.url()).href);
  const form = page.locator(".question").first();
  await form.getByLabel("Name").fill("Ann, <b>");
  await form.getByLabel("speed").selectOption({ index: 2 });
  await form.getByLabel("Monday").check();
  // Another question opens, and the page is updated.
  const other = client.execute(ASKS);
  await page.getByText("A call needs your permission").waitFor();
  assert.equal(await form.getByLabel("Name").inputValue(), "Ann, <b>");
  assert.ok(await form.getByLabel("Monday").isChecked());
  assert.ok(await form.getByLabel("Tuesday").isChecked(), "a default");
  await form.getByRole("button", { name: "Send the answers" }).click();
  const content = { count: 3, days: ["mo", "tu"], name: "Ann, <b>", speed: "<script>alert(1)</script>\"'" };
  assert.deepEqual(JSON.parse((await running).result), { action: "accept", content });
  await page.getByRole("button", { name: "No" }).click();
  assert.equal((await other).status, "denied");
  assert.deepEqual(problems, []);
  await context.close();
});

test("an open question is accessible and fits, and nothing of it runs", async () => {
  const running = client.execute(ASKS);
  for (const view of VIEWS) {
    const { context, page, problems } = await open(browser, client, view);
    await page.goto(new URL("questions", page.url()).href);
    await page.locator(".question").waitFor();
    await check(page, view);
    assert.equal(await page.locator("script").count(), 1);
    assert.deepEqual(problems, []);
    await context.close();
  }
  const { context, page } = await open(browser, client);
  await page.goto(new URL("questions", page.url()).href);
  await page.getByRole("button", { name: "No" }).click();
  assert.equal((await running).status, "denied");
  await context.close();
});

test("an execution is run again, and its snippet is saved as a program", async () => {
  site.run("// Again and again\ndemo::list_orders().limit(1).await?.orders.len()");
  const { context, page, problems } = await open(browser, site);
  const rows = page.locator(".list tbody tr");
  const count = await rows.count();
  await page.getByRole("link", { name: /Again and again/ }).first().click();
  const execution = page.url();
  await page.getByRole("link", { name: "Run again" }).click();
  // It asks, and "No" runs nothing.
  await page.getByRole("heading", { name: "Run it again?" }).waitFor();
  assert.match(await page.locator("main").textContent(), /made 1 call[^]*demo\.list_orders[^]*limit\(1\)/);
  await page.getByRole("link", { name: "No", exact: true }).click();
  assert.equal(page.url(), execution);
  await page.getByRole("link", { name: "Executions" }).click();
  assert.equal(await rows.count(), count);
  await page.goto(execution);
  await page.getByRole("link", { name: "Run again" }).click();
  await page.getByRole("button", { name: "Yes, run it again", disabled: false }).click();
  await page.waitForURL("**/executions");
  await page.waitForFunction((more) => document.querySelectorAll(".list tbody tr").length === more, count + 1);
  await page.getByRole("link", { name: /Again and again/ }).first().click();
  await page.getByRole("link", { name: "Save as a program" }).click();
  await page.getByLabel(/^Name/).fill("again");
  await page.getByRole("button", { name: "Check" }).click();
  await page.getByText("It can call: demo.list_orders").waitFor();
  await page.getByRole("button", { name: "Save and approve" }).click();
  await page.getByRole("heading", { name: "Saved" }).waitFor();
  assert.deepEqual(problems, []);
  await context.close();
});

test("a form of another page is refused", async () => {
  const { context, page } = await open(browser, client);
  const answer = new URL("answer", page.url()).href;
  await page.goto(new URL("questions", page.url()).href);
  const statuses = await page.evaluate(async (to) => {
    const post = (body) => fetch(to, { method: "POST", body: new URLSearchParams(body) });
    return [(await post({})).status, (await post({ token: "0", question: "0", answer: "once" })).status];
  }, answer);
  assert.deepEqual(statuses, [403, 403]);
  // Another port of this machine is the same site, and another origin.
  const other = await context.newPage();
  await other.goto(await site.address());
  await other.waitForURL("**/executions");
  const sent = await other.evaluate(async (to) => {
    const options = { method: "POST", mode: "no-cors", body: new URLSearchParams({ answer: "once" }) };
    return fetch(to, options).then(() => "sent", () => "refused");
  }, answer);
  assert.equal(sent, "refused");
  await context.close();
});

test("nothing of a snippet runs", async () => {
  const { context, page, problems } = await open(browser, site);
  for (const address of await addresses(page)) {
    await page.goto(new URL(address, page.url()).href);
    assert.equal(await page.locator("script").count(), 1, address);
    assert.equal(await page.locator("main img").count(), 0, address);
  }
  assert.deepEqual(problems.filter((problem) => !missing(problem)), []);
  // A script that got into a page all the same is refused.
  await page.route("**/savings", async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace("</main>", "<script>document.title = 'ran'</script></main>");
    await route.fulfill({ response, body });
  });
  await page.goto(new URL("savings", page.url()).href);
  assert.equal(await page.locator("script").count(), 2);
  assert.notEqual(await page.title(), "ran");
  const refused = problems.filter((problem) => problem.includes("Content Security Policy"));
  assert.equal(refused.length, 1, problems.join("\n"));
  await context.close();
});

test("the list and an execution are updated, and keep what the user has done", async () => {
  const { context, page, problems } = await open(browser, site);
  const rows = page.locator(".list tbody tr");
  const count = await rows.count();
  await rows.first().locator("input").check();
  const selected = await rows.first().locator("input").inputValue();
  await page.locator("td.title a").first().focus();
  const focused = await page.evaluate(() => document.activeElement.getAttribute("href"));
  site.run("// Live\n1 + 1");
  await page.waitForFunction((more) => document.querySelectorAll(".list tbody tr").length === more, count + 1);
  assert.ok((await rows.first().textContent()).includes("Live"));
  assert.ok(await page.locator(`input[value="${selected}"]`).isChecked());
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("href")), focused);
  assert.deepEqual(problems, []);
  await context.close();
});

test("a list of a thousand executions fits, also in a narrow window", async () => {
  for (const width of [1280, 375]) {
    const { context, page, problems } = await open(browser, site, { viewport: { width, height: 800 } });
    // The rows of the page, repeated up to its limit.
    await page.route("**/executions?limit=1000", async (route) => {
      const response = await route.fetch();
      const text = await response.text();
      const rows = text.split("<tbody>")[1].split("</tbody>")[0];
      const count = rows.split("<tr>").length - 1;
      const body = text.replace("</tbody>", `${rows.repeat(Math.ceil(1000 / count) - 1)}</tbody>`);
      await route.fulfill({ response, body });
    });
    await page.goto(new URL("executions?limit=1000", page.url()).href);
    assert.ok((await page.locator(".list tbody tr").count()) >= 1000);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(overflow <= 0, `${overflow} pixels too wide at ${width}`);
    // The last row is usable by the keyboard.
    await page.locator(".list tbody input").last().focus();
    await page.keyboard.press("Space");
    assert.ok(await page.locator(".list tbody input").last().isChecked());
    assert.deepEqual(problems, []);
    await context.close();
  }
});

test("two executions are chosen and compared with the keyboard", async () => {
  const { context, page, problems } = await open(browser, site);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  await page.keyboard.press("Enter");
  for (const place of [0, 1]) {
    await page.locator(".list tbody input").nth(place).focus();
    await page.keyboard.press("Space");
  }
  await page.getByRole("button", { name: "Compare" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/compare?**");
  await page.getByRole("heading", { name: "Two executions" }).waitFor();
  assert.deepEqual(problems, []);
  await context.close();
});

// The page of the fifty orders.
async function fifty(options) {
  const opened = await open(browser, site, options);
  await opened.page.getByRole("link", { name: /Fifty orders/ }).click();
  await opened.page.getByRole("heading", { name: "Timeline" }).waitFor();
  return opened;
}

// The id of what has the focus.
const focused = (page) => page.evaluate(() => document.activeElement.id);

test("equal calls are one row, which opens to each of them", async () => {
  for (const javaScriptEnabled of [true, false]) {
    const { context, page, problems } = await fifty({ javaScriptEnabled });
    const group = page.locator("summary", { hasText: "demo.list_orders ×50" });
    assert.equal(await group.locator("rect").count(), 50);
    assert.equal(await page.locator("#call-7").isVisible(), false);
    await group.click();
    assert.equal(await page.locator(".trace details details").count(), 50);
    await page.locator("#call-7").click();
    const opened = page.locator("details:has(> #call-7) .opened");
    assert.match(await opened.textContent(), /Call7.*Arguments11 bytes, hash/);
    assert.ok(await page.getByText("history: { recordings: true }").isVisible());
    assert.deepEqual(problems, []);
    await context.close();
  }
  // An address with a call shows it.
  const { context, page } = await fifty();
  await page.goto(`${page.url()}#call-7`);
  await page.reload();
  await page.locator("details[open] > #call-7").waitFor();
  assert.equal(await focused(page), "call-7");
  await context.close();
});

test("the timeline is one stop of the key Tab, and arrow keys move in it", async () => {
  const { context, page, problems } = await fifty();
  const stops = () => page.locator(".trace summary[tabindex='0']").count();
  assert.deepEqual([await stops(), await page.locator(".trace summary").count()], [1, 52]);
  await page.locator("#zoom-in").focus();
  await page.keyboard.press("Tab");
  assert.equal(await focused(page), "phases");
  const after = async (...keys) => {
    for (const key of keys) await page.keyboard.press(key);
    return focused(page);
  };
  assert.equal(await after("ArrowDown"), "calls-0");
  assert.equal(await after("ArrowDown"), "calls-0", "its calls are not shown");
  assert.equal(await after("ArrowRight", "ArrowRight"), "call-0");
  assert.equal(await after("ArrowDown", "ArrowDown"), "call-2");
  assert.equal(await after("ArrowUp"), "call-1");
  assert.equal(await after("Enter"), "call-1");
  assert.ok(await page.locator("details[open] > #call-1").isVisible());
  assert.equal(await after("ArrowLeft", "ArrowLeft"), "calls-0");
  assert.equal(await after("End"), "call-49");
  assert.equal(await after("Home"), "phases");
  assert.equal(await after("ArrowDown", "ArrowDown"), "call-0");
  assert.equal(await stops(), 1);
  // Tab leaves it, and comes back to the same row.
  assert.notEqual(await after("Tab"), "call-1");
  assert.equal(await after("Shift+Tab"), "call-0");
  assert.deepEqual(problems, []);
  await context.close();
});

test("the timeline is zoomed, by links and keys, and the way back is that of the browser", async () => {
  const { context, page, problems } = await fifty();
  const shown = page.locator(".zooms span");
  const whole = await shown.textContent();
  await page.locator("#calls-0").click();
  await page.getByRole("link", { name: "Zoom in" }).click();
  await page.waitForFunction((text) => document.querySelector(".zooms span").textContent !== text, whole);
  assert.match(await shown.textContent(), / to .* of /);
  assert.ok(await page.locator("#call-7").isVisible(), "what is open stays open");
  assert.match(page.url(), /&from=.*&to=/);
  await page.goBack();
  await page.waitForFunction((text) => document.querySelector(".zooms span").textContent === text, whole);
  // To a call, and back to all.
  await page.locator("#call-7").focus();
  const width = () => page.locator("#call-7 rect").last().getAttribute("width").then(parseFloat);
  assert.ok((await width()) < 75);
  await page.keyboard.press("+");
  await page.waitForFunction(() => document.querySelector("#zoom-all").href);
  assert.ok((await width()) > 75, "it fills most of the shown time");
  assert.equal(await focused(page), "call-7");
  await page.keyboard.press("0");
  await page.waitForFunction((text) => document.querySelector(".zooms span").textContent === text, whole);
  assert.deepEqual(problems, []);
  await context.close();
  // Without the script, they are links to other pages.
  const plain = await fifty({ javaScriptEnabled: false });
  await plain.page.getByRole("link", { name: "Zoom in" }).click();
  assert.match(await plain.page.locator(".zooms span").textContent(), / to .* of /);
  await plain.context.close();
});

test("calls are visible at 390 pixels, and no word is broken", async () => {
  const { context, page } = await fifty({ viewport: { width: 390, height: 844 } });
  const row = page.locator("#calls-0");
  await row.click();
  const inside = async (one) => {
    const { x, width, height } = await one.boundingBox();
    assert.ok(x >= 0 && x + width <= 390 && height > 0);
    return { width, height };
  };
  for (const one of [row, page.locator("#call-7"), page.locator("#call-7 .took"), row.locator("svg")]) await inside(one);
  assert.ok((await inside(page.locator("#call-7 svg"))).width > 300, "its bar has the whole width");
  await page.locator("#call-7").click();
  assert.deepEqual(await page.evaluate(broken), [], "an opened call");
  for (const address of await addresses(page)) {
    await page.goto(new URL(address, page.url()).href);
    assert.deepEqual(await page.evaluate(broken), [], address);
  }
  await context.close();
});

test("times are those of the browser's zone, and in UTC without the script", async () => {
  const texts = [];
  for (const [timezoneId, javaScriptEnabled] of [["UTC", false], ["UTC", true], ["Asia/Kolkata", true]]) {
    const { context, page } = await fifty({ timezoneId, javaScriptEnabled });
    texts.push(await page.locator("time").first().textContent());
    await context.close();
  }
  const [plain, utc, kolkata] = texts;
  assert.equal(plain, `${utc}Z`);
  const ahead = Date.parse(`${kolkata.replace(" ", "T")}Z`) - Date.parse(`${utc.replace(" ", "T")}Z`);
  assert.equal(ahead, 5.5 * 3_600_000);
});

test("the filters are behind one control, which names those that are set", async () => {
  const { context, page, problems } = await open(browser, site);
  const status = page.getByLabel("Status");
  assert.equal(await status.isVisible(), false);
  const control = page.locator("details.filter > summary");
  await control.click();
  await status.selectOption("compile_error");
  await page.getByRole("button", { name: "Filter" }).click();
  await control.getByText("Filter: status compile_error").waitFor();
  assert.equal(await page.locator(".list tbody tr").count(), 1);
  await page.getByRole("link", { name: "All executions" }).click();
  await control.getByText("Filter", { exact: true }).waitFor();
  assert.deepEqual(problems, []);
  await context.close();
});

test("an open question is counted on every page, in the title and in the list, also of other processes", async () => {
  const own = await open(browser, client);
  const other = await open(browser, site);
  await own.page.goto(new URL("savings", own.page.url()).href);
  await other.page.goto(new URL("servers", other.page.url()).href);
  const running = client.execute(ASKS);
  for (const { page } of [own, other]) {
    // The page that was open before shows it.
    await page.getByRole("link", { name: "Questions 1 waiting for you" }).waitFor();
    assert.match(await page.title(), /^\(1\) /);
    await page.goto(new URL("executions", page.url()).href);
    assert.match(await page.title(), /^\(1\) Executions/);
    await page.locator(".list .badge", { hasText: "waiting for you" }).waitFor();
    await page.locator("tr", { has: page.locator(".badge", { hasText: "waiting for you" }) }).locator("td.title a").click();
    await page.getByText("It waits for your answer").waitFor();
    await page.getByRole("link", { name: "Questions 1 waiting for you" }).click();
  }
  await other.page.getByText("wait for your answer in their client").waitFor();
  await own.page.getByRole("button", { name: "No" }).click();
  assert.equal((await running).status, "denied");
  for (const { page, context, problems } of [own, other]) {
    await page.waitForFunction(() => !document.title.startsWith("("));
    assert.equal(await page.locator("#open-count").isVisible(), false);
    assert.deepEqual(problems, []);
    await context.close();
  }
});

test("a browser that has not opened the page sees nothing", async () => {
  const { context, page } = await open(browser, site);
  const other = await browser.newContext();
  const stranger = await other.newPage();
  const answer = await stranger.goto(page.url());
  assert.equal(answer.status(), 403);
  await other.close();
  await context.close();
});

test("pictures for the documentation", { skip: !process.env.SCREENSHOTS }, async () => {
  const picture = (name) => join(process.env.SCREENSHOTS, `ui-${name}.png`);
  for (const colorScheme of ["light", "dark"]) {
    const { context, page } = await open(browser, site, { colorScheme, viewport: { width: 1200, height: 760 } });
    await page.screenshot({ path: picture(`executions-${colorScheme}`) });
    await page.getByRole("link", { name: /Fifty orders/ }).click();
    await page.locator("#calls-0").click();
    await page.mouse.move(0, 0);
    await page.screenshot({ path: picture(`execution-${colorScheme}`), fullPage: false });
    await context.close();
  }
  const { context, page } = await open(browser, site, { viewport: { width: 1200, height: 760 } });
  await page.getByRole("link", { name: /not there/ }).click();
  await page.locator("#snippet").scrollIntoViewIfNeeded();
  await page.locator(".code").first().screenshot({ path: picture("messages") });
  await page.goto(new URL("savings", page.url()).href);
  await page.screenshot({ path: picture("savings") });
  await context.close();
  const note = 'demo::create_note("Refund of order 1042", "Paid twice. Refund 12.90 EUR.").tags(["refund"]).await?';
  const shop = site.serve("--allow-actions");
  await shop.shakeHands("shop-assistant");
  const asking = shop.execute(note);
  const asked = await open(browser, shop, { viewport: { width: 1200, height: 480 } });
  await asked.page.goto(new URL("questions", asked.page.url()).href);
  await asked.page.locator(".question").waitFor();
  await asked.page.screenshot({ path: picture("question") });
  await asked.page.getByRole("button", { name: "No" }).click();
  await asking;
  await asked.context.close();
  await shop.end();
});
