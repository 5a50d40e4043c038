// The page as a whole: views, choices that hold for all of them, what happens on changes, keys.

import { data, kinds, metrics, systems } from "./data.js";
import { choice, el } from "./elements.js";
import { address, follow, followAddress, go, MODES, onChange, state, VIEWS } from "./state.js";
import { resolve } from "./documents_model.js";
import { overviewView } from "./overview.js";
import { chartsView } from "./charts.js";
import { documentsView } from "./documents.js";
import { drawAll, readOn, shownDocument, textView } from "./text.js";
import { jump, updateJumpStatus } from "./search.js";
import { charactersView } from "./characters.js";
import { comparisonView } from "./comparison.js";

// Everything works without a mouse.

const SHORTCUTS = [
  ["n / p", "next, previous wrong mention from where you read (of the kinds and the entity that are chosen)"],
  ["→ / ←", "next, previous mention"],
  ["c / C", "next, previous mention of the same entity"],
  ["e", "only the entity of this mention, or all again"],
  ["1 … 7", "only one kind of error, or all again"],
  ["] / [", "next, previous document"],
  ["m", "one text, or key and response side by side"],
  ["s", "next response"],
  ["/", "search"],
  ["o, g, d, t, w, v", "overview, charts, documents, text, entities (who), comparison"],
  ["Escape", "no mention, no filters, no search"],
  ["?", "this list"],
];
const VIEW_KEYS = { o: "overview", g: "charts", d: "documents", t: "text", w: "entities", v: "comparison" };

function listenToKeys() {
  document.addEventListener("keydown", pressed);
  document.getElementById("help-button").addEventListener("click", showHelp);
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea, dialog")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const action = ACTIONS[event.key] ?? (VIEW_KEYS[event.key] ? () => openView(VIEW_KEYS[event.key]) : null) ?? (/^[1-7]$/.test(event.key) ? () => chooseKind(Number(event.key) - 1) : null);
  if (!action) return;
  if (action(event) !== false) event.preventDefault();
}

const ACTIONS = {
  n: () => inText(() => jump(1)),
  p: () => inText(() => jump(-1)),
  ArrowRight: (event) => arrow(event, 1),
  ArrowLeft: (event) => arrow(event, -1),
  c: () => inText(() => stepChain(1)),
  C: () => inText(() => stepChain(-1)),
  e: () => inText(toggleEntity),
  "]": () => go({ view: "text", doc: (state.doc + 1) % data.documents.length }),
  "[": () => go({ view: "text", doc: (state.doc - 1 + data.documents.length) % data.documents.length }),
  m: () => inText(() => go({ mode: MODES[(MODES.indexOf(state.mode) + 1) % (shownDocument().comparable ? 3 : 2)] })),
  s: () => go({ system: (state.system + 1) % systems.length }),
  "/": () => inText(() => document.getElementById("search")?.focus()),
  Escape: () => go({ mention: null, entity: null, kinds: 0, query: "" }),
  "?": showHelp,
};

function openView(name) {
  if (views.some((view) => view.name === name && VIEWS.includes(name))) go({ view: name });
}

function inText(action) {
  if (state.view !== "text") go({ view: "text" });
  action();
}

function arrow(event, step) {
  if (state.view !== "text" || event.target.closest(".scroller, [role=tablist]")) return false;
  stepMention(step);
  return true;
}

/** All mentions in the order of the text: the key's, and the response's that stand alone. */
function allMentions(model) {
  const { key, response } = model;
  model.all ??= [
    ...key.start.map((start, mention) => ({ ref: `k${mention}`, start, end: key.end[mention] })),
    ...response.start.map((start, mention) => ({ ref: `r${mention}`, start, end: response.end[mention] })).filter((one) => response.twin[one.ref.slice(1)] < 0),
  ].sort((a, b) => a.start - b.start || b.end - a.end);
  return model.all;
}

function stepMention(step) {
  const { model } = shownDocument();
  const all = allMentions(model);
  const chosen = resolve(model, state.mention);
  let at = all.findIndex((one) => one.ref === state.mention);
  if (at < 0 && chosen) at = all.findIndex((one) => one.start >= chosen.side.start[chosen.mention]) - (step > 0 ? 1 : 0);
  const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step];
  if (next) go({ mention: next.ref });
}

