"""Estimates: edge cases of sheets, refusals, several people, and plans."""

from __future__ import annotations

import pytest

import corefeval
from corefeval import InputError, UsageError
from corefeval.stats.significance import adjust
from sheet_makers import Person, rows_of, write_rows

RESPONSES = {name: corefeval.example(name) for name in ("cautious", "eager")}
KEY = corefeval.example("key")
PERSON = Person(corefeval.read(KEY))


def kinds(estimates) -> set[str]:
    return {notice.kind for notice in estimates.notices}


def test_a_single_answer_does_not_tell_how_many_are_needed():
    sheet = corefeval.sample(RESPONSES, design="sentences", n=9, seed=6)
    first = sheet[0].row
    filled = sheet.fill(lambda row: ((), 1) if row.row == first else "?")
    estimates = corefeval.estimate(filled, RESPONSES)
    assert estimates["eager"]["mentions"]["recall"].needed(0.05) is None
    assert "needed" in estimates.rows(margin=0.05)[0]


def test_estimates_are_mappings_all_the_way():
    sheet = PERSON.fill(corefeval.sample(RESPONSES, design="entities", n=150))
    estimates = corefeval.estimate(sheet, RESPONSES, level=0.9)
    assert [*estimates] == ["cautious", "eager"] and len(estimates) == 2
    assert {m: [*rates] for m, rates in estimates["eager"].items()} == {
        "muc": ["recall", "precision", "f1"],
        "b3": ["recall", "precision", "f1"],
        "lea": ["recall", "precision", "f1"],
        "mentions": ["precision"],
    }
    entry = estimates["eager"]["b3"]["f1"]
    assert entry.low < entry.value < entry.high
    assert entry.needed(0.01) > entry.needed(0.05) >= 2
    assert entry.needed(0.0001) <= estimates.frame
    assert entry.needed(1e-300) == entry.needed(5e-324) == estimates.frame
    wider = corefeval.estimate(sheet, RESPONSES, level=0.99)["eager"]["b3"]["f1"]
    assert wider.low < entry.low and wider.high > entry.high
    there = estimates.difference("b3", "f1", "cautious", "eager")
    back = estimates.difference("b3", "f1", "eager", "cautious")
    assert (there.value, there.low, there.high) == (-back.value, -back.high, -back.low)
    assert there.p == back.p
    with pytest.raises(UsageError):
        estimates.difference("b3", "f1", "eager", "nobody")
    assert len(estimates.rows()) == 20
    only = corefeval.estimate(sheet, RESPONSES, metrics="lea")
    assert [*only["eager"]] == ["lea"]


def test_intervals_have_the_score_in_them():
    """A full key plays the person: most intervals of 95 % have the score that all draws give."""
    full = corefeval.sample(RESPONSES, design="names", n=10_000)
    truth = corefeval.estimate(PERSON.fill(full), RESPONSES)
    hits = []
    for design in ("names", "entities", "pairs"):
        for seed in range(8):
            sheet = PERSON.fill(corefeval.sample(RESPONSES, design=design, n=100, seed=seed))
            estimates = corefeval.estimate(sheet, RESPONSES)
            for system in RESPONSES:
                for metric in ("b3", "lea"):
                    entry = estimates[system][metric]["precision"]
                    value = truth[system][metric]["precision"].value
                    hits.append(entry.low <= value <= entry.high)
    assert sum(hits) / len(hits) > 0.88


@pytest.mark.parametrize(
    ("design", "metric", "reason"),
    [
        ("names", "ceafe", "one-to-one"),
        ("entities", "conll", "one-to-one"),
        ("names", "blanc", "a few large entities"),
        ("names", "muc", "take design entities"),
        ("pairs", "muc", "take design entities"),
        ("sentences", "b3", "there are mentions"),
        ("names", "nonsense", "nonsense"),
    ],
)
def test_what_is_not_offered_is_refused_with_the_reason(design, metric, reason):
    sheet = corefeval.sample(RESPONSES, design=design, n=9)
    with pytest.raises(UsageError, match=reason):
        corefeval.estimate(sheet, RESPONSES, metrics=metric)


