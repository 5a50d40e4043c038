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

const FLOW_STEP = 40; // entities of each side that are shown by themselves, and how many more on request
const WIDTH = 440;
const BAR = 10;
const SIDE = 120;
const LEAST = 320; // the least height of the picture
const SMALLER = -2; // all entities that are not shown by themselves; -1 is what is missing or extra
let withRight = false;
let flowLimit = FLOW_STEP;

function flow(model) {
  const flows = chosenFlows(model);
  const draw = (changes) => { changes(); const place = document.getElementById("panel-body"); place?.replaceChildren(flow(model)); };
  const more = Math.max(flows.hidden.key, flows.hidden.response);
  return el("div", { class: "flow" },
    el("p", { class: "hint" }, "Key entities on the left, response entities on the right; ribbons are as wide as the mentions that both have. Choose one to see it in the text."),
    el("label", { class: "check" }, el("input", { type: "checkbox", checked: withRight, onchange: (event) => draw(() => { withRight = event.target.checked; }) }), " also entities that are right"),
    flows.cells.length ? drawing(model, flows) : el("p", { class: "right" }, "✓ every entity is right"),
    more ? button(`show ${Math.min(more, FLOW_STEP)} more by themselves`, () => draw(() => { flowLimit += FLOW_STEP; }), { class: "small" }) : null,
    flowLimit > FLOW_STEP ? button("show fewer", () => draw(() => { flowLimit = FLOW_STEP; }), { class: "small" }) : null,
    flows.cells.length ? el("details", {}, el("summary", {}, "As a table"), flowTable(model, flows)) : null,
    relationTable(model));
}

/** Cells with what is missing (response −1) and extra (key −1); entities beyond the limit are one (−2). */
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
  const keys = largest(chosen, "key", (entity) => key.entityCost?.[entity] ?? 0);
  const owners = largest(chosen, "response", () => 0);
  const merged = new Map();
  for (const cell of chosen) {
    const ends = [keys.shown.has(cell.key) ? cell.key : SMALLER, owners.shown.has(cell.response) ? cell.response : SMALLER];
    const name = ends.join(" ");
    if (!merged.has(name)) merged.set(name, { key: ends[0], response: ends[1], count: 0 });
    merged.get(name).count += cell.count;
  }
  return { cells: [...merged.values()], hidden: { key: keys.hidden, response: owners.hidden } };
}

/** The entities of one side that are shown by themselves, the dearest and largest first, and how many are not. */
function largest(cells, side, cost) {
  const sizes = new Map();
  for (const cell of cells) if (cell[side] >= 0) sizes.set(cell[side], (sizes.get(cell[side]) ?? 0) + cell.count);
  const order = [...sizes.keys()].sort((a, b) => cost(b) - cost(a) || sizes.get(b) - sizes.get(a) || a - b);
  const limit = order.length === flowLimit + 1 ? order.length : flowLimit; // “1 more” would take as much room
  return { shown: new Set([-1, ...order.slice(0, limit)]), hidden: Math.max(order.length - limit, 0) };
}

/** The cells of an entity, and of the entities on the other side that it meets. */
function related(cells, ref) {
  const [mine, theirs] = ref[0] === "k" ? ["key", "response"] : ["response", "key"];
  const number = Number(ref.slice(1));
  const met = new Set(cells.filter((cell) => cell[mine] === number).map((cell) => cell[theirs]));
  met.delete(-1);
  return cells.filter((cell) => cell[mine] === number || met.has(cell[theirs]));
}

function drawing(model, { cells, hidden }) {
  const keys = stacked(cells, "key", (a, b) => a - b);
  const centre = new Map();
  for (const cell of cells) {
    const [sum, weight] = centre.get(cell.response) ?? [0, 0];
    const place = keys.get(cell.key);
    centre.set(cell.response, [sum + (place.y + place.height / 2) * cell.count, weight + cell.count]);
  }
  const middle = (entity) => centre.get(entity)[0] / centre.get(entity)[1];
  const sides = [keys, stacked(cells, "response", (a, b) => middle(a) - middle(b))];
  const height = Math.max(...sides.flatMap((bars) => [...bars.values()]).map((one) => one.y + one.height)) + 4;
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": "flow of key entities into response entities; the table below has the numbers" });
  const bars = sides.flatMap((side, place) => [...side.values()].map((one) => bar(model, hidden, one, place)));
  picture.append(...ribbons(model, hidden, cells, sides), ...bars,
    ...arcs(model.key, [...sides[0].values()], SIDE + BAR, 1), ...arcs(model.response, [...sides[1].values()], WIDTH - SIDE - BAR, -1));
  return el("div", { class: "scroller" }, picture);
}

