// Keeps an open page up to date, and sees to it that a click decides about what its user saw: what acts does nothing for
// a moment after it has appeared or moved. It runs before the page is read, so that nothing works before that rule does.
"use strict";

(() => {
  // Milliseconds between two questions, and after how long the page is read again without a change: a killed process
  // changes nothing, and its executions become interrupted all the same.
  const INTERVAL = 2000;
  const LONGEST = 30000;

  // Milliseconds in which a button that has appeared or moved does nothing. People need about a quarter of a second to
  // notice a change, and as long again to stop a click that they have begun; a double click takes half a second.
  const SETTLING = 1000;

  // What changes something; and what the user chooses from a list that changes by itself.
  const ACTS = "form[method=post] button";
  const GUARDED = `${ACTS}, [data-live] button, [data-live] a, [data-live] input`;

  // What the user writes into. Those with an id keep their text when others come or go.
  const TYPED = "input[type=text], select, textarea";

  // All values in the pages of this server are escaped. The policy allows no other way from a text to a document.
  const policy = window.trustedTypes
    ? window.trustedTypes.createPolicy("toolsmith", { createHTML: (text) => text })
    : { createHTML: (text) => text };
  // The timers of what settles.
  const settling = new Map();
  let isWhole = false;
  let version = null;
  let read = Date.now();

  const live = () => document.querySelectorAll("[data-live]");
  const guarded = () => Array.from(document.querySelectorAll(GUARDED));

  function hold(element) {
    clearTimeout(settling.get(element));
    element.setAttribute("aria-disabled", "true");
    const release = () => {
      settling.delete(element);
      element.removeAttribute("aria-disabled");
    };
    settling.set(element, setTimeout(release, SETTLING));
  }

  const holdActions = () => document.querySelectorAll(ACTS).forEach(hold);

  // Also what the keyboard does is a click.
  function refuse(event) {
    const target = event.target instanceof Element ? event.target.closest(GUARDED) : null;
    if (!target || (isWhole ? !settling.has(target) : !target.matches(ACTS))) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  // What stays the same when a part is replaced. No two questions share the names of their buttons.
  const name = (one) => [one.tagName, one.id, one.name, one.value, one.getAttribute("href")].join(" ");

  // In a list, the place of the row: the browser does not lay out what is in rows outside the window.
  const place = (one) => (one.closest("tr") || one).getBoundingClientRect();

  // Changes the page, and holds what has appeared or moved by that in the window.
  function settle(change) {
    const before = new Map();
    for (const one of guarded()) before.set(name(one), { at: place(one), isHeld: settling.has(one) });
    change();
    for (const one of guarded()) {
      const [was, at] = [before.get(name(one)), place(one)];
      const isSame = was && !was.isHeld && was.at.left === at.left && was.at.top === at.top;
      if (!isSame && at.bottom > 0 && at.top < window.innerHeight) hold(one);
    }
    for (const one of settling.keys()) if (!one.isConnected) settling.delete(one);
  }

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

  function replace(part, newer) {
    const before = state(part);
    const own = document.importNode(newer, true);
    part.replaceWith(own);
    restore(own, before);
  }

  // Puts new cards below the others, and leaves those that are closed in their places.
  function keep(part, newer) {
    const summary = newer.querySelector(".summary").textContent;
    if (part.querySelector(".summary").textContent !== summary) part.querySelector(".summary").textContent = summary;
    const ids = (list) => Array.from(list.querySelectorAll("article"), (card) => card.id);
    const [known, open] = [ids(part), ids(newer)];
    known.filter((id) => !open.includes(id)).forEach((id) => close(document.getElementById(id)));
    const added = open.filter((id) => !known.includes(id)).map((id) => newer.querySelector(`#${id}`));
    part.append(...added.map((card) => document.importNode(card, true)));
  }

  // Replaces the answers of a card by a note. The card keeps its height.
  function close(card) {
    if (card.classList.contains("closed")) return;
    const answers = card.querySelector(".answers");
    const hadFocus = answers.contains(document.activeElement);
    card.style.minHeight = `${card.getBoundingClientRect().height}px`;
    card.classList.add("closed");
    const note = document.createElement("p");
    note.setAttribute("role", "status");
    note.textContent = "No longer open: it was answered or withdrawn, or its time was over.";
    const dismiss = document.createElement("button");
    dismiss.type = "button";
    dismiss.id = `dismiss-${card.id}`;
    dismiss.textContent = "Dismiss";
    dismiss.addEventListener("click", () => settle(() => card.remove()));
    answers.replaceChildren(note, dismiss);
    if (hadFocus) dismiss.focus({ preventScroll: true });
  }

  async function refresh() {
    const answer = await fetch(window.location.href, { cache: "no-store" });
    if (!answer.ok) throw new Error(String(answer.status));
    const page = new DOMParser().parseFromString(policy.createHTML(await answer.text()), "text/html");
    version = answer.headers.get("toolsmith-version");
    read = Date.now();
    settle(() => {
      live().forEach((part) => {
        const newer = page.getElementById(part.id);
        if (newer && part.dataset.live === "keep") keep(part, newer);
        else if (newer && newer.outerHTML !== shown.get(part.id)) replace(part, newer);
        if (newer) shown.set(part.id, newer.outerHTML);
      });
    });
  }

  async function look() {
    const answer = await fetch("version", { cache: "no-store" });
    if (!answer.ok) throw new Error(String(answer.status));
    const found = await answer.text();
    if (found !== version || Date.now() - read > LONGEST) await refresh();
  }

  function say(text) {
    const connection = document.getElementById("connection");
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

  // The parts as the server has sent them last, by id.
  const shown = new Map();

  document.addEventListener("click", refuse, true);
  document.addEventListener("DOMContentLoaded", () => {
    live().forEach((part) => shown.set(part.id, part.outerHTML));
    isWhole = true;
    holdActions();
    setTimeout(follow, INTERVAL);
  });
  // One click is one answer, and another size or page of the window moves everything.
  document.addEventListener("submit", holdActions);
  window.addEventListener("resize", holdActions);
  window.addEventListener("pageshow", holdActions);
  document.addEventListener("visibilitychange", () => {
    read = 0;
    holdActions();
  });
})();
