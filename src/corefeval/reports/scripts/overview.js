// The overview: scores, where the points went, what to look at first.

import { costPoints, data, kinds, kindsOf, metrics, metricTitle, percent, plural, systems } from "./data.js";
import { el, table } from "./elements.js";
import { address, state } from "./state.js";
import { entityText, loadDocument, mentionText } from "./documents_model.js";

let scoreOrder = null; // how somebody sorted the scores

export const overviewView = {
  name: "overview",
  title: "Overview",
  depends: ["system", "metric"],
  render() {
    const system = systems[state.system];
    return [
      el("h1", {}, data.title),
      el("p", { class: "lead" }, corpusLine()),
      el("section", { class: "card" }, el("h2", {}, "Scores"), scoreTable(), signature(system)),
      el("section", { class: "card" },
        el("h2", {}, "Where the points went"),
        el("p", { class: "hint" }, `${system.name}, ${metricTitle(state.metric)}: what F1 would gain if one kind of error were fixed alone, and in turn, each after those above it. Choose a kind to see it in the text.`),
        kindTable(system)),
      el("div", { class: "pair" },
        el("section", { class: "card" }, el("h2", {}, "Most expensive entities"), topEntities(10)),
        el("section", { class: "card" }, el("h2", {}, "Most expensive mentions"), topMentions(10))),
      choiceCard(system),
      notices(system),
    ];
  },
};

/** How much the scores depend on the choices of scorers, where that was measured. */
function choiceCard(system) {
  const found = data.choices;
  const size = (one) => Math.max(...Object.values(one.points[system.name] ?? {}).map((value) => Math.abs(value ?? 0)), 0);
  const effects = (found?.effects ?? []).filter((one) => size(one) >= 0.00005).sort((one, other) => size(other) - size(one));
  if (!effects.length) return [];
  const points = (value) => (value === null || value === undefined ? "–" : signedPoints(value));
  const rows = effects.map((one) => [one.name, ...found.metrics.map(({ name }) => points(one.points[system.name]?.[name]))]);
  return el("section", { class: "card", id: "scorer-choices" },
    el("h2", {}, "How much it depends on the scorer"),
    el("p", { class: "hint" }, `${system.name}: the points of F1 that other choices of scorers would change, largest first.`),
    table([{ title: "Choice" }, ...found.metrics.map(({ title }) => ({ title, numeric: true }))], rows),
    [...found.turns, ...found.refusals].map((line) => el("p", {}, line)),
    found.quiet ? el("p", { class: "hint" }, `Without effect here: ${found.quiet}.`) : []);
}

function signedPoints(value) {
  const text = percent(Math.abs(value));
  return Number(text) === 0 ? text : `${value < 0 ? "−" : "+"}${text}`;
}

function corpusLine() {
  const texts = data.texts[systems[state.system].version];
  const tokens = texts.reduce((sum, one) => sum + one.count, 0);
  const mentions = texts.reduce((sum, one) => sum + one.start.length, 0);
  const entities = texts.reduce((sum, one) => sum + new Set(one.entity).size, 0);
  return [plural(data.documents.length, "document"), plural(tokens, "token"), plural(entities, "entity"), plural(mentions, "mention")].join(" · ");
}

function scoreTable() {
  return systems.length > 2 ? systemRows() : metricRows();
}

/** One or two responses: a line per metric with recall, precision and F1. */
function metricRows() {
  const interval = data.ci ? `${percent(data.ci, 0)}%` : "";
  const columns = [{ title: "Metric" }, ...systems.flatMap(() => [{ title: "R", numeric: true }, { title: "P", numeric: true }, { title: "F1", numeric: true }, { title: interval }])];
  const rows = metrics.map((metric) => {
    const scores = data.scores[metric.name];
    const best = Math.max(...scores.map((one) => one.f1));
    return [metric.title, ...scores.flatMap((one, place) => [
      percent(one.recall), percent(one.precision),
      el("span", { class: "stack" }, el("span", { class: systems.length > 1 && one.f1 === best ? "best" : "main" }, percent(one.f1)), rankOf(metric, place)),
      whisker(one),
    ])];
  });
  const made = table(columns, rows, { class: "scores" });
  if (systems.length > 1) {
    made.querySelector("thead").prepend(el("tr", {}, el("td"), systems.map((system) => el("th", { scope: "colgroup", colspan: "4", class: "over" }, system.name))));
  }
  return made;
}

