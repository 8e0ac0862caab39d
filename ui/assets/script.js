// Keeps an open page up to date: when the history has changed, reads the page again and replaces its live parts.
"use strict";

(() => {
  // Milliseconds between two questions, and after how long the page is read again without a change: a killed process
  // changes nothing, and its executions become interrupted all the same.
  const INTERVAL = 2000;
  const LONGEST = 30000;

  // What the user writes into. Those with an id keep their text when others come or go.
  const TYPED = "input[type=text], select, textarea";

  const connection = document.getElementById("connection");
  // All values in the pages of this server are escaped. The policy allows no other way from a text to a document.
  const policy = window.trustedTypes
    ? window.trustedTypes.createPolicy("toolsmith", { createHTML: (text) => text })
    : { createHTML: (text) => text };
  let version = null;
  let read = Date.now();

  const live = () => document.querySelectorAll("[data-live]");

  // What the user has done to a part: where the keyboard is, what is selected and unfolded, how far it is scrolled.
  function state(part) {
    const active = part.contains(document.activeElement) ? document.activeElement : null;
    const places = (selector, value) => Array.from(part.querySelectorAll(selector), value);
    return {
      id: active && active.id,
      address: active && active.getAttribute("href"),
      value: active && active.value,
      typed: new Map(places(TYPED, (input, place) => [input.id || place, input.value])),
      selected: new Map(places("input[type=checkbox]", (input) => [input.id || input.value, input.checked])),
      unfolded: places("details", (details) => details.open),
      scrolled: places(".wide, .code, pre", (box) => [box.scrollLeft, box.scrollTop]),
    };
  }

  function restore(part, before) {
    part.querySelectorAll("input[type=checkbox]").forEach((input) => {
      const selected = before.selected.get(input.id || input.value);
      if (selected !== undefined) input.checked = selected;
    });
    part.querySelectorAll(TYPED).forEach((input, place) => {
      const typed = before.typed.get(input.id || place);
      if (typed !== undefined) input.value = typed;
    });
    part.querySelectorAll("details").forEach((details, place) => {
      details.open = Boolean(before.unfolded[place]);
    });
    part.querySelectorAll(".wide, .code, pre").forEach((box, place) => {
      [box.scrollLeft, box.scrollTop] = before.scrolled[place] || [0, 0];
    });
    const focusable = Array.from(part.querySelectorAll("a, button, input, select, textarea"));
    const same = focusable.find((one) => {
      if (before.id) return one.id === before.id;
      return before.address ? one.getAttribute("href") === before.address : before.value && one.value === before.value;
    });
    if (same) same.focus({ preventScroll: true });
  }

  async function refresh() {
    const answer = await fetch(window.location.href, { cache: "no-store" });
    if (!answer.ok) throw new Error(String(answer.status));
    const page = new DOMParser().parseFromString(policy.createHTML(await answer.text()), "text/html");
    version = answer.headers.get("toolsmith-version");
    read = Date.now();
    live().forEach((part) => {
      const newer = page.getElementById(part.id);
      if (!newer || newer.isEqualNode(part)) return;
      const before = state(part);
      const own = document.importNode(newer, true);
      part.replaceWith(own);
      restore(own, before);
    });
  }

  async function look() {
    const answer = await fetch("version", { cache: "no-store" });
    if (!answer.ok) throw new Error(String(answer.status));
    const found = await answer.text();
    if (found !== version || Date.now() - read > LONGEST) await refresh();
  }

  function say(text) {
    if (connection.textContent !== text) connection.textContent = text;
  }

  async function follow() {
    if (live().length === 0) return;
    if (!document.hidden) {
      try {
        await look();
        say("");
      } catch {
        say("Toolsmith does not answer. Is it still running?");
      }
    }
    setTimeout(follow, INTERVAL);
  }

  document.addEventListener("visibilitychange", () => {
    read = 0;
  });
  setTimeout(follow, INTERVAL);
})();
