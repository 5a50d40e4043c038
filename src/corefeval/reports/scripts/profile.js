// What a system is good at: its corpora, and the slices that results have.

import { data, metricTitle, metrics, percent, systems } from "./data.js";
import { el, table } from "./elements.js";
import { rankText, scoreOn, shownCorpora, standing, view } from "./board.js";

/** A system's average and rank, and its scores against the mean of all systems. */
export function profileCards() {
  const corpora = shownCorpora();
  const { scores, intervals } = standing();
  const ends = intervals[view.system];
  const average = scores[view.system] === null ? "There is no result." : `Rank ${rankText(view.system)}, ${metricTitle(metrics[view.metric].name)} ${percent(scores[view.system])}${ends ? ` (${percent(ends[0])} to ${percent(ends[1])})` : ""}.`;
  const byCorpus = corpora.map((place) => ({ name: data.corpora[place].name, link: data.links[view.system]?.[place], values: systems.map((_, system) => scoreOn(system, place)) }));
  const features = data.slices.filter((one) => one.scores.some(Boolean)).map((one) => {
    // Means have no share for single mentions, nor has CEAF: then a metric that has.
    const metric = one.scores[view.metric] ? view.metric : sliced(one);
    const values = one.scores[metric][view.group];
    const title = `By ${one.feature}${metric === view.metric ? "" : `, ${metrics[metric].title}`}`;
    return card(title, one.feature, one.values.map((name, place) => ({ name, values: values.map((row) => row[place]) })));
  });
  const signature = systems[view.system].signature;
  return [
    el("p", {}, average, signature ? el("small", {}, "Scored with ", el("code", {}, signature)) : null),
    el("div", { class: "pair" }, card("By corpus", "Corpus", byCorpus, true), features),
    features.length ? null : el("p", { class: "hint" }, data.unsliced[0] ?? "There are no slices to show: by = \"kind, size\" in the suite adds profiles by kinds of mentions and sizes of entities."),
  ];
}

/** The metric by which a feature is shown where the chosen one has no slices: LEA, or another one. */
function sliced(feature) {
  const known = metrics.map((_, place) => place).filter((place) => feature.scores[place]);
  return known.find((place) => metrics[place].name === "lea") ?? known.find((place) => metrics[place].name !== "mentions") ?? known[0];
}

function card(title, what, lines, sorted = false) {
  const rows = lines.map((line) => {
    const mine = line.values[view.system];
    const known = line.values.filter((one) => one !== null);
    if (mine === null || mine === undefined) return { line, lean: -Infinity, cells: [line.name, "–", "–", ""] };
    const mean = known.reduce((sum, one) => sum + one, 0) / known.length;
    const rank = 1 + known.filter((one) => one > mine + 1e-9).length;
    return { line, lean: mine - mean, cells: [line.link ? el("a", { href: line.link, class: "report" }, line.name) : line.name, percent(mine), `${rank} of ${known.length}`] };
  });
  const widest = Math.max(...rows.map((row) => (Number.isFinite(row.lean) ? Math.abs(row.lean) : 0)), 1e-9);
  if (sorted) rows.sort((one, other) => other.lean - one.lean);
  const cells = rows.map((row) => (row.cells.length === 4 ? row.cells : [...row.cells, leanBar(row.lean, widest)]));
  const columns = [{ title: what }, { title: data.rate === "f1" ? "F1" : data.rate, numeric: true }, { title: "rank", numeric: true }, { title: "against the mean of all systems" }];
  return el("div", {}, el("h3", {}, title), table(columns, cells, { class: "scores" }));
}

/** A difference with a bar to its side. */
function leanBar(value, widest) {
  const size = 50 * Math.abs(value) / widest;
  const from = value < 0 ? 50 - size : 50;
  // The place of a background is a share of the room that it leaves.
  const place = size >= 100 ? 0 : 100 * from / (100 - size);
  return el("span", { class: "lean" }, el("span", {}, signed(value)), el("i", { "aria-hidden": "true", style: { "--hue": value < 0 ? "var(--bad)" : "var(--good)", "--from": `${place}% 0`, "--size": `${size}%` } }));
}

/** Points with their sign. */
export function signed(value) {
  const text = percent(Math.abs(value));
  return Number(text) === 0 ? text : `${value < 0 ? "−" : "+"}${text}`;
}
