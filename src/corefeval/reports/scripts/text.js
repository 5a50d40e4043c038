// The text view: a document with its chains. Only what is near the window is drawn.

import { data, kinds, metricTitle, percent, plural, systems } from "./data.js";
import { button, choice, el } from "./elements.js";
import { go, state } from "./state.js";
import { isLoose, loadDocument, resolve } from "./documents_model.js";
import { clearLines, drawLines, hasRelations } from "./relations.js";
import { drawSentence, LOOSE, piecesBySentence, sentenceAt, unitsOf } from "./layout.js";
import { panel, showPanel, updatePanel } from "./details.js";
import { followReader, sectionBar } from "./sections.js";
import { hitsIn, jump, jumpStatus, searchBox, updateSearch } from "./search.js";

const CHUNK = 260; // tokens
const NEAR = "1400px 0px";

let shown = null; // the document on the page: model, columns, chunks
let settled = true; // whether the chosen mention of a new text has been brought into sight
let arriving = null; // the sentence that the view is about to come back to
let lastRead = null; // where somebody was reading: document, sentence, and how far below the top that is

export function shownDocument() {
  return shown;
}

export const textView = {
  name: "text",
  title: "Text",
  depends: ["system", "doc", "mode", "other", "metric"],
  render() {
    shown?.observer.disconnect();
    shown = prepared();
    const text = el("div", { class: `reading ${shown.columns.length > 1 ? "columns" : "inline"}`, id: "reading", tabindex: "0", role: "region", "aria-label": "the text; arrow keys go from mention to mention", style: { "--columns": String(shown.columns.length) } },
      heads(), shown.chunks.map((chunk) => chunk.node));
    text.addEventListener("click", clicked);
    text.addEventListener("pointerover", hovered);
    text.addEventListener("pointerleave", () => light(chosenUnit()));
    shown.node = text;
    const page = [toolbar(), el("div", { class: "split" }, el("div", {}, title(), text, legend()), panel())];
    settled = false;
    requestAnimationFrame(() => {
      settled = true;
      document.documentElement.style.setProperty("--tools", `${toolsHeight()}px`);
      shown.chunks.forEach((chunk) => shown.observer.observe(chunk.node)); showSelection(!staysHere());
    });
    return page;
  },
  leave() {
    if (!shown) return;
    const first = firstInSight();
    lastRead = first && window.scrollY > 0 ? { doc: shown.doc, mention: shown.mention, sentence: Number(first.dataset.sentence), top: first.getBoundingClientRect().top } : null;
  },
  /** Back to where somebody was reading; whether there is such a place in this document. */
  arrive() {
    if (!staysHere()) return false;
    const { sentence, top } = lastRead;
    arriving = sentence;
    requestAnimationFrame(() => { arriving = null; showSentence(sentence, top); });
    return true;
  },
  update(_, before) {
    shown.mention = state.mention;
    if (state.query !== before.query) { redraw(); updateSearch(); }
    if (state.kinds !== before.kinds) updateChips();
    if (["mention", "entity", "kinds", "query"].some((name) => state[name] !== before[name])) {
      mark(shown.node);
      updatePanel(shown.model, shown.other);
      if (!state.mention) light(null);
      if (state.mention !== before.mention) showSelection(true);
      else if (state.kinds !== before.kinds && state.kinds) jumpToFirst();
    }
  },
};

/** Whether the text stays where it is: another document, or another mention, is a place of its own. */
function staysHere() {
  return lastRead?.doc === state.doc && (!state.mention || state.mention === lastRead.mention);
}

/** The first drawn sentence that the tools do not hide. */
function firstInSight() {
  const top = toolsHeight() + 8;
  const chunk = shown.chunks.find(({ node }) => node.getBoundingClientRect().bottom > top);
  return [...(chunk?.node.querySelectorAll(".sentence") ?? [])].find((node) => node.getBoundingClientRect().bottom > top);
}

/** The token at which somebody reads; null while the chosen mention is in sight, unless only the window counts. */
export function readingPlace(byWindow = false) {
  const { sentences } = shown.model.text;
  if (state.mention && !byWindow) {
    const box = chosenUnit()?.getBoundingClientRect();
    if (!settled || arriving !== null || (box && box.bottom > toolsHeight() && box.top < window.innerHeight)) return null;
  }
  if (arriving !== null) return sentences[arriving];
  const first = firstInSight();
  return first ? sentences[Number(first.dataset.sentence)] : 0;
}

