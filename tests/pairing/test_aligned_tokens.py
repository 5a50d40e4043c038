"""Key and response whose tokens differ: cases by hand, annotators, tokenisers, promises."""

from __future__ import annotations

import json
import re
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from aligned_documents import KEY, RESPONSE, document
from corefeval import PairingError, Scorer, UsageError, prepare, score
from corefeval.protocol import MATCHERS

OWN = Path(__file__).parent.parent / "data" / "tokens"
METRICS = ("mentions", "muc", "b3", "ceafe", "lea", "conll")
KINDS = ("unaligned-tokens", "unaligned-mentions", "widened-pairs")


@cache
def load(path):
    return json.loads(Path(path).read_text(encoding="utf-8"))


CASES = {case["name"]: case for case in load(OWN / "cases.json")}
CONLLU = load(OWN / "conllu" / "expected.json")


def exchanged(rates, is_exchanged):
    return [rates[1], rates[0], rates[2]] if is_exchanged else rates


def agree(result, expected, is_exchanged):
    """Whether all rates are as expected."""
    for metric in METRICS:
        names = ("f1",) if metric == "conll" else ("recall", "precision", "f1")
        rates = exchanged(expected[metric], is_exchanged)[-len(names) :]
        assert [getattr(result[metric], name) for name in names] == pytest.approx(rates, abs=1e-9)
    return True


def counted(result):
    """How many tokens, mentions and pairs the notices count."""
    counts = {notice.kind: notice.count for notice in result.notices}
    return [counts.get(kind, 0) for kind in KINDS]


def rates_of(result):
    return {metric: result[metric].rates for metric in result.metrics}


def sides_of(key, response, is_exchanged):
    return (response, key) if is_exchanged else (key, response)


