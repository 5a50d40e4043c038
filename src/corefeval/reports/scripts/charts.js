// Charts by Vega-Lite. The library is in the page as text and runs when the first chart is drawn.

import { data, headline, kinds, metrics, metricTitle, percent, systems } from "./data.js";
import { el, systemColours, table, themed } from "./elements.js";
import { go, state } from "./state.js";

const names = systems.map((one) => one.name);
const hundred = (rate) => (rate === undefined || rate === null ? null : Math.round(rate * 10_000) / 100);

export const chartsView = {
  name: "charts",
  title: "Charts",
  depends: ["system", "metric"],
  render() {
    const figures = [metricsChart(), planeChart(), kindsChart(), ...data.slices.map(sliceChart), linksChart(), documentsChart()];
    const made = figures.filter(Boolean).map(figure);
    setTimeout(() => drawInTurn(made), 0);
    return [el("h1", {}, "Charts"), el("div", { class: "figures" }, made.map((one) => one.node))];
  },
};

function loadLibrary() {
  if (!window.vegaEmbed) {
    const script = document.createElement("script");
    script.textContent = document.getElementById("charts-library").textContent;
    document.head.append(script);
  }
}

/** A chart with its caption, and the same numbers as a table for those who prefer it. */
function figure({ title, caption, spec, columns, rows, onclick, wide, labels }) {
  const place = el("div", { class: "chart", role: "img", "aria-label": `${title}. The numbers are in the table below.` });
  const node = el("figure", { class: wide ? "card wide" : "card" },
    el("h2", {}, title), caption ? el("figcaption", { class: "hint" }, caption) : null, place,
    el("details", {}, el("summary", {}, "As a table"), table(columns, rows)));
  return { node, start: () => draw(place, spec, { onclick, labels }) };
}

/** Draw one after the other, so that the page answers in between. */
async function drawInTurn(figures) {
  for (const one of figures) {
    await new Promise((resolve) => { setTimeout(resolve, 0); });
    if (!one.node.isConnected) return;
    await one.start();
  }
}

/** Vega takes names that every object has (`toString`) for its own: they get a sign that nobody sees. */
function harmless(part) {
  if (typeof part === "string") return part in Object.prototype ? `${part}\u200b` : part;
  if (Array.isArray(part)) return part.map(harmless);
  if (part === null || typeof part !== "object") return part;
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, harmless(value)]));
}

async function draw(place, spec, { onclick, labels }) {
  loadLibrary();
  const whole = {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    width: "container", background: "transparent",
    config: theme(), ...harmless(spec),
  };
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const patch = labels ? (drawn) => ({ ...drawn, marks: [...drawn.marks, labels] }) : undefined;
  const { view } = await window.vegaEmbed(place, whole, { ast: true, actions: false, renderer: "svg", logLevel: 1, patch, tooltip: { theme: dark ? "dark" : "light" } });
  if (onclick) view.addEventListener("click", (event, item) => { if (item?.datum) onclick(item.datum); });
}

