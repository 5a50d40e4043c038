// The page of decisions: one case at a time, its text, who said what, and an answer by key or button.

const data = JSON.parse(document.getElementById("data").textContent);
const KEY = `corefeval-decisions-${data.id}`;
const CONTEXT = 25; // tokens before and after a mention, where sentences are not known or long
const SHOWN = 200; // cases in the list
const ANSWERS = { mention: ["keep", "drop"], link: ["same", "apart"] };
const LABELS = { keep: "Keep", drop: "Drop", same: "Same", apart: "Apart" };
const MEANINGS = { keep: "it is a mention", drop: "it is none", same: "they are one entity", apart: "they are not" };

const view = { case: 0, search: "", filter: "all" };
const decisions = load();

/** An element with attributes and children, which are elements or text, never HTML. */
function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

function load() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {}; // a browser that keeps nothing for files
  }
}

function keep() {
  try {
    localStorage.setItem(KEY, JSON.stringify(decisions));
  } catch {
    announce("This browser keeps nothing: save before you close the page.");
  }
}

function announce(text) {
  document.getElementById("announcement").textContent = text;
}

const answersOf = (number) => ANSWERS[data.cases[number].kind];
const isDecided = (number) => decisions[number] !== undefined;
const decided = () => data.cases.filter((_, number) => isDecided(number)).length;

/** The numbers of the cases that the search and the filter leave. */
function listed() {
  const words = view.search.toLowerCase();
  return data.cases.flatMap((one, number) => {
    if (view.filter !== "all" && isDecided(number) !== (view.filter === "decided")) return [];
    const text = `${one.text} ${one.other_text} ${data.documents[one.place].name}`.toLowerCase();
    return text.includes(words) ? [number] : [];
  });
}

function decide(answer) {
  if (!data.cases.length) return;
  const number = view.case;
  if (answer === null) delete decisions[number];
  else decisions[number] = answer;
  keep();
  if (answer !== null) {
    const following = [...data.cases.keys()].map((step) => (number + 1 + step) % data.cases.length);
    view.case = following.find((one) => !isDecided(one)) ?? number;
  }
  announce(answer === null ? "no decision" : `${LABELS[answer]}. ${decided()} of ${data.cases.length} decided.`);
  draw();
}

function step(by) {
  const numbers = listed();
  const place = numbers.indexOf(view.case);
  const next = place < 0 ? 0 : Math.min(Math.max(place + by, 0), numbers.length - 1);
  if (numbers.length) turn(numbers[next]);
}

function turn(number) {
  view.case = number;
  draw();
  document.getElementById("case").scrollIntoView({ block: "nearest" });
}

/** The table as `--contested` wrote it, with the decisions; other decisions stay empty. */
function table() {
  const rows = data.cases.map((one, number) => [...data.header.slice(0, -1).map((name) => one[name]), decisions[number] ?? ""]);
  return [data.header, ...rows].map((row) => `${row.join("\t")}\n`).join("");
}

function save() {
  const address = URL.createObjectURL(new Blob([table()], { type: "text/tab-separated-values" }));
  const link = make("a", { href: address, download: "decisions.tsv" });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
  announce(`${decided()} decisions saved`);
}

/** The parts of each mention of a case, from and up to a token; nothing of mentions without positions. */
function spansOf(one) {
  const sides = one.kind === "mention" ? [""] : ["", "other_"];
  return sides.filter((side) => one[`${side}end`] !== "").map((side) => {
    const [starts, ends] = ["start", "end"].map((edge) => one[side + edge].split(",").map(Number));
    return starts.map((start, place) => [start, ends[place]]);
  });
}

/** What an annotator says, who has these entities for both mentions (-1: not marked). */
function saying(one, [entity, other]) {
  if (one.kind === "mention") return entity < 0 ? "not marked" : "marked";
  if (entity < 0 || other < 0) return "has not both";
  return entity === other ? "same" : "apart";
}

/** Stretches of tokens around the mentions: whole sentences, unless these are long. */
function stretches(text, spans) {
  const bounds = [...text.starts, text.words.length];
  const reach = text.glue ? CONTEXT : 6 * CONTEXT;
  const around = spans.map((parts) => {
    const [from, to] = [parts[0][0], parts.at(-1)[1]];
    const before = bounds.findLast((start) => start <= from) ?? 0;
    const after = bounds.find((start) => start >= to) ?? text.words.length;
    return [Math.max(Math.min(before, from - reach), 0), Math.min(Math.max(after, to + reach), text.words.length)];
  }).sort((one, other) => one[0] - other[0]);
  const joined = [];
  for (const [from, to] of around) {
    if (joined.length && from <= joined.at(-1)[1]) joined.at(-1)[1] = Math.max(joined.at(-1)[1], to);
    else joined.push([from, to]);
  }
  return joined;
}

/** The text with both mentions in colour: A and B beside them say the same without colour. */
function reading(one) {
  const text = data.documents[one.place];
  const spans = spansOf(one);
  if (!text.words.length || !spans.length) {
    return make("p", { class: "reading" }, mark(one.text, "a"), one.other_text ? [" … ", mark(one.other_text, "b")] : []);
  }
  const roles = spans.map((parts, place) => ["ab"[place], new Set(parts.flatMap(([from, to]) => [...Array(to - from).keys()].map((n) => n + from)))]);
  const starts = new Set(text.starts);
  return stretches(text, spans).map(([from, to]) => {
    const pieces = [];
    let role = null;
    let open = pieces;
    for (let place = from; place < to; place += 1) {
      const now = roles.filter(([, tokens]) => tokens.has(place)).map(([name]) => name).join("");
      if (starts.has(place) && place > from && text.glue) {
        pieces.push(make("br"));
        role = null;
      }
      if (now !== role) {
        role = now;
        open = [];
        pieces.push([now, open]);
      }
      open.push(text.words[place]);
    }
    const shown = pieces.flatMap((piece) => {
      if (!Array.isArray(piece)) return [piece];
      const words = piece[1].join(text.glue);
      return [piece[0] ? mark(words, piece[0]) : words, text.glue];
    });
    return make("p", { class: "reading" }, from > 0 ? "… " : "", shown, to < text.words.length ? "…" : "");
  });
}

