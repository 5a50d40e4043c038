// What is shown of the leaderboard, kept in the address of the page, and its main table.

import { data, metrics, percent, systems } from "./data.js";
import { button, el } from "./elements.js";

export const view = { metric: data.headline, group: 0, system: 0, sort: "average", down: true, pair: null };
const listeners = [];

export function onView(listener) {
  listeners.push(listener);
}

/** Show something else. */
export function turn(changes) {
  Object.assign(view, changes);
  const address = new URLSearchParams({ metric: metrics[view.metric].name, group: data.groups[view.group].name, system: systems[view.system].name });
  try {
    history.replaceState(null, "", `#${address.toString().replaceAll("+", "%20")}`);
  } catch {
    // A page in a frame has no address of its own.
  }
  for (const listener of listeners) listener(changes);
}

/** What the address of the page asks for, as far as it makes sense. */
export function readAddress() {
  const given = new URLSearchParams(location.hash.replace(/^#/, ""));
  const places = { metric: metrics, group: data.groups, system: systems };
  for (const [name, list] of Object.entries(places)) {
    const place = list.findIndex((one) => one.name === given.get(name));
    if (place >= 0) view[name] = place;
  }
  if (!given.has("system")) view.system = ordered("average")[0] ?? 0;
}

export function standing() {
  return data.standings[view.metric][view.group];
}

/** The corpora of the group that is shown. */
export function shownCorpora() {
  return data.groups[view.group].corpora;
}

export function groupName(group) {
  return group.name || "all corpora";
}

/** The score of a system on a corpus by the metric that is shown; null where there is none. */
export function scoreOn(system, corpus) {
  return data.scores[view.metric][system][corpus]?.[0] ?? null;
}

/** Ranks as people write them: 2= where two share it. */
export function rankText(place) {
  const { ranks } = standing();
  if (ranks[place] === null) return "–";
  return `${ranks[place]}${ranks.filter((one) => one === ranks[place]).length > 1 ? "=" : ""}`;
}

/** The systems, best first; those without a number at the end. */
export function ordered(sort, down = true) {
  const value = (place) => {
    if (sort === "average") return standing().scores[place];
    return sort === "name" ? systems[place].name : scoreOn(place, sort);
  };
  const places = systems.map((_, place) => place);
  const sign = down ? -1 : 1;
  return places.sort((one, other) => {
    const [mine, theirs] = [value(one), value(other)];
    if (mine === null || theirs === null) return (mine === null) - (theirs === null);
    return sign * (mine < theirs ? -1 : mine > theirs ? 1 : 0) || one - other;
  });
}

/** The table of systems and corpora; a heading sorts by its column, and turns the order round. */
export function boardTable() {
  const corpora = shownCorpora();
  const heads = [heading("System", "name"), heading(`Average of ${corpora.filter((place) => data.scores[view.metric].some((row) => row[place])).length}`, "average", "number"), ...corpora.map((place) => heading(data.corpora[place].name, place, "number"))];
  const bounds = corpora.map(columnBounds);
  const rows = ordered(view.sort, view.down).map((place) => el("tr", { class: standing().ranks[place] === 1 ? "first" : null },
    el("th", { scope: "row" }, el("span", { class: "who" }, el("span", { class: "rank" }, rankText(place)), el("a", { href: "#profile", onclick: () => turn({ system: place }) }, systems[place].name))),
    averageCell(place),
    corpora.map((corpus, number) => corpusCell(place, corpus, bounds[number]))));
  return el("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": "Leaderboard" },
    el("table", { class: "board scores" }, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, rows)));
}

function heading(title, sort, kind = null) {
  const active = view.sort === sort;
  const sorted = active ? (view.down ? "descending" : "ascending") : "none";
  const down = active ? !view.down : sort !== "name";
  return el("th", { scope: "col", class: kind, "aria-sort": sorted }, button(title, () => turn({ sort, down }), { class: "plain" }));
}

function columnBounds(corpus) {
  const known = systems.map((_, place) => (problemsOf(place, corpus) ? null : scoreOn(place, corpus))).filter((one) => one !== null);
  return [Math.min(...known), Math.max(...known)];
}

function averageCell(place) {
  const { scores, intervals, deviations } = standing();
  if (scores[place] === null) return el("td", { class: "number" }, "–");
  const ends = intervals[place];
  const seeds = deviations.some((one) => one !== null) ? deviation(deviations[place]) ?? el("small") : null;
  return el("td", { class: "number" }, el("span", { class: "interval" }, el("span", { class: "average" }, percent(scores[place])), seeds,
    ends ? [el("small", {}, `${percent(ends[0], 1)}–${percent(ends[1], 1)}`), whiskerOf(scores[place], ends)] : null));
}

function deviation(value) {
  return value === null || value === undefined ? null : el("small", {}, `± ${percent(value)}`);
}

function whiskerOf(score, [low, high]) {
  const all = standing().intervals.flatMap((one) => one ?? []);
  const [least, most] = [Math.min(...all), Math.max(...all)];
  const at = (rate) => String((rate - least) / Math.max(most - least, 1e-9));
  return el("span", { class: "whisker", "aria-hidden": "true", style: { "--low": at(low), "--high": at(high), "--at": at(score) } }, el("i"), el("b"));
}

function corpusCell(place, corpus, [least, most]) {
  const problem = problemsOf(place, corpus);
  const cell = data.scores[view.metric][place][corpus];
  if (!cell) return el("td", { class: "number absent", title: problem || null }, problem ? "✗" : "–");
  const best = cell[0] === most && systems.length > 1;
  const text = el("span", { class: best ? "best" : null }, percent(cell[0]));
  const link = data.links[place]?.[corpus];
  const heat = String((cell[0] - least) / Math.max(most - least, 1e-9));
  return el("td", { class: problem ? "number absent" : "number heat", style: { "--heat": heat }, title: problem || null },
    link ? el("a", { href: link, class: "report" }, text) : text, problem ? " ✗" : null, deviation(cell[1]));
}

/** Why a system has no result, or not all, on a corpus. */
function problemsOf(system, corpus) {
  return data.problems.filter((one) => one[0] === system && one[1] === corpus).map(([, , seed, why]) => (seed === null ? why : `seed ${seed}: ${why}`)).join("\n");
}
