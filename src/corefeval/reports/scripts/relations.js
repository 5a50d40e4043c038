// Sets of antecedents and bridging: marks and lines in the text, sections of the panel, arcs in the flow.

import { el, hue, line, svg, table } from "./elements.js";
import { entityText, mentionText } from "./documents_model.js";
import { go, state } from "./state.js";

export function hasRelations({ key, response }) {
  return [key, response].some((side) => side.sets.size || side.bridging.size);
}

/** What stands behind the number of an entity: the elements of its set, the entities it bridges to. */
export function relationMark(side, mention) {
  const elements = side.sets.get(side.entity[mention]);
  const bridges = side.bridging.get(mention) ?? [];
  const set = elements ? `={${elements.map((one) => side.labels[one]).join(",")}}` : "";
  return set + (bridges.length ? `⇢${[...new Set(bridges.map(({ to }) => side.labels[side.entity[to]]))].join(",")}` : "");
}

/** The same in words. */
export function relationWords(model, side, mention) {
  const elements = side.sets.get(side.entity[mention]);
  const words = elements ? [`it stands for ${elements.map((one) => `“${entityText(model, side, one)}”`).join(" and ")}`] : [];
  for (const { to, label } of side.bridging.get(mention) ?? []) words.push(`it bridges to “${mentionText(model, side, to, 40)}”${label ? ` (${label})` : ""}`);
  return words;
}

function swatch(side, entity) {
  return el("span", { class: "swatch", style: { "--hue": hue(side.colours[entity]), "--line": line(side.colours[entity]) } }, side.labels[entity]);
}

/** What one side says of a mention's set and bridging, for the panel. */
export function relationSection(model, side, mention, title) {
  if (mention < 0) return null;
  const elements = side.sets.get(side.entity[mention]) ?? [];
  const bridges = side.bridging.get(mention) ?? [];
  if (!elements.length && !bridges.length) return null;
  const link = (one, text) => el("button", { type: "button", class: "plain", onclick: () => go({ mention: `${side.name}${one}` }) }, text);
  const right = (value) => (value === undefined ? "" : value ? " ✓" : " ✗");
  return el("section", { class: "chain" },
    elements.length ? [el("h3", {}, `${title} it stands for`), el("ul", { class: "elements" }, elements.map((one) => el("li", {}, swatch(side, one), " ", link(side.chains[one][0], entityText(model, side, one)))))] : null,
    bridges.length ? [el("h3", {}, `${title} it bridges to`), el("ul", { class: "elements" }, bridges.map(({ to, label, right: value }) => el("li", {}, swatch(side, side.entity[to]), " ", link(to, mentionText(model, side, to, 44)), el("small", {}, `${label ? ` ${label}` : ""}${right(value)}`))))] : null);
}

// Lines in the text, from a mention that is lit to what it goes back to, where that is drawn.

export function clearLines(node) {
  node.querySelector(".lines")?.remove();
}

export function drawLines(node, unit, model) {
  const found = [];
  for (const [side, attribute] of [[model.key, "key"], [model.response, "response"]]) {
    const mention = Number(unit.dataset[attribute]);
    if (!(mention >= 0)) continue;
    const bridges = (side.bridging.get(mention) ?? []).map(({ to }) => [to, "bridge"]);
    const elements = (side.sets.get(side.entity[mention]) ?? []).map((one) => [nearest(side, one, mention), "set"]);
    for (const [to, kind] of [...bridges, ...elements]) {
      const target = node.querySelector(`.unit[data-${attribute}="${to}"]`);
      if (target && target !== unit) found.push({ target, kind, side: side.name });
    }
  }
  if (!found.length) return;
  const frame = node.getBoundingClientRect();
  const place = (one) => { const box = one.getClientRects()[0]; return [box.left + box.width / 2 - frame.left, box.top - frame.top + 3, box]; };
  const [x1, y1] = place(unit);
  const lines = found.map(({ target, kind, side }) => {
    const [x2, y2] = place(target);
    const lift = Math.min(60, 14 + Math.abs(x1 - x2) / 6);
    const top = Math.min(y1, y2) - lift;
    return svg("path", { d: `M${x1} ${y1} C${x1} ${top} ${x2} ${top} ${x2} ${y2}`, class: `${kind} ${side === "k" ? "of-key" : "of-response"}`, "marker-end": "url(#line-end)" });
  });
  const end = svg("marker", { id: "line-end", viewBox: "0 0 8 8", refX: 4, refY: 4, markerWidth: 6, markerHeight: 6 }, svg("circle", { cx: 4, cy: 4, r: 3 }));
  node.append(svg("svg", { class: "lines", "aria-hidden": "true", width: node.clientWidth, height: node.scrollHeight }, svg("defs", {}, end), ...lines));
}

