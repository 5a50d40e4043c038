"""Empty nodes in files: places, lines, notices, and what every command makes of them."""

from __future__ import annotations

import json

import pytest

import corefeval
from corefeval import agree, corpus_from_arrays, read, write
from corefeval.diagnostics import CorefEvalError, PairingError, merge_notices
from corefeval.model.corpus import NO_GAPS
from corefeval.pairing.zeros import settle_zeros
from corefeval.preparation import prepare


def conllu(*rows: str, name: str = "d") -> str:
    """Lines of number, word and (maybe) Entity; an empty one ends a sentence."""
    lines = [f"# newdoc id = {name}", "# global.Entity = eid-head"]
    for row in rows:
        number, word, *mark = row.split() if row else ("", "")
        misc = f"Entity={mark[0]}" if mark else "_"
        lines.append("\t".join((number, word, *"_______", misc)) if row else "")
    return "\n".join((*lines, "", ""))


KEY = conllu("1 Ada (e1-1)", "1.1 _", "2 came (e1-1)", "3 home (e2-1)", "4 . (e2-1)")
ELSEWHERE = conllu("1 Ada (e1-1)", "2 came (e1-1)", "3 home (e2-1)", "3.1 _", "4 . (e2-1)")


def test_as_many_nodes_at_other_places(conll):
    for key, response in ((KEY, ELSEWHERE), (ELSEWHERE, KEY)):
        result = corefeval.score(conll(key, "k.conllu"), conll(response, "r.conllu"))
        assert result["muc"].f1 == 1.0
        assert result["mentions"].f1 == 1.0
        assert [(n.kind, n.count) for n in result.notices] == [("empty-nodes", 1)] * 2
        assert "1 empty node where the other side has none" in str(result.notices[0])


def test_a_node_that_only_one_side_has_matches_nothing(conll):
    key = conll(conllu("1 Ada (e1-1)", "1.1 _ (e1-1)", "2 came", "3 she (e1-1)"))
    response = conll(conllu("1 Ada (e1-1)", "2 came", "2.1 _ (e1-1)", "3 she (e1-1)"))
    counts = corefeval.score(key, response)["mentions"].counts
    assert (counts["recall_numerator"], counts["recall_denominator"]) == (2, 3)
    assert corefeval.score(key, response, zeros="drop")["mentions"].f1 == 1.0


@pytest.mark.parametrize(
    ("key", "response", "same"),
    [
        (("1 a", "1.1 _ (e-1)"), ("1 a", "1.10 _ (e-1)"), False),
        (("1 a", "1.2 _ (e-1)"), ("1 a", "1.1 _", "1.2 _ (e-1)"), True),
        (("1 a", "1.1 _ (e-1)", "", "1 b"), ("1 a", "", "0.1 _ (e-1)", "1 b"), False),
        (("1 a", "", "0.1 _ (e-1)", "1 b"), ("1 a", "1.1 _", "", "0.1 _ (e-1)", "1 b"), True),
        # Nodes of a sentence without words stand with those before the next word, in their order.
        (("1 a", "", "0.1 _ (e-1)", "", "1 b"), ("1 a", "", "0.1 _ (e-1)", "1 b"), True),
        (("1 a", "", "0.1 _", "", "0.1 _ (e-1)", "1 b"),
         ("1 a", "", "0.1 _", "0.2 _ (e-1)", "1 b"), True),
        # Numbers that do not ascend mean nothing: then the order does.
        (("1 a", "1.2 _", "1.1 _ (e-1)"), ("1 a", "1.1 _", "1.2 _ (e-1)"), True),
        (("1 a", "1.1 _", "1.1 _ (e-1)"), ("1 a", "1.1 _", "1.2 _ (e-1)"), True),
    ],
)  # fmt: skip
def test_places(conll, key, response, same):
    for one, other in ((key, response), (response, key)):
        result = corefeval.score(conll(conllu(*one)), conll(conllu(*other)), metrics="mentions")
        assert result["mentions"].f1 == float(same)


