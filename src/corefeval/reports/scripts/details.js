// The panel beside the text: the chosen mention, all entities, their flow from key to response.

import { costPoints, kindsOf, mentionKinds, plural, systems } from "./data.js";
import { announce, button, el, hue, line, svg, table } from "./elements.js";
import { address, go, state } from "./state.js";
import { contextOf, differ, entityText, isMatched, mentionText, resolve } from "./documents_model.js";
import { describeEntity } from "./overview.js";
import { arcs, relationSection, relationTable, withRelated } from "./relations.js";
import { shownDocument } from "./text.js";

const TABS = ["mention", "entities", "flow"];
let tab = "mention";
let entityOrder = "cost";
let aside = null;
let opened = false; // on a phone, where the panel covers part of the text

export function panel() {
  const { model, other } = shownDocument();
  aside = el("aside", { class: opened ? "panel open" : "panel", "aria-label": "about the text" });
  updatePanel(model, other);
  return aside;
}

export function showPanel(name, open = false) {
  tab = name;
  if (!aside) return;
  const { model, other } = shownDocument();
  updatePanel(model, other);
  setOpened(opened || open || name === "mention");
}

function setOpened(value) {
  opened = value;
  aside.classList.toggle("open", value);
}

export function updatePanel(model, other) {
  const body = { mention: () => mentionPanel(model, other), entities: () => entitiesPanel(model), flow: () => flow(model) }[tab]();
  const tabs = TABS.map((name) => button(name, () => showPanel(name), { role: "tab", "aria-selected": String(tab === name), id: `tab-${name}`, "aria-controls": "panel-body" }));
  aside.replaceChildren(
    el("div", { class: "tabs", role: "tablist" }, tabs, button("×", () => setOpened(false), { class: "phone close", "aria-label": "close" })),
    el("div", { role: "tabpanel", id: "panel-body", "aria-labelledby": `tab-${tab}`, class: "body" }, body));
}

function mentionPanel(model, other) {
  const mine = state.mention?.[0] === "o" ? other : model;
  const chosen = mine && resolve(mine, state.mention);
  if (!chosen) return el("p", { class: "hint" }, "Choose a mention in the text, or press n for the next wrong one.");
  const { side, mention } = chosen;
  const isKey = side.name === "k";
  const [k, r] = isKey ? [mention, mine.key.twin[mention]] : [mine.response.twin[mention], mention];
  const bits = side.wrong[mention];
  const text = mentionText(mine, side, mention, 300);
  const cost = (k >= 0 && mine.key.cost ? mine.key.cost[k] : 0) + (r >= 0 && mine.response.cost ? mine.response.cost[r] : 0);
  const errors = kindsOf(bits);
  announce(`${text}. ${errors.length ? errors.map((kind) => kind.name).join(", ") : "right"}`);
  return el("div", { class: "mention-panel" },
    el("h2", { dir: "auto" }, text),
    el("p", { class: "hint" }, facts(side, mention)),
    errors.length ? el("ul", { class: "errors" }, errors.map((kind) => el("li", {}, el("span", { class: "sign", "aria-hidden": "true" }, kind.sign), el("div", {}, el("strong", {}, kind.name), el("small", {}, kind.summary))))) : el("p", { class: "right" }, "✓ nothing wrong with this mention"),
    cost ? el("p", {}, `Its share of the lost points: ${costPoints(cost)}`) : null,
    otherSpan(mine, k, r, isKey),
    k >= 0 ? chainOf(mine, mine.key, mine.key.entity[k], k, "In the key") : el("p", { class: "hint" }, "The key has no such mention."),
    r >= 0 ? chainOf(mine, mine.response, mine.response.entity[r], r, `In ${systems[mine.system].name}`) : el("p", { class: "hint" }, `${systems[mine.system].name} has no such mention.`),
    relationSection(mine, mine.key, k, "In the key"), relationSection(mine, mine.response, r, `In ${systems[mine.system].name}`),
    others(mine, side, mention),
    el("p", {}, el("a", { href: address(state), id: "mention-link" }, "Link to this mention")));
}

function facts(side, mention) {
  const [start, end] = [side.start[mention], side.end[mention]];
  const kind = side.kind && side.kind[mention] >= 0 ? `${mentionKinds[side.kind[mention]]}, ` : "";
  return `${kind}${end - start === 1 ? `token ${start}` : `tokens ${start}–${end - 1}`}`;
}

function otherSpan(model, k, r, isKey) {
  if (k < 0 || r < 0 || !differ(model, k, r)) return null;
  const [mine, theirs] = [mentionText(model, model.key, k), mentionText(model, model.response, r)];
  const [owner, words] = isKey ? ["response", theirs] : ["key", mine];
  return el("p", {}, isMatched(model, r) ? `Matched with “${words}” of the ${owner}, as the protocol has it.` : `The ${owner} has “${words}” instead.`);
}

