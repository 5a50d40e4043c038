// How key entities flow into response entities: ribbons as wide as the mentions that they share.

import { plural } from "./data.js";
import { button, el, svg, table } from "./elements.js";
import { go, state } from "./state.js";
import { hue } from "./palette.js";
import { entityText } from "./documents_model.js";

const MOST = 16; // key entities
const WIDTH = 440;
const BAR = 10;
const PAD = 6;
const SIDE = 120;
let withRight = false;
let unlimited = false;

export function flow(model) {
  const flows = chosenFlows(model);
  const draw = (changes) => { changes(); const place = document.getElementById("panel-body"); place?.replaceChildren(flow(model)); };
  const left = flows.left;
  return el("div", { class: "flow" },
    el("p", { class: "hint" }, "Key entities on the left, response entities on the right; ribbons are as wide as the mentions that both have. Choose one to see it in the text."),
    el("label", { class: "check" }, el("input", { type: "checkbox", checked: withRight, onchange: (event) => draw(() => { withRight = event.target.checked; }) }), " also entities that are right"),
    flows.cells.length ? drawing(model, flows) : el("p", { class: "right" }, "✓ every entity is right"),
    left ? button(`show ${plural(left, "more entity")}`, () => draw(() => { unlimited = true; }), { class: "small" }) : null,
    flows.cells.length ? el("details", {}, el("summary", {}, "As a table"), flowTable(model, flows.cells)) : null);
}

/** Cells with what is missing (response −1) and extra (key −1), of the entities to be shown. */
function chosenFlows(model) {
  const { key, response } = model;
  const cells = [...model.cells];
  key.chains.forEach((chain, entity) => {
    const count = chain.filter((mention) => key.twin[mention] < 0).length;
    if (count) cells.push({ key: entity, response: -1, count });
  });
  response.chains.forEach((chain, entity) => {
    const count = chain.filter((mention) => response.twin[mention] < 0).length;
    if (count) cells.push({ key: -1, response: entity, count });
  });
  const whole = (cell) => cell.key >= 0 && cell.response >= 0 && key.chains[cell.key].length === cell.count && response.chains[cell.response].length === cell.count;
  const chosen = state.entity && state.entity[0] !== "o" ? related(cells, state.entity) : cells.filter((cell) => withRight || !whole(cell));
  const keys = [...new Set(chosen.map((cell) => cell.key).filter((entity) => entity >= 0))];
  const limit = unlimited ? Infinity : MOST;
  const dear = [...keys].sort((a, b) => (key.entityCost?.[b] ?? 0) - (key.entityCost?.[a] ?? 0) || key.chains[b].length - key.chains[a].length).slice(0, limit);
  const kept = new Set(dear);
  const owners = new Set(chosen.filter((cell) => kept.has(cell.key)).map((cell) => cell.response));
  const shown = chosen.filter((cell) => kept.has(cell.key) || (cell.key < 0 && (owners.has(cell.response) || keys.length <= limit)));
  return { cells: shown, left: Math.max(keys.length - kept.size, 0) };
}

/** The cells of an entity, and of the entities on the other side that it meets. */
function related(cells, ref) {
  const [mine, theirs] = ref[0] === "k" ? ["key", "response"] : ["response", "key"];
  const number = Number(ref.slice(1));
  const met = new Set(cells.filter((cell) => cell[mine] === number).map((cell) => cell[theirs]));
  met.delete(-1);
  return cells.filter((cell) => cell[mine] === number || met.has(cell[theirs]));
}

function drawing(model, { cells }) {
  const sides = [stacked(cells, "key", (a, b) => a - b), null];
  const centre = new Map();
  for (const cell of cells) {
    const [sum, weight] = centre.get(cell.response) ?? [0, 0];
    const place = sides[0].find((one) => one.entity === cell.key);
    centre.set(cell.response, [sum + (place.y + place.height / 2) * cell.count, weight + cell.count]);
  }
  const middle = (entity) => centre.get(entity)[0] / centre.get(entity)[1];
  sides[1] = stacked(cells, "response", (a, b) => middle(a) - middle(b));
  const height = Math.max(...sides.flat().map((one) => one.y + one.height)) + PAD;
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": "flow of key entities into response entities; the table below has the numbers" });
  picture.append(...ribbons(model, cells, sides), ...sides[0].map((one) => bar(model, one, 0)), ...sides[1].map((one) => bar(model, one, 1)));
  return el("div", { class: "scroller" }, picture);
}