def test_bad_arguments_are_refused():
    sheet = corefeval.sample(RESPONSES, design="names", n=9)
    for level in (0, 1, 95):
        with pytest.raises(UsageError):
            corefeval.estimate(sheet, RESPONSES, level=level)
    with pytest.raises(UsageError, match="no sheet"):
        corefeval.estimate([], RESPONSES)
    with pytest.raises(InputError, match="nowhere"):
        corefeval.estimate([sheet, "nowhere.csv"], RESPONSES)
    with pytest.raises(UsageError, match="no option"):
        corefeval.estimate(sheet, RESPONSES, singletons="drop")
    with pytest.raises(UsageError, match="beside one of another"):
        corefeval.estimate(sheet, RESPONSES, sentences=sheet)
    with pytest.raises(InputError, match="different signatures"):
        corefeval.estimate([sheet, corefeval.sample(RESPONSES, design="names", n=8)], RESPONSES)


def test_muc_needs_a_hundred_draws():
    sheet = PERSON.fill(corefeval.sample(RESPONSES, design="entities", n=99))
    estimates = corefeval.estimate(sheet, RESPONSES)
    assert {*estimates.refused} == {"muc.recall", "muc.precision"}
    assert not estimates["eager"]["muc"]


def test_names_that_are_not_complete_refuse_recall():
    sheet = corefeval.sample(RESPONSES, design="names", n=40).fill(PERSON.name)
    rows = [row.row for row in sheet.incomplete]
    assert rows
    estimates = corefeval.estimate(sheet, RESPONSES)
    assert {"b3.recall", "lea.recall"} <= {*estimates.refused}
    assert str(rows[0]) in estimates.refused["b3.recall"]
    assert [*estimates["eager"]["b3"]] == ["precision"]
    complete = corefeval.estimate(sheet.complete(PERSON.members), RESPONSES)
    assert not complete.refused and not sheet.complete(PERSON.members).incomplete


def test_entities_without_members_are_refused():
    sheet = corefeval.sample(RESPONSES, design="entities", n=40).fill(PERSON.name)
    estimates = corefeval.estimate(sheet, RESPONSES)
    assert "b3.recall" in estimates.refused and "members" in estimates.refused["b3.recall"]
    drawn = {(row.document, row.mention): row.answer != "-" for row in sheet}
    eager = corefeval.read(RESPONSES["eager"])
    places = {(str(document.id), m.span) for document in eager for m in document.mentions}
    is_right = [right for place, right in drawn.items() if place in places]
    value = estimates["eager"]["mentions"]["precision"].value
    assert value == pytest.approx(sum(is_right) / len(is_right))


def test_companions_without_answers():
    sheet = PERSON.fill(corefeval.sample(RESPONSES, design="names", n=60))
    silent = sheet.fill(lambda row: row.answer if row.is_draw else "")
    estimates = corefeval.estimate(silent, RESPONSES)
    assert {"b3.precision", "lea.precision"} <= {*estimates.refused}
    companion = next(row for row in sheet if not row.is_draw)
    assert str(companion.row) in estimates.refused["b3.precision"]
    one_less = sheet.fill(lambda row: "" if row.row == companion.row else row.answer)
    estimates = corefeval.estimate(one_less, RESPONSES)
    assert not estimates.refused and "companions" in kinds(estimates)


def test_unanswered_unsure_and_few():
    sheet = PERSON.fill(corefeval.sample(RESPONSES, design="names", n=60))
    last = sheet.fill(lambda row: row.answer if row.row < 40 else "")
    estimates = corefeval.estimate(last, RESPONSES)
    draws = sum(row.is_draw for row in last if row.row < 40)
    assert estimates.n == draws and "unanswered" in kinds(estimates)
    unsure = sheet.fill(lambda row: "?" if row.row % 3 == 0 else row.answer)
    estimates = corefeval.estimate(unsure, RESPONSES)
    assert {"unsure", "many-unsure"} <= kinds(estimates)
    few = corefeval.estimate(sheet.fill(lambda r: r.answer if r.row < 9 else ""), RESPONSES)
    assert "few-draws" in kinds(few)
    nobody = corefeval.estimate(sheet.fill(lambda row: ""), RESPONSES)
    assert nobody.n == 0 and nobody["eager"]["b3"]["f1"].value is None
    assert "no-value" in kinds(nobody)
    assert nobody["eager"]["b3"]["recall"].needed(0.02) is None