/** A chain, mention by mention; what the other side has elsewhere or not at all is marked. */
function chainOf(model, side, entity, current, title) {
  const chain = side.chains[entity];
  const place = chain.indexOf(current);
  const from = Math.max(Math.min(place - 6, chain.length - 13), 0);
  const shown = chain.slice(from, from + 13);
  const name = side.name;
  const item = (mention) => {
    const signs = kindsOf(side.wrong[mention]).map((kind) => kind.sign).join("");
    const [left, right] = contextOf(model, side.start[mention], side.end[mention], 3);
    return el("li", { class: mention === current ? "here" : null },
      el("button", { type: "button", class: "plain", onclick: () => go({ mention: `${name}${mention}` }), title: left + mentionText(model, side, mention) + right },
        mentionText(model, side, mention, 44), signs ? el("span", { class: "signs" }, ` ${signs}`) : null));
  };
  const label = el("span", { class: "swatch", style: { "--hue": hue(side.colours[entity]), "--line": line(side.colours[entity]) } }, side.labels[entity]);
  return el("section", { class: "chain" },
    el("h3", {}, `${title} `, label, el("small", {}, ` ${plural(chain.length, "mention")}`)),
    from ? el("small", {}, `… ${from} before`) : null,
    el("ol", { start: from + 1 }, shown.map(item)),
    from + 13 < chain.length ? el("small", {}, `… ${chain.length - from - 13} more`) : null,
    button(state.entity === `${name}${entity}` ? "show all entities" : "show only this entity", () => go({ entity: state.entity === `${name}${entity}` ? null : `${name}${entity}` }), { class: "small" }));
}

/** What the other responses make of the same mention. */
function others(model, side, mention) {
  if (systems.length < 2) return null;
  const [start, length] = [side.start[mention], side.end[mention] - side.start[mention]];
  const rows = systems.map((system) => {
    if (system.version !== systems[model.system].version) return null;
    const one = system.documents[model.doc];
    const k = side.name === "k" ? mention : side.twin[mention];
    let said;
    if (k >= 0) said = one.keyWrong[k] ? kindsOf(one.keyWrong[k]).map((kind) => `${kind.sign} ${kind.name}`).join(", ") : "✓ right";
    else said = one.start.some((from, place) => from === start && one.length[place] === length) ? "+ has it too" : "✓ does not have it";
    return el("tr", {}, el("th", { scope: "row" }, system.name), el("td", {}, said));
  });
  return el("section", {}, el("h3", {}, "All responses"), el("table", { class: "plain-table" }, el("tbody", {}, rows.filter(Boolean))));
}

/** All entities of the document, key and response, the most expensive first. */
function entitiesPanel(model) {
  const listed = [];
  for (const side of [model.key, model.response]) {
    side.chains.forEach((chain, entity) => {
      if (chain) listed.push({ side, entity, cost: side.entityCost?.[entity] ?? 0, first: side.start[chain[0]], size: chain.length });
    });
  }
  const by = { cost: (a, b) => b.cost - a.cost || b.size - a.size, size: (a, b) => b.size - a.size, text: (a, b) => a.first - b.first };
  const rows = listed.sort(by[entityOrder]).slice(0, 400).map(({ side, entity, cost }) => {
    const ref = `${side.name}${entity}`;
    const choose = () => go({ entity: state.entity === ref ? null : ref, mention: state.entity === ref ? null : `${side.name}${side.chains[entity][0]}` });
    return el("li", {}, el("button", { type: "button", class: "plain entity", "aria-pressed": String(state.entity === ref), onclick: choose },
      el("span", { class: "swatch", style: { "--hue": hue(side.colours[entity]), "--line": line(side.colours[entity]) } }, side.labels[entity]),
      el("span", { class: "grow", dir: "auto" }, entityText(model, side, entity), el("small", {}, describeEntity(model, side, entity))),
      cost ? el("span", { class: "cost" }, costPoints(cost)) : null));
  });
  return el("div", {},
    el("label", { class: "choice" }, el("span", {}, "Sort by"), el("select", { onchange: (event) => { entityOrder = event.target.value; updatePanel(model, shownDocument().other); } },
      [["cost", "points lost"], ["size", "mentions"], ["text", "place in the text"]].map(([value, text]) => el("option", { value, selected: value === entityOrder }, text)))),
    state.entity ? button("show all entities", () => go({ entity: null }), { class: "small" }) : null,
    el("ul", { class: "entities" }, rows));
}

// How key entities flow into response entities: ribbons as wide as the mentions that they share.

const MOST = 16; // key entities
const WIDTH = 440;
const BAR = 10;
const PAD = 6;
const SIDE = 120;
let withRight = false;
let unlimited = false;

function flow(model) {
  const flows = chosenFlows(model);
  const draw = (changes) => { changes(); const place = document.getElementById("panel-body"); place?.replaceChildren(flow(model)); };
  const left = flows.left;
  return el("div", { class: "flow" },
    el("p", { class: "hint" }, "Key entities on the left, response entities on the right; ribbons are as wide as the mentions that both have. Choose one to see it in the text."),
    el("label", { class: "check" }, el("input", { type: "checkbox", checked: withRight, onchange: (event) => draw(() => { withRight = event.target.checked; }) }), " also entities that are right"),
    flows.cells.length ? drawing(model, flows) : el("p", { class: "right" }, "✓ every entity is right"),
    left ? button(`show ${plural(left, "more entity")}`, () => draw(() => { unlimited = true; }), { class: "small" }) : null,
    flows.cells.length ? el("details", {}, el("summary", {}, "As a table"), flowTable(model, flows.cells)) : null,
    relationTable(model));
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
  const chosen = state.entity && state.entity[0] !== "o" ? withRelated(model, cells, related(cells, state.entity)) : cells.filter((cell) => withRight || !whole(cell));
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
  picture.append(...ribbons(model, cells, sides), ...sides[0].map((one) => bar(model, one, 0)), ...sides[1].map((one) => bar(model, one, 1)),
    ...arcs(model.key, sides[0], SIDE + BAR, 1), ...arcs(model.response, sides[1], WIDTH - SIDE - BAR, -1));
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
