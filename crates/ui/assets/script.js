// Keeps an open page up to date, and sees to it that a click decides about what its user saw: what acts does nothing for
// a moment after it has appeared or moved. It runs before the page is read, so that nothing works before that rule does.
// It also writes times in the browser's zone, and moves through the timeline with keys; without it, all rows are in the order of the key Tab.
"use strict";

(() => {
  // Milliseconds between two questions, and after how long the page is read again without a change: a killed process
  // changes nothing, and its executions become interrupted all the same.
  const INTERVAL = 2000;
  const LONGEST = 30000;

  // Milliseconds in which a button that has appeared or moved does nothing. People need about a quarter of a second to
  // notice a change, and as long again to stop a click that they have begun; a double click takes half a second.
  const SETTLING = 1000;

  const GONE = "Toolsmith does not answer. Is it still running?";

  // What changes something; and what the user chooses from a list that changes by itself.
  const ACTS = "form[method=post] button";
  const GUARDED = `${ACTS}, [data-live] button, [data-live] a, [data-live] input`;

  // What the user writes into. Those with an id keep their text when others come or go.
  const TYPED = "input[type=text], select, textarea";

  // All values in the pages of this server are escaped. The policy allows no other way from a text to a document.
  const policy = window.trustedTypes
    ? window.trustedTypes.createPolicy("toolsmith", { createHTML: (text) => text })
    : { createHTML: (text) => text };
  // The timers of elements that settle.
  const settling = new Map();
  let isWhole = false;
  let version;
  let read = Date.now();

  const live = () => document.querySelectorAll("[data-live]");
  const guarded = () => Array.from(document.querySelectorAll(GUARDED));

  function hold(element) {
    const held = settling.get(element);
    const isEnabled = held ? held.isEnabled : !element.hasAttribute("aria-disabled");
    clearTimeout(held && held.timer);
    element.setAttribute("aria-disabled", "true");
    const release = () => {
      settling.delete(element);
      if (isEnabled) element.removeAttribute("aria-disabled");
    };
    settling.set(element, { isEnabled, timer: setTimeout(release, SETTLING) });
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
      unfolded: new Map(places("details", (details, place) => [rowOf(details) || place, details.open])),
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
      details.open = Boolean(before.unfolded.get(rowOf(details) || place));
    });
    part.querySelectorAll(".wide, .code, pre").forEach((box, place) => {
      [box.scrollLeft, box.scrollTop] = before.scrolled[place] || [0, 0];
    });
    const focusable = Array.from(part.querySelectorAll("a, button, input, select, textarea, summary"));
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
    improve(own);
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
    improve(part);
  }

  // Times in the zone of the browser, and one row of the timeline in the order of the key Tab.
  function improve(part) {
    part.querySelectorAll("time").forEach((time) => {
      const at = new Date(time.dateTime);
      if (Number.isNaN(at.getTime())) return;
      // In this form, the time of the zone is written as that of UTC would be.
      const local = new Date(at.getTime() - at.getTimezoneOffset() * 60000).toISOString();
      time.textContent = `${local.slice(0, 10)} ${local.slice(11, 16)}`;
      time.title = `${local.slice(11, 23)}; in UTC ${time.dateTime}`;
    });
    part.querySelectorAll(".keys").forEach((keys) => (keys.hidden = false));
    const all = rows();
    if (all.length > 0) rove(all.find((row) => row.id === current) || all[0]);
  }

  const rowOf = (details) => details.querySelector("summary").id;
  const rows = () => Array.from(document.querySelectorAll(".trace summary"));
  const around = (row) => row.parentElement.parentElement.closest("details");
  let current = null;

  function rove(row) {
    current = row.id;
    rows().forEach((one) => (one.tabIndex = one === row ? 0 : -1));
  }

  // Does what a key does on a row of the timeline. Returns the row to go to, or true if it has done something else.
  function steer(row, key) {
    const details = row.parentElement;
    const shown = rows().filter((one) => !around(one) || !around(one).closest("details:not([open])"));
    const own = details.querySelector("a.zoom");
    const zoom = { "+": "zoom-in", "-": "zoom-out", 0: "zoom-all" }[key];
    if (key === "+" && own && own.href !== window.location.href) own.click();
    else if (zoom) document.getElementById(zoom).click();
    else if (key === "ArrowRight" && !details.open) details.open = true;
    else if (key === "ArrowLeft" && details.open) details.open = false;
    else if (key === "ArrowLeft") return around(row) && around(row).querySelector("summary");
    else {
      const place = shown.indexOf(row);
      return { ArrowUp: shown[place - 1], ArrowDown: shown[place + 1], ArrowRight: shown[place + 1], Home: shown[0], End: shown.at(-1) }[key];
    }
    return true;
  }

  function press(event) {
    const row = event.target.closest(".trace summary");
    if (!row || event.ctrlKey || event.altKey || event.metaKey) return;
    const to = steer(row, event.key);
    if (!to) return;
    event.preventDefault();
    if (to !== true) to.focus();
  }

  // Opens the row that the address names, and those around it.
  function reveal() {
    const row = rows().find((one) => `#${one.id}` === window.location.hash);
    for (let details = row && row.parentElement; details; details = details.parentElement.closest("details")) details.open = true;
    if (row) row.focus();
  }

  // Shows another part of the time without leaving the page.
  function zoom(event) {
    const link = event.target instanceof Element ? event.target.closest("a.zoom[href]") : null;
    if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    window.history.pushState(null, "", link.href);
    rezoom();
  }

  const rezoom = () => refresh(document.querySelectorAll("#timeline")).catch(() => say(GONE));

  // The number of open questions: in the navigation and the title.
  function count(open) {
    const badge = document.getElementById("open-count");
    if (badge.firstElementChild.textContent === open) return;
    settle(() => {
      badge.hidden = open === "0";
      badge.firstElementChild.textContent = open;
    });
    const title = document.querySelector("title");
    title.textContent = open === "0" ? title.dataset.page : `(${open}) ${title.dataset.page}`;
    document.getElementById("news").textContent = open === "0" ? "" : `${open} waiting for you`;
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

  // Reads the page at the present address again, and replaces these parts.
  async function refresh(parts) {
    const address = window.location.href;
    const answer = await fetch(address, { cache: "no-store" });
    if (!answer.ok) throw new Error(String(answer.status));
    const page = new DOMParser().parseFromString(policy.createHTML(await answer.text()), "text/html");
    // The user has zoomed again meanwhile.
    if (address !== window.location.href) return null;
    settle(() => {
      parts.forEach((part) => {
        const newer = page.getElementById(part.id);
        if (newer && part.dataset.live === "keep") keep(part, newer);
        else if (newer && newer.outerHTML !== shown.get(part.id)) replace(part, newer);
        if (newer) shown.set(part.id, newer.outerHTML);
      });
    });
    return answer.headers.get("toolsmith-version");
  }

  async function look() {
    const answer = await fetch("version", { cache: "no-store" });
    if (!answer.ok) throw new Error(String(answer.status));
    const found = await answer.text();
    count(answer.headers.get("toolsmith-open-questions"));
    if (live().length > 0 && (found !== version || Date.now() - read > LONGEST)) {
      version = await refresh(live());
      read = Date.now();
    }
  }

  function say(text) {
    const connection = document.getElementById("connection");
    if (connection.textContent !== text) connection.textContent = text;
  }

  async function follow() {
    if (!document.hidden) {
      try {
        await look();
        say("");
      } catch {
        say(GONE);
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
    improve(document);
    reveal();
    setTimeout(follow, INTERVAL);
  });
  document.addEventListener("click", zoom);
  document.addEventListener("keydown", press);
  document.addEventListener("focusin", (event) => {
    if (event.target.matches(".trace summary")) rove(event.target);
  });
  window.addEventListener("hashchange", reveal);
  window.addEventListener("popstate", rezoom);
  // One click is one answer, and another size or page of the window moves everything.
  document.addEventListener("submit", holdActions);
  window.addEventListener("resize", holdActions);
  window.addEventListener("pageshow", holdActions);
  document.addEventListener("visibilitychange", () => {
    read = 0;
    holdActions();
  });
})();