@pytest.mark.parametrize("is_exchanged", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_cases_by_hand(name, is_exchanged):
    case = CASES[name]
    sides = sides_of([case["key"]], [case["response"]], is_exchanged)
    if case["expected"] is None:
        with pytest.raises(PairingError, match="has another text") as caught:
            score(*sides, tokens="align")
        assert re.fullmatch(r"only \d+\.\d % of its text is in the key", caught.value.found)
        return
    result = score(*sides, tokens="align", metrics=METRICS)
    assert agree(result, case["expected"], is_exchanged)
    numbers = (case["unaligned_tokens"], case["unaligned_mentions"], [case["widened"]])
    assert counted(result) == [sum(number) for number in numbers]
    if case["overlap"] is not None:
        result = score(*sides, tokens="align", metrics="conll", match="overlap(0.5)")
        assert result["conll"].f1 == pytest.approx(case["overlap"], abs=1e-9)


@pytest.mark.parametrize("is_exchanged", [False, True])
@pytest.mark.parametrize("number", range(3))
def test_annotators(shared, number, is_exchanged):
    folder = shared / "tokens" / "annotators"
    case = load(folder / "expected.json")[number]
    sides = sides_of(folder / case["key"], folder / case["response"], is_exchanged)
    result = score(*sides, tokens="align", metrics=METRICS)
    assert agree(result, case["expected"], is_exchanged)
    assert counted(result)[0] == sum(case["unaligned_tokens"])


def test_tokenisers(shared):
    vectors = load(shared / "tokens" / "tokenisers.json")
    differences = []
    for case in vectors["cases"]:
        sides = [vectors["keys"][case["key"]]], [case["response"]]
        result, swapped = (
            score(*sides_of(*sides, is_exchanged), tokens="align", metrics=METRICS)
            for is_exchanged in (False, True)
        )
        for metric in METRICS[:-1]:
            # Sums in another order may differ in the last bit, as they do with equal tokens.
            assert result[metric].recall == pytest.approx(swapped[metric].precision, abs=1e-14)
            assert result[metric].precision == pytest.approx(swapped[metric].recall, abs=1e-14)
        if case["edits"] == "none":
            assert agree(result, case["truth"], False)
        else:
            differences.append(abs(result["conll"].f1 - case["truth"]["conll"][-1]))
    assert 100 * sum(differences) / len(differences) < 0.4


@pytest.mark.parametrize("is_exchanged", [False, True])
@pytest.mark.parametrize("zeros", ["align", "place"])
@pytest.mark.parametrize("case", CONLLU, ids=lambda case: case["name"])
def test_gaps_empty_nodes_and_heads(case, zeros, is_exchanged):
    paths = (OWN / "conllu" / f"{case['name']}.{side}.conllu" for side in ("key", "response"))
    sides = sides_of(*map(str, paths), is_exchanged)
    for match, (matched, *sizes) in case["matched"].items():
        prepared = prepare(*sides, match=match, tokens="align", zeros=zeros)
        corpora = prepared.key, prepared.response
        assert prepared.matches.rows(prepared.key.n_mentions)[0].size == matched
        assert [corpus.n_mentions for corpus in corpora] == list(sides_of(*sizes, is_exchanged))


# Any text ----------------------------------------------------------------------------------------

LETTERS = st.sampled_from(["ab", "abc", "do", "n't", "'s", "sea", "seas", "x", ",", "."])


@st.composite
def annotated(draw, extra=()):
    """The characters of a text, some cuts between them, and entities of spans of characters."""
    words = draw(st.lists(LETTERS, min_size=4, max_size=30))
    text = "".join(words)
    inner = st.integers(1, len(text) - 1)
    spans = draw(st.sets(st.tuples(inner, inner).filter(lambda s: s[0] < s[1]), max_size=8))
    owners = draw(st.lists(st.integers(0, 2), min_size=len(spans), max_size=len(spans)))
    shared = {edge for span in spans for edge in span}
    cuts = [draw(st.sets(inner, max_size=len(text))) | shared for _ in range(2)]
    return text, sorted(spans), owners, [sorted({0, len(text), *places}) for places in cuts]


def retokenised(text, spans, owners, cuts):
    words = [text[a:b] for a, b in pairwise(cuts)]
    entities = {}
    for (start, end), owner in zip(spans, owners, strict=True):
        entities.setdefault(owner, []).append([cuts.index(start), cuts.index(end) - 1])
    return document(words, *entities.values())


@given(annotated())
@settings(max_examples=60, deadline=None)
def test_other_tokens_cost_nothing_where_edges_are_shared(drawn):
    text, spans, owners, cuts = drawn
    key, response = (retokenised(text, spans, owners, places) for places in cuts)
    result = score([key], [response], tokens="align", metrics=METRICS, undefined="1")
    assert all(result[metric].f1 == 1 for metric in METRICS)
    assert counted(result) == [0, 0, 0]


@st.composite
def texts_that_differ(draw):
    """Two annotations of texts that are nearly the same."""
    words = draw(st.lists(LETTERS, min_size=12, max_size=24))
    sides = []
    for _ in range(2):
        changed = list(words)
        for _ in range(draw(st.integers(0, 2))):
            place = draw(st.integers(0, len(changed) - 1))
            kind = draw(st.sampled_from(["lose", "add", "cut", "join"]))
            if kind == "add":
                changed.insert(place, draw(LETTERS))
            elif kind == "cut" and len(changed[place]) > 1:
                changed[place : place + 1] = changed[place][:1], changed[place][1:]
            elif kind == "join":
                changed[place : place + 2] = ["".join(changed[place : place + 2])]
            elif len(changed) > 8:
                del changed[place]
        position = st.integers(0, len(changed) - 1)
        spans = draw(st.lists(st.tuples(position, position), max_size=6, unique_by=sorted_pair))
        owners = [draw(st.integers(0, 2)) for _ in spans]
        entities = {}
        for span, owner in zip(spans, owners, strict=True):
            entities.setdefault(owner, []).append(sorted(span))
        sides.append(document(changed, *entities.values()))
    return sides


def sorted_pair(span):
    return tuple(sorted(span))


@given(texts_that_differ())
@settings(max_examples=60, deadline=None)
def test_exchanging_the_sides_exchanges_recall_and_precision(sides):
    key, response = ([side] for side in sides)
    for match in ("exact", "overlap(0.5)"):
        metrics = (*METRICS[:-1], "ceafm", "mor")
        options = {"tokens": "align", "metrics": metrics, "match": match}
        try:
            result = score(key, response, **options)
        except PairingError:
            with pytest.raises(PairingError):
                score(response, key, **options)
            return
        swapped = score(response, key, **options)
        assert counted(result) == counted(swapped)
        for metric in metrics:
            rates = result[metric], swapped[metric]
            assert rates[0].recall == rates[1].precision
            assert rates[0].precision == rates[1].recall
    for side, corpus in zip(sides, (prepare(key, response, tokens="align").key,), strict=False):
        assert corpus.n_mentions == sum(map(len, side["clusters"]))


@given(texts_that_differ())
@settings(max_examples=40, deadline=None)
def test_equal_tokens_are_scored_as_without_aligning(sides):
    key, response = sides
    words = max(key["sentences"], response["sentences"], key=lambda sentences: len(sentences[0]))
    key, response = ([{**side, "sentences": words}] for side in sides)
    for match in ("exact", "overlap(0.5)"):
        result, aligned = (
            score(key, response, tokens=tokens, match=match) for tokens in ("same", "align")
        )
        assert rates_of(aligned) == rates_of(result)
        assert aligned.notices == result.notices


@pytest.mark.parametrize("match", MATCHERS)
def test_the_same_text_is_scored_as_ever(match):
    sides = corefeval.example("key"), corefeval.example("eager")
    options = {"match": match, "metrics": "all", "by": "kind"}
    result, aligned = (score(*sides, tokens=tokens, **options) for tokens in ("same", "align"))
    assert rates_of(aligned) == rates_of(result)
    assert aligned.notices == result.notices
    assert "|tokens:align|" in aligned.signature


def with_one_document_changed(tmp_path):
    """The example's response, in which a word is lost outside of mentions, cut and added."""
    path = tmp_path / "changed.conll"
    lines = Path(corefeval.example("eager")).read_text(encoding="utf-8").split("\n")
    bare = [n for n, line in enumerate(lines) if line.split()[-1:] == ["-"]]
    del lines[bare[4]]
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("match", MATCHERS)
def test_only_documents_with_other_tokens_are_aligned(tmp_path, match):
    """All others keep their counts to the last digit, with every matcher and metric."""
    key, response = corefeval.example("key"), with_one_document_changed(tmp_path)
    plain = score(key, corefeval.example("eager"), match=match, metrics="all", by="kind")
    result = score(key, response, match=match, metrics="all", by="kind", tokens="align")
    [notice] = (notice for notice in result.notices if notice.kind == "aligned-tokens")
    assert notice.items == (plain.document_ids[0],)
    for metric in plain.metrics:
        before, after = plain.document_rates[metric], result.document_rates[metric]
        for rate in before:
            assert list(after[rate])[1:] == pytest.approx(list(before[rate])[1:], nan_ok=True)
            assert after[rate][0] == pytest.approx(before[rate][0], nan_ok=True)


def test_pieces_processes_and_loops_agree_with_one_run(tmp_path):
    key, response = corefeval.example("key"), with_one_document_changed(tmp_path)
    options = {"tokens": "align", "metrics": "standard", "match": "head"}
    whole = score(key, response, **options)
    with ProcessPoolExecutor(2) as executor:
        for cutting in ({"piece_size": 2000}, {"piece_size": 2000, "executor": executor}):
            pieces = score(key, response, **options, **cutting)
            assert pieces == whole and pieces.notices == whole.notices
    scorer = Scorer(**options)
    for one, two in zip(corefeval.read(key), corefeval.read(response), strict=True):
        scorer.update(one, two)
    assert rates_of(scorer.compute()) == rates_of(whole)


# What people see ---------------------------------------------------------------------------------


def test_notices_count_both_sides():
    result = score([KEY], [RESPONSE], tokens="align")
    messages = [str(notice).partition(": ")[2] for notice in result.notices]
    assert messages == [
        "1 document whose tokens differ, aligned with the key's: ‘d’",
        "3 tokens without a counterpart on the other side: 1 of the key, 2 of the response",
        "1 mention in text that the other side lacks: 1 of the response",
        "1 mention with an edge inside a token of the other side, compared by whole tokens",
    ]


def test_sides_without_a_common_mention_are_told_by_words():
    sides = document("a b c d e", [(0, 0), (1, 1)]), document("a b c d e f", [(4, 4), (5, 5)])
    notices = score(*([side] for side in sides), tokens="align").notices
    [notice] = [notice for notice in notices if notice.kind == "no-common-mentions"]
    assert "the first mentions are ‘e’ here and ‘a’ in the key" in str(notice)


def test_errors_are_shown_on_the_text_of_the_key():
    errors = corefeval.analyse([KEY], [RESPONSE], tokens="align")
    [extra] = errors.listed("extra mention")
    assert [(m.text, m.start, m.end) for m in extra.mentions] == [("Oh", 4, 4)]
    swapped = corefeval.analyse([RESPONSE], [KEY], tokens="align")
    [missing] = swapped.listed("missing mention")
    assert [(m.text, m.start, m.end) for m in missing.mentions] == [("Oh", 2, 3)]


def test_the_error_leads_to_aligning_before_ignoring():
    with pytest.raises(PairingError) as caught:
        score([KEY], [RESPONSE])
    fix = caught.value.fix
    assert fix.index("--tokens align") < fix.index("count as wrong")
    assert fix.index("--tokens align") < fix.index("--tokens ignore")


def test_the_choice_and_its_other_spellings():
    options = {"metrics": "muc"}
    ignoring = score([KEY], [RESPONSE], tokens="ignore", **options)
    assert score([KEY], [RESPONSE], ignore_tokens=True, **options) == ignoring
    assert score([KEY], [KEY], tokens="check", **options) == score([KEY], [KEY], **options)
    with pytest.raises(UsageError, match="one of same, align, ignore, not 'alig'"):
        score([KEY], [RESPONSE], tokens="alig")
    with pytest.raises(UsageError, match="ignore_tokens means tokens ignore"):
        score([KEY], [RESPONSE], tokens="align", ignore_tokens=True)
    for program in ("corefud-1.2", "ua-1"):
        with pytest.raises(UsageError, match=f"emulate:{program} has only tokens same"):
            score([KEY], [RESPONSE], protocol=program, tokens="align")


def test_documents_paired_by_position_are_aligned_if_that_was_chosen():
    renamed = {**RESPONSE, "doc_key": "e"}
    options = {"pairing": "position", "metrics": "mentions"}
    aligned = score([KEY], [renamed], tokens="align", **options)
    assert rates_of(aligned) == rates_of(score([KEY], [RESPONSE], tokens="align", **options))
    assert aligned["mentions"].f1 > score([KEY], [renamed], **options)["mentions"].f1


def test_sides_without_words_are_compared_as_ever():
    plain = [[(0, 1), (10, 10)]]
    assert score(plain, plain, tokens="align").notices == ()
    assert score([KEY], plain, tokens="align")["mentions"].recall == 0.5


def test_a_text_of_other_words_is_cut_and_aligned(tmp_path):
    """A text that is made of the key's words keeps its positions; others are aligned."""
    path = tmp_path / "response.jsonl"
    text = "Mary's old dog saw the big, cat, then she left it there."
    spans = [[[0, 6], [37, 40]], [[19, 31], [46, 48]]]
    spans[0][1], spans[1][1] = ([text.index(w), text.index(w) + len(w)] for w in ("she", "it "))
    spans[1][1][1] -= 1
    path.write_text(json.dumps({"doc_key": "d", "text": text, "clusters": spans}) + "\n")
    with pytest.raises(PairingError, match='tokens="align"'):
        score([KEY], str(path))
    result = score([KEY], str(path), tokens="align", metrics="mentions")
    assert result["mentions"].f1 == 1


def test_marks_in_a_text_belong_to_their_words(tmp_path):
    """Vowel signs, accents and joiners are no tokens that the other side could lack."""
    text = "رَأَى مُحَمَّدٌ أُخْتَهُ e\u0302tre 👩\u200d👧 ।"
    (tmp_path / "d.txt").write_text(text, encoding="utf-8")
    (tmp_path / "d.ann").write_text("T1\tX 6 15\tمُحَمَّدٌ\n", encoding="utf-8")
    assert text[6:15] == "مُحَمَّدٌ"
    result = score(
        [document("رأى محمد أخته etre 👩👧 ।", [(1, 1)])], tmp_path / "d.ann", tokens="align"
    )
    assert result["mentions"].f1 == 1
    assert counted(result) == [0, 0, 0]