def test_sentences_begin_before_the_nodes_of_the_other_side(conll):
    key = conll(conllu("1 a (e-1)", "", "1 b (e-1)"))
    response = conll(conllu("1 a (e-1)", "", "0.1 _ (e-1)", "0.2 _", "1 b"))
    prepared = prepare(key, response)
    assert prepared.key.tokens.sentence_starts(0) == [0, 1]
    assert prepared.response.tokens.sentence_starts(0) == [0, 1]
    assert prepared.key.tokens.starts.tolist() == [0, 1]


def test_lines_are_those_of_the_file(conll):
    response = ELSEWHERE.replace("\thome\t", "\thouse\t")
    with pytest.raises(PairingError) as error:
        corefeval.score(conll(KEY), conll(response))
    assert error.value.line == 5
    assert error.value.found == "token 2 is ‘house’"
    assert "‘home’ as on line 6" in str(error.value.expected)


def test_repeated_mentions_are_told_with_the_line_of_the_file(conll):
    twice = ELSEWHERE.replace("(e2-1)", "(e2-1)(e3-1)", 1)
    with pytest.raises(CorefEvalError, match="line 5"):
        corefeval.score(conll(KEY), conll(twice), duplicates="error")


def test_a_conversion_that_marks_no_nodes_has_them_all_the_same(conll, tmp_path):
    key = read(conll(conllu("1 Ada (e1-1)", "1.1 _ (e1-1)", "2 came", "3 she (e1-1)")))
    write(key, tmp_path / "key.conll", format="conll")
    plain = read(tmp_path / "key.conll")
    assert plain.tokens is not None
    assert "empty" not in plain.tokens.columns
    for one, other in ((key, plain), (plain, key)):
        result = corefeval.score(one, other)
        assert result["lea"].f1 == 1.0
        assert result.notices == ()
        dropped = corefeval.score(one, other, zeros="drop")
        assert dropped["lea"].f1 == 1.0
        assert dropped["mentions"].counts["recall_denominator"] == 2


def test_positions_without_tokens_are_those_of_the_other_side(conll):
    key = conll(conllu("1 Ada (e1-1)", "1.1 _ (e1-1)", "2 came", "3 she (e1-1)"))
    for plain in ([[(0, 1), (1, 2), (3, 4)]], corpus_from_arrays(entity=[0] * 3, start=[0, 1, 3])):
        for zeros, mentions in (("place", 3), ("drop", 2)):
            for pair in ((key, plain), (plain, key)):
                options = {} if not isinstance(plain, list) else {"spans": "exclusive"}
                result = corefeval.score(*pair, zeros=zeros, **options)
                assert result["lea"].f1 == 1.0
                assert result["mentions"].counts["recall_denominator"] == mentions


def test_positions_beyond_the_tokens_of_the_other_side_stay(conll):
    key = conll(conllu("1 Ada (e1-1)", "1.1 _ (e1-1)", "2 came"))
    plain = corpus_from_arrays(entity=[0, 0], start=[0, 7])
    counts = corefeval.score(key, plain, zeros="drop")["mentions"].counts
    assert [counts[f"precision_{part}"] for part in ("numerator", "denominator")] == [1, 2]


def test_another_text_is_an_error_still(conll):
    longer = conllu("1 Ada (e1-1)", "1.1 _", "2 came (e1-1)", "3 home", "4 again", "5 .")
    with pytest.raises(PairingError, match="another text"):
        corefeval.score(conll(KEY), conll(longer))
    result = corefeval.score(conll(KEY), conll(longer), ignore_tokens=True)
    assert result["muc"].recall > 0