/** The last mention of an entity before another mention, else its first. */
function nearest(side, entity, mention) {
  const chain = side.chains[entity];
  return chain.filter((one) => side.start[one] < side.start[mention]).at(-1) ?? chain[0];
}

// In the flow: arcs from a set to its elements, and from anaphors' entities to their antecedents'.

/** All pairs of entities of a side that a relation joins: [from, to, kind]. */
function joinedEntities(side) {
  const pairs = new Map();
  side.sets.forEach((elements, entity) => elements.forEach((one) => pairs.set(`${entity} ${one} set`, [entity, one, "set"])));
  side.bridging.forEach((bridges, mention) => bridges.forEach(({ to }) => {
    const [from, other] = [side.entity[mention], side.entity[to]];
    if (from !== other) pairs.set(`${from} ${other} bridge`, [from, other, "bridge"]);
  }));
  return [...pairs.values()];
}

/** Some cells, and those of the entities to which the relations of theirs lead. */
export function withRelated(model, cells, chosen) {
  const found = new Set(chosen);
  for (const name of ["key", "response"]) {
    const own = new Set(chosen.map((cell) => cell[name]));
    const joined = new Set(joinedEntities(model[name]).filter(([from, to]) => own.has(from) || own.has(to)).flatMap(([from, to]) => [from, to]));
    cells.filter((cell) => joined.has(cell[name])).forEach((cell) => found.add(cell));
  }
  return [...found];
}

export function arcs(side, bars, x, direction) {
  const find = (entity) => bars.find((one) => one.entity === entity);
  return joinedEntities(side).map(([from, to, kind]) => [find(from), find(to), kind]).filter(([from, to]) => from && to).map(([from, to, kind]) => {
    const [y1, y2] = [from.y + from.height / 2, to.y + to.height / 2];
    const out = x + direction * Math.min(80, 18 + Math.abs(y1 - y2) / 4);
    const path = svg("path", { d: `M${x} ${y1} C${out} ${y1} ${out} ${y2} ${x} ${y2}`, class: `arc ${kind}` });
    path.append(svg("title", {}, `${side.labels[from.entity]} ${kind === "set" ? "stands for a set with" : "bridges to"} ${side.labels[to.entity]}`));
    return path;
  });
}

/** Sets and bridging of both sides, below the flow. */
export function relationTable(model) {
  if (!hasRelations(model)) return null;
  const rows = [];
  for (const [side, owner] of [[model.key, "key"], [model.response, "response"]]) {
    side.sets.forEach((elements, entity) => rows.push([owner, `${side.labels[entity]} ${entityText(model, side, entity)}`, `= ${elements.map((one) => `${side.labels[one]} ${entityText(model, side, one)}`).join(" + ")}`, ""]));
    side.bridging.forEach((bridges, mention) => bridges.forEach(({ to, label, right }) => rows.push([owner, mentionText(model, side, mention, 40), `⇢ ${side.labels[side.entity[to]]} ${mentionText(model, side, to, 40)}${label ? ` (${label})` : ""}`, right === undefined ? "" : right ? "✓" : "✗"])));
  }
  return el("details", { open: Boolean(state.entity) }, el("summary", {}, `Sets and bridging (${rows.length})`), table([{ title: "Side" }, { title: "Anaphor" }, { title: "Antecedent" }, { title: "" }], rows));
}