/** Bars one below the other; what is missing or extra comes last. */
function stacked(cells, side, compare) {
  const sizes = new Map();
  for (const cell of cells) sizes.set(cell[side], (sizes.get(cell[side]) ?? 0) + cell.count);
  const order = [...sizes.keys()].sort((a, b) => (a < 0) - (b < 0) || compare(a, b));
  let y = PAD;
  return order.map((entity) => {
    const height = Math.max(sizes.get(entity) * scale(cells), 12);
    const one = { entity, y, height, size: sizes.get(entity), used: 0 };
    y += height + PAD;
    return one;
  });
}

function scale(cells) {
  const total = cells.reduce((sum, cell) => sum + cell.count, 0);
  return Math.min(8, Math.max(420 / total, 1.5));
}

function ribbons(model, cells, sides) {
  const unit = scale(cells);
  const find = (place, entity) => sides[place].find((one) => one.entity === entity);
  const sorted = [...cells].sort((a, b) => find(0, a.key).y - find(0, b.key).y || find(1, a.response).y - find(1, b.response).y);
  return sorted.map((cell) => {
    const [from, to] = [find(0, cell.key), find(1, cell.response)];
    const thick = cell.count * unit;
    const [y1, y2] = [from.y + from.used + thick / 2, to.y + to.used + thick / 2];
    from.used += thick;
    to.used += thick;
    const [x1, x2] = [SIDE + BAR, WIDTH - SIDE - BAR];
    const colour = cell.key >= 0 ? hue(model.key.colours[cell.key]) : "var(--entity-none)";
    const path = svg("path", { d: `M${x1} ${y1} C${(x1 + x2) / 2} ${y1} ${(x1 + x2) / 2} ${y2} ${x2} ${y2}`, "stroke-width": Math.max(thick, 1.5), class: `ribbon ${cell.key < 0 || cell.response < 0 ? "loose" : ""}`, style: { stroke: colour } });
    path.append(svg("title", {}, `${nodeName(model, 0, cell.key)} → ${nodeName(model, 1, cell.response)}: ${plural(cell.count, "mention")}`));
    path.addEventListener("click", () => choose(model, cell));
    return path;
  });
}

function choose(model, cell) {
  const side = cell.key >= 0 ? model.key : model.response;
  const mention = side.chains[cell.key >= 0 ? cell.key : cell.response].find((one) => {
    const twin = side.twin[one];
    if (cell.key >= 0 && cell.response >= 0) return twin >= 0 && model.response.entity[twin] === cell.response;
    return twin < 0;
  });
  go({ mention: `${side.name}${mention}` });
}

function bar(model, { entity, y, height }, place) {
  const side = place ? model.response : model.key;
  const x = place ? WIDTH - SIDE - BAR : SIDE;
  const text = svg("text", { x: place ? WIDTH - SIDE + 5 : SIDE - 5, y: y + height / 2, "text-anchor": place ? "start" : "end", "dominant-baseline": "central" }, clipped(nodeName(model, place, entity)));
  const colour = entity >= 0 ? hue(side.colours[entity]) : "var(--entity-none)";
  const group = svg("g", { class: entity >= 0 ? "node" : "node loose" }, svg("rect", { x, y, width: BAR, height, rx: 2, style: { fill: colour } }), text);
  if (entity >= 0) group.addEventListener("click", () => go({ entity: `${side.name}${entity}`, mention: `${side.name}${side.chains[entity][0]}` }));
  group.append(svg("title", {}, nodeName(model, place, entity)));
  return group;
}

function nodeName(model, place, entity) {
  if (entity < 0) return place ? "missing" : "extra";
  const side = place ? model.response : model.key;
  return `${side.labels[entity]} ${entityText(model, side, entity)}`;
}

function clipped(text) {
  return text.length > 17 ? `${text.slice(0, 16)}…` : text;
}

function flowTable(model, cells) {
  const rows = [...cells].sort((a, b) => b.count - a.count).map((cell) => [nodeName(model, 0, cell.key), nodeName(model, 1, cell.response), String(cell.count)]);
  return table([{ title: "Key" }, { title: "Response" }, { title: "Mentions", numeric: true }], rows);
}