/** Many responses: a line for each, a column per metric. */
function systemRows() {
  const columns = [
    { title: "Response", sort: systems.map((one) => one.name) },
    ...metrics.map((metric) => ({ title: metric.title, numeric: true, sort: data.scores[metric.name].map((one) => one.f1 ?? -1) })),
  ];
  const rows = systems.map((system, place) => [
    el("a", { href: address({ ...state, system: place }), "aria-current": place === state.system ? "true" : null }, system.name),
    ...metrics.map((metric) => {
      const scores = data.scores[metric.name];
      const best = scores[place].f1 === Math.max(...scores.map((one) => one.f1));
      const { recall, precision, f1 } = scores[place];
      const rates = recall === undefined ? [] : [el("small", {}, `R ${percent(recall, 1)} P ${percent(precision, 1)}`)];
      return el("span", { class: "stack" }, el("span", { class: best ? "best" : "main" }, percent(f1)), rankOf(metric, place), intervalText(scores[place]), ...rates);
    }),
  ]);
  return table(columns, rows, { class: "scores" }, { by: scoreOrder, sorted: (order) => { scoreOrder = order; } });
}

/** The rank of a response by a metric, where that was tested: shared, with =, without a significant difference. */
function rankOf(metric, place) {
  const ranks = data.ranks[metric.name];
  if (!ranks || ranks[place] === null) return null;
  const shared = ranks.filter((one) => one === ranks[place]).length > 1;
  return el("small", { class: "rank" }, `rank ${ranks[place]}${shared ? "=" : ""}`);
}

function intervalText(score) {
  const known = score.intervals?.f1;
  return known ? el("small", {}, `${percent(known[0], 1)}–${percent(known[1], 1)}`) : null;
}

/** A point with its interval, on a line from the lowest to the highest of all scores. */
function whisker(score) {
  if (!score.intervals?.f1) return "";
  const all = metrics.flatMap((metric) => data.scores[metric.name].flatMap((one) => one.intervals?.f1 ?? [one.f1]));
  const [least, most] = [Math.min(...all), Math.max(...all)];
  const at = (rate) => String((rate - least) / Math.max(most - least, 1e-9));
  const [low, high] = score.intervals.f1;
  return el("span", { class: "interval" }, el("small", {}, `${percent(low, 1)}–${percent(high, 1)}`),
    el("span", { class: "whisker", "aria-hidden": "true", style: { "--low": at(low), "--high": at(high), "--at": at(score.f1) } }, el("i"), el("b")));
}

function signature(system) {
  const level = data.ci ? `Intervals hold ${percent(data.ci, 0)}% of resampled scores. ` : "";
  const ranks = Object.keys(data.ranks).length ? "Ranks with = are shared: there is no significant difference. " : "";
  return el("p", { class: "hint" }, level, ranks, "Signature: ", el("code", {}, system.signature));
}

function kindTable(system) {
  const largest = Math.max(...system.errors.kinds.flatMap((one) => [one.alone[state.metric], one.inTurn[state.metric]]), 1e-9);
  const bar = (gain) => partBar(gain, largest);
  const rows = kinds.map((kind, number) => {
    const one = system.errors.kinds[number];
    const name = el("a", { class: "kind", href: address(firstOf(kind)) }, kind.name);
    const sign = el("span", { class: "sign", "aria-hidden": "true" }, kind.sign);
    return [
      el("div", { class: "kind-cell" }, sign, el("div", {}, one.count ? name : el("span", { class: "kind" }, kind.name), el("small", {}, kind.summary))),
      one.count.toLocaleString("en"), bar(one.alone[state.metric]), bar(one.inTurn[state.metric]),
    ];
  });
  const total = system.errors.kinds.reduce((sum, one) => sum + one.inTurn[state.metric], 0);
  rows.push(["all", system.errors.kinds.reduce((sum, one) => sum + one.count, 0).toLocaleString("en"), "", el("span", { class: "part" }, el("span", {}, percent(total)), el("i"))]);
  return table([{ title: "Error" }, { title: "Count", numeric: true }, { title: "Points alone" }, { title: "Points in turn" }], rows, { class: "kinds" });
}