function theme() {
  const [text, soft, rule] = ["--text", "--soft", "--rule"].map(themed);
  return {
    font: themed("--font"), view: { stroke: null },
    axis: { labelColor: text, titleColor: soft, gridColor: rule, domainColor: rule, tickColor: rule, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", labelLimit: 200 },
    legend: { labelColor: text, titleColor: soft, orient: "bottom", labelFontSize: 12, title: null, labelLimit: 260, columns: 3, symbolStrokeWidth: 2 },
    bar: { cornerRadiusEnd: 2 }, point: { filled: true, size: 80 }, rule: { color: soft },
  };
}

const bySystem = () => ({ field: "system", type: "nominal", sort: names, scale: { domain: names, range: systemColours(names.length) }, legend: names.length > 1 ? {} : null });
const offset = { field: "system", type: "nominal", sort: names, scale: { domain: names } };
const rateTips = [
  { field: "system", title: "response" }, { field: "f1", title: "F1", format: ".2f" }, { field: "recall", format: ".2f" }, { field: "precision", format: ".2f" },
  { field: "low", title: "from", format: ".2f" }, { field: "high", title: "to", format: ".2f" },
];

function rateRow(score) {
  const [low, high] = score.intervals?.f1 ?? [score.f1, score.f1];
  return { f1: hundred(score.f1), recall: hundred(score.recall), precision: hundred(score.precision), low: hundred(low), high: hundred(high) };
}

/** Names of a layer's points where there is room for them, inside the chart: what Vega has and Vega-Lite has not. */
function pointLabels(layer, field) {
  return {
    type: "text", name: `${layer}_labels`, from: { data: `${layer}_marks` }, interactive: false,
    encode: { enter: { text: { field: `datum.${field}` }, font: { value: themed("--font") }, fontSize: { value: 11 }, fill: { value: themed("--soft") } } },
    transform: [{ type: "label", size: { signal: "[max(width, 1), max(height, 1)]" }, offset: [4, 4, 4, 4, 2, 2, 2, 2, 10, 10], anchor: ["right", "left", "top", "bottom", "top-right", "bottom-right", "top-left", "bottom-left", "top", "bottom"] }],
  };
}

const MANY = 4; // responses that can be told apart as bars side by side

/** Many responses: their ranks by each metric, with a line for each response; names of equal ones stand below each other. */
function ranksChart() {
  const titles = metrics.map((one) => one.title);
  const values = metrics.flatMap((metric) => {
    const f1s = data.scores[metric.name].map((one) => one.f1);
    return systems.map((system, place) => {
      const rank = 1 + f1s.filter((one) => one > f1s[place]).length;
      const before = f1s.slice(0, place).filter((one) => one === f1s[place]).length;
      return { metric: metric.title, system: system.name, rank, line: rank + before * 0.45, ...rateRow(data.scores[metric.name][place]) };
    });
  });
  const narrow = matchMedia("(max-width: 760px)").matches;
  const y = { field: "rank", type: "quantitative", title: narrow ? null : "rank", scale: { reverse: true, domain: [0.5, names.length + 0.5], nice: false, zero: false }, axis: { values: names.map((_, place) => place + 1), grid: false, format: "d" } };
  const ends = [[titles[0], "right", -9], [titles.at(-1), "left", 9]].slice(titles.length > 1 && !narrow ? 0 : 1);
  return {
    title: "Metrics", wide: true,
    caption: "Ranks by F1, the best on top: where lines cross, metrics disagree. Hover for scores.",
    spec: {
      data: { values }, height: Math.max(200, names.length * 30),
      encoding: {
        x: { field: "metric", type: "nominal", sort: titles, title: null, scale: { type: "point", padding: narrow ? 2.5 : 1.2, align: narrow ? 0.1 : 0.5 }, axis: { labelAngle: narrow ? -50 : 0, orient: "top" } },
        y, color: { ...bySystem(), legend: null },
      },
      layer: [
        { mark: { type: "line", strokeWidth: 2.5, opacity: 0.75 } },
        { mark: { type: "point", filled: true, size: 110, opacity: 1 }, encoding: { tooltip: [{ field: "metric" }, { field: "rank" }, ...rateTips] } },
        ...ends.map(([title, align, dx]) => ({ transform: [{ filter: { field: "metric", equal: title } }], mark: { type: "text", align, dx, fontSize: narrow ? 11 : 12, limit: narrow ? 90 : 115 }, encoding: { y: { ...y, field: "line" }, text: { field: "system" } } })),
      ],
    },
    columns: ["Metric", "Response", "Rank", "R", "P", "F1"].map(column), rows: values.map((v) => cells([v.metric, v.system, v.rank, v.recall, v.precision, v.f1])),
  };
}

/** Numbers of many responses as coloured fields: `across` and `down` are fields, `value` is the number. */
function fields(values, across, order, value, title, tooltip) {
  const x = { field: across, type: "nominal", sort: order, title: null, axis: { orient: "top", labelAngle: order.length > 6 ? -40 : 0, labelLimit: 110 } };
  const numbers = values.map((one) => one[value] ?? 0);
  const middle = (Math.min(...numbers) + Math.max(...numbers)) / 2;
  return {
    data: { values }, height: names.length * 26,
    encoding: { x, y: { field: "system", type: "nominal", sort: names, title: null }, tooltip },
    layer: [
      { mark: { type: "rect", cursor: "pointer" }, encoding: { color: { field: value, type: "quantitative", title, scale: { range: [themed("--card"), themed("--entity-0")], interpolate: "rgb" }, legend: null } } },
      { mark: { type: "text", fontSize: 11, cursor: "pointer" }, encoding: { text: { field: value, type: "quantitative", format: ".1f" }, color: { condition: { test: `datum['${value}'] > ${middle}`, value: themed("--card") }, value: themed("--text") } } },
    ],
  };
}

function metricsChart() {
  if (names.length > MANY) return ranksChart();
  const values = metrics.flatMap((metric) => systems.map((system, place) => ({ metric: metric.title, system: system.name, ...rateRow(data.scores[metric.name][place]) })));
  const y = { field: "metric", type: "nominal", sort: metrics.map((one) => one.title), title: null };
  return {
    title: "Metrics",
    caption: data.ci ? `F1 with ${percent(data.ci, 0)}% intervals.` : "F1.",
    spec: {
      data: { values }, height: metrics.length * Math.max(30, names.length * 13),
      layer: [
        { mark: { type: "rule", strokeWidth: 2 }, encoding: { x: { field: "low", type: "quantitative" }, x2: { field: "high" } } },
        { mark: { type: "point" }, encoding: { x: { field: "f1", type: "quantitative" }, shape: { ...bySystem(), scale: { domain: names } } } },
      ],
      encoding: { x: { title: "F1", scale: { zero: false, nice: true }, axis: { orient: "bottom" } }, y: { ...y }, yOffset: offset, color: bySystem(), tooltip: [{ field: "metric" }, ...rateTips] },
    },
    columns: ["Metric", "Response", "R", "P", "F1", "from", "to"].map(column), rows: values.map((v) => cells([v.metric, v.system, v.recall, v.precision, v.f1, v.low, v.high])),
  };
}

function planeChart() {
  const many = names.length > MANY; // then it is one metric, and points are responses
  const there = metrics.filter((one) => data.scores[one.name][0].recall !== undefined);
  const only = there.find((one) => one.name === state.metric) ?? there.find((one) => one.name === "lea") ?? there.at(-1);
  const values = (many ? [only].filter(Boolean) : there)
    .flatMap((metric) => systems.map((system, place) => ({ metric: metric.title, system: system.name, ...rateRow(data.scores[metric.name][place]) })));
  if (!values.length) return null;
  const range = (name) => {
    const rates = values.map((one) => one[name]);
    const [low, high] = [Math.min(...rates), Math.max(...rates)];
    const room = Math.max((high - low) * 0.12, 4);
    return [Math.max(Math.floor(low - room), 0), Math.min(Math.ceil(high + room), 100)];
  };
  const [across, up] = [range("recall"), range("precision")];
  const lines = [];
  for (let f1 = 10; f1 < 100; f1 += 10) {
    for (let recall = Math.max(across[0], f1 / 2 + 0.1); recall <= across[1]; recall += 0.5) {
      const precision = (f1 * recall) / (2 * recall - f1);
      if (precision <= up[1] && precision >= up[0]) lines.push({ f1, recall, precision, label: `F1 ${f1}` });
    }
  }
  const crowded = names.length > 2; // then shapes stand for metrics, and hovering names them
  const titles = metrics.map((one) => one.title);
  const shape = many ? { value: "circle" } : crowded ? { field: "metric", type: "nominal", sort: titles } : { ...bySystem(), scale: { domain: names } };
  const axes = { x: { field: "recall", type: "quantitative", scale: { domain: across }, title: "recall", axis: { labelSeparation: 6 } }, y: { field: "precision", type: "quantitative", scale: { domain: up }, title: "precision" } };
  return {
    title: "Precision and recall",
    caption: `Each point is a ${many ? `response by ${only.title}` : "metric"}; along a grey line F1 is the same (10, 20, 30 …).`,
    spec: {
      height: 340,
      layer: [
        { data: { values: lines }, mark: { type: "line", color: themed("--rule"), strokeWidth: 1.5 }, encoding: { ...axes, detail: { field: "f1" }, tooltip: { field: "label" } } },
        { name: "points", data: { values }, mark: { type: "point" }, encoding: { ...axes, color: many ? { ...bySystem(), legend: null } : bySystem(), shape, tooltip: [{ field: "metric" }, ...rateTips] } },
      ],
    },
    labels: many ? pointLabels("points", "system") : crowded ? null : pointLabels("points", "metric"),
    columns: ["Metric", "Response", "R", "P"].map(column), rows: values.map((v) => cells([v.metric, v.system, v.recall, v.precision])),
  };
}

const kindTips = [{ field: "kind", title: "error" }, { field: "system", title: "response" }, { field: "count" }, { field: "turn", title: "points in turn", format: ".2f" }, { field: "alone", title: "points alone", format: ".2f" }];

function kindsChart() {
  const values = kinds.flatMap((kind, number) => systems.map((system) => {
    const one = system.errors.kinds[number];
    return { kind: `${kind.sign} ${kind.name}`, number, system: system.name, count: one.count, alone: hundred(one.alone[state.metric]), turn: hundred(one.inTurn[state.metric]) };
  }));
  return {
    title: "Errors and the points they cost",
    wide: names.length > MANY,
    caption: `What ${metricTitle(state.metric)} F1 gains when a kind of error is fixed after all those ${names.length > MANY ? "to its left" : "above it"}. Choose a ${names.length > MANY ? "field" : "bar"} to see such errors.`,
    onclick: (datum) => { if (kinds[datum.number]) go({ view: "text", kinds: kinds[datum.number].bit, system: names.indexOf(datum.system), doc: mostOf(datum.number, names.indexOf(datum.system)) }); },
    spec: names.length > MANY ? fields(values, "kind", kinds.map((kind) => `${kind.sign} ${kind.name}`), "turn", "points of F1", kindTips) : {
      data: { values }, height: kinds.length * Math.max(28, names.length * 10), mark: { type: "bar", cursor: "pointer" },
      encoding: {
        y: { field: "kind", type: "nominal", sort: null, title: null }, yOffset: offset, x: { field: "turn", type: "quantitative", title: "points of F1" }, color: bySystem(),
        tooltip: kindTips,
      },
    },
    columns: ["Error", "Response", "Count", "In turn", "Alone"].map(column), rows: values.map((v) => cells([v.kind, v.system, v.count, v.turn, v.alone])),
  };
}

function mostOf(kind, system) {
  const counts = systems[system].errors.byDocument[kind];
  return counts.indexOf(Math.max(...counts));
}

function sliceChart(slice) {
  const metric = [state.metric, headline, "lea", "b3", "muc", ...Object.keys(slice.scores)].find((name) => slice.scores[name]);
  if (!metric || slice.values.length < 2) return null;
  const shown = slice.values.map((value, place) => ({ ...value, place })).sort((one, other) => (slice.values.length > 12 ? other.size - one.size : 0)).slice(0, 24);
  const values = shown.flatMap((value) => systems.flatMap((system, place) => {
    const score = slice.scores[metric][place]?.[value.place];
    return score ? [{ value: value.name, size: value.size, system: system.name, ...rateRow(score) }] : [];
  }));
  const left = slice.values.length - shown.length;
  const noun = { document: "documents", entity: "entities of the key", mention: "mentions of the key" }[slice.level];
  const tips = [{ field: "value", title: slice.feature.replace(/\W+.*/, "") }, { field: "size", title: noun }, ...rateTips];
  return {
    title: `By ${featureTitle(slice.feature)}`, wide: names.length > MANY && shown.length > 6,
    caption: `${metricTitle(metric)} F1${metric === state.metric ? "" : ` (${metricTitle(state.metric)} has no slices here)`}. Hover for the number of ${noun}.${left ? ` The ${shown.length} largest of ${slice.values.length} values.` : ""}`,
    spec: names.length > MANY ? fields(values, "value", shown.map((one) => one.name), "f1", "F1", tips) : {
      data: { values }, height: 240,
      layer: [
        { mark: { type: "bar" }, encoding: { color: bySystem(), y: { field: "f1", type: "quantitative", title: "F1", scale: { domain: [0, 100] } } } },
        { mark: { type: "rule", strokeWidth: 1.5, color: themed("--text"), opacity: 0.6 }, encoding: { y: { field: "low", type: "quantitative" }, y2: { field: "high" } } },
      ],
      encoding: { x: { field: "value", type: "nominal", sort: null, title: null, axis: { labelAngle: shown.length > 8 ? -40 : 0 } }, xOffset: offset, tooltip: tips },
    },
    columns: ["Value", "Size", "Response", "R", "P", "F1"].map(column), rows: values.map((v) => cells([v.value, v.size, v.system, v.recall, v.precision, v.f1])),
  };
}

function featureTitle(feature) {
  const [name, rest] = feature.split(/[(]/);
  const titles = { entity_class: "class of entity", size: "size of entity", kind: "kind of mention", distance: "distance to the mention before" };
  return (titles[name] ?? feature.replaceAll("_", " ")) + (name === "distance" ? ` (in ${rest?.startsWith("sentences") ? "sentences" : "mentions"})` : "");
}

function linksChart() {
  const outcomes = ["correct", "wrong", "missed", "spurious"];
  const rows = systems[state.system].errors.links;
  if (!rows.length) return null;
  const values = rows.flatMap((row) => outcomes.map((outcome, place) => ({ pair: `${row.anaphor} → ${row.antecedent}`, outcome, place, count: row[outcome] })));
  const range = ["--entity-2", "--entity-1", "--entity-4", "--entity-6"].map(themed);
  return {
    title: "Links",
    caption: `${systems[state.system].name}: what became of each anaphor, by its kind and that of its nearest antecedent.`,
    spec: {
      data: { values }, height: rows.length * 24, mark: "bar",
      encoding: {
        y: { field: "pair", type: "nominal", sort: null, title: null }, x: { field: "count", type: "quantitative", title: "links" }, order: { field: "place" },
        color: { field: "outcome", type: "nominal", sort: outcomes, scale: { domain: outcomes, range } }, tooltip: [{ field: "pair", title: "anaphor → antecedent" }, { field: "outcome" }, { field: "count" }],
      },
    },
    columns: ["Anaphor → antecedent", ...outcomes].map(column), rows: rows.map((row) => cells([`${row.anaphor} → ${row.antecedent}`, ...outcomes.map((one) => row[one])])),
  };
}

function documentsChart() {
  if (data.documents.length < 2) return null;
  const values = systems.flatMap((system, place) => data.documents.map((id, doc) => ({
    id, doc, system: system.name, place, tokens: data.texts[system.version][doc].count, f1: hundred(data.byDocument[state.metric][place].f1[doc]), lost: hundred(system.lost[state.metric][doc]),
  })));
  return {
    title: "Documents", wide: true,
    caption: `${metricTitle(state.metric)} F1 of each document by its length. Choose a point to open the document.`,
    onclick: (datum) => { if (datum.doc !== undefined) go({ view: "text", doc: datum.doc, system: datum.place, mention: null, entity: null }); },
    spec: {
      data: { values }, height: 300, mark: { type: "point", opacity: 0.75, cursor: "pointer" },
      encoding: {
        x: { field: "tokens", type: "quantitative", scale: { zero: false, nice: true } }, y: { field: "f1", type: "quantitative", title: "F1", scale: { zero: false } }, color: bySystem(), shape: { ...bySystem(), scale: { domain: names } },
        tooltip: [{ field: "id", title: "document" }, { field: "system", title: "response" }, { field: "f1", title: "F1", format: ".2f" }, { field: "lost", title: "points lost", format: ".2f" }, { field: "tokens" }],
      },
    },
    columns: ["Document", "Response", "Tokens", "F1", "Points lost"].map(column), rows: values.map((v) => cells([v.id, v.system, v.tokens, v.f1, v.lost])),
  };
}

function column(title, place) {
  return { title, numeric: place > 1 };
}

function cells(values) {
  return values.map((value) => (value === null ? "–" : String(value)));
}
