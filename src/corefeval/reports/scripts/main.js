// The page as a whole: views, choices that hold for all of them, and what happens on changes.

import { data, metrics, systems } from "./data.js";
import { choice, el } from "./elements.js";
import { address, follow, followAddress, go, onChange, state } from "./state.js";
import { overviewView } from "./overview.js";
import { chartsView } from "./charts.js";
import { documentsView } from "./documents.js";
import { drawAll, textView } from "./text.js";
import { comparisonView } from "./comparison.js";
import { updateJumpStatus } from "./errors.js";
import { listenToKeys } from "./keyboard.js";

export const views = [overviewView, chartsView, documentsView, textView, comparisonView].filter((view) => !view.available || view.available());
const sections = new Map();

function show(_, before) {
  const view = views.find((one) => one.name === state.view) ?? views[0];
  const main = document.getElementById("main");
  const stale = !sections.has(view.name) || view.depends.some((name) => state[name] !== sections.get(view.name)[name]);
  if (stale) {
    const node = el("section", { class: `view ${view.name}` });
    sections.set(view.name, { ...state, node });
    node.append(...view.render().filter(Boolean));
  }
  const { node } = sections.get(view.name);
  if (main.firstChild !== node || main.childElementCount !== 1) {
    main.replaceChildren(node);
    if (!(view.name === "text" && state.mention)) window.scrollTo(0, 0);
  } else if (stale && state.doc !== before.doc && !state.mention) window.scrollTo(0, 0);
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
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { sections.delete("charts"); show(state, state); });
followAddress();
