"""Sheets: what is drawn, how it is written and read again, and every mistake in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import corefeval
from corefeval import InputError, UsageError
from sheet_makers import Person, rows_of, write_rows

RESPONSES = {name: corefeval.example(name) for name in ("cautious", "eager")}
PERSON = Person(corefeval.read(corefeval.example("key")))
DESIGNS = ("names", "entities", "pairs", "sentences")


@pytest.mark.parametrize("design", DESIGNS)
def test_a_sheet_is_always_the_same_and_a_larger_one_begins_with_its_draws(design, tmp_path):
    def draws(n, seed=3):
        sheet = corefeval.sample(RESPONSES, design=design, n=n, seed=seed)
        rows = [row for row in sheet if row.is_draw]
        places = [(row.document, row.cells.get("id"), row.cells.get("sentence")) for row in rows]
        return sheet, list(dict.fromkeys(places))

    (first, few), (second, again), (_, many) = draws(12), draws(12), draws(30)
    first.write(tmp_path / "a.csv")
    second.write(tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert few == again == many[:12] and len(few) == 12
    assert draws(12, seed=4)[1] != few


def test_draws_and_partners_are_uniform():
    response = [["a", "b", "c", "d"], ["e"]]
    drawn, partners = [], []
    for seed in range(1500):
        sheet = corefeval.sample(response, design="pairs", n=2, seed=seed)
        drawn += [row.mention for row in sheet]
        partners += [row.partner for row in sheet if row.mention == "a"]
    for mention in "abcde":
        assert drawn.count(mention) == pytest.approx(600, rel=0.15)
    for mention in "bcd":
        assert partners.count(mention) == pytest.approx(len(partners) / 3, rel=0.2)


def test_systems_that_agree_are_asked_one_question():
    corpus = corefeval.read(RESPONSES["eager"])
    for design in ("names", "pairs"):
        sheet = corefeval.sample({"a": corpus, "b": corpus}, design=design, n=20)
        asked = [row.systems for row in sheet if design == "pairs" or row.role == "companion"]
        assert asked and set(asked) == {("a", "b")}


@pytest.mark.parametrize("design", ["names", "entities"])
def test_the_first_sheet_is_continued(design, tmp_path):
    sheet = PERSON.fill(corefeval.sample(RESPONSES, design=design, n=20, seed=5))
    sheet.write(tmp_path / "sheet.csv")
    larger = corefeval.sample(RESPONSES, n=40, answers=tmp_path / "sheet.csv")
    assert (larger.design, larger.signature.seed, larger.signature.n) == (design, 5, 40)
    answers = {(row.document, row.mention): row.answer for row in sheet}
    for row in larger:
        assert row.answer == answers.get((row.document, row.mention), "")
    drawn = {(row.document, row.mention) for row in larger}
    idle = len({*answers} - drawn)
    assert ("idle-answers" in {notice.kind for notice in larger.notices}) == bool(idle)
    with pytest.raises(UsageError, match="leave them out"):
        corefeval.sample(RESPONSES, n=40, answers=sheet, design="pairs")
    with pytest.raises(InputError, match="other responses"):
        corefeval.sample({"eager": RESPONSES["eager"]}, n=40, answers=sheet)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_spreadsheet_may_save_it_in_its_own_way(design, delimiter, tmp_path):
    sheet = corefeval.sample(RESPONSES, design=design, n=9)
    if design == "sentences":
        sheet = sheet.fill(lambda row: (row.mentions[:1], 2))
    else:
        sheet = PERSON.fill(sheet)
    rows = [{"added": "x, y; z\tä", **row} for row in rows_of(sheet)]
    path = write_rows(tmp_path / "sheet.csv", sheet, reversed(rows), delimiter=delimiter)
    again = corefeval.read_sheet(path)
    assert again.rows() == sheet.rows()
    assert [(r.row, r.answer, r.members, r.of) for r in again] == [
        (r.row, r.answer, r.members, r.of) for r in sheet
    ]
    if design != "sentences":
        assert corefeval.estimate(again, RESPONSES).as_dict() == (
            corefeval.estimate(sheet, RESPONSES).as_dict()
        )


def test_written_sheets_have_a_mark_and_no_formulas(tmp_path):
    response = {"=1+1": [["@a", "-b", "+c"], ["\td"]]}
    sheet = corefeval.sample(response, design="names", n=4).fill(lambda row: "=SUM(A1)")
    sheet = sheet.fill(lambda row: "-" if row.mention == "@a" else "=SUM(A1)")
    sheet.write(tmp_path / "sheet.csv")
    data = (tmp_path / "sheet.csv").read_bytes()
    assert data.startswith(
        b"\xef\xbb\xbf# corefeval sheet,design:names|n:4|frame:4|seed:0|key:frame|"
    )
    for cell in re.split(r"[,\n]", data.decode("utf-8-sig")):
        assert not cell.lstrip('"').startswith(("=", "+", "@", "\t")), cell
        assert not cell.startswith("-") or cell == "-"
    again = corefeval.read_sheet(tmp_path / "sheet.csv")
    assert {row.answer for row in again} == {"-", "=SUM(A1)"}
    assert corefeval.estimate(again, response).n == 4


def test_signature_and_digest_are_as_specified():
    responses = {"b": {"t": [["m", "n"], ["o"]]}, "a": {"t": [["o", "n"]]}}
    corpora = {name: corefeval.corpus_from_entities(value) for name, value in responses.items()}
    sheet = corefeval.sample(corpora, design="names", n=2, singletons="drop", seed=7)
    # In the order of the frame: o, n of a, then m of b; o of b is a singleton.
    text = "a\nt\tm1 m2\nb\nt\tm2 m3\n"
    import hashlib

    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    assert str(sheet.signature) == (
        f"design:names|n:2|frame:3|seed:7|key:frame|responses:a;b|digest:{digest}|match:exact|"
        f"singletons:drop|duplicates:first|version:{corefeval.__version__}"
    )
    assert "only one of its entity" in " ".join(sheet.instructions)


def test_rows_have_what_a_function_needs():
    sheet = corefeval.sample(RESPONSES, design="names", n=30)
    companion = next(row for row in sheet if row.role == "companion")
    draw = next(row for row in sheet if row.is_draw and row.mention == companion.of)
    assert draw.row < companion.row and companion.systems and draw.systems == ()
    assert isinstance(draw.mention, tuple) and draw.text
    words = corefeval.read(RESPONSES["eager"])[draw.document].words
    assert " ".join(words[slice(*draw.mention)]) == draw.text
    assert "[" in draw.cells["before"] + sheet.csv  # speakers
    sentence = corefeval.sample(RESPONSES, design="sentences", n=2)[0]
    assert sentence.mentions and sentence.mention is None and sentence.answer == ""


def test_spans_of_several_parts_and_texts_without_tokens(tmp_path):
    text = tmp_path / "a.txt"
    text.write_text("Ada saw Bo. She left.", encoding="utf-8")
    (tmp_path / "a.ann").write_text(
        "T1\tPerson 0 3\tAda\nT2\tPerson 12 15\tShe\nR1\tCoref Arg1:T2 Arg2:T1\n", encoding="utf-8"
    )
    sheet = corefeval.sample(tmp_path / "a.ann", design="names", n=2)
    assert {row.text for row in sheet} == {"Ada", "She"}
    with pytest.raises(InputError, match="nothing says where they begin"):
        corefeval.sample(tmp_path / "a.ann", design="sentences", n=2)


@pytest.fixture
def filled(tmp_path):
    sheet = PERSON.fill(corefeval.sample(RESPONSES, design="names", n=12))
    return sheet, rows_of(sheet), tmp_path / "sheet.csv"


def refuse(path, words, line=None) -> None:
    with pytest.raises(InputError) as caught:
        corefeval.estimate(corefeval.read_sheet(path), RESPONSES)
    message = str(caught.value)
    assert words in message and path.name in message, message
    if line is not None:
        assert caught.value.line == line
    assert caught.value.expected or caught.value.fix


def test_another_encoding_is_refused_with_what_to_do(filled):
    sheet, _, path = filled
    path.write_bytes(sheet.csv.replace("entity", "Zoë", 1).encode("latin-1"))
    refuse(path, "save it as CSV UTF-8")
    path.write_bytes(sheet.csv.encode("utf-16"))
    assert corefeval.read_sheet(path).rows() == sheet.rows()


def test_mistakes_in_the_first_line(filled):
    sheet, _, path = filled
    for text, words in (
        ("", "has no signature"),
        ("row,answer\n1,x\n", "has no signature"),
        (sheet.csv.replace("design:names", "design:dreams"), "no design ‘dreams’"),
        (sheet.csv.replace("match:exact", "match:sloppy"), "match is one of"),
        (sheet.csv.replace("version:", "version:9"), "newer"),
    ):
        path.write_text(text, encoding="utf-8")
        refuse(path, words, 1)


def test_a_changed_response_is_refused(filled):
    sheet, _, path = filled
    digest = sheet.signature.digest
    path.write_text(sheet.csv.replace(digest, digest[::-1]), encoding="utf-8")
    refuse(path, "cautious, eager")
    path.write_text(sheet.csv.replace("responses:cautious;eager", "responses:a;b"), "utf-8")
    refuse(path, "a, b as they were")
    with pytest.raises(InputError, match="and candidates"):
        corefeval.estimate(sheet, RESPONSES, candidates=corefeval.example("key"))


def test_mistakes_in_rows(filled):
    sheet, rows, path = filled
    named = next(row for row in rows if row["answer"] != "-")
    for change, words in (
        ({"id": "999..1000"}, "has no mention"),
        ({"document": "nowhere"}, "has no mention"),
        ({"members": "this one"}, "not the id of a mention"),
        ({"row": "first"}, "a row without its number"),
        ({"row": "1.0"}, "a row without its number"),
        ({"role": "drawn"}, "a role that a sheet of names does not have"),
        ({"id": "3. Mai"}, "has no mention"),
        ({"id": ""}, "has no mention"),
        ({"members": "1..2, 3..4"}, "not the id of a mention"),
        ({"answer": "\x07"}, "an answer that the sheet does not ask for"),
    ):
        changed = [row if row is not named else {**row, **change} for row in rows]
        write_rows(path, sheet, changed)
        refuse(path, words, 3 + rows.index(named))
    write_rows(path, sheet, [*rows, rows[0]])
    refuse(path, "two rows have the number 1", 3 + len(rows))
    write_rows(path, sheet, [*rows, {**rows[0], "row": "999"}])
    refuse(path, "a draw has two rows", 3 + len(rows))
    companion = next(row for row in rows if row["role"] == "companion")
    for change, words in (({"systems": "nobody"}, "no response"), ({"of": "x"}, "has no mention")):
        write_rows(
            path, sheet, [row if row is not companion else {**row, **change} for row in rows]
        )
        refuse(path, words, 3 + rows.index(companion))
    write_rows(path, sheet, [{k: v for k, v in row.items() if k != "answer"} for row in rows])
    refuse(path, "the column answer is missing", 2)
    path.write_text(sheet.csv.split("\n1,")[0], encoding="utf-8")
    refuse(path, "a sheet without rows")
    path.write_text(sheet.csv.split("\nrow,")[0], encoding="utf-8")
    refuse(path, "the column row is missing")


def test_mistakes_in_answers(tmp_path):
    path = tmp_path / "sheet.csv"
    pairs = corefeval.sample(RESPONSES, design="pairs", n=9)
    write_rows(path, pairs, [{**row, "answer": "perhaps"} for row in rows_of(pairs)])
    refuse(path, "an answer that the sheet does not ask for", 3)
    sentences = corefeval.sample(RESPONSES, design="sentences", n=9)
    rows = rows_of(sentences)
    for change, words in (
        ({"answer": "none", "missed": "many"}, "missed is not a number"),
        ({"answer": "999..1000"}, "an answer that the sheet does not ask for"),
        ({"answer": "none", "sentence": "999"}, "has no sentence"),
    ):
        write_rows(path, sentences, [{**rows[0], **change}, *rows[1:]])
        refuse(path, words, 3)
    for copied in (pairs, sentences):
        rows = rows_of(copied)
        write_rows(path, copied, [*rows, {**rows[0], "row": "999"}])
        refuse(path, "a draw has two rows", 3 + len(rows))
    with pytest.raises(InputError, match="row 1: an answer"):
        pairs.fill(lambda row: "perhaps")
    for answer in ("ja", "JA", "oui", "1", "Yes", "J", "o"):
        assert pairs.fill(lambda row, answer=answer: answer)[0].answer == "y"
    for answer in ("nein", "non", "0", "NO"):
        assert pairs.fill(lambda row, answer=answer: answer)[0].answer == "n"


@pytest.mark.parametrize("options", [{"n": 1}, {"n": 2.5}, {"n": True}, {"n": 9, "seed": -1}])
def test_bad_numbers_are_refused(options):
    with pytest.raises(UsageError):
        corefeval.sample(RESPONSES, design="names", **options)


def test_what_cannot_be_drawn_is_refused_with_the_reason():
    for options, words in (
        ({"match": "head"}, "the same for every response"),
        ({"tokens": "align"}, "the same for every response"),
        ({"ignore_tokens": True}, "the same for every response"),
        ({"split": "score"}, "sets of antecedents"),
        ({"across": "all"}, "within a document"),
        ({"singletons": "drop-response"}, "needs a key"),
        ({"protocol": "singletons:double-response"}, "double-response"),
        ({"design": "dreams"}, "design is one of"),
        ({"design": None}, "design is one of"),
    ):
        with pytest.raises(UsageError, match=words):
            corefeval.sample(RESPONSES, **{"design": "names", "n": 9, **options})
    with pytest.raises(UsageError, match="candidates have no entities"):
        corefeval.sample(RESPONSES, design="pairs", n=9, candidates=corefeval.example("key"))
    with pytest.raises(InputError, match="nothing says where"):
        corefeval.sample([["a", "b"]], design="sentences", n=2)
    with pytest.raises(InputError, match="nothing to draw from"):
        corefeval.sample([], design="names", n=2)
    for name in ("a;b", "a|b", "", "frame"):
        with pytest.raises(UsageError, match="cannot be the name"):
            corefeval.sample({name: RESPONSES["eager"]}, design="names", n=2)


def test_zeros_in_other_places_are_refused(tmp_path):
    text = (
        "# global.Entity = eid-etype-head-other\n# newdoc id = d\n# sent_id = 1\n"
        "1\tAda\tAda\tPROPN\t_\t_\t0\troot\t_\tEntity=(e1-person-1-)\n"
        "{first}2\tleft\tleave\tVERB\t_\t_\t1\tx\t_\t_\n{second}3\tBo\tBo\tPROPN\t_\t_\t1\tx\t_\t"
        "Entity=(e2-person-1-)\n\n"
    )
    zero = "{}\t_\t_\tPRON\t_\t_\t_\t_\t1:x\tEntity=(e1-person-1-)\n"
    paths = {}
    for name, places in (("a", ("1.1", "")), ("b", ("", "2.1"))):
        first, second = (zero.format(place) if place else "" for place in places)
        paths[name] = tmp_path / f"{name}.conllu"
        paths[name].write_text(text.format(first=first, second=second), encoding="utf-8")
    with pytest.raises(InputError, match="empty nodes"):
        corefeval.sample(paths, design="names", n=2)
    assert corefeval.sample(paths, design="names", n=2, zeros="drop").signature.frame == 2
    assert corefeval.sample(paths["a"], design="names", n=2).signature.frame == 3


def test_documents_that_not_all_have_are_drawn_from(tmp_path):
    responses = {
        "a": corefeval.corpus_from_entities({"x": [["m", "n"]], "y": [["o", "p"]]}),
        "b": corefeval.corpus_from_entities({"y": [["o", "q"]], "z": [["r", "s"]]}),
    }
    sheet = corefeval.sample(responses, design="names", n=99)
    assert sheet.signature.frame == 7
    assert "missing-documents" in {notice.kind for notice in sheet.notices}
    assert "all-drawn" in {notice.kind for notice in sheet.notices}
    key = corefeval.corpus_from_entities({"x": [["m", "n"]], "y": [["o", "p"]], "z": [["r", "s"]]})
    scores = corefeval.estimate(Person(key).fill(sheet), responses)
    assert scores["a"]["b3"]["recall"].value == pytest.approx(4 / 6)
    assert scores["a"]["b3"]["precision"].value == 1


def test_other_texts_are_refused(tmp_path):
    text = tmp_path / "b.conll"
    words = Path(RESPONSES["eager"]).read_text(encoding="utf-8")
    text.write_text(words.replace("October", "November"), encoding="utf-8")
    with pytest.raises(InputError, match="do not have the same text") as caught:
        corefeval.sample({"a": RESPONSES["eager"], "b": text}, design="names", n=9)
    assert "key" not in str(caught.value) and caught.value.line
    one, two = (
        corefeval.read(path).choose_documents("fi/*") for path in (RESPONSES["eager"], text)
    )
    elsewhere = corefeval.read(RESPONSES["eager"]).choose_documents("bc/*")
    with pytest.raises(InputError, match="do not have the same text"):
        corefeval.sample({"a": elsewhere, "b": one, "c": two}, design="names", n=9)


@pytest.mark.parametrize("size", [0, 1, 99_999])
def test_the_frame_of_the_signature_is_that_of_the_responses(size, tmp_path):
    sheet = PERSON.fill(corefeval.sample(RESPONSES, design="names", n=20))
    text = re.sub("frame:[0-9]+", f"frame:{size}", sheet.csv)
    (tmp_path / "sheet.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=f"line 1: (.|\n)*with frame:{size} "):
        corefeval.estimate(corefeval.read_sheet(tmp_path / "sheet.csv"), RESPONSES)


def test_a_sheet_of_names_is_none_of_entities(filled):
    sheet, rows, path = filled
    companion = next(number for number, row in enumerate(rows) if row["role"] == "companion")
    path.write_text(sheet.csv.replace("design:names", "design:entities"), encoding="utf-8")
    refuse(path, "a role that a sheet of entities does not have", companion + 7)


def test_instructions_on_sentences_use_none_for_one_thing():
    sheet = corefeval.sample(RESPONSES, design="sentences", n=2)
    assert re.findall("none", " ".join(sheet.instructions)) == ["none"]


def test_a_page_is_no_sheet_but_has_one(tmp_path):
    path = tmp_path / "sheet.html"
    corefeval.sample(RESPONSES, design="names", n=9).write(path)
    refuse(path, "press Save")


@pytest.mark.parametrize("name", ["sheet.xlsx", "sheet.ods", "sheet"])
def test_a_sheet_is_written_as_what_its_name_says(name, tmp_path):
    sheet = corefeval.sample(RESPONSES, design="names", n=9)
    with pytest.raises(UsageError, match=r"\.csv.*\.html"):
        sheet.write(tmp_path / name)
    assert not (tmp_path / name).exists()