function toolsHeight() {
  return document.querySelector(matchMedia("(max-width: 860px)").matches ? ".errors-bar" : ".toolbar")?.offsetHeight ?? 0;
}

function prepared() {
  const model = loadDocument(state.system, state.doc);
  const comparable = state.other >= 0 && systems[state.other].version === systems[state.system].version;
  const mode = state.mode === "both" && !comparable ? "columns" : state.mode;
  const other = comparable ? loadDocument(state.other, state.doc) : null;
  const columns = { inline: ["inline"], columns: ["key", "response"], both: ["key", "response", "other"] }[mode]
    .map((name) => ({ name, pieces: piecesBySentence(model.text, unitsOf(name, name === "other" ? other : model)) }));
  const observer = new IntersectionObserver(seen, { rootMargin: NEAR });
  return { doc: state.doc, mention: state.mention, model, other, mode, comparable, columns, chunks: chunked(model.text, columns.length), observer, hits: hitsIn(model.text, state.query) };
}

/** Runs of sentences that are drawn together; until then they are as high as they will be, about. */
function chunked(text, columns) {
  const chunks = [];
  const perLine = Math.max(Math.min(window.innerWidth, 900) / columns / 46, 4);
  let from = 0;
  for (let sentence = 1; sentence <= text.sentences.length; sentence += 1) {
    const begin = text.sentences[from];
    const end = text.sentences[sentence] ?? text.count;
    if (end - begin < CHUNK && sentence < text.sentences.length) continue;
    const height = 34 * (Math.ceil((end - begin) / perLine) + (sentence - from) * 0.5);
    const node = el("div", { class: "chunk", "data-chunk": chunks.length, style: { "min-height": `${height}px` } });
    chunks.push({ from, to: sentence, node, drawn: false, height });
    from = sentence;
  }
  return chunks;
}

function seen(entries) {
  for (const entry of entries) {
    const chunk = shown.chunks[entry.target.dataset.chunk];
    if (!chunk || chunk.node !== entry.target) continue;
    if (entry.isIntersecting) drawChunk(chunk);
    else if (chunk.drawn) eraseChunk(chunk, entry.boundingClientRect.height);
  }
  calibrate();
}

/** Once some chunks are drawn, the others are guessed by how high these are. */
function calibrate() {
  const drawn = shown.chunks.filter((chunk) => chunk.drawn);
  if (shown.calibrated || !drawn.length) return;
  shown.calibrated = true;
  const guessed = drawn.reduce((sum, chunk) => sum + chunk.height, 0);
  const ratio = drawn.reduce((sum, chunk) => sum + chunk.node.offsetHeight, 0) / guessed;
  for (const chunk of shown.chunks) if (!chunk.drawn) chunk.node.style.minHeight = `${chunk.height * ratio}px`;
}

function drawChunk(chunk) {
  if (chunk.drawn) return;
  const { model, columns, hits } = shown;
  const rows = [];
  for (let sentence = chunk.from; sentence < chunk.to; sentence += 1) {
    const speaker = model.text.speakers?.[sentence];
    const newSpeaker = speaker && speaker !== model.text.speakers[sentence - 1];
    rows.push(el("div", { class: model.text.paragraphs.has(sentence) ? "sentence paragraph" : "sentence", "data-sentence": sentence },
      columns.map((column) => {
        const cell = el("p", { class: "cell", "data-column": column.name, dir: "auto" });
        if (newSpeaker) cell.append(el("span", { class: "speaker" }, `${speaker}:`), " ");
        drawSentence(cell, model.text, sentence, column.pieces[sentence], hits);
        return cell;
      })));
  }
  chunk.node.replaceChildren(...rows);
  chunk.node.style.minHeight = "";
  chunk.drawn = true;
  mark(chunk.node);
}

function eraseChunk(chunk, height) {
  chunk.node.style.minHeight = `${height}px`;
  chunk.node.replaceChildren();
  chunk.drawn = false;
}

/** Draw everything: for print, where nothing comes into view. */
export function drawAll() {
  if (state.view === "text") shown?.chunks.forEach(drawChunk);
}

function redraw() {
  shown.hits = hitsIn(shown.model.text, state.query);
  shown.chunks.filter((chunk) => chunk.drawn).forEach((chunk) => { chunk.drawn = false; drawChunk(chunk); });
}

