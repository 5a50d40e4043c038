// What is shown: kept in the address of the page, so that every view can be linked to.

import { data, headline, kinds, systems } from "./data.js";

export const VIEWS = ["overview", "charts", "documents", "text", "entities", "comparison"];
export const MODES = ["inline", "columns", "both"];
const DEFAULTS = {
  view: "overview", system: 0, other: systems.length > 1 ? 1 : -1, doc: 0, mention: null,
  mode: "inline", kinds: 0, entity: null, query: "", metric: headline,
};

export const state = { ...DEFAULTS };
const listeners = [];

export function onChange(listener) {
  listeners.push(listener);
}

/** Change what is shown. A new view or document is a step that the back button undoes. */
export function go(changes) {
  const before = { ...state };
  if ("doc" in changes && changes.doc !== state.doc) Object.assign(state, { mention: null, entity: null });
  if ("system" in changes && changes.system !== state.system) Object.assign(state, { mention: shared(state.mention, changes.system), entity: shared(state.entity, changes.system) });
  Object.assign(state, changes);
  if (systems.length > 1 && state.other === state.system) {
    state.other = before.system !== state.system ? before.system : (state.system + 1) % systems.length;
  }
  remember(before.view !== state.view || before.doc !== state.doc);
  tell(before);
}

/** What is the key's stays chosen with another response, where both have the same key. */
function shared(ref, system) {
  return ref?.[0] === "k" && systems[system]?.version === systems[state.system].version ? ref : null;
}

/** Go where a link leads. */
export function follow(hash) {
  const before = { ...state };
  Object.assign(state, parsed(hash));
  remember(true);
  tell(before);
}

function remember(step) {
  try {
    history[step ? "pushState" : "replaceState"](null, "", address(state));
  } catch {
    // A page in a notebook's frame has no address of its own: it works, but cannot be linked to.
  }
}

function tell(before) {
  for (const listener of listeners) listener(state, before);
}

/** The address of something: `#view=text&doc=…&mention=k3`. */
export function address(changes) {
  const wanted = { ...DEFAULTS, metric: state.metric, ...changes };
  const shown = new URLSearchParams();
  for (const name of Object.keys(DEFAULTS)) {
    if (wanted[name] === DEFAULTS[name] || wanted[name] === null) continue;
    shown.set(name, spelt(name, wanted[name]));
  }
  if (wanted.view === "text" && wanted.doc === 0) shown.set("doc", data.documents[0]);
  // A document alone leads to its text, so any other view has to be named beside it.
  if (wanted.view === "text") shown.delete("view");
  else if (shown.has("doc")) shown.set("view", wanted.view);
  return `#${shown.toString().replaceAll("+", "%20")}`;
}

function spelt(name, value) {
  if (name === "doc") return data.documents[value];
  if (name === "system" || name === "other") return systems[value]?.name ?? "";
  if (name === "kinds") return kinds.filter((kind) => value & kind.bit).map((kind) => kind.name).join(",");
  return String(value);
}

/** The state that an address stands for; what makes no sense is left as it is by default. */
function parsed(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const found = { ...DEFAULTS };
  const doc = data.documents.indexOf(given.get("doc"));
  if (doc >= 0) Object.assign(found, { doc, view: "text" });
  if (VIEWS.includes(given.get("view"))) found.view = given.get("view");
  if (MODES.includes(given.get("mode"))) found.mode = given.get("mode");
  for (const name of ["system", "other"]) {
    const place = systems.findIndex((one) => one.name === given.get(name));
    if (place >= 0) found[name] = place;
  }
  if (systems.length > 1 && found.other === found.system) found.other = (found.system + 1) % systems.length;
  if (/^[kro]\d+$/.test(given.get("mention") ?? "")) found.mention = given.get("mention");
  if (/^[kro]\d+$/.test(given.get("entity") ?? "")) found.entity = given.get("entity");
  if (data.metrics.some((one) => one.name === given.get("metric"))) found.metric = given.get("metric");
  found.query = given.get("query") ?? "";
  const names = (given.get("kinds") ?? "").split(",");
  found.kinds = kinds.filter((kind) => names.includes(kind.name)).reduce((bits, kind) => bits | kind.bit, 0);
  return found;
}

export function followAddress() {
  if (location.hash === "#main") return;
  const before = { ...state };
  Object.assign(state, parsed(location.hash));
  tell(before);
}
