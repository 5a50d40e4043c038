// Elements of the page, in which text goes in as text, never as HTML, and their colours.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes (`class`, `onclick`, `data-x` …) and children (elements or text). */
export function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") Object.entries(value).forEach(([key, one]) => node.style.setProperty(key, one));
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

function replaceChildren(node, ...children) {
  node.replaceChildren(...children.flat().filter(Boolean));
  return node;
}

/** A choice with a label; options are [value, text]. */
export function choice(label, options, value, onchange, attributes = {}) {
  const select = el("select", { ...attributes, onchange: (event) => onchange(event.target.value) });
  for (const [option, text] of options) select.append(el("option", { value: option, selected: String(option) === String(value) }, text));
  return el("label", { class: "choice" }, el("span", {}, label), select);
}

export function button(text, onclick, attributes = {}) {
  return el("button", { type: "button", ...attributes, onclick }, text);
}

/** Say something to those who do not see the page. */
export function announce(text) {
  document.getElementById("announcement").textContent = text;
}

/** A table; cells are text or elements, columns are {title, numeric}.
 *
 * Columns that have a `sort`, a value of each row, can be sorted by it; `sorted` is told the column and whether the
 * largest comes first, and columns may be so already: {column, down}.
 */
export function table(columns, rows, attributes = {}, { by = null, sorted = () => {} } = {}) {
  const lines = rows.map((row) => el("tr", {}, row.map((cell, place) => (
    place === 0 ? el("th", { scope: "row" }, cell) : el("td", { class: columns[place].numeric ? "number" : null }, cell)
  ))));
  const head = el("tr");
  const body = el("tbody", {}, lines);
  const arrange = (order) => {
    head.replaceChildren(...columns.map((one, place) => headCell(one, place === order?.column ? order.down : null, (down) => {
      arrange({ column: place, down });
      sorted({ column: place, down });
      announce(`sorted by ${one.title}, ${down ? "largest" : "smallest"} first`);
      head.children[place].querySelector("button").focus();
    })));
    if (order) body.replaceChildren(...inOrder(columns[order.column].sort, order.down).map((row) => lines[row]));
  };
  arrange(by);
  return el("div", { class: "scroller", tabindex: "0" }, el("table", attributes, el("thead", {}, head), body));
}

/** A heading, which sorts if it can: names from the first, numbers from the largest, then the other way round. */
function headCell(column, down, sort) {
  const attributes = { scope: "col", class: column.numeric ? "number" : null, "aria-sort": down === null ? null : down ? "descending" : "ascending" };
  if (!column.sort) return el("th", attributes, column.title);
  const arrow = el("span", { "aria-hidden": "true" }, down === null ? "" : down ? " ↓" : " ↑");
  return el("th", attributes, button([column.title, arrow], () => sort(down === null ? Boolean(column.numeric) : !down), { class: "plain" }));
}

function inOrder(values, down) {
  const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1);
  return values.map((_, row) => row).sort((one, other) => compare(values[one], values[other]) || one - other);
}

// Colours of entities: ten hues that colour-blind people can tell apart, then other lines below.

const HUES = 10;
const LINES = ["solid", "dashed", "dotted", "double"];

/** The colour of an entity as CSS; entities of one mention have none. */
export function hue(colour) {
  return colour < 0 ? "var(--entity-none)" : `var(--entity-${colour % HUES})`;
}

/** The line under an entity: where hues repeat, lines differ. */
export function line(colour) {
  return colour < 0 ? "solid" : LINES[Math.floor(colour / HUES) % LINES.length];
}

/** The value of a CSS variable now, in light or dark mode. */
export function themed(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Colours of responses in charts. */
export function systemColours(count) {
  return Array.from({ length: count }, (_, place) => themed(`--entity-${place % HUES}`));
}
