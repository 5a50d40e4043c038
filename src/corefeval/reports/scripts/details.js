// The panel beside the text: the chosen mention, all entities, their flow from key to response.

import { costPoints, kindsOf, mentionKinds, plural, systems } from "./data.js";
import { announce, button, el } from "./elements.js";
import { address, go, state } from "./state.js";
import { contextOf, entityText, mentionText, resolve } from "./documents_model.js";
import { hue, line } from "./palette.js";
import { flow } from "./flow.js";
import { describeEntity } from "./overview.js";
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
    wrongSpan(mine, k, r, isKey),
    k >= 0 ? chainOf(mine, mine.key, mine.key.entity[k], k, "In the key") : el("p", { class: "hint" }, "The key has no such mention."),
    r >= 0 ? chainOf(mine, mine.response, mine.response.entity[r], r, `In ${systems[mine.system].name}`) : el("p", { class: "hint" }, `${systems[mine.system].name} has no such mention.`),
    others(mine, side, mention),
    el("p", {}, el("a", { href: address(state), id: "mention-link" }, "Link to this mention")));
}

function facts(side, mention) {
  const [start, end] = [side.start[mention], side.end[mention]];
  const kind = side.kind && side.kind[mention] >= 0 ? `${mentionKinds[side.kind[mention]]}, ` : "";
  return `${kind}${end - start === 1 ? `token ${start}` : `tokens ${start}–${end - 1}`}`;
}

function wrongSpan(model, k, r, isKey) {
  if (k < 0 || r < 0) return null;
  const [mine, theirs] = [mentionText(model, model.key, k), mentionText(model, model.response, r)];
  if (model.key.start[k] === model.response.start[r] && model.key.end[k] === model.response.end[r]) return null;
  return el("p", {}, isKey ? `The response has “${theirs}” instead.` : `The key has “${mine}” instead.`);
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
