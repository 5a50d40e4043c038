// All documents, sorted by any score or by the points that they cost.

import { data, metrics, metricTitle, percent, systems } from "./data.js";
import { announce, el } from "./elements.js";
import { address, state } from "./state.js";
import { partBar } from "./overview.js";

let sorting = { column: "lost", down: true };
let rate = "f1";
let filter = "";

export const documentsView = {
  name: "documents",
  title: "Documents",
  depends: ["system", "metric"],
  render() {
    const body = el("tbody");
    const head = el("thead");
    const draw = () => { head.replaceChildren(headRow(draw)); body.replaceChildren(...rows()); };
    draw();
    const rates = ["f1", "recall", "precision"].map((name) => el("option", { value: name, selected: name === rate }, name === "f1" ? "F1" : name));
    return [
      el("h1", {}, "Documents"),
      el("p", { class: "hint" }, `${systems[state.system].name}. “Points lost” is what ${metricTitle(state.metric)} F1 of the whole corpus would gain if the document were perfect.`),
      el("div", { class: "tools" },
        el("label", { class: "choice" }, el("span", {}, "Find"), el("input", { type: "search", value: filter, placeholder: "part of a name", oninput: (event) => { filter = event.target.value; draw(); } })),
        el("label", { class: "choice" }, el("span", {}, "Show"), el("select", { onchange: (event) => { rate = event.target.value; draw(); } }, rates))),
      el("div", { class: "scroller", tabindex: "0" }, el("table", { class: "documents" }, head, body)),
    ];
  },
};

function columns() {
  const texts = data.texts[systems[state.system].version];
  const errors = systems[state.system].errors.byDocument;
  const lost = systems[state.system].lost[state.metric] ?? [];
  return [
    { name: "id", title: "Document", value: (doc) => data.documents[doc] },
    { name: "tokens", title: "Tokens", value: (doc) => texts[doc].count },
    { name: "mentions", title: "Mentions in key", value: (doc) => texts[doc].start.length },
    { name: "errors", title: "Errors", value: (doc) => errors.reduce((sum, counts) => sum + counts[doc], 0) },
    { name: "lost", title: "Points lost", value: (doc) => lost[doc] ?? 0, show: (value) => percent(value), bar: Math.max(...lost, 1e-9) },
    ...metrics.map((metric) => ({
      name: metric.name, title: metric.title,
      value: (doc) => data.byDocument[metric.name][state.system][rate]?.[doc] ?? -1,
      show: (value) => (value < 0 ? "–" : percent(value)),
    })),
  ];
}

function headRow(draw) {
  return el("tr", {}, columns().map((column) => {
    const sorted = sorting.column === column.name ? (sorting.down ? "descending" : "ascending") : null;
    const choose = () => {
      sorting = { column: column.name, down: sorting.column === column.name ? !sorting.down : column.name !== "id" };
      draw();
      announce(`sorted by ${column.title}, ${sorting.down ? "largest" : "smallest"} first`);
      document.querySelector(`[data-column="${CSS.escape(column.name)}"]`)?.focus();
    };
    const arrow = el("span", { "aria-hidden": "true" }, sorted ? (sorting.down ? " ↓" : " ↑") : "");
    return el("th", { scope: "col", "aria-sort": sorted, class: column.name === "id" ? null : "number" },
      el("button", { type: "button", class: "plain", "data-column": column.name, onclick: choose }, column.title, arrow));
  }));
}

function rows() {
  const all = columns();
  const by = all.find((column) => column.name === sorting.column) ?? all[0];
  const wanted = filter.toLowerCase();
  return documentOrder(by, sorting.down)
    .filter((doc) => data.documents[doc].toLowerCase().includes(wanted))
    .map((doc) => el("tr", {}, all.map((column) => cell(column, doc))));
}

function documentOrder(by, down) {
  const sign = down ? -1 : 1;
  return data.documents.map((_, doc) => doc).sort((one, other) => {
    const [a, b] = [by.value(one), by.value(other)];
    return (a < b ? -1 : a > b ? 1 : 0) * sign || one - other;
  });
}

function cell(column, doc) {
  const value = column.value(doc);
  if (column.name === "id") {
    const changes = { ...state, view: "text", doc, mention: null, entity: null };
    return el("th", { scope: "row" }, el("a", { href: address(changes) }, value));
  }
  const shown = column.show ? column.show(value) : value.toLocaleString("en");
  return el("td", { class: "number" }, column.bar ? partBar(value, column.bar) : shown);
}