def test_one_answer_shows_no_spread():
    sheet = corefeval.sample(RESPONSES, design="pairs", n=60).fill(PERSON.pair)
    single = corefeval.estimate(sheet.fill(lambda r: r.answer if r.row == 1 else ""), RESPONSES)
    assert single.n == 1
    for entry in (rates["precision"] for system in single.values() for rates in system.values()):
        assert entry.low is None and entry.error is None and entry.needed(0.02) is None


def test_unsure_pairs_have_a_range():
    sheet = corefeval.sample(RESPONSES, design="pairs", n=60).fill(PERSON.pair)
    sheet = sheet.fill(lambda row: "?" if row.row % 4 == 0 else row.answer)
    estimates = corefeval.estimate(sheet, RESPONSES)
    (notice,) = (n for n in estimates.notices if n.kind == "unsure-range")
    assert len(notice.items) == 6 and "b3.precision of eager" in str(notice)
    sure = sheet.fill(lambda row: "y" if row.answer == "?" else row.answer)
    for sheets in ([sheet, sure], [sure, sheet]):  # the range is that of whoever was unsure
        both = corefeval.estimate(sheets, RESPONSES)
        assert [n for n in both.notices if n.kind == "unsure-range"] == [notice]


def test_a_response_without_mentions_has_no_range():
    both = {"full": [["a", "b"], ["c", "d"]], "void": []}
    responses = {name: corefeval.corpus_from_entities(side) for name, side in both.items()}
    sheet = corefeval.sample(responses, design="pairs", n=4)
    sheet = sheet.fill(lambda row: "?" if row.row == 1 else "y")
    notices = {notice.kind: str(notice) for notice in corefeval.estimate(sheet, responses).notices}
    text = notices["unsure-range"]
    assert "of full" in text and "void" not in text and "nan" not in text


def plain_sheet(tmp_path, changes, *, design="names", **options):
    """Estimates of a small response in plain Python, whose rows are changed by mention."""
    response = {"x": [["a", "b", "c"], ["d", "e"]], "y": [["f", "g"]]}
    sheet = corefeval.sample(response, design=design, n=99, **options)
    filled = rows_of(sheet.fill(lambda row: "D" if row.mention in "de" else "A"))
    rows = [{**row, **changes.get(row["mention"], {})} for row in filled]
    path = write_rows(tmp_path / "sheet.csv", sheet, rows)
    return corefeval.estimate(corefeval.read_sheet(path), response)


def test_one_name_in_two_documents_is_two_entities(tmp_path):
    assert plain_sheet(tmp_path, {})["response"]["b3"]["f1"].value == 1


def test_members(tmp_path):
    single = {"answer": "E", "members": "none"}
    estimates = plain_sheet(tmp_path, {"e": single, "d": {"answer": "D", "members": "m99 none"}})
    assert "outside" in kinds(estimates)
    with pytest.raises(InputError, match="two names"):
        plain_sheet(tmp_path, {"e": {"answer": "E", "members": "m4"}})
    estimates = plain_sheet(
        tmp_path, {"a": {"members": "m2"}, "b": {"members": "m3"}}, design="entities"
    )
    assert {"union"} <= kinds(estimates)
    estimates = plain_sheet(tmp_path, {"a": {"members": "m2"}}, design="entities")
    assert "added" in kinds(estimates)
    estimates = plain_sheet(tmp_path, {"a": {"answer": "-", "members": "m2"}})
    assert "idle-members" in kinds(estimates)


