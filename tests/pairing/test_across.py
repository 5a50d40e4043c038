"""Entities across documents: against documents that were joined by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from corefeval.cli import main
from corefeval.diagnostics import InputError, UsageError
from corefeval.model import select_tokens
from corefeval.protocol import Protocol

METRICS = "mentions, muc, b3, ceafm, ceafe, blanc, lea, links"
WORDS = 6  # of each document


def conll(documents, columns="{name} 0 {number} w{number} NN * - - - - *"):
    """A file from the mentions of each document, by its name: of one token and an entity each."""
    lines = []
    for name, mentions in documents.items():
        lines.append(f"#begin document ({name}); part 000")
        for number in range(WORDS):
            cell = "|".join(f"({entity})" for place, entity in mentions if place == number)
            lines.append(f"{columns.format(name=name, number=number)} {cell or '-'}")
        lines += ["", "#end document"]
    return "\n".join(lines) + "\n"


def joined_by_hand(documents, group):
    """Plain entities of each group, whose mentions are places in a document."""
    found: dict[str, dict[int, list[tuple[str, int]]]] = {}
    for name, mentions in documents.items():
        entities = found.setdefault(group(name), {})
        for place, entity in sorted(mentions):
            entities.setdefault(entity, []).append((name, place))
    return {name: list(entities.values()) for name, entities in found.items()}


def counts(result):
    return np.concatenate([table.values.sum(0) for table in result.tables.values()])


NAMES = ("1_a", "1_b", "12_a", "2_b")
SIDES = st.fixed_dictionaries(
    {
        name: st.dictionaries(st.integers(0, WORDS - 1), st.integers(0, 3), max_size=4).map(
            lambda one: sorted(one.items())
        )
        for name in NAMES
    }
)


@settings(max_examples=40)
@given(SIDES, SIDES, st.sampled_from(["keep", "drop"]))
def test_is_what_documents_joined_by_hand_give(tmp_path_factory, key, response, singletons):
    folder = tmp_path_factory.mktemp("across")
    (folder / "key").write_text(conll(key))
    (folder / "response").write_text(conll(response))
    for across, group in (("all", lambda _: "x"), (r"^\d+", lambda name: name.split("_")[0])):
        options = {"metrics": METRICS, "singletons": singletons}
        result = corefeval.score(folder / "key", folder / "response", across=across, **options)
        sides = [joined_by_hand(side, group) for side in (key, response)]
        expected = corefeval.score(*sides, **options)
        assert counts(result) == pytest.approx(counts(expected), abs=1e-9)
        assert len(result.document_ids) == len(sides[0])


@pytest.fixture
def files(tmp_path):
    key = {"1_a": [(0, 1), (2, 2)], "1_b": [(1, 1), (3, 2), (4, 2)], "2_a": [(0, 1), (5, 1)]}
    response = {"1_a": [(0, 7), (2, 8)], "1_b": [(1, 7), (3, 7), (4, 8)], "2_a": [(0, 7), (5, 3)]}
    paths = tmp_path / "key.conll", tmp_path / "response.conll"
    for path, side in zip(paths, (key, response), strict=True):
        path.write_text(conll(side))
    return paths


def test_groups_are_documents_and_the_signature_says_so(files):
    result = corefeval.score(*files, metrics="muc", across=r"^\d+|x")
    assert result.document_ids == ("1", "2")
    assert 'across:"^\\\\d+|x"' in result.signature
    assert Protocol.parse(result.signature) == result.protocol
    assert corefeval.score(*files, metrics="muc", protocol=result.signature) == result
    assert any(notice.kind == "joined-documents" for notice in result.notices)


def test_documents_that_a_pattern_does_not_find_stay_alone(files):
    result = corefeval.score(*files, metrics="muc", across="^1")
    assert result.document_ids == ("1", "2_a; part 000")
    assert [notice.items for notice in result.notices if notice.kind == "alone"] == [
        ("2_a; part 000",)
    ]


def test_missing_documents_count_as_empty(files, tmp_path):
    text = files[1].read_text()
    begin, end = text.index("#begin document (1_a)"), text.index("#begin document (1_b)")
    (tmp_path / "less.conll").write_text(text[:begin] + text[end:])
    result = corefeval.score(files[0], tmp_path / "less.conll", metrics=METRICS, across=r"^\d+")
    empty = "\n".join(
        f"{line.rsplit(' ', 1)[0]} -" if line.startswith("1_a") else line
        for line in text.split("\n")
    )
    (tmp_path / "empty.conll").write_text(empty)
    expected = corefeval.score(files[0], tmp_path / "empty.conll", metrics=METRICS, across=r"^\d+")
    assert counts(result) == pytest.approx(counts(expected))
    kinds = corefeval.score(
        files[0], tmp_path / "less.conll", metrics="muc", across="all", by="kind"
    )
    assert kinds.slices["kind"]


@pytest.mark.parametrize("across", ["all", "_.", r"^\d+"])
def test_mentions_of_missing_documents_are_what_they_were(tmp_path, across):
    """Tokens of a document that the response lacks are no empty nodes, whose kind is pronoun."""
    whole = {"1_a": [(0, 7), (2, 7)], "1_b": [(1, 7), (4, 8)]}
    key, response = tmp_path / "k.conll", tmp_path / "r.conll"
    key.write_text(conll(whole))
    response.write_text(conll({"1_a": whole["1_a"]}))
    for sides, size in (((key, response), 4), ((response, key), 2)):
        options = {"extra": "count", "by": "kind, zero", "metrics": "lmuc, mentions"}
        result = corefeval.score(*sides, across=across, **options)
        assert result.by("kind").sizes == {"nominal": size}
        assert result.by("zero").sizes == {"no": size}


def test_order_of_documents_does_not_matter(files, tmp_path):
    first, *rest = files[0].read_text().split("#begin")[1:]
    (tmp_path / "other.conll").write_text("".join(f"#begin{one}" for one in (*rest, first)))
    for across in ("all", r"^\d+"):
        one = corefeval.score(files[0], files[1], metrics=METRICS, across=across)
        other = corefeval.score(tmp_path / "other.conll", files[1], metrics=METRICS, across=across)
        assert counts(one) == pytest.approx(counts(other))


def test_heads_tokens_and_sentences_move_along(files):
    prepared = corefeval.prepare(*files, across="all")
    document = prepared.key["all documents"]
    assert list(document.words) == [f"w{n}" for n in range(WORDS)] * 3
    tokens = prepared.key.tokens
    assert tokens.sentence_starts(0) == [0, WORDS, 2 * WORDS] == tokens.starts.tolist()
    assert tokens.line(0, WORDS) == 2 + WORDS + 3
    again = select_tokens(tokens, np.array([-1, 0]))
    assert again.counts.tolist() == [0, 3 * WORDS] and again.column(1, "word") == document.words


def test_within_and_across(files):
    """Of the key, 1 of 4 links in topic 1 and 1 of 1 in topic 2 stay within a document."""
    result = corefeval.score(*files, metrics="immediate", across=r"^\d+", by="link")
    sizes = result.slices["link"].sizes
    assert (sizes["within"], sizes["across"]) == (2, 2)
    alone = corefeval.score(*files, metrics="immediate", by="link")
    assert "across" not in alone.slices["link"].sizes


@settings(max_examples=50)
@given(SIDES, SIDES)
def test_links_within_and_across(key, response):
    """Within is what is scored without joining, and across is the rest."""
    kinds = ("links", "links(documents=within)", "links(documents=across)")
    corpora = [as_arrays(side) for side in (key, response)]
    joined = corefeval.score(*corpora, metrics=", ".join(kinds), across=r"^\d+")
    every, within, across = (joined.tables[kind].values.sum(0) for kind in kinds)
    assert (
        within.tolist()
        == corefeval.score(*corpora, metrics="links").tables["links"].values.sum(0).tolist()
    )
    assert (every - within).tolist() == across.tolist()
    pairs = [
        {
            frozenset((one, other))
            for entities in joined_by_hand(side, lambda name: name.split("_")[0]).values()
            for entity in entities
            for one, other in combinations(entity, 2)
            if one[0] != other[0]
        }
        for side in (key, response)
    ]
    counted = [len(pairs[0] & pairs[1]), len(pairs[0]), len(pairs[0] & pairs[1]), len(pairs[1])]
    assert across.tolist() == counted


def as_arrays(documents):
    rows = [
        (number, place, entity)
        for number, mentions in enumerate(documents.values())
        for place, entity in mentions
    ]
    document, start, entity = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return corefeval.corpus_from_arrays(
        document=document, start=start, entity=entity, document_ids=list(documents)
    )


def test_arrays_and_what_has_no_ids(files):
    arrays = corefeval.corpus_from_arrays(
        entity=[1, 2, 1, 2, 2, 1, 1], start=[0, 2, 1, 3, 4, 0, 5], document=[0, 0, 1, 1, 1, 2, 2],
        document_ids=["1_a", "1_b", "2_a"],
    )  # fmt: skip
    result = corefeval.score(files[0], arrays, metrics="b3", across=r"^\d+")
    assert result["b3"].f1 == 1.0
    plain = {"1_a": [[(0, 1), (2, 3)]]}
    with pytest.raises(InputError, match="no ids of entities hold across documents"):
        corefeval.score(plain, plain, across="all")
    with pytest.raises(UsageError, match="not a regular expression"):
        corefeval.score(*files, across="(")
    with pytest.raises(UsageError, match="not a regular expression"):
        corefeval.score(*files, across="[[a]")
    with pytest.raises(UsageError, match="leave out one of them"):
        corefeval.score(*files, across="all", features={"kind": {}})


@pytest.mark.parametrize("command", ["score", "compare", "errors", "report", "agree"])
def test_commands(files, tmp_path, capsys, command):
    key, response = map(str, files)
    more = {"compare": [key], "report": ["--output", str(tmp_path / "page.html")]}
    arguments = [command, key, response, *more.get(command, []), "--across", r"^\d+"]
    assert main(arguments) == 0, capsys.readouterr().err
    if command != "report":
        assert "across" in capsys.readouterr().out


METADOC = "{topic} {topic}ecb {topic}_{document} {sentence} {number} {word} {flag}"


def metadoc(entities, per_sentence=4):
    """Several documents between two document lines, as files of ECB+ have them."""
    lines = ["#begin document (dev_events); part 000"]
    for (topic, document), cells in entities.items():
        for number, cell in enumerate(cells):
            sentence, place = divmod(number, per_sentence)
            row = METADOC.format(
                topic=topic, document=document, sentence=sentence, number=place,
                word=f"word{number}", flag=str(number % 2 == 0),
            )  # fmt: skip
            lines.append(f"{row}\t{cell}".replace(" ", "\t"))
    return "\n".join([*lines, "#end document"]) + "\n"


def test_files_with_several_documents_in_one(tmp_path):
    """Columns topic, subtopic, document, sentence, token, word, flag, coreference; no blanks."""
    key = {
        (1, "a"): ["(100)", "-", "(200", "200)", "(100)"], (1, "b"): ["-", "(100)", "(200)", "-"],
        (2, "a"): ["(300)", "-", "(300)", "-"],
    }  # fmt: skip
    response = {
        (1, "a"): ["(5)", "-", "(6", "6)", "(5)"], (1, "b"): ["-", "(5)", "(7)", "-"],
        (2, "a"): ["(8)", "-", "(8)", "(9)"],
    }  # fmt: skip
    paths = []
    for name, side in (("key", key), ("response", response)):
        paths.append(tmp_path / f"{name}.conll")
        paths[-1].write_text(metadoc(side))
    corpus = corefeval.read(paths[0])
    assert corpus[0].words[:5] == ["word0", "word1", "word2", "word3", "word4"]
    by_hand = [
        [["1a0", "1a4", "1b1"], ["1a23", "1b2"], ["2a0", "2a2"]],
        [["1a0", "1a4", "1b1"], ["1a23"], ["1b2"], ["2a0", "2a2"], ["2a3"]],
    ]
    result = corefeval.score(*paths, metrics=METRICS)
    assert counts(result) == pytest.approx(counts(corefeval.score(*by_hand, metrics=METRICS)))
    sliced = corefeval.score(*paths, metrics="immediate", by="link(column=3)")
    assert sliced.slices["link(column=3)"].sizes["across"] == 2