def test_dropping_is_told_in_numbers_that_add_up(conll):
    text = conllu("1 Ada (e1-1)", "1.1 _ (e1-1)", "2 came (e1-1)")
    paths = conll(text, "k.conllu"), conll(text, "r.conllu")
    notices = corefeval.score(*paths, zeros="drop").notices
    assert [(n.kind, n.count) for n in notices] == [("empty-nodes", 1), ("zero-mentions", 1)] * 2
    assert [n.count for n in merge_notices((*notices, *notices))] == [2, 2, 2, 2]


def test_heads_move_with_left_out_empty_nodes(conll):
    path = conll(
        conllu("0.1 _", "1 the (e1-3", "1.1 _", "2 man e1)", "2.1 _ (e2-1)", "3 he (e1-1)")
    )
    corpus = read(path)
    assert [mention.head for mention in corpus[0].mentions] == [3, 4, 5]
    dropped = prepare(path, path, zeros="drop").key
    assert [(mention.span, mention.head) for mention in dropped[0].mentions] == [
        ((0, 2), 1),
        ((2, 3), 2),
    ]
    assert [m.words[m.head - m.start] for m in dropped[0].mentions] == ["man", "he"]


def test_a_signature_says_when_zeros_are_dropped(conll):
    result = corefeval.score(conll(KEY), conll(ELSEWHERE), zeros="drop")
    assert "|zeros:drop|" in result.signature
    assert result.notices[0].message.endswith("1 empty node left out")
    assert "zeros" not in corefeval.score(conll(KEY), conll(ELSEWHERE)).signature


def test_agreement_is_by_place(conll):
    third = conllu("0.1 _", "1 Ada (e1-1)", "2 came (e1-1)", "3 home (e2-1)", "4 . (e2-1)")
    agreement = agree([conll(KEY), conll(ELSEWHERE), conll(third)])
    assert agreement.alpha["masi"] == 1.0
    assert agreement.means["mentions"] == 1.0


def test_check_goes_by_place(conll, run):
    status, out, _ = run("check", conll(ELSEWHERE, "r.conllu"), "--against", conll(KEY, "k.conllu"))
    assert status == 0
    assert "differing-tokens" not in out
    assert "1 empty node where the other side has none" in out
    other = ELSEWHERE.replace("\t.\t", "\t!\t")
    _, out, _ = run("check", conll(other, "o.conllu"), "--against", conll(KEY, "k.conllu"))
    assert "token 4 is ‘!’, not ‘.’" in " ".join(out.split())


def test_reports_show_responses_with_other_nodes(conll, run, tmp_path):
    page = tmp_path / "report.html"
    status, _, err = run(
        "report", conll(KEY, "k.conllu"), conll(KEY, "a.conllu"), conll(ELSEWHERE, "b.conllu"),
        "--output", page,
    )  # fmt: skip
    assert status == 0, err
    assert page.stat().st_size > 1000


def test_files_without_empty_nodes_are_left_alone():
    key, response = (read(corefeval.example(name)) for name in ("key", "eager"))
    for zeros in ("place", "drop"):
        (one, other), notices = settle_zeros((key, response), zeros)
        assert one is key
        assert other is response
        assert notices == ()


def test_a_view_answers_by_columns_and_by_codes(conll):
    key = conll(conllu("1 Ada (e1-1)", "1.1 _ (e1-1)", "2 came", "", "1 She", "2 left (e1-1)"))
    plain = conll(conllu("1 Ada (e1-1)", "2 came", "", "1 She", "2 left (e1-1)"))
    prepared = prepare(key, plain)
    tokens = prepared.response.tokens
    assert tokens.lines is None
    for name in ("word", "empty", "number"):
        cells = [cell for index in range(1) for cell in tokens.column(index, name)]
        coded = [value or "" for value in tokens.coded(name).values()]
        assert coded == cells
    assert tokens.column(0, "word") == ["Ada", "", "came", "She", "left"]
    assert [tokens.line(0, position) for position in range(5)] == [3, None, 4, 6, 7]
    assert prepared.response.gaps.tolist() == NO_GAPS.tolist()


