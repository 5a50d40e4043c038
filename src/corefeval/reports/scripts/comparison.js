// Two responses: what one gets right and the other does not, mention by mention.

import { data, kindsOf, mentionKinds, metricTitle, percent, plural, systems } from "./data.js";
import { button, choice, el, table } from "./elements.js";
import { address, go, state } from "./state.js";
import { contextOf, loadDocument, mentionText } from "./documents_model.js";

const PAGE = 100;
const OUTCOMES = [
  { name: "first", title: (a) => `only ${a} right` },
  { name: "second", title: (_, b) => `only ${b} right` },
  { name: "neither", title: () => "both wrong" },
  { name: "both", title: () => "both right" },
];
let outcome = "first";
let mentionKind = -1;
let shownRows = PAGE;

export const comparisonView = {
  name: "comparison",
  title: "Compare",
  depends: ["system", "other"],
  available: () => systems.length > 1,
  render() {
    shownRows = PAGE;
    const [a, b] = [systems[state.system], systems[state.other]];
    const picker = choice("with", systems.map((one, place) => [place, one.name]).filter(([place]) => place !== state.system), state.other, (place) => go({ other: Number(place) }));
    const head = [el("h1", {}, `${a.name} and ${b.name}`), el("div", { class: "tools" }, picker)];
    if (a.version !== b.version) {
      return [...head, el("p", { class: "card" }, "These two responses were scored on different versions of the key: empty nodes were left out for one of them, or the key has no tokens and took those of one of them. They cannot be compared mention by mention.")];
    }
    const mentions = compared(a, b);
    const list = el("div");
    const draw = () => list.replaceChildren(...listing(mentions, a, b, draw));
    draw();
    return [...head,
      el("p", { class: "hint" }, "A mention of the key is right where the response has a match for it, with the larger part of its entity and nobody else’s. A mention that the key lacks is right in a response that does not have it either."),
      el("div", { class: "pair" },
        el("section", { class: "card" }, el("h2", {}, "Mentions"), summary(mentions, a, b)),
        differences(a, b)),
      list];
  },
};

/** The difference of each score, and whether it may be chance. */
function differences(a, b) {
  const rows = data.differences.filter((one) => [one.first, one.second].includes(state.system) && [one.first, one.second].includes(state.other)).map((one) => {
    const sign = one.first === state.system ? 1 : -1;
    const [low, high] = sign > 0 ? one.interval : [-one.interval[1], -one.interval[0]];
    return [metricTitle(one.metric), signed(sign * one.difference), `${signed(low)} … ${signed(high)}`, one.adjusted < 0.0001 ? "< 0.0001" : one.adjusted.toFixed(4)];
  });
  if (!rows.length) return null;
  return el("section", { class: "card" }, el("h2", {}, "Scores"),
    el("p", { class: "hint" }, `F1 of ${a.name} minus that of ${b.name}, with ${percent(data.ci, 0)}% intervals; p by a paired randomization test, corrected for the number of pairs (Holm).`),
    table([{ title: "Metric" }, { title: "Difference", numeric: true }, { title: "Interval", numeric: true }, { title: "p", numeric: true }], rows));
}

function signed(rate) {
  return `${rate < 0 ? "−" : "+"}${percent(Math.abs(rate))}`;
}

/** The outcome of every mention of the key, and of extra mentions of either response. */
function compared(a, b) {
  const found = [];
  a.documents.forEach((one, doc) => {
    const other = b.documents[doc];
    const kinds = data.texts[a.version][doc].kind;
    one.keyWrong.forEach((bits, mention) => found.push({ doc, ref: `k${mention}`, first: bits, second: other.keyWrong[mention], kind: kinds ? kinds[mention] : -1, extra: false }));
    const spans = new Map();
    [one, other].forEach((response, place) => response.twin.forEach((twin, mention) => {
      if (twin >= 0) return;
      const name = `${response.start[mention]} ${response.length[mention]}`;
      if (!spans.has(name)) spans.set(name, { doc, first: 0, second: 0, kind: response.kind ? response.kind[mention] : -1, extra: true });
      const row = spans.get(name);
      row[place ? "second" : "first"] = response.wrong[mention];
      row.ref ??= `${place ? "o" : "r"}${mention}`;
    }));
    found.push(...spans.values());
  });
  return found;
}

function outcomeOf(row) {
  if (!row.first && !row.second) return "both";
  if (row.first && row.second) return "neither";
  return row.first ? "second" : "first";
}

function summary(mentions, a, b) {
  const groups = [["all", () => true], ...mentionKinds.map((name, number) => [name, (row) => !row.extra && row.kind === number]), ["extra", (row) => row.extra]];
  const rows = groups.map(([name, fits]) => {
    const here = mentions.filter(fits);
    return [name === "extra" ? "not in the key" : name, ...OUTCOMES.map((one) => here.filter((row) => outcomeOf(row) === one.name).length.toLocaleString("en"))];
  }).filter((row, place) => place === 0 || row.slice(1).some((count) => count !== "0"));
  return table([{ title: "Kind" }, ...OUTCOMES.map((one) => ({ title: one.title(a.name, b.name), numeric: true }))], rows);
}

function listing(mentions, a, b, draw) {
  const groups = [[-1, "all mentions"], ...mentionKinds.map((name, number) => [number, name]), [9, "not in the key"]];
  const chosen = mentions.filter((row) => outcomeOf(row) === outcome && (mentionKind === -1 || (mentionKind === 9 ? row.extra : !row.extra && row.kind === mentionKind)));
  const tools = el("div", { class: "tools" },
    el("div", { class: "chips", role: "group", "aria-label": "outcome" }, OUTCOMES.map((one) => button(one.title(a.name, b.name), () => { outcome = one.name; shownRows = PAGE; draw(); }, { class: "chip", "aria-pressed": String(outcome === one.name) }))),
    choice("Of", groups, mentionKind, (value) => { mentionKind = Number(value); shownRows = PAGE; draw(); }));
  const items = chosen.slice(0, shownRows).map((row) => item(row, a, b));
  return [tools, el("p", { class: "hint" }, plural(chosen.length, "mention")), el("ol", { class: "mentions" }, items),
    chosen.length > shownRows ? button(`show ${Math.min(PAGE, chosen.length - shownRows)} more`, () => { shownRows += PAGE; draw(); }) : null].filter(Boolean);
}

function item(row, a, b) {
  const model = loadDocument(row.ref[0] === "o" ? state.other : state.system, row.doc);
  const side = row.ref[0] === "k" ? model.key : model.response;
  const mention = Number(row.ref.slice(1));
  const [left, right] = contextOf(model, side.start[mention], side.end[mention]);
  const changes = { ...state, view: "text", doc: row.doc, mention: row.ref, mode: "both", kinds: 0, entity: null };
  const said = (bits) => (bits ? kindsOf(bits).map((one) => `${one.sign} ${one.name}`).join(", ") : "✓");
  return el("li", {},
    el("a", { href: address(changes), dir: "auto" }, el("span", { class: "context" }, left), el("strong", {}, mentionText(model, side, mention)), el("span", { class: "context" }, right)),
    el("small", {}, `${a.name}: ${said(row.first)} · ${b.name}: ${said(row.second)} · ${data.documents[row.doc]}`));
}