def test_one_mention_has_one_name(tmp_path):
    sheet = PERSON.fill(corefeval.sample(RESPONSES, design="names", n=30))
    rows = rows_of(sheet)
    companions = [row for row in rows if row["role"] == "companion"]
    rows.append({**companions[0], "row": "999", "answer": "somebody else"})
    path = write_rows(tmp_path / "sheet.csv", sheet, rows)
    with pytest.raises(InputError, match="two names"):
        corefeval.estimate(corefeval.read_sheet(path), RESPONSES)


def test_similar_names_are_told(tmp_path):
    estimates = plain_sheet(tmp_path, {"d": {"answer": "a"}, "e": {"answer": "a"}})
    assert "A/a" in {item for n in estimates.notices for item in n.items}
    accent = {"d": {"answer": "É"}, "e": {"answer": "É"}}
    assert plain_sheet(tmp_path, accent)["response"]["b3"]["f1"].value == 1


def test_singletons_that_are_dropped():
    response = [["a", "b"], ["c", "d"], ["e"]]
    sheet = corefeval.sample(response, design="entities", n=9, singletons="drop")
    assert sheet.signature.frame == 4
    sheet = sheet.fill(lambda row: "A" if row.mention in "ab" else row.mention)
    sheet = sheet.complete(
        lambda row: ["b" if row.mention == "a" else "a"] if row.mention in "ab" else []
    )
    scores = corefeval.estimate(sheet, response)["response"]
    expected = corefeval.score(
        [["a", "b"], ["c"], ["d"]], response, singletons="drop", metrics="b3"
    )
    assert scores["b3"]["precision"].value == pytest.approx(expected["b3"].precision)
    assert scores["b3"]["recall"].value == pytest.approx(expected["b3"].recall)


def test_a_response_without_mentions():
    responses = {"full": corefeval.corpus_from_entities({"x": [["a", "b"], ["c"]]})}
    responses["empty"] = corefeval.corpus_from_entities({"x": []})
    sheet = Person({"x": [["a", "b"], ["c"]]}).fill(
        corefeval.sample(responses, design="names", n=9)
    )
    scores = corefeval.estimate(sheet, responses)
    assert scores["empty"]["b3"]["precision"].value is None
    assert scores["empty"]["b3"]["recall"].value == 0
    assert scores.difference("b3", "precision", "full", "empty").value is None
    assert scores.difference("b3", "recall", "full", "empty").value == 1


def test_one_response_and_candidates():
    response = RESPONSES["eager"]
    alone = PERSON.fill(corefeval.sample(response, design="names", n=40))
    (notice,) = (n for n in corefeval.estimate(alone, response).notices if n.kind == "frame-recall")
    assert "candidates" in str(notice)
    sheet = corefeval.sample(response, design="names", n=999, candidates=KEY)
    assert sheet.signature.frame > alone.signature.frame
    estimates = corefeval.estimate(PERSON.fill(sheet), response, candidates=KEY)
    expected = corefeval.score(KEY, response, metrics="b3, lea")
    for metric in ("b3", "lea"):
        value = estimates["response"][metric]["recall"].value
        assert value == pytest.approx(expected[metric].recall)


def judge_sentence(row):
    key = corefeval.read(KEY)[row.document]
    ranges = list(key.corpus.tokens.sentence_ranges(key.index))
    sentence = ranges[int(row.cells["sentence"]) - 1]
    right = {m.span for m in key.mentions if m.start in sentence}
    wrong = [mention for mention in row.mentions if mention not in right]
    return wrong, len(right - {*row.mentions})


def test_sentences_give_mentions_and_reach():
    sheet = corefeval.sample(RESPONSES, design="sentences", n=999).fill(judge_sentence)
    estimates = corefeval.estimate(sheet, RESPONSES)
    for name, path in RESPONSES.items():
        expected = corefeval.score(KEY, path, metrics="mentions")["mentions"]
        for rate in ("recall", "precision", "f1"):
            value = estimates[name]["mentions"][rate].value
            assert value == pytest.approx(getattr(expected, rate))
    reach = estimates["frame"]["mentions"]["recall"].value
    names = PERSON.fill(corefeval.sample(RESPONSES, design="names", n=50))
    beside = corefeval.estimate(names, RESPONSES, sentences=sheet)
    assert beside["frame"]["mentions"]["recall"].value == reach
    assert "frame-recall" not in kinds(beside)
    assert "frame" not in {entry.first for entry in beside.differences}