/** A number with a bar behind it. */
export function partBar(value, largest) {
  return el("span", { class: "part", style: { "--part": String(Math.max(value, 0) / largest) } }, el("span", {}, percent(value)), el("i"));
}

/** The document that has most errors of a kind, at the first of them. */
export function firstOf(kind) {
  const counts = systems[state.system].errors.byDocument[kind.number];
  const doc = counts.indexOf(Math.max(...counts));
  return { ...state, view: "text", doc, kinds: kind.bit, entity: null, mention: null };
}

/** The dearest places of a response over all documents: [cost, document, side, number]. */
function dearest(names, number) {
  const found = [];
  systems[state.system].documents.forEach((one, doc) => {
    for (const [side, name] of names) {
      (one[name] ?? []).forEach((cost, place) => { if (cost > 0) found.push({ cost, doc, side, place }); });
    }
  });
  return found.sort((one, other) => other.cost - one.cost).slice(0, number);
}

function topEntities(number) {
  const items = dearest([["k", "keyEntityCost"], ["r", "entityCost"]], number).map(({ cost, doc, side, place }) => {
    const model = loadDocument(state.system, doc);
    const mine = side === "k" ? model.key : model.response;
    const changes = { ...state, view: "text", doc, entity: `${side}${place}`, mention: `${side}${mine.chains[place][0]}`, kinds: 0 };
    return costItem(cost, changes, entityText(model, mine, place), describeEntity(model, mine, place), doc);
  });
  return items.length ? el("ol", { class: "dear" }, items) : nothingShared();
}

/** In words what became of an entity. */
export function describeEntity(model, side, entity) {
  const isKey = side.name === "k";
  const parts = model.cells.filter((cell) => cell[isKey ? "key" : "response"] === entity);
  const size = side.chains[entity].length;
  const alone = size - parts.reduce((sum, cell) => sum + cell.count, 0);
  const where = isKey ? "in the key" : "in the response";
  const others = isKey ? `in ${plural(parts.length, "response entity")}` : `of ${plural(parts.length, "key entity")}`;
  const rest = alone ? `, ${alone} ${isKey ? "missing" : "extra"}` : "";
  return `${plural(size, "mention")} ${where}: ${parts.length ? others : isKey ? "not found" : "nobody’s"}${parts.length ? rest : ""}`;
}

function topMentions(number) {
  const costs = [];
  systems[state.system].documents.forEach((one, doc) => {
    if (!one.cost) return;
    const sums = new Map((one.keyCost ?? []).map((cost, place) => [`k${place}`, cost]));
    one.cost.forEach((cost, place) => {
      const name = one.twin[place] >= 0 ? `k${one.twin[place]}` : `r${place}`;
      sums.set(name, (sums.get(name) ?? 0) + cost);
    });
    for (const [ref, cost] of sums) {
      const bits = ref[0] === "k" ? one.keyWrong[ref.slice(1)] : one.wrong[ref.slice(1)];
      if (bits && cost > 0) costs.push({ ref, cost, doc, bits });
    }
  });
  const items = costs.sort((one, other) => other.cost - one.cost).slice(0, number).map(({ ref, cost, doc, bits }) => {
    const model = loadDocument(state.system, doc);
    const side = ref[0] === "k" ? model.key : model.response;
    const text = mentionText(model, side, Number(ref.slice(1)), 48);
    const errors = kindsOf(bits).map((kind) => `${kind.sign} ${kind.name}`).join(", ");
    return costItem(cost, { ...state, view: "text", doc, mention: ref, entity: null, kinds: 0 }, text, errors, doc);
  });
  return items.length ? el("ol", { class: "dear" }, items) : nothingShared();
}

function costItem(cost, changes, text, about, doc) {
  return el("li", {},
    el("span", { class: "cost", title: "its share of the lost points" }, costPoints(cost)),
    el("div", {}, el("a", { href: address(changes) }, text), el("small", {}, about), el("small", {}, data.documents[doc])));
}

function nothingShared() {
  return el("p", { class: "hint" }, "Nothing is lost, or none of the metrics can be divided among mentions: ask for muc, b3 or lea.");
}

function notices(system) {
  const shown = system.notices.length ? el("ul", {}, system.notices.map((one) => el("li", {}, one))) : el("p", {}, "Nothing was dropped, repaired or left out.");
  return el("section", { class: "card" }, el("h2", {}, "Dropped, repaired, left out"), shown);
}