/** Mark what is selected, and fade what the filters leave out. */
function mark(root) {
  const entity = state.entity ? [{ k: "entity", r: "owner", o: "otherOwner" }[state.entity[0]], state.entity.slice(1)] : null;
  for (const unit of root.querySelectorAll(".unit")) {
    const faded = (state.kinds && !(unit.dataset.bits & state.kinds)) || (entity && unit.dataset[entity[0]] !== entity[1]);
    unit.classList.toggle("faded", Boolean(faded));
    unit.classList.toggle("chosen", isChosen(unit));
  }
}

function isChosen(unit) {
  if (!state.mention) return false;
  if (unit.dataset.ref === state.mention) return true;
  const number = state.mention.slice(1);
  return state.mention[0] === "k" ? unit.dataset.key === number : state.mention[0] === "r" && unit.dataset.response === number;
}

function clicked(event) {
  const unit = event.target.closest(".unit");
  if (!unit || String(window.getSelection())) return;
  showPanel("mention");
  go({ mention: unit.dataset.ref });
}

let scrolled = false;

/** Follow the reader, once for each frame. */
export function readOn() {
  if (scrolled || state.view !== "text" || !shown) return;
  scrolled = true;
  requestAnimationFrame(() => { scrolled = false; if (state.view === "text") followReader(shown.model); });
}

let lit = null;

function hovered(event) {
  const unit = event.target.closest(".unit") ?? chosenUnit();
  if (unit !== lit) light(unit);
}

function chosenUnit() {
  return shown.node.querySelector(".unit.chosen");
}

/** Light up the chain of a mention: where the key has it, and where the response has its own. */
function light(unit) {
  lit = unit;
  shown.node.querySelectorAll(".lit-key, .lit-response").forEach((one) => one.classList.remove("lit-key", "lit-response"));
  shown.node.classList.toggle("lighting", Boolean(unit));
  clearLines(shown.node);
  if (!unit) return;
  const all = (name, value, mark) => {
    if (value !== undefined && value !== "-1") shown.node.querySelectorAll(`.unit[data-${name}="${value}"]`).forEach((one) => one.classList.add(mark));
  };
  all("entity", unit.dataset.entity, "lit-key");
  all("owner", unit.dataset.owner, "lit-response");
  all("other-owner", unit.dataset.otherOwner, "lit-response");
  drawLines(shown.node, unit, unit.dataset.otherOwner ? shown.other : shown.model);
}

/** Bring the chosen mention into view, and the text around it. */
export function showSelection(scroll) {
  const side = state.mention && (state.mention[0] === "o" ? shown.other : shown.model);
  const chosen = side && resolve(side, state.mention);
  if (!chosen) return;
  showToken(chosen.side.start[chosen.mention], scroll);
  light(chosenUnit());
}

/** Draw what is around a sentence, and give the chunk that it is in. */
function drawAround(sentence) {
  const number = shown.chunks.findIndex((chunk) => chunk.to > sentence);
  shown.chunks.slice(Math.max(number - 1, 0), number + 2).forEach(drawChunk);
  calibrate();
  return shown.chunks[number];
}

/** Bring a sentence to where it was. */
function showSentence(sentence, top) {
  const chunk = drawAround(sentence);
  const put = () => {
    const node = chunk?.node.querySelector(`[data-sentence="${sentence}"]`);
    if (node) window.scrollBy(0, node.getBoundingClientRect().top - top);
  };
  put();
  // What is drawn now may push it away again.
  requestAnimationFrame(() => requestAnimationFrame(put));
}

/** Bring a token's sentence to the top of the window, below the tools. */
export function readFrom(token) {
  showSentence(sentenceAt(shown.model.text.sentences, token), toolsHeight() + 6); // so that nothing before it is in sight
}

export function showToken(token, scroll = true) {
  const sentence = sentenceAt(shown.model.text.sentences, token);
  const chunk = drawAround(sentence);
  const find = () => chunk?.node.querySelector(".unit.chosen") ?? chunk?.node.querySelector(`[data-sentence="${sentence}"]`);
  if (!scroll) return;
  const block = matchMedia("(max-width: 860px)").matches ? "start" : "center"; // above the panel
  find()?.scrollIntoView({ block });
  // What is drawn now may push it away again.
  requestAnimationFrame(() => requestAnimationFrame(() => find()?.scrollIntoView({ block })));
}

function jumpToFirst() {
  const first = shown.model.errors.find((one) => one.bits & state.kinds);
  if (first && !state.mention) go({ mention: first.ref });
}

