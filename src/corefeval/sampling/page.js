"use strict";
(() => {
  const { csv, mentions } = JSON.parse(document.getElementById("data").textContent);
  const [head, ...lines] = parse(csv);
  const field = (signature, name) => new RegExp(`(?:^|\\|)${name}:([^|]*)`).exec(signature ?? "")?.[1];
  const [design, digest] = ["design", "digest"].map((name) => field(head[1], name));
  const instructions = lines.filter((cells) => isInstruction(cells));
  const [columns, ...cells] = lines.filter((entry) => !isInstruction(entry));
  const rows = cells.map((entry) => Object.fromEntries(columns.map((column, index) => [column, entry[index]])));
  const NAMED = design === "names" || design === "entities";
  const EDITED = ["answer", "members", "missed"].filter((column) => columns.includes(column));
  const STORE = `corefeval ${digest} ${design}`;
  const SHOWN = 60; // mentions of a list that are shown at once
  const QUESTIONS = {
    names: "Who or what is this?",
    entities: "Who or what is this?",
    pairs: "Are these two the same?",
    sentences: "Which of these are not mentions, and how many are missing?",
  };
  const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
  const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/;
  const UNSEEN =
    /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb]/gu;
  const get = (id) => document.getElementById(id);

  // Cells as Python writes and reads them: no cell is a formula, and none has lines.
  const plain = (text) => {
    const trimmed = text.trim();
    return trimmed[0] === "'" && FORMULA.test(trimmed.slice(1)) ? trimmed.slice(1) : trimmed;
  };
  const safe = (text) => (text !== "-" && FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text);
  const quote = (cell) => (/[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const clean = (text) => text.replace(UNSEEN, " ").trim().normalize("NFC");

  const key = (row) => ["document", "id", "partner", "sentence"].map((name) => row[name] ?? "").join("\t");
  for (const row of rows) for (const column of EDITED) row[column] = plain(row[column]);
  let place = 0;
  let unsaved = false;
  let chosen = -1; // in the list of names

  function load() {
    let kept = {};
    try {
      kept = JSON.parse(localStorage.getItem(STORE) ?? "{}");
    } catch {
      tell("This browser does not keep your answers: save often.");
    }
    for (const row of rows) {
      for (const [column, value] of Object.entries(kept[key(row)] ?? {})) {
        if (EDITED.includes(column) && typeof value === "string") row[column] = value;
      }
    }
  }

  function keep(row) {
    unsaved = true;
    try {
      const kept = JSON.parse(localStorage.getItem(STORE) ?? "{}");
      kept[key(row)] = Object.fromEntries(EDITED.map((column) => [column, row[column]]));
      localStorage.setItem(STORE, JSON.stringify(kept));
    } catch {
      tell("This browser does not keep your answers: save often.");
    }
  }

  function tell(text) {
    get("message").textContent = text;
  }

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (name in made && name !== "list") made[name] = value;
      else made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  }

  // Rows that still need something.
  const isNamed = (row) => row.answer !== "" && row.answer !== "-" && row.answer !== "?";
  const isDraw = (row) => row.role !== "companion";

  function incomplete() {
    const names = new Map();
    for (const row of rows) {
      if (NAMED && isDraw(row) && isNamed(row)) {
        const name = `${row.document}\t${row.answer}`;
        names.set(name, [...(names.get(name) ?? []), row]);
      }
    }
    const open = new Set();
    for (const group of names.values()) {
      if ((design === "entities" || group.length === 1) && group.every((row) => row.members === "")) open.add(group[0]);
    }
    return open;
  }

  function needsMembers(row) {
    return incomplete().has(row) || (row.members ?? "") !== "";
  }

  function nextOpen() {
    const order = [...rows.slice(place + 1), ...rows.slice(0, place + 1)];
    const open = incomplete();
    const current = rows[place];
    if (design === "entities" && open.has(current)) return current;
    return order.find((row) => row.answer === "") ?? order.find((row) => open.has(row));
  }

  function goOn() {
    const row = nextOpen();
    if (row === undefined) {
      show();
      tell("All questions are answered: save the sheet.");
    } else go(rows.indexOf(row));
  }

  function go(index) {
    place = Math.max(0, Math.min(rows.length - 1, index));
    tell("");
    show();
  }

  function answer(values) {
    Object.assign(rows[place], values);
    keep(rows[place]);
  }

  // What is shown.
  function contexts(row) {
    const part = (prefix, title) => {
      const text = element("p", { className: "text", dir: "auto" });
      if (title) text.append(element("strong", {}, `${title}: `));
      text.append(plain(row[`${prefix}before`]), " ", element("mark", {}, plain(row[`${prefix}mention`])), " ", plain(row[`${prefix}after`]));
      return text;
    };
    if (design === "sentences") return [element("p", { className: "text", dir: "auto" }, plain(row.text))];
    if (design !== "pairs") return [part("")];
    return row.partner ? [part("", "First"), part("partner_", "Second")] : [part("")];
  }

  function show() {
    const row = rows[place];
    const done = rows.filter((entry) => entry.answer !== "").length;
    const open = incomplete().size;
    get("progress").textContent =
      `${place + 1} of ${rows.length}; ${done} answered, ${Math.floor((100 * done) / rows.length)} %` +
      (open ? `; ${open} to complete` : "");
    get("bar").max = rows.length;
    get("bar").value = done;
    get("question").textContent =
      design === "pairs" && !row.partner ? "Is this the only mention of its entity?" : QUESTIONS[design];
    get("where").textContent = `Question ${place + 1}: ${plain(row.document) || "document"}, ${row.id ?? `sentence ${row.sentence}`}`;
    get("texts").replaceChildren(...contexts(row));
    chosen = -1;
    const form = get("form");
    if (NAMED) showName(form, row);
    else if (design === "pairs") showPair(form, row);
    else showSentence(form, row);
    showMembers(row);
  }

  function button(text, press, attributes = {}) {
    return element("button", { type: "button", onclick: press, ...attributes }, text);
  }

  function showName(form, row) {
    const input = element("input", {
      type: "text", id: "answer", value: row.answer, role: "combobox", autocomplete: "off", spellcheck: false,
      "aria-autocomplete": "list", "aria-controls": "names", "aria-expanded": "true", "aria-describedby": "where texts",
    });
    const list = element("ul", { id: "names", className: "names", role: "listbox", "aria-label": "Names of this document" });
    input.addEventListener("input", () => {
      chosen = -1;
      listNames(row, input, list);
    });
    form.replaceChildren(
      element("label", { className: "line", htmlFor: "answer" }, "Name"),
      element("div", { className: "row" }, element("span", { className: "grow" }, input),
        element("button", { type: "submit", className: "main" }, "Accept"),
        button("- no mention", () => accept("-")), button("? unsure", () => accept("?"))),
      list,
    );
    listNames(row, input, list);
    if (!needsMembers(row) || row.answer === "") {
      input.focus();
      input.select();
    }
  }

  function listNames(row, input, list) {
    const typed = clean(input.value).toLowerCase();
    const isFilter = typed !== "" && input.value !== row.answer;
    const names = new Set(rows.filter((entry) => entry.document === row.document && isNamed(entry)).map((entry) => entry.answer));
    const fitting = [...names].sort((a, b) => a.localeCompare(b)).filter((name) => !isFilter || name.toLowerCase().includes(typed));
    list.replaceChildren(...fitting.map((name, index) => element("li", {
      role: "option", id: `name-${index}`, "aria-selected": String(index === chosen), onclick: () => accept(name),
    }, name)));
    if (chosen >= 0) input.setAttribute("aria-activedescendant", `name-${chosen}`);
    else input.removeAttribute("aria-activedescendant");
  }

  function accept(text) {
    const row = rows[place];
    const value = clean(text);
    if (value === "") {
      goOn();
      return;
    }
    const isChanged = value !== row.answer;
    answer(isChanged && "members" in row ? { answer: value, members: "" } : { answer: value });
    goOn();
  }

  function showPair(form, row) {
    const choices = [["y", row.partner ? "y yes" : "y the only one"], ["n", "n no"], ["-", "- no mention"], ["?", "? unsure"]];
    form.replaceChildren(element("div", { className: "row", role: "group", "aria-label": "Answer" },
      ...choices.map(([value, text]) => button(text, () => accept(value), { "aria-pressed": String(row.answer === value), "data-answer": value }))));
    get("question").focus(); // so that Enter does not press a button by accident
  }

  function showSentence(form, row) {
    const wrong = new Set(row.answer.split(" "));
    const boxes = row.mentions.split(" ").filter(Boolean).map((id) => element("li", {}, element("label", {},
      element("input", { type: "checkbox", value: id, checked: wrong.has(id) }),
      element("span", {}, element("strong", {}, mentionsOf(row).find((mention) => mention[0] === id)[2]), " ", element("small", {}, id)))));
    form.replaceChildren(
      boxes.length ? element("p", { id: "boxes-title" }, "Tick what is not a mention:") : element("p", {}, "Nothing was found here."),
      element("ul", { className: "boxes", "aria-labelledby": "boxes-title", hidden: !boxes.length }, ...boxes),
      element("div", { className: "row" },
        element("label", {}, "Missing mentions ", element("input", { type: "number", id: "missed", min: "0", step: "1", value: row.missed || "0" })),
        element("button", { type: "submit", className: "main" }, "Accept"), button("? unsure", () => accept("?"))),
    );
    form.querySelector("#missed").focus();
  }

  function submit() {
    if (NAMED) {
      const options = [...get("names").children];
      accept(chosen >= 0 ? options[chosen].textContent : get("answer").value);
    } else if (design === "sentences") {
      const ticked = [...get("form").querySelectorAll("input:checked")].map((box) => box.value);
      const missed = get("missed").value;
      if (!/^\d{1,9}$/.test(missed)) {
        tell("How many mentions are missing? Write a number.");
        return;
      }
      answer({ answer: ticked.join(" ") || "none", missed });
      goOn();
    }
  }

  // Mentions of a document, to be ticked as members of an entity.
  // Each has its id, and the words before, in and after it.
  const mentionsOf = (row) => mentions[plain(row.document)] ?? [];

  function showMembers(row) {
    const section = get("members");
    section.hidden = !(NAMED && isDraw(row) && isNamed(row) && needsMembers(row));
    if (section.hidden) {
      section.replaceChildren();
      return;
    }
    const listed = mentionsOf(row);
    const same = rows.filter((entry) => entry !== row && entry.document === row.document && entry.answer === row.answer).map((entry) => entry.id);
    const ticked = new Set(row.members === "" ? same : row.members.split(" ").filter((id) => id !== "none"));
    ticked.delete(row.id);
    const filter = element("input", { type: "text", id: "filter", autocomplete: "off", "aria-controls": "mentions" });
    const count = element("p", { role: "status" });
    const list = element("ul", { id: "mentions", className: "boxes" });
    const more = button("Show more", () => fill(list.children.length + SHOWN));
    const finish = () => {
      const order = listed.map((mention) => mention[0]).filter((id) => ticked.has(id));
      answer({ members: order.join(" ") || "none" });
      goOn();
    };
    const tally = () => {
      count.textContent = `${ticked.size} ticked`;
    };
    const fill = (limit) => {
      const typed = clean(filter.value).toLowerCase();
      const fitting = listed.filter((mention) => mention[0] !== row.id &&
        (!typed || mention.slice(1).join(" ").toLowerCase().includes(typed)));
      list.replaceChildren(...fitting.slice(0, limit).map((mention) => {
        const [, before, text, after] = mention;
        const box = element("input", { type: "checkbox", value: mention[0], checked: ticked.has(mention[0]), onchange: () => {
          if (box.checked) ticked.add(mention[0]);
          else ticked.delete(mention[0]);
          tally();
        } });
        return element("li", {}, element("label", { dir: "auto" }, box,
          element("span", {}, element("small", {}, `${before} `), element("strong", {}, text), element("small", {}, ` ${after}`))));
      }));
      more.hidden = fitting.length <= limit;
      tally();
    };
    filter.addEventListener("input", () => fill(SHOWN));
    filter.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        finish();
      }
    });
    section.replaceChildren(
      element("h2", { id: "members-title" }, `Which other mentions are “${row.answer}”?`),
      element("label", { className: "line", htmlFor: "filter" }, "Words to look for"),
      element("div", { className: "row" }, element("span", { className: "grow" }, filter),
        button("Done", finish, { className: "main", id: "done" })),
      count, list, more,
    );
    fill(SHOWN);
    filter.focus();
  }

  // Files.
  function csvText() {
    const body = rows.map((row) => columns.map((column) => (EDITED.includes(column) ? safe(row[column]) : row[column])));
    return [head, ...instructions, columns, ...body].map((cells) => `${cells.map(quote).join(",")}\n`).join("");
  }

  function save() {
    const link = element("a", { href: URL.createObjectURL(new Blob(["\ufeff", csvText()], { type: "text/csv" })), download: "sheet.csv" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    unsaved = false;
    tell("Saved as sheet.csv.");
  }

  function isInstruction(cells) {
    return cells[0].startsWith("#");
  }

  function parse(text) {
    const content = text.replace(/^\ufeff/, "");
    const delimiter = /^"?# corefeval sheet"?([,;\t])/.exec(content)?.[1];
    if (delimiter === undefined) throw new Error("This is not a sheet that corefeval wrote.");
    const lines = [[]];
    let cell = "";
    let quoted = false;
    for (let at = 0; at < content.length; at += 1) {
      const sign = content[at];
      if (quoted) {
        if (sign !== '"') cell += sign;
        else if (content[at + 1] === '"') cell += content[(at += 1)];
        else quoted = false;
      } else if (sign === '"') quoted = true;
      else if (sign === delimiter || sign === "\n" || sign === "\r") {
        lines.at(-1).push(cell);
        cell = "";
        if (sign !== delimiter) lines.push([]);
      } else cell += sign;
    }
    lines.at(-1).push(cell);
    return lines.filter((cells) => cells.some((text) => text !== ""));
  }

  function take(text) {
    const [first, ...lines] = parse(text);
    if (field(first[1], "digest") !== digest || field(first[1], "design") !== design) throw new Error("This sheet is about other responses, or of another design.");
    const [header, ...body] = lines.filter((entry) => !isInstruction(entry));
    const questions = new Map(rows.map((row) => [key(row), row]));
    let count = 0;
    for (const entry of body) {
      const values = Object.fromEntries(header.map((name, index) => [name.trim(), (entry[index] ?? "").trim()]));
      const row = questions.get(key(values));
      if (row === undefined || !values.answer) continue;
      for (const column of EDITED) row[column] = clean(plain(values[column] ?? ""));
      keep(row);
      count += 1;
    }
    unsaved = false;
    return count;
  }

  async function open() {
    const [file] = get("open").files;
    get("open").value = "";
    if (!file) return;
    try {
      const count = take(new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer()));
      go(0);
      tell(`${count} answers taken from ${file.name}.`);
    } catch (error) {
      tell(error instanceof TypeError ? "This file is not UTF-8: save it as CSV UTF-8." : error.message);
    }
  }

  // Keys.
  function press(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    const target = event.target;
    const isField = target instanceof HTMLInputElement && ["text", "number"].includes(target.type);
    const isEmpty = !isField || target.value === "" || (target.id === "answer" && target.value === rows[place].answer);
    const steps = { PageUp: -1, PageDown: 1, ...(isEmpty && target.type !== "file" ? { ArrowLeft: -1, ArrowRight: 1 } : {}) };
    if (event.key in steps) go(place + steps[event.key]);
    else if (target.id === "answer" && ["ArrowDown", "ArrowUp"].includes(event.key)) {
      const count = get("names").children.length;
      if (!count) return;
      chosen = (chosen + (event.key === "ArrowDown" ? 1 : chosen < 0 ? 0 : -1) + count) % count;
      listNames(rows[place], target, get("names"));
      get("names").children[chosen]?.scrollIntoView({ block: "nearest" });
    } else if (design === "pairs" && !isField && ["y", "n", "-", "?"].includes(event.key)) accept(event.key);
    else if (NAMED && target.id === "answer" && isEmpty && ["-", "?"].includes(event.key)) accept(event.key);
    else if (design === "sentences" && event.key === "?") accept("?");
    else return;
    event.preventDefault();
  }

  load();
  document.title = `corefeval sheet of ${design}`;
  get("instructions").append(...instructions.map(([line]) => element("li", {}, line.replace(/^# /, ""))));
  document.addEventListener("keydown", press);
  get("form").addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  get("back").addEventListener("click", () => go(place - 1));
  get("forth").addEventListener("click", () => go(place + 1));
  get("next").addEventListener("click", goOn);
  get("clear").addEventListener("click", () => {
    answer(Object.fromEntries(EDITED.map((column) => [column, ""])));
    show();
  });
  get("save").addEventListener("click", save);
  get("open").addEventListener("change", open);
  window.addEventListener("beforeunload", (event) => {
    if (unsaved && localStorage.getItem(STORE) === null) event.preventDefault();
  });
  const first = rows.findIndex((row) => row.answer === "");
  go(first < 0 ? 0 : first);
})();
