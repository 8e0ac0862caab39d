// Whether a page is accessible and fits its window.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { open } from "./toolsmith.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// A slow browser asks for the icon of the page that goes on by itself, which has none.
export const missing = (problem) => problem.includes("404");

// Opens the addresses, relative to the folder of the pages, in light and dark, and in a wide and a narrow window.
export async function accessible(browser, site, addresses) {
  for (const [colorScheme, width] of [["light", 1280], ["dark", 1280], ["light", 375], ["dark", 375]]) {
    const viewport = { width, height: 800 };
    // Only this test goes around the policy, to bring the checks into the page.
    const { context, page, problems } = await open(browser, site, { colorScheme, viewport, bypassCSP: true });
    for (const address of addresses) {
      const answer = await page.goto(new URL(address, page.url()).href);
      assert.equal(answer.status(), 200, address);
      await page.evaluate(AXE);
      const { violations } = await page.evaluate(() => window.axe.run());
      const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`);
      assert.deepEqual(found, [], `${address} ${colorScheme} ${width}`);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(overflow <= 0, `${address} is ${overflow} pixels too wide at ${width}`);
      assert.deepEqual(await page.evaluate(broken), [], `${address} ${width}`);
    }
    assert.deepEqual(problems.filter((problem) => !missing(problem)), []);
    await context.close();
  }
}

// The words that are on two lines, except those that are longer than a line.
export function broken() {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    for (const { index, 0: word } of node.data.matchAll(/[\p{L}\p{N}]+/gu)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const lines = new Set(Array.from(range.getClientRects(), ({ top }) => Math.round(top)));
      if (lines.size > 1 && word.length <= 32) found.push(word);
    }
  }
  return found;
}