function stepChain(step) {
  const chosen = resolve(shownDocument().model, state.mention);
  if (!chosen) return;
  const chain = chosen.side.chains[chosen.side.entity[chosen.mention]];
  const next = chain[(chain.indexOf(chosen.mention) + step + chain.length) % chain.length];
  go({ mention: `${chosen.side.name}${next}` });
}

function toggleEntity() {
  const chosen = resolve(shownDocument().model, state.mention);
  if (state.entity || !chosen) go({ entity: null });
  else go({ entity: `${chosen.side.name}${chosen.side.entity[chosen.mention]}` });
}

function chooseKind(number) {
  const bit = kinds[number]?.bit;
  if (bit) inText(() => go({ kinds: state.kinds === bit ? 0 : bit, mention: null }));
}

function showHelp() {
  const rows = SHORTCUTS.map(([keys, what]) => el("tr", {}, el("th", { scope: "row" }, el("kbd", {}, keys)), el("td", {}, what)));
  const close = () => { dialog.close(); dialog.remove(); };
  const dialog = el("dialog", { class: "card", "aria-label": "keyboard shortcuts", onclose: () => dialog.remove() },
    el("h2", {}, "Keyboard"), el("table", {}, el("tbody", {}, rows)), el("button", { type: "button", autofocus: true, onclick: close }, "Close"));
  document.body.append(dialog);
  dialog.showModal();
}

// The page.

const views = [overviewView, chartsView, documentsView, textView, charactersView, comparisonView].filter((view) => !view.available || view.available());
const sections = new Map();
let onPage = null; // the view on the page

function show(_, before) {
  const view = views.find((one) => one.name === state.view) ?? views[0];
  const main = document.getElementById("main");
  if (onPage) {
    onPage.leave?.();
    sections.get(onPage.name).scroll = window.scrollY;
  }
  const stale = !sections.has(view.name) || view.depends.some((name) => state[name] !== sections.get(view.name)[name]);
  if (stale) {
    const node = el("section", { class: `view ${view.name}` });
    sections.set(view.name, { ...state, node, scroll: sections.get(view.name)?.scroll ?? 0 });
    node.append(...view.render().filter(Boolean));
  }
  const { node, scroll } = sections.get(view.name);
  if (main.firstChild !== node || main.childElementCount !== 1) {
    main.replaceChildren(node);
    // Each view is found as it was left; the text goes by what was read, which may have moved.
    if (!view.arrive) window.scrollTo(0, scroll);
    else if (!view.arrive() && !state.mention) window.scrollTo(0, 0);
  }
  onPage = view;
  if (!stale) view.update?.(state, sections.get(view.name));
  Object.assign(sections.get(view.name), state);
  navigation();
  choices();
  updateJumpStatus();
  document.title = `${view.name === "text" ? data.documents[state.doc] : view.title} · ${data.title} · corefeval report`;
}

function navigation() {
  const links = views.map((view) => el("a", {
    href: address({ ...state, view: view.name }), "aria-current": view.name === state.view ? "page" : null,
  }, view.title));
  document.getElementById("views").replaceChildren(...links);
}

function choices() {
  const node = document.getElementById("choices");
  if (node.contains(document.activeElement)) return; // do not take it from under somebody's hands
  node.replaceChildren(...[
    systems.length > 1 ? choice("Response", systems.map((one, place) => [place, one.name]), state.system, (place) => go({ system: Number(place) }), { id: "system-choice" }) : null,
    choice("Metric", metrics.map((one) => [one.name, one.title]), state.metric, (metric) => go({ metric }), { id: "metric-choice" }),
  ].filter(Boolean));
}

onChange(show);
listenToKeys();
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  if (!link || link.classList.contains("skip") || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  follow(link.getAttribute("href"));
});
window.addEventListener("hashchange", followAddress);
window.addEventListener("popstate", followAddress);
window.addEventListener("beforeprint", drawAll);
window.addEventListener("scroll", readOn, { passive: true });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { sections.delete("charts"); show(state, state); });
followAddress();
