// The entities of a document as a table: who they are, where they come up, and what the response made of them.

import { data, percent, plural, systems } from "./data.js";
import { button, choice, el, hue, line, table } from "./elements.js";
import { address, go, state } from "./state.js";
import { entityText, loadDocument } from "./documents_model.js";
import { sentenceAt } from "./layout.js";
import { sectionsOf } from "./sections.js";

const ROWS = 100; // and how many more on request
let rowLimit = ROWS;
let characterOrder = { column: 1, down: true };

export const charactersView = {
  name: "entities",
  title: "Entities",
  depends: ["system", "doc"],
  render() {
    const model = loadDocument(state.system, state.doc);
    const place = el("div");
    const draw = () => place.replaceChildren(...characterTable(model, () => { rowLimit += ROWS; draw(); }));
    draw();
    return [
      el("h1", {}, "Entities"),
      el("p", { class: "hint" }, `${data.documents[state.doc]}, ${systems[state.system].name}. “Found” is the share of an entity’s mentions that the response has at all, “together” the share that it has in one entity. “Merged with” are other entities of the key in that response entity; “split into” are all response entities that have some of it.`),
      data.documents.length > 1 ? el("div", { class: "tools" }, choice("Document", data.documents.map((id, doc) => [doc, id]), state.doc, (doc) => go({ doc: Number(doc) }))) : null,
      place,
    ];
  },
};

function characterTable(model, more) {
  const all = characters(model);
  const rows = all.slice(0, rowLimit);
  const columns = [
    { title: "Entity", sort: rows.map((row) => row.name.toLowerCase()) },
    { title: "Mentions", numeric: true, sort: rows.map((row) => row.size) },
    { title: "First", sort: rows.map((row) => row.first) },
    { title: "Last", sort: rows.map((row) => row.last) },
    { title: "Found", numeric: true, sort: rows.map((row) => row.found) },
    { title: "Together", numeric: true, sort: rows.map((row) => row.together) },
    { title: "Merged with", sort: rows.map((row) => row.merged.length) },
    { title: "Split into", sort: rows.map((row) => row.parts.length) },
  ];
  const cells = rows.map((row) => [
    nameLink(model, row), row.size.toLocaleString("en"), placeName(model.text, row.first), placeName(model.text, row.last),
    percent(row.found, 1), percent(row.together, 1), listed(row.merged), row.parts.length > 1 ? listed(row.parts) : "",
  ]);
  return [
    table(columns, cells, { class: "characters" }, { by: characterOrder, sorted: (order) => { characterOrder = order; } }),
    all.length > rowLimit ? button(`show ${Math.min(all.length - rowLimit, ROWS)} more of ${plural(all.length, "entity")}`, more, { class: "small", id: "more-entities" }) : null,
  ].filter(Boolean);
}

/** The key's entities, the largest first, with what became of them. */
function characters(model) {
  const { key, response, cells } = model;
  const ofKey = key.chains.map(() => []);
  const ofResponse = response.chains.map(() => []);
  for (const cell of cells) { ofKey[cell.key].push(cell); ofResponse[cell.response].push(cell); }
  const bySize = (a, b) => b.count - a.count;
  return key.chains.map((chain, entity) => {
    const parts = ofKey[entity].sort(bySize);
    const shared = parts.length ? ofResponse[parts[0].response].filter((cell) => cell.key !== entity).sort(bySize) : [];
    const found = parts.reduce((sum, cell) => sum + cell.count, 0);
    return {
      entity, name: entityText(model, key, entity), size: chain.length, first: key.start[chain[0]], last: key.start[chain.at(-1)],
      found: found / chain.length, together: (parts[0]?.count ?? 0) / chain.length,
      merged: shared.map((cell) => `${entityText(model, key, cell.key)} (${cell.count})`),
      parts: parts.map((cell) => `${response.labels[cell.response]} ${entityText(model, response, cell.response)} (${cell.count})`),
    };
  }).sort((a, b) => b.size - a.size || a.first - b.first);
}

function nameLink(model, { entity, name }) {
  const { key } = model;
  const changes = { ...state, view: "text", entity: `k${entity}`, mention: `k${key.chains[entity][0]}`, kinds: 0 };
  const label = el("span", { class: "swatch", style: { "--hue": hue(key.colours[entity]), "--line": line(key.colours[entity]) } }, key.labels[entity]);
  return el("span", { class: "character" }, label, " ", el("a", { href: address(changes), dir: "auto" }, name));
}

/** The section and sentence of a token. */
function placeName(text, token) {
  const sections = sectionsOf(text);
  const starts = sections.map((section) => section.token);
  const section = sections.length && token >= starts[0] ? sections[sentenceAt(starts, token)].title : "";
  const sentence = `sentence ${(sentenceAt(text.sentences, token) + 1).toLocaleString("en")}`;
  return section && !section.startsWith("sentence") ? el("span", {}, section, el("small", {}, sentence)) : sentence;
}

function listed(names, most = 3) {
  const shown = names.slice(0, most).join(", ");
  return names.length > most ? el("span", { title: names.slice(0, 30).join(", ") }, `${shown} and ${names.length - most} more`) : shown;
}