function title() {
  const lost = systems[state.system].lost[state.metric]?.[state.doc];
  const score = data.byDocument[state.metric][state.system].f1[state.doc];
  const errors = systems[state.system].errors.byDocument.reduce((sum, counts) => sum + counts[state.doc], 0);
  const found = `${plural(errors, "error")} in ${plural(shown.model.errors.length, "wrong mention")}`;
  return el("div", { class: "doc-title" }, el("h1", {}, data.documents[state.doc]),
    el("p", { class: "lead" }, `${metricTitle(state.metric)} F1 ${percent(score)} · ${found} · ${percent(lost)} points lost`));
}

function heads() {
  if (shown.columns.length === 1) return null;
  const names = { key: "Key", response: systems[state.system].name, other: systems[state.other]?.name };
  return el("div", { class: "heads" }, shown.columns.map((column) => el("div", {}, names[column.name])));
}

function toolbar() {
  const step = (by) => () => go({ doc: (state.doc + by + data.documents.length) % data.documents.length });
  const modes = [["inline", "one text"], ["columns", "key and response"], ...(shown.comparable ? [["both", "key and two responses"]] : [])];
  return el("div", { class: "toolbar" }, el("div", { class: "tools", role: "toolbar", "aria-label": "the document" },
    el("div", { class: "group" },
      button("‹", step(-1), { "aria-label": "previous document", title: "previous document [" }),
      choice("Document", data.documents.map((id, doc) => [doc, id]), state.doc, (doc) => go({ doc: Number(doc) }), { id: "document-choice" }),
      button("›", step(1), { "aria-label": "next document", title: "next document ]" })),
    choice("Show", modes, shown.mode, (mode) => go({ mode })),
    searchBox()),
  sectionBar(shown.model),
  el("div", { class: "tools errors-bar", role: "toolbar", "aria-label": "wrong mentions" },
    el("div", { class: "group" },
      button("‹ wrong", () => jump(-1), { title: "previous wrong mention (p)", "aria-label": "previous wrong mention", id: "previous-error" }),
      button("wrong ›", () => jump(1), { title: "next wrong mention (n)", "aria-label": "next wrong mention", id: "next-error", class: "strong" }),
      jumpStatus()),
    systems.length > 1 ? choice("Response", systems.map((one, number) => [number, one.name]), state.system, (number) => go({ system: Number(number) }), { id: "text-system-choice", "aria-label": "Response" }) : null,
    el("div", { class: "group phone" }, ["entities", "flow"].map((name) => button(name, () => showPanel(name, true)))),
    el("div", { class: "chips", role: "group", "aria-label": "kinds of errors", id: "chips" }, chips())));
}

function chips() {
  return kinds.map((kind) => {
    const count = shown.model.errors.filter((one) => one.bits & kind.bit).length;
    return button([el("span", { class: "sign", "aria-hidden": "true" }, kind.sign), ` ${kind.name} `, el("small", {}, String(count))], () => go({ kinds: state.kinds ^ kind.bit, mention: null }),
      { class: "chip", "aria-pressed": String(Boolean(state.kinds & kind.bit)), title: `${kind.summary}: ${plural(count, "wrong mention")}`, disabled: count === 0 && !(state.kinds & kind.bit) });
  });
}

function updateChips() {
  document.getElementById("chips")?.replaceChildren(...chips());
}

function legend() {
  return el("details", { class: "legend" }, el("summary", {}, "How to read this"),
    el("ul", {},
      el("li", {}, "Each entity of the key has a number and a colour, in the order of the text; an entity of one mention is grey. An entity of the response has the number of the key entity that most of it is: “3b” is a smaller part of 3 that stands alone, “x1” is nobody’s."),
      el("li", {}, "“3→5” is a mention of 3 that the response has in 5; the colour is the key’s, the line below the response’s."),
      el("li", {}, "A dashed frame is a mention that only the key has, a dotted one that only the response has."),
      shown.model.response.twin.some((_, r) => isLoose(shown.model, r)) ? el("li", {}, `“${LOOSE}” is a mention that was matched with one of other tokens, as the protocol has it: no error. It is drawn as the key has it; point at its number to read the response’s words.`) : null,
      hasRelations(shown.model) ? el("li", {}, "“7={1,2}” stands for a set: the things 1 and 2 together. “⇢2” is bridging: the antecedent is a mention of 2. Where key and response differ, the key’s comes first. Point at such a mention to see lines to its antecedents: dashed ones to the elements of a set, dotted ones for bridging.") : null,
      el("li", {}, "Signs: ", kinds.map((kind) => `${kind.sign} ${kind.name}`).join(", "), ".")));
}
