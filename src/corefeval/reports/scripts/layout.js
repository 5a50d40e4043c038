// Mentions in running text. A unit is what is drawn around words: a mention, or one of both sides.

import { kindsOf } from "./data.js";
import { el, hue, line } from "./elements.js";
import { blankBefore, isLoose, isMatched, mentionText } from "./documents_model.js";
import { relationMark, relationWords } from "./relations.js";

export const LOOSE = "≈"; // matched with a mention of other tokens, which is no error

/** The units of a column: `inline` has both sides in one text, others have one side each. */
export function unitsOf(column, model) {
  if (column === "key") return Array.from({ length: model.key.size }, (_, k) => keyUnit(model, k));
  if (column !== "inline") return Array.from({ length: model.response.size }, (_, r) => responseUnit(model, r, column));
  const units = [];
  for (let k = 0; k < model.key.size; k += 1) units.push(keyUnit(model, k, true));
  for (let r = 0; r < model.response.size; r += 1) if (!isMatched(model, r)) units.push(responseUnit(model, r, "response", true));
  return units;
}

function keyUnit(model, k, inline = false) {
  const { key, response } = model;
  const r = key.twin[k];
  const both = inline && isMatched(model, r);
  const entity = key.entity[k];
  const owner = r >= 0 ? response.entity[r] : -1;
  const bits = both || r < 0 ? key.wrong[k] : 0;
  return {
    side: key, mention: k, model, ref: `k${k}`, k, r, column: "key", entity, owner, bits,
    twin: isLoose(model, r) ? `matched with “${mentionText(model, response, r)}” of the response` : "",
    alone: !both && (inline || r < 0), label: both ? bothLabels(key.labels[entity], response.labels[owner]) : key.labels[entity],
    mark: both ? bothMarks(relationMark(key, k), relationMark(response, r)) : relationMark(key, k),
    colour: key.colours[entity], below: both ? response.colours[owner] : key.colours[entity],
  };
}

function responseUnit(model, r, column, inline = false) {
  const { key, response } = model;
  const k = response.twin[r];
  const owner = response.entity[r];
  const name = column === "other" ? "o" : "r";
  return {
    side: response, mention: r, model, ref: `${name}${r}`, k, r, column, entity: k >= 0 ? key.entity[k] : -1, owner, bits: response.wrong[r],
    twin: isLoose(model, r) ? `matched with “${mentionText(model, key, k)}” of the key` : "",
    mark: relationMark(response, r),
    alone: k < 0 || inline, label: response.labels[owner], colour: response.colours[owner], below: response.colours[owner],
  };
}

function bothLabels(mine, theirs) {
  return mine === theirs ? mine : `${mine}→${theirs}`;
}

function bothMarks(mine, theirs) {
  return mine === theirs ? mine : ` ${mine || "–"}|${theirs || "–"}`;
}

/** Cut units where sentences end and at gaps: a list of pieces for each sentence. */
export function piecesBySentence(text, units) {
  const starts = text.sentences;
  const pieces = starts.map(() => []);
  for (const unit of units) {
    const { start, end, gaps } = { start: unit.side.start[unit.mention], end: unit.side.end[unit.mention], gaps: unit.side.gaps.get(unit.mention) ?? [] };
    const parts = [];
    let from = start;
    for (const [gapStart, gapEnd] of gaps) {
      if (gapStart > from) parts.push([from, gapStart]);
      from = gapEnd;
    }
    if (from < end) parts.push([from, end]);
    parts.forEach(([a, b], number) => {
      for (let sentence = sentenceAt(starts, a); sentence < starts.length && starts[sentence] < b; sentence += 1) {
        const stop = starts[sentence + 1] ?? text.count;
        pieces[sentence].push({ unit, start: Math.max(a, starts[sentence]), end: Math.min(b, stop), first: number === 0 && a >= starts[sentence], last: number === parts.length - 1 && b <= stop });
      }
    });
  }
  pieces.forEach((list) => list.sort(byPlace));
  return pieces;
}

function byPlace(one, other) {
  return one.start - other.start || other.end - one.end;
}

