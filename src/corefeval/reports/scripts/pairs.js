// Which system is better than which: a matrix of differences, and a pair in words.

import { data, systems } from "./data.js";
import { button, el } from "./elements.js";
import { ordered, standing, turn, view } from "./board.js";
import { signed } from "./profile.js";

/** All pairs in both directions: "row column" → what is known. */
function pairsByPlaces() {
  const found = new Map();
  for (const [first, second, difference, low, high, p, significant, tested, better, worse] of standing().pairs) {
    found.set(`${first} ${second}`, { first, second, difference, low, high, p, significant, tested, better, worse });
    found.set(`${second} ${first}`, { first: second, second: first, difference: -difference, low: -high, high: -low, p, significant, tested, better: worse, worse: better });
  }
  return found;
}

/** The matrix, and the pair that is chosen in it. */
export function pairCard() {
  const pairs = pairsByPlaces();
  if (!pairs.size) return [el("p", { class: "hint" }, "There are no two systems to compare here.")];
  const order = ordered("average");
  const head = el("tr", {}, el("th", { scope: "col" }, "Row − column"), order.map((place) => el("th", { scope: "col" }, systems[place].name)));
  const rows = order.map((row) => el("tr", {}, el("th", { scope: "row" }, systems[row].name), order.map((column) => el("td", {}, pairCell(pairs.get(`${row} ${column}`))))));
  const chosen = pairs.get(view.pair) ?? pairs.get(`${order[0]} ${order[1]}`);
  return [
    el("p", { class: "hint" }, `Points of the row's average above the column's; coloured where the difference is significant (p ≤ ${data.alpha} after correction for all pairs). Below it: on how many corpora at least the row is significantly better, of those that both have.`),
    el("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": "Pairs" }, el("table", { class: "board matrix" }, el("thead", {}, head), el("tbody", {}, rows))),
    chosen ? pairText(chosen) : null,
  ];
}

function pairCell(pair) {
  if (!pair) return "";
  const kind = pair.significant ? (pair.difference > 0 ? "up" : "down") : null;
  const name = `${pair.first} ${pair.second}`;
  const said = `${systems[pair.first].name} and ${systems[pair.second].name}: ${signed(pair.difference)}${pair.significant ? ", significant" : ""}`;
  return button([signed(pair.difference), el("small", {}, `${pair.better[0]}/${pair.tested}`)], () => turn({ pair: name }), { class: kind, "aria-label": said, "aria-pressed": String(view.pair === name) });
}

/** A pair in sentences. */
function pairText(pair) {
  const [one, other] = [systems[pair.first].name, systems[pair.second].name];
  const p = pair.p < 0.0001 ? "< 0.0001" : `= ${pair.p.toFixed(4)}`;
  return el("div", { class: "told", "aria-live": "polite", id: "told" },
    el("p", {}, el("strong", {}, `${one} – ${other}: `), `${signed(pair.difference)} points on average (${signed(pair.low)} to ${signed(pair.high)}), adjusted p ${p}: ${pair.significant ? "significant" : "not significant"}.`),
    el("p", {}, claim(one, other, pair.better, pair.tested)), el("p", {}, claim(other, one, pair.worse, pair.tested)));
}

function claim(one, other, [count, corpora], tested) {
  const names = corpora.map((place) => data.corpora[place].name).join(", ");
  if (!count) return `${one} cannot be said to be better than ${other} on any of ${tested} corpora.`;
  return `${one} is significantly better than ${other} on at least ${count} of ${tested} corpora${names ? `, among them ${names}` : ""}.`;
}
