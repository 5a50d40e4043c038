// One document of one response: texts, mentions, chains, labels. Made when somebody looks at it.

import { data, kindsOf, systems } from "./data.js";

const made = new Map();
const READABLE = { "``": "“", "''": "”", "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}" };

/** The document of a response, with its key. */
export function loadDocument(system, doc) {
  const name = `${system}/${doc}`;
  if (!made.has(name)) {
    if (made.size > 12) made.delete(made.keys().next().value);
    made.set(name, makeDocument(system, doc));
  }
  return made.get(name);
}

function makeDocument(system, doc) {
  const source = data.texts[systems[system].version][doc];
  const given = systems[system].documents[doc];
  const key = makeSide("k", source, { wrong: given.keyWrong, cost: given.keyCost, entityCost: given.keyEntityCost });
  const response = makeSide("r", given, given);
  key.twin = new Array(key.size).fill(-1);
  given.twin.forEach((twin, mention) => { if (twin >= 0) key.twin[twin] = mention; });
  response.twin = given.twin;
  const model = { system, doc, key, response, text: loadText(systems[system].version, doc) };
  model.cells = makeCells(key, response);
  labelKey(key);
  labelResponse(model);
  model.errors = listErrors(model);
  return model;
}

const BEFORE = /^(?:[.,;:!?%)\]}»…”]+|['’](?:s|re|ve|ll|d|m)?|n['’]t)$/i;
const AFTER = /^[([{«“$£€#]$/;
const ENDS_UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\u3000-\u303f\uff00-\uffef]$/u;
const STARTS_UNSPACED = new RegExp(`^${ENDS_UNSPACED.source.slice(0, -1)}`, "u");

/** Tokens that are written without a blank before them, as far as one can tell: punctuation and
 * clitics, the insides of quotation marks, and scripts that have no blanks between words. */
function gluedWords(words, sentences) {
  const glued = new Set();
  const starts = new Set(sentences);
  let quoted = false;
  for (let place = 0; place < words.length; place += 1) {
    const [before, word] = [words[place - 1] ?? "", words[place]];
    if (starts.has(place)) quoted = false;
    const isQuote = word === '"';
    const opened = before === '"' && quoted && !starts.has(place);
    if (BEFORE.test(word) || AFTER.test(before) || opened || (isQuote && quoted) || (ENDS_UNSPACED.test(before) && STARTS_UNSPACED.test(word))) glued.add(place);
    if (isQuote) quoted = !quoted;
  }
  return glued;
}

const texts = new Map();

/** Words, sentences and speakers of a document. */
export function loadText(version, doc) {
  const name = `${version}/${doc}`;
  if (!texts.has(name)) {
    if (texts.size > 12) texts.delete(texts.keys().next().value);
    const source = data.texts[version][doc];
    const words = source.words === undefined ? null : source.count ? source.words.split(" ").map((word) => (Object.hasOwn(READABLE, word) ? READABLE[word] : word)) : [];
    texts.set(name, {
      count: source.count, words, sentences: source.sentences, speakers: source.speakers ?? null, paragraphs: new Set(source.paragraphs ?? []), zeros: new Set(source.zeros ?? []),
      glued: source.glued ? new Set(source.glued) : words ? gluedWords(words, source.sentences) : new Set(),
    });
  }
  return texts.get(name);
}

function makeSide(name, source, more) {
  const size = source.start.length;
  const end = source.start.map((start, mention) => start + source.length[mention]);
  const gaps = new Map();
  for (const [mention, from, to] of source.gaps ?? []) gaps.set(mention, [...(gaps.get(mention) ?? []), [from, to]]);
  const chains = [];
  source.entity.forEach((entity, mention) => (chains[entity] ??= []).push(mention));
  return {
    name, size, start: source.start, end, gaps, ownWords: new Map(source.ownWords ?? []), chains, entity: source.entity, kind: source.kind ?? null,
    wrong: more.wrong ?? [], cost: more.cost ?? null, entityCost: more.entityCost ?? null,
    names: source.names ?? null, named: source.named, labels: [], colours: [],
    sets: new Map((source.sets ?? []).map(([entity, elements]) => [entity, elements])),
    bridging: bridgingOf(source.bridging ?? []),
  };
}

/** The antecedents of each anaphor: {to, label, right}; whether it is right is known of responses. */
function bridgingOf(pairs) {
  const found = new Map();
  for (const [from, to, label, right] of pairs) found.set(from, [...(found.get(from) ?? []), { to, label, right }]);
  return found;
}

/** How many mentions each key entity shares with each response entity: [key, response, count]. */
function makeCells(key, response) {
  const cells = new Map();
  response.twin.forEach((twin, mention) => {
    if (twin < 0) return;
    const name = `${key.entity[twin]} ${response.entity[mention]}`;
    if (!cells.has(name)) cells.set(name, { key: key.entity[twin], response: response.entity[mention], count: 0 });
    cells.get(name).count += 1;
  });
  return [...cells.values()];
}

/** Key entities are numbered as they come in the text; only chains have a colour. */
function labelKey(key) {
  let colour = 0;
  let number = 0;
  for (let mention = 0; mention < key.size; mention += 1) {
    const entity = key.entity[mention];
    if (key.labels[entity] !== undefined) continue;
    key.labels[entity] = String((number += 1));
    key.colours[entity] = key.chains[entity].length > 1 ? (colour += 1) - 1 : -1;
  }
}

/**
 * A response entity has the number and colour of the key entity that most of it is. The largest
 * part of a key entity is plain `3`, other parts are `3b`, `3c`; what is nobody's is `x1`.
 */
function labelResponse({ key, response, cells }) {
  const best = new Map();
  for (const cell of cells) {
    if (cell.count > (best.get(cell.response)?.count ?? 0)) best.set(cell.response, cell);
  }
  const largest = new Map();
  for (const cell of cells) {
    if (cell.count > (largest.get(cell.key)?.count ?? 0)) largest.set(cell.key, cell);
  }
  response.main = [];
  const parts = new Map();
  let extra = 0;
  for (const entity of response.entity) {
    if (response.labels[entity] !== undefined) continue;
    const cell = best.get(entity);
    response.main[entity] = cell ? cell.key : -1;
    response.colours[entity] = cell ? key.colours[cell.key] : -1;
    if (!cell) response.labels[entity] = `x${(extra += 1)}`;
    else if (largest.get(cell.key).response === entity) response.labels[entity] = key.labels[cell.key];
    else {
      const part = (parts.get(cell.key) ?? 0) + 1;
      parts.set(cell.key, part);
      response.labels[entity] = key.labels[cell.key] + suffix(part);
    }
  }
}

function suffix(part) {
  const letters = "bcdefghijklmnopqrstuvwxyz";
  return part <= letters.length ? letters[part - 1] : `.${part + 1}`;
}

/** The mentions that are wrong, in the order of the text: of the response, or missing in it. */
function listErrors({ key, response }) {
  const found = [];
  response.wrong.forEach((bits, mention) => {
    if (bits) found.push({ ref: `r${mention}`, start: response.start[mention], end: response.end[mention], bits });
  });
  key.wrong.forEach((bits, mention) => {
    if (bits && key.twin[mention] < 0) found.push({ ref: `k${mention}`, start: key.start[mention], end: key.end[mention], bits });
  });
  return found.sort((one, other) => one.start - other.start || other.end - one.end);
}

/** Whether a mention of the response is matched with one of the key: its span, if it is another one, is no error. */
export function isMatched({ response }, r) {
  return r >= 0 && response.twin[r] >= 0 && !kindsOf(response.wrong[r]).some((kind) => kind.name === "span");
}

/** Whether a mention of the key and one of the response have not the same tokens. */
export function differ({ key, response }, k, r) {
  const tokens = (side, mention) => JSON.stringify([side.start[mention], side.end[mention], side.gaps.get(mention) ?? []]);
  return tokens(key, k) !== tokens(response, r);
}

/** Whether a mention of the response is matched with one of the key that has other tokens. */
export function isLoose(model, r) {
  return isMatched(model, r) && differ(model, model.response.twin[r], r);
}

/** The words of a mention; `tokens 3–5` where there are no words. */
export function mentionText(model, side, mention, limit = 80) {
  const positions = [];
  for (let place = side.start[mention]; place < side.end[mention]; place += 1) {
    if (!(side.gaps.get(mention) ?? []).some(([from, to]) => place >= from && place < to)) positions.push(place);
  }
  if (!model.text.words) return positions.length === 1 ? `token ${positions[0]}` : `tokens ${positions[0]}–${positions.at(-1)}`;
  const text = side.ownWords.get(mention) ?? joined(model.text, positions);
  return text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
}

/** What an entity is called: the words of the mention that names it. */
export function entityText(model, side, entity) {
  const mention = side.named[entity] ?? -1;
  return mention < 0 ? "" : mentionText(model, side, mention, 48);
}

/** Whether there is a blank before a token. */
export function blankBefore(text, place) {
  return !text.glued.has(place);
}

/** Tokens as they are displayed. */
export function joined(text, positions) {
  return positions.map((place, n) => (n && blankBefore(text, place) ? " " : "") + (text.words[place] || "∅")).join("");
}

/** Some words around a place, for lists. */
export function contextOf(model, start, end, around = 6) {
  const { words, count } = model.text;
  if (!words) return ["", ""];
  const range = (from, to) => Array.from({ length: Math.max(to - from, 0) }, (_, n) => from + n);
  const left = range(Math.max(start - around, 0), start);
  const right = range(end, Math.min(end + around, count));
  const ended = end < count && blankBefore(model.text, end) ? " " : "";
  return [(start > around ? "… " : "") + joined(model.text, left) + (start ? " " : ""), ended + joined(model.text, right) + (end + around < count ? " …" : "")];
}

/** A mention from its name: `k3` is the fourth mention of the key. */
export function resolve(model, ref) {
  if (!ref) return null;
  const side = ref[0] === "k" ? model.key : model.response;
  const mention = Number(ref.slice(1));
  return mention < side.size ? { side, mention, ref } : null;
}
