// From one wrong mention to the next: through a document, then through the next ones.

import { data, plural, systems } from "./data.js";
import { announce, el } from "./elements.js";
import { go, state } from "./state.js";
import { loadDocument, resolve } from "./documents_model.js";

/** The wrong mentions of a document that the filters let through: an error may be of several. */
export function wantedErrors(model) {
  return model.errors.filter((one) => (!state.kinds || one.bits & state.kinds) && inEntity(model, one.ref));
}

function inEntity(model, ref) {
  if (!state.entity || state.entity[0] === "o") return true;
  const { side, mention } = resolve(model, ref);
  const [k, r] = side.name === "k" ? [mention, side.twin[mention]] : [side.twin[mention], mention];
  const number = Number(state.entity.slice(1));
  if (state.entity[0] === "k") return k >= 0 && model.key.entity[k] === number;
  return r >= 0 && model.response.entity[r] === number;
}

/** Go to the next or previous wrong mention; at the end of a document, on to the next that has one. */
export function jump(step) {
  const model = loadDocument(state.system, state.doc);
  const errors = wantedErrors(model);
  const next = neighbour(model, errors, step);
  if (next) { go({ mention: next.ref }); return; }
  if (state.entity) { announce("no more wrong mentions of this entity"); return; }
  for (let n = 1; n <= data.documents.length; n += 1) {
    const doc = (state.doc + n * step + n * data.documents.length) % data.documents.length;
    if (!mayHave(doc)) continue;
    const found = wantedErrors(loadDocument(state.system, doc));
    if (found.length) { go({ doc, mention: found.at(step > 0 ? 0 : -1).ref }); return; }
  }
  announce("no more wrong mentions");
}

function mayHave(doc) {
  const counts = systems[state.system].errors.byDocument;
  return counts.some((byDocument, kind) => byDocument[doc] && (!state.kinds || state.kinds & (1 << kind)));
}

function neighbour(model, errors, step) {
  const at = errors.findIndex((one) => one.ref === state.mention);
  if (at >= 0) return errors[at + step];
  const chosen = resolve(model, state.mention);
  const start = chosen ? chosen.side.start[chosen.mention] : step > 0 ? -1 : Infinity;
  return step > 0 ? errors.find((one) => one.start > start) : errors.findLast((one) => one.start < start);
}

export function jumpStatus() {
  return el("span", { class: "hint", id: "jump-status" }, statusText());
}

export function updateJumpStatus() {
  const node = document.getElementById("jump-status");
  if (node) node.textContent = statusText();
}

function statusText() {
  const errors = wantedErrors(loadDocument(state.system, state.doc));
  const at = errors.findIndex((one) => one.ref === state.mention);
  return at >= 0 ? `${at + 1} of ${errors.length.toLocaleString("en")}` : plural(errors.length, "wrong mention");
}
