// From one place to the next: to words, and to wrong mentions, in this document and in all others.

import { data, plural, systems } from "./data.js";
import { announce, button, el } from "./elements.js";
import { go, state } from "./state.js";
import { blankBefore, loadDocument, loadText, resolve } from "./documents_model.js";
import { sentenceAt } from "./layout.js";
import { readingPlace, showToken } from "./text.js";

let current = -1; // the token of the hit that was shown last

const JOINT = "\u2060"; // between tokens that are written without a blank
const FOLDED = { "’": "'", "‘": "'", "“": '"', "”": '"' };
const fold = (words) => words.toLowerCase().replace(/[’‘“”]/g, (mark) => FOLDED[mark]);

/** A text as it is displayed, in small letters, with the character at which each token begins. */
function displayed(text) {
  if (!text.displayed) {
    const parts = text.words.map((word, token) => (token ? (blankBefore(text, token) ? " " : JOINT) : "") + fold(word || "∅"));
    const begins = new Uint32Array(parts.length);
    let length = 0;
    parts.forEach((part, token) => { begins[token] = length + (token ? 1 : 0); length += part.length; });
    text.displayed = { characters: parts.join(""), begins };
  }
  return text.displayed;
}

/** The places where a query stands in a text, from the beginning of a token: [first token, last token].
 *
 * A blank of the query stands for any border of tokens, so that “Elizabeth ,” is found as well as “Elizabeth,”.
 */
function occurrences(text, query) {
  const wanted = fold(query.trim());
  if (!wanted || !text.words) return [];
  if (text.hits?.query === wanted) return text.hits.places;
  const { characters, begins } = displayed(text);
  const spelt = [...wanted.replace(/\s+/g, " ")].map((letter) => (letter === " " ? `[ ${JOINT}]` : letter.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")));
  const places = [];
  for (const match of characters.matchAll(new RegExp(`(?<=^|[ ${JOINT}])${spelt.join(`${JOINT}?`)}`, "gu"))) {
    places.push([sentenceAt(begins, match.index), sentenceAt(begins, match.index + match[0].length - 1)]);
  }
  text.hits = { query: wanted, places };
  return places;
}

export function hitsIn(text, query) {
  const tokens = new Set();
  for (const [first, last] of occurrences(text, query)) for (let token = first; token <= last; token += 1) tokens.add(token);
  return tokens;
}

export function searchBox() {
  if (!data.text) return null;
  const changed = (event) => { current = -1; go({ query: event.target.value }); };
  const entered = (event) => {
    if (event.key === "Enter") { event.preventDefault(); step(event.shiftKey ? -1 : 1); }
    if (event.key === "Escape") { event.preventDefault(); endSearch(); }
  };
  return el("div", { class: "group search" },
    el("label", { class: "choice" }, el("span", {}, "Search"), el("input", { type: "search", id: "search", value: state.query, placeholder: "words", oninput: changed, onkeydown: entered, autocomplete: "off" })),
    button("›", () => step(1), { "aria-label": "next hit", title: "next hit (Enter)", id: "next-hit" }),
    el("span", { class: "hint", id: "hits" }, hitStatus()));
}

/** No box, no hits, no marks, and nothing of it in the address. */
function endSearch() {
  current = -1;
  document.getElementById("search").blur();
  go({ query: "" });
}

/** To the next hit; at the end of a document, on to the next that has one. */
function step(by) {
  const version = systems[state.system].version;
  const hits = occurrences(loadText(version, state.doc), state.query);
  if (current < 0) current = readingPlace(true) - (by > 0 ? 1 : 0);
  const next = by > 0 ? hits.find(([first]) => first > current) : hits.findLast(([first]) => first < current);
  if (next) { found(next); return; }
  for (let n = 1; n <= data.documents.length; n += 1) {
    const doc = (state.doc + n * by + n * data.documents.length) % data.documents.length;
    const elsewhere = occurrences(loadText(version, doc), state.query);
    if (!elsewhere.length) continue;
    if (doc !== state.doc) go({ doc });
    requestAnimationFrame(() => requestAnimationFrame(() => found(elsewhere.at(by > 0 ? 0 : -1))));
    return;
  }
  announce("no hits");
}

function found([first]) {
  current = first;
  showToken(first);
}

function hitStatus() {
  if (!state.query.trim()) return "";
  const hits = occurrences(loadText(systems[state.system].version, state.doc), state.query);
  return plural(hits.length, "hit");
}

export function updateSearch() {
  const node = document.getElementById("hits");
  if (node) node.textContent = hitStatus();
  const box = document.getElementById("search");
  if (box && box.value !== state.query) box.value = state.query;
}

// From one wrong mention to the next: through a document, then through the next ones.

/** The wrong mentions of a document that the filters let through: an error may be of several. */
function wantedErrors(model) {
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
  const place = readingPlace(); // of a reader who has left the chosen mention
  if (place !== null) return step > 0 ? errors.find((one) => one.start >= place) : errors.findLast((one) => one.start < place);
  const at = errors.findIndex((one) => one.ref === state.mention);
  if (at >= 0) return errors[at + step];
  const chosen = resolve(model, state.mention);
  const start = chosen ? chosen.side.start[chosen.mention] : -1;
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