/** Bars one below the other, which fit the window; what is missing or extra, and all smaller entities, come last. */
function stacked(cells, side, compare) {
  const sizes = new Map();
  for (const cell of cells) sizes.set(cell[side], (sizes.get(cell[side]) ?? 0) + cell.count);
  const order = [...sizes.keys()].sort((a, b) => (a < 0) - (b < 0) || (a < 0 ? a - b : compare(a, b)));
  const [gap, least] = order.length > 16 ? [2, 10] : [6, 12];
  const room = Math.max(window.innerHeight - 360, LEAST) - order.length * (gap + least);
  const unit = Math.min(8, Math.max(room, 0) / cells.reduce((sum, cell) => sum + cell.count, 0));
  const bars = new Map();
  let y = gap;
  for (const entity of order) {
    const height = least + sizes.get(entity) * unit;
    bars.set(entity, { entity, y, height, size: sizes.get(entity), used: 0 });
    y += height + gap;
  }
  return bars;
}

/** A ribbon for each cell: at both ends as wide as its share of the bar there. */
function ribbons(model, hidden, cells, [keys, owners]) {
  const sorted = [...cells].sort((a, b) => keys.get(a.key).y - keys.get(b.key).y || owners.get(a.response).y - owners.get(b.response).y);
  const cut = (one, count) => {
    const top = one.y + one.used;
    one.used += (one.height * count) / one.size;
    return [top, one.y + one.used];
  };
  return sorted.map((cell) => {
    const [top1, end1] = cut(keys.get(cell.key), cell.count);
    const [top2, end2] = cut(owners.get(cell.response), cell.count);
    const [x1, x2] = [SIDE + BAR, WIDTH - SIDE - BAR];
    const middle = (x1 + x2) / 2;
    const colour = cell.key >= 0 ? hue(model.key.colours[cell.key]) : "var(--entity-none)";
    const outline = `M${x1} ${top1} C${middle} ${top1} ${middle} ${top2} ${x2} ${top2} L${x2} ${end2} C${middle} ${end2} ${middle} ${end1} ${x1} ${end1} Z`;
    const path = svg("path", { d: outline, class: `ribbon ${cell.key < 0 || cell.response < 0 ? "loose" : ""}`, style: { fill: colour } });
    path.append(svg("title", {}, `${nodeName(model, hidden, 0, cell.key)} → ${nodeName(model, hidden, 1, cell.response)}: ${plural(cell.count, "mention")}`));
    if (cell.key !== SMALLER && cell.response !== SMALLER) path.addEventListener("click", () => choose(model, cell));
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

function bar(model, hidden, { entity, y, height }, place) {
  const side = place ? model.response : model.key;
  const x = place ? WIDTH - SIDE - BAR : SIDE;
  const text = svg("text", { x: place ? WIDTH - SIDE + 5 : SIDE - 5, y: y + height / 2, "text-anchor": place ? "start" : "end", "dominant-baseline": "central" }, clipped(nodeName(model, hidden, place, entity)));
  const colour = entity >= 0 ? hue(side.colours[entity]) : "var(--entity-none)";
  const group = svg("g", { class: entity >= 0 ? "node" : "node loose" }, svg("rect", { x, y, width: BAR, height, rx: 2, style: { fill: colour } }), text);
  if (entity >= 0) group.addEventListener("click", () => go({ entity: `${side.name}${entity}`, mention: `${side.name}${side.chains[entity][0]}` }));
  group.append(svg("title", {}, nodeName(model, hidden, place, entity)));
  return group;
}

function nodeName(model, hidden, place, entity) {
  if (entity === SMALLER) return `${plural(place ? hidden.response : hidden.key, "smaller entity")}`;
  if (entity < 0) return place ? "missing" : "extra";
  const side = place ? model.response : model.key;
  return `${side.labels[entity]} ${entityText(model, side, entity)}`;
}

function clipped(text) {
  return text.length > 17 ? `${text.slice(0, 16)}…` : text;
}

function flowTable(model, { cells, hidden }) {
  const rows = [...cells].sort((a, b) => b.count - a.count).map((cell) => [nodeName(model, hidden, 0, cell.key), nodeName(model, hidden, 1, cell.response), String(cell.count)]);
  return table([{ title: "Key" }, { title: "Response" }, { title: "Mentions", numeric: true }], rows);
}
