// The leaderboard as a whole: sections below each other, choices that hold for all of them.

import { data, metrics, plural, systems } from "./data.js";
import { announce, choice, el } from "./elements.js";
import { boardTable, groupName, onView, readAddress, turn, view } from "./board.js";
import { profileCards } from "./profile.js";
import { pairCard } from "./pairs.js";

const SECTIONS = [
  { id: "board", title: "Leaderboard", draw: () => [legend(), boardTable()] },
  { id: "profile", title: "Profile", draw: () => [systemChoice(), ...profileCards()] },
  { id: "pairs", title: "Pairs", draw: pairCard },
  { id: "about", title: "About", draw: aboutCard },
];

function legend() {
  const ties = data.level ? `Ranks with = are shared: there is no significant difference between these. Intervals hold ${Math.round(100 * data.level)}% of ${data.trials.toLocaleString("en")} averages of drawn ${data.resample.join(", ").replace(/, (\w+)$/, " and $1")}.` : "";
  return el("p", { class: "hint" }, `${metrics[view.metric].title}, ${groupName(data.groups[view.group])}. Choose a heading to sort by it, a system to see its profile. ${ties}`);
}

function systemChoice() {
  return el("div", { class: "tools" }, choice("System", systems.map((one, place) => [place, one.name]), view.system, (place) => turn({ system: Number(place) }), { id: "system-choice" }));
}

function aboutCard() {
  const problems = data.problems.map(([system, corpus, seed, why]) => `${systems[system].name} on ${data.corpora[corpus].name}${seed === null ? "" : `, seed ${seed}`}: ${why}`);
  const counts = data.missing === "zero" ? "They count as 0." : "They are left out of averages.";
  return [
    data.signature ? el("p", {}, "Compared with ", el("code", {}, data.signature), ".") : null,
    el("p", {}, "Averages weigh corpora: ", data.corpora.map((one) => `${one.name} ${one.weight}`).join(", "), "."),
    problems.length ? [el("h3", {}, `${plural(problems.length, "response")} without a result`), el("p", {}, counts), el("ul", { id: "problems" }, problems.map((one) => el("li", {}, one)))] : null,
    data.notices.length ? [el("h3", {}, "Notes"), el("ul", {}, data.notices.map((one) => el("li", {}, one)))] : null,
  ].flat();
}

function draw(ids) {
  for (const { id, draw: make } of SECTIONS) {
    if (!ids.includes(id)) continue;
    const body = document.getElementById(`${id}-body`);
    const scrolled = body.querySelector(".scroller")?.scrollLeft ?? 0;
    body.replaceChildren(...make().filter(Boolean));
    const scroller = body.querySelector(".scroller");
    if (scroller) scroller.scrollLeft = scrolled;
  }
}

function build() {
  const corpora = data.corpora.length;
  document.getElementById("main").replaceChildren(
    el("h1", {}, data.title),
    el("p", { class: "lead" }, [plural(systems.length, "system"), `${corpora} ${corpora === 1 ? "corpus" : "corpora"}`, plural(metrics.length, "metric")].join(" · ")),
    ...SECTIONS.map(({ id, title }) => el("section", { class: "card", id }, el("h2", {}, title), el("div", { id: `${id}-body` }))));
  document.getElementById("views").replaceChildren(...SECTIONS.map(({ id, title }) => el("a", { href: `#${id}` }, title)));
  document.getElementById("choices").replaceChildren(
    choice("Metric", metrics.map((one, place) => [place, one.title]), view.metric, (place) => turn({ metric: Number(place) }), { id: "metric-choice" }),
    ...(data.groups.length > 1 ? [choice("Corpora", data.groups.map((one, place) => [place, groupName(one)]), view.group, (place) => turn({ group: Number(place), sort: "average", down: true }), { id: "group-choice" })] : []));
}

readAddress();
build();
draw(SECTIONS.map((one) => one.id));
onView((changes) => {
  const names = Object.keys(changes);
  const everything = names.includes("metric") || names.includes("group");
  draw(everything ? ["board", "profile", "pairs"] : names.includes("system") ? ["profile"] : names.includes("pair") ? ["pairs"] : ["board"]);
  announce(`${metrics[view.metric].title}, ${groupName(data.groups[view.group])}`);
  const pressed = document.querySelector(names.includes("pair") ? "[aria-pressed=true]" : "[aria-sort]:not([aria-sort=none]) button");
  if (document.activeElement === document.body && (names.includes("pair") || names.includes("sort"))) pressed?.focus({ preventScroll: true });
});
// A section is scrolled to; the address keeps what is shown.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const target = document.querySelector(link.getAttribute("href"));
  target?.scrollIntoView({ behavior: "auto", block: "start" });
  target?.focus({ preventScroll: true });
});