function mark(text, role) {
  return make("mark", { class: role }, make("bdi", {}, text), make("sub", {}, role.toUpperCase()));
}

function question(one) {
  if (one.kind === "mention") return "Is A a mention?";
  return one.size > 1 ? `Are A (and ${one.size - 1} more that all treat like it) and B the same?` : "Are A and B the same?";
}

function answerButtons(number) {
  return answersOf(number).map((answer, place) => make("button", {
    type: "button", class: "answer", id: `answer-${answer}`, "aria-pressed": String(decisions[number] === answer), onclick: () => decide(answer),
  }, LABELS[answer], " ", make("kbd", {}, String(place + 1)), make("small", {}, MEANINGS[answer])));
}

function caseCard() {
  if (!data.cases.length) return make("section", { class: "card", id: "case" }, make("h2", {}, "Nothing is contested"));
  const number = view.case;
  const one = data.cases[number];
  return make("section", { class: "card", id: "case" },
    make("p", { class: "hint" }, `Case ${number + 1} of ${data.cases.length} · `, make("bdi", {}, data.documents[one.place].name), ` · stakes ${one.stakes} · without a decision: ${one.outcome}`),
    make("h2", {}, question(one)),
    make("div", { id: "reading", dir: "auto" }, reading(one)),
    make("ul", { class: "says" },
      data.annotators.map((name, place) => {
        const said = saying(one, one.entities[place]);
        return make("li", { class: said.replace(/ /g, "-") }, make("bdi", {}, name), make("strong", {}, said));
      })),
    make("p", { class: "hint" }, one.kind === "mention" ? `${one.votes} of ${one.of} marked it.` : `${one.votes} of ${one.of} votes on A and everything in the entity of B are for a link.`),
    make("div", { class: "answers" }, answerButtons(number),
      make("button", { type: "button", id: "clear", disabled: !isDecided(number), onclick: () => decide(null) }, "Undo ", make("kbd", {}, "u"))),
    make("div", { class: "tools steps" },
      make("button", { type: "button", id: "previous", onclick: () => step(-1) }, "Previous ", make("kbd", {}, "←")),
      make("button", { type: "button", id: "next", onclick: () => step(1) }, "Next ", make("kbd", {}, "→"))));
}

function listCard() {
  const numbers = listed();
  const rows = numbers.slice(0, SHOWN).map((number) => {
    const one = data.cases[number];
    const name = one.other_text ? `${one.text} – ${one.other_text}` : one.text || `case ${number + 1}`;
    return make("li", {}, make("button", { type: "button", class: "plain", "aria-current": number === view.case ? "true" : null, onclick: () => turn(number) },
      make("span", { class: "state" }, LABELS[decisions[number]] ?? "·"), make("bdi", {}, name)));
  });
  return make("section", { class: "card", id: "list" },
    make("h2", {}, `${numbers.length} of ${data.cases.length} cases`),
    make("ol", { class: "cases" }, rows),
    numbers.length > SHOWN ? make("p", { class: "hint" }, `The first ${SHOWN} are shown: search for others.`) : null);
}

function draw() {
  document.getElementById("progress").textContent = `${decided()} of ${data.cases.length} decided`;
  document.getElementById("bar").value = decided();
  document.getElementById("body").replaceChildren(caseCard(), listCard());
}

function build() {
  const filters = [["all", "All"], ["open", "Undecided"], ["decided", "Decided"]];
  const search = make("input", { type: "search", id: "search", placeholder: "Search", "aria-label": "Search the cases", oninput: (event) => { view.search = event.target.value; draw(); } });
  const filter = make("select", { id: "filter", "aria-label": "Which cases", onchange: (event) => { view.filter = event.target.value; draw(); } }, filters.map(([value, text]) => make("option", { value }, text)));
  document.getElementById("choices").replaceChildren(search, filter, make("button", { type: "button", class: "strong", id: "save", onclick: save }, "Save decisions ", make("kbd", {}, "s")));
  document.getElementById("main").replaceChildren(
    make("h1", {}, data.title),
    make("p", { class: "lead" }, make("span", { id: "progress" }), " ", make("progress", { id: "bar", max: data.cases.length || 1, "aria-label": "decided" })),
    make("p", { class: "hint keys" }, "Keys: ", make("kbd", {}, "1"), " and ", make("kbd", {}, "2"), " answer, ", make("kbd", {}, "←"), " ", make("kbd", {}, "→"), " turn, ", make("kbd", {}, "u"), " undoes, ", make("kbd", {}, "/"), " searches, ", make("kbd", {}, "s"), " saves. Decisions stay in this browser until they are saved."),
    make("div", { id: "body" }));
  const first = [...data.cases.keys()].find((number) => !isDecided(number));
  view.case = first ?? 0;
  draw();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName);
  if (typing && event.key === "Escape") event.target.blur();
  if (typing) return;
  const answers = data.cases.length ? answersOf(view.case) : [];
  const actions = {
    1: () => answers[0] && decide(answers[0]), 2: () => answers[1] && decide(answers[1]),
    u: () => decide(null), ArrowLeft: () => step(-1), ArrowRight: () => step(1), s: save,
    "/": () => document.getElementById("search").focus(),
  };
  if (!actions[event.key]) return;
  event.preventDefault();
  actions[event.key]();
});

build();