METRICS = ("muc", "b3", "ceafe", "ceafm", "lea")
# What the program does and we do not: see the oddities that its files name.
ODDITIES = {"sentence-of-empty-nodes", "empty-node-ten"}


@pytest.mark.parametrize("folder", ["random", "scorer-tests", "quirks"])
def test_exact_match_by_place_is_that_of_the_corefud_scorer(shared, folder):
    """Agrees with corefud-scorer 1.2, `exact` and `linear`, to 9 digits, where no span repeats."""
    base = shared / "corefud" / folder
    expectation = json.loads((base / "expected.json").read_text())
    compared = 0
    for case in expectation["cases"]:
        for singletons in ("singletons", "no-singletons"):
            expected = case["expected"].get(f"exact/{singletons}/linear", {})
            if "rates" not in expected or case["name"] in ODDITIES:
                continue
            try:
                key, response = (read(base / case[side]) for side in ("key", "response"))
                if len(key) == len(response):  # documents without names
                    response = response.with_details(documents=key.documents)
                keep = "keep" if singletons == "singletons" else "drop"
                choices = {"zeros": "place", "singletons": keep}
                result = corefeval.score(key, response, metrics=METRICS, **choices)
            except CorefEvalError:
                assert folder == "quirks", case["name"]  # files that we refuse
                continue
            if any(notice.kind == "repeated-mentions" for notice in result.notices):
                continue
            compared += 1
            for metric in METRICS:
                rates = result[metric].recall, result[metric].precision, result[metric].f1
                assert rates == pytest.approx(expected["rates"][metric], abs=1e-9), case["name"]
    assert compared >= {"random": 18, "scorer-tests": 150, "quirks": 60}[folder]


@pytest.mark.parametrize("in_folder", [False, True])
def test_a_document_without_empty_nodes_costs_others_none(in_folder, tmp_path):
    """Universal Anaphora's columns are those in which something stands."""
    comment = "# global.columns = ID FORM UPOS HEAD DEPREL DEPS IDENTITY\n"
    row = "{0}\t{1}\tPRON\t0\troot\t{2}\t(EntityID=e|MarkableID=m{0})\n"
    words = row.format("1", "Ada", "_") + row.format("2", "she", "_")
    with_node = (
        row.format("1", "Ada", "_") + row.format("1.1", "_", "2:dep") + row.format("2", "she", "_")
    )
    texts = [
        f"{comment}# newdoc id = {n}\n# sent_id = {n}\n{one}\n"
        for n, one in zip("ab", (words, with_node), strict=True)
    ]
    key, response = tmp_path / "key", tmp_path / "response"
    for folder, parts in ((key, texts), (response, [texts[0], texts[0].replace("= a", "= b")])):
        folder.mkdir()
        for number, text in enumerate(parts if in_folder else ["".join(parts)]):
            (folder / f"{number}.conllua").write_text(text, "utf-8")
    assert {"empty", "deps"} <= set(corefeval.read(key).tokens.columns)
    result = corefeval.score(key, response, metrics="mentions, zero, mentions(zeros=only)")
    assert (result["mentions"].recall, result["mentions(zeros=only)"].recall) == (0.8, 0)
    assert corefeval.score(key, response, metrics="mentions", zeros="drop")["mentions"].f1 == 1


def test_other_words_are_told_where_only_a_later_document_has_zeros(tmp_path):
    key, response = tmp_path / "key.jsonl", tmp_path / "response.txt"
    record = '{{"doc_key": "{}", "sentences": [["x", "y"]], "clusters": [[[0, 0], [1, 1]]]}}\n'
    key.write_text(record.format("a") + record.format("b"))
    response.write_text("# newdoc id = a\nx|[e1] z|[e1]\n# newdoc id = b\nx|[e1] ##|[e1] y\n")
    for sides in ((key, response), (response, key)):
        with pytest.raises(corefeval.CorefEvalError, match="document ‘a’ has another text"):
            corefeval.score(*sides)