/** The sentence of a token. */
export function sentenceAt(starts, token) {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= token) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Draw a sentence into an element; pieces that cross each other are cut where they do. */
export function drawSentence(node, text, sentence, pieces, hits) {
  const from = text.sentences[sentence];
  const to = text.sentences[sentence + 1] ?? text.count;
  const open = [{ node, end: to }];
  const queue = pieces.map((piece) => ({ ...piece }));
  let buffer = "";
  const flush = () => { if (buffer) open.at(-1).node.append(buffer); buffer = ""; };
  const close = () => { flush(); const { piece, node: mine } = open.pop(); if (piece?.last) closeUnit(mine, piece.unit); };
  for (let token = from; token < to; token += 1) {
    while (open.length > 1 && open.at(-1).end <= token) close();
    if (token > from && blankBefore(text, token)) buffer += " ";
    while (queue.length && queue[0].start === token) {
      flush();
      const piece = queue.shift();
      const room = open.at(-1).end;
      if (piece.end > room) {
        queue.push({ ...piece, start: room, first: false });
        queue.sort(byPlace);
        Object.assign(piece, { end: room, last: false });
      }
      const span = openUnit(piece);
      open.at(-1).node.append(span);
      open.push({ node: span, end: piece.end, piece });
    }
    if (hits?.has(token) || text.zeros.has(token)) {
      flush();
      open.at(-1).node.append(el(hits?.has(token) ? "mark" : "span", {}, text.zeros.has(token) ? zero(text, token) : word(text, token)));
    } else buffer += word(text, token);
  }
  while (open.length > 1) close();
  flush();
}

function word(text, token) {
  return text.words ? text.words[token] || "∅" : "·";
}

/** An empty node: a small sign with its reading, where the annotation has any. */
function zero(text, token) {
  const reading = text.words?.[token].replace(/^_$/, "") ?? "";
  return el("span", { class: "zero", title: reading ? `a zero, read as “${reading}”` : "a zero: nothing is written here" }, "∅", reading ? el("sub", {}, reading) : null);
}

function openUnit({ unit, first, last }) {
  const lone = unit.alone ? (unit.column === "key" ? "missing" : "extra") : "";
  const span = el("span", {
    class: `unit ${unit.column} ${lone} ${first ? "first" : ""} ${last ? "last" : ""} ${unit.bits ? "wrong" : ""} ${unit.colour < 0 && unit.below < 0 ? "single" : ""}`,
    "data-ref": unit.ref, "data-key": unit.k, "data-response": unit.column === "other" ? -1 : unit.r, "data-entity": unit.entity, "data-owner": unit.column === "other" ? -1 : unit.owner,
    "data-other-owner": unit.column === "other" ? unit.owner : null, "data-bits": unit.bits,
    style: { "--hue": hue(unit.colour), "--below": hue(unit.below), "--line": line(unit.below) },
  });
  return span;
}

/** The label at the end of a mention: its entity, and signs for what is wrong with it. */
function closeUnit(span, unit) {
  const wrong = kindsOf(unit.bits);
  const signs = [unit.twin ? el("span", { class: "loose" }, LOOSE) : null, wrong.length ? el("span", { class: "signs" }, wrong.map((kind) => kind.sign).join("")) : null];
  const said = `${mentionText(unit.model, unit.side, unit.mention)}: ${unit.column === "key" ? "key" : "response"} entity ${unit.label.replace("→", ", in the response ")}${[...wrong.map((kind) => kind.name), unit.twin, ...unitWords(unit)].filter(Boolean).map((part) => `; ${part}`).join("")}`;
  // The word joiner keeps the label on the line of the word that it belongs to.
  span.append("\u2060", el("span", { role: "button", class: "tag", tabindex: "-1", "aria-label": said, title: said }, unit.label, unit.mark ? el("span", { class: "relation" }, unit.mark) : null, signs));
}

/** In words what either side says of the sets and bridging of a unit. */
function unitWords({ model, k, r, column }) {
  const said = [];
  if (k >= 0 && column === "key") said.push(...relationWords(model, model.key, k).map((words) => `in the key ${words}`));
  if (r >= 0 && (column !== "key" || isMatched(model, r))) said.push(...relationWords(model, model.response, r).map((words) => `in the response ${words}`));
  return said;
}