def test_several_people():
    first = PERSON.fill(corefeval.sample(RESPONSES, design="names", n=60))
    named = [(row.document, row.answer) for row in first if row.is_draw and row.answer != "-"]
    often = next(row.row for row in first if named.count((row.document, row.answer)) > 1)
    second = first.fill(lambda row: "-" if row.row == often else row.answer)
    second = second.fill(lambda row: "" if row.row == 1 else row.answer)
    estimates = corefeval.estimate([first, second], RESPONSES)
    assert estimates.n == 59 and len(estimates.annotators) == 2
    values = [e["eager"]["lea"]["precision"].value for e in estimates.annotators]
    assert estimates["eager"]["lea"]["precision"].value == pytest.approx(sum(values) / 2)
    agreement = estimates.agreement
    assert agreement["rows"] - agreement["agreed"] == 1
    assert 0.9 < agreement["no_mention"] <= 1 and 0.9 < agreement["b3"] <= 1
    pairs = corefeval.sample(RESPONSES, design="pairs", n=60).fill(PERSON.pair)
    same = corefeval.estimate([pairs, pairs, pairs], RESPONSES)
    assert same.agreement["alpha"] == 1
    assert same["eager"]["b3"]["precision"].error == pytest.approx(
        corefeval.estimate(pairs, RESPONSES)["eager"]["b3"]["precision"].error
    )
    opposite = pairs.fill(lambda row: "n" if row.answer == "y" else "y")
    assert corefeval.estimate([pairs, opposite], RESPONSES).agreement["alpha"] < 0


def test_nominal_alpha_by_hand():
    response = [["a", "b"], ["c", "d"], ["e", "f"]]
    sheet = corefeval.sample(response, design="pairs", n=6)
    first = sheet.fill(lambda row: "y" if row.row < 5 else "n")
    second = sheet.fill(lambda row: "y" if row.row < 4 else "n")
    observed, expected = 1 / 6, 2 * 7 * 5 / (12 * 11)
    alpha = corefeval.estimate([first, second], response).agreement["alpha"]
    assert alpha == pytest.approx(1 - observed / expected)


def test_holm_marks_what_is_significant():
    corpus = corefeval.read(RESPONSES["eager"])
    responses = {"eager": corpus, "again": corpus, "cautious": RESPONSES["cautious"]}
    sheet = PERSON.fill(corefeval.sample(responses, design="names", n=150))
    estimates = corefeval.estimate(sheet, responses)
    same = estimates.difference("b3", "f1", "eager", "again")
    assert (same.value, same.p) == (0, 1)
    table = corefeval.render(estimates, format="text").partition("Differences")[2].splitlines()
    marks = [line.endswith("*") for line in table if " – " in line]
    entries = estimates.differences
    trios = (entries[place : place + 3] for place in range(0, len(entries), 3))
    adjusted = [p for trio in trios for p in adjust([entry.p for entry in trio])]
    assert marks == [p < 0.05 for p in adjusted] and any(marks) and not all(marks)


def test_a_path_will_do_for_a_sheet(tmp_path):
    path, beside = tmp_path / "sheet.csv", tmp_path / "sentences.csv"
    sheet = PERSON.fill(corefeval.sample(RESPONSES, design="names", n=30))
    sheet.write(path)
    corefeval.sample(RESPONSES, design="sentences", n=9).fill(judge_sentence).write(beside)
    expected = corefeval.estimate(sheet, RESPONSES).as_dict()
    for source in (path, str(path), [path]):
        assert corefeval.estimate(source, RESPONSES).as_dict() == expected
    assert "frame" in corefeval.estimate([path, sheet], RESPONSES, sentences=beside)
    for nonsense in (3, None, [3]):
        with pytest.raises(UsageError):
            corefeval.estimate(nonsense, RESPONSES)
