// The sections of a long text, to jump by, and a strip that shows where in the text the errors are dense.

import { plural } from "./data.js";
import { choice, el, svg } from "./elements.js";
import { joined } from "./documents_model.js";
import { sentenceAt } from "./layout.js";
import { readFrom, readingPlace } from "./text.js";

const LONG = 1500; // tokens: shorter texts need no sections
const MOST_SECTIONS = 150; // sections
const BINS = 160;
const NUMBER = "(?:[ivxlcdm]+|\\d+|one|two|three|four|five|six|seven|eight|nine|ten|first|second|third|fourth|fifth|last|the \\w+|un|deux|trois|premier|première|uno|dos|tres|primero|primera|primo|prima|eins|zwei|drei|een|twee|drie)";
const PART = "(?:chapter|book|part|volume|letter|canto|act|scene|kapitel|buch|teil|band|brief|akt|aufzug|auftritt|szene|chapitre|livre|partie|acte|scène|capítulo|libro|parte|acto|escena|capitolo|atto|scena|hoofdstuk|deel|bedrijf|toneel|tooneel|глава|часть|книга|действие|сцена)";
const ORDINAL = "(?:\\d+ \\.|[ivxlcdm]+ \\.|first|second|third|fourth|fifth|erster|erste|zweiter|zweite|dritter|dritte|vierter|vierte|fünfter|fünfte|eerste|tweede|derde|vierde|vijfde)";
const HEADING = new RegExp(`^(?:${PART} ${NUMBER}(?![\\p{L}\\d])|${ORDINAL} ${PART}(?!\\p{L})|第[一二三四五六七八九十百\\d]+[章回幕])`, "iu");
const CHINESE = /^第 ?[一二三四五六七八九十百\d]+ ?[章回幕]/u;
const LONGEST_TITLE = 10; // tokens

/** The sections of a text: {title, token}; none of a short one.
 *
 * Headings such as “CHAPTER IV” or “Act 2” begin them, else paragraphs, else every so many sentences.
 */
export function sectionsOf(text) {
  text.sections ??= text.count < LONG ? [] : headings(text) ?? paragraphs(text) ?? numbered(text);
  return text.sections;
}

/** The first tokens of a sentence. */
function opening(text, sentence, most) {
  const [start, end] = [text.sentences[sentence], text.sentences[sentence + 1] ?? text.count];
  return Array.from({ length: Math.min(end - start, most) }, (_, place) => start + place);
}

/** Sentences that begin like a heading; in capitals, or short, so that “Chapter 2 tells …” is none. */
function headings(text) {
  if (!text.words) return null;
  const sections = [];
  text.sentences.forEach((token, sentence) => {
    const first = opening(text, sentence, LONGEST_TITLE);
    const line = first.map((place) => text.words[place]).join(" ");
    if (!HEADING.test(line) && !CHINESE.test(line)) return;
    const isShort = (text.sentences[sentence + 1] ?? text.count) - token <= LONGEST_TITLE;
    const isLoud = text.words[token] === text.words[token].toUpperCase();
    if (isShort || isLoud) sections.push({ title: joined(text, isShort ? first : first.slice(0, 2)), token });
  });
  return sections.length > 1 ? sections : null;
}

function paragraphs(text) {
  const starts = [...text.paragraphs];
  return starts.length > 1 ? thinned(starts.map((sentence) => ({ title: openingWords(text, sentence), token: text.sentences[sentence] }))) : null;
}

function numbered(text) {
  return text.sentences.length > 1 ? thinned(text.sentences.map((token, sentence) => ({ title: `sentence ${sentence + 1}`, token }))) : [];
}

function openingWords(text, sentence) {
  return text.words ? `${joined(text, opening(text, sentence, 6))} …` : `sentence ${sentence + 1}`;
}

/** At most so many sections, at about equal distances. */
function thinned(sections) {
  const step = Math.ceil(sections.length / MOST_SECTIONS);
  return sections.filter((_, number) => number % step === 0);
}

/** A list of sections with their numbers of wrong mentions, and the strip; null for a short text. */
export function sectionBar(model) {
  const sections = sectionsOf(model.text);
  if (!sections.length) return null;
  const starts = sections.map((section) => section.token);
  const counts = starts.map(() => 0);
  for (const { start } of model.errors) if (start >= starts[0]) counts[sentenceAt(starts, start)] += 1;
  const options = [["", "…"], ...sections.map(({ title, token }, number) => [token, `${title} · ${counts[number]}`])];
  const list = choice("Go to", options, "", (token) => { if (token !== "") readFrom(Number(token)); }, { id: "section-choice", title: "sections, with their numbers of wrong mentions" });
  return el("div", { class: "tools sections" }, list, strip(model, starts));
}

/** Where the errors are: the darker, the more; the lines are where sections begin. */
function strip(model, starts) {
  const { count } = model.text;
  const bins = new Array(BINS).fill(0);
  for (const { start } of model.errors) bins[Math.min(Math.floor((start * BINS) / count), BINS - 1)] += 1;
  const most = Math.max(...bins, 1);
  const picture = svg("svg", { viewBox: `0 0 ${BINS} 10`, preserveAspectRatio: "none", class: "strip", id: "strip", role: "img", "aria-label": `where the ${plural(model.errors.length, "wrong mention")} are; choose a place to go there` });
  bins.forEach((errors, bin) => {
    const from = Math.floor((bin * count) / BINS);
    picture.append(svg("rect", { x: bin, y: 0, width: 1, height: 10, style: { "--dense": String(errors / most) } }, svg("title", {}, `from token ${from}: ${plural(errors, "wrong mention")}`)));
  });
  for (const token of starts) picture.append(svg("line", { x1: (token * BINS) / count, x2: (token * BINS) / count, y1: 7, y2: 10 }));
  picture.append(svg("line", { class: "reader", y1: 0, y2: 10, x1: 0, x2: 0 }));
  picture.addEventListener("click", (event) => {
    const box = picture.getBoundingClientRect();
    readFrom(Math.min(Math.floor(((event.clientX - box.left) / box.width) * count), count - 1));
  });
  return picture;
}

/** Show on the strip, and in the list, where somebody reads. */
export function followReader(model) {
  const reader = document.querySelector("#strip .reader");
  if (!reader) return;
  const token = readingPlace(true);
  const x = String((token * BINS) / model.text.count);
  reader.setAttribute("x1", x);
  reader.setAttribute("x2", x);
  const starts = sectionsOf(model.text).map((section) => section.token);
  const list = document.getElementById("section-choice");
  if (list !== document.activeElement) list.value = token < starts[0] ? "" : String(starts[sentenceAt(starts, token)]);
}
