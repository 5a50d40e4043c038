"""Label Studio, doccano, Prodigy, AllenNLP and SACR: spans, relations, labels, and mistakes."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from corefeval import InputError, UsageError
from corefeval.formats.registry import detect_format

TEXT = "Ada met the captain . She smiled at him ."
SPANS = {"a": (0, 3), "b": (8, 19), "c": (22, 25), "d": (36, 39)}


def entities_of(corpus: corefeval.Corpus, number: int = 0) -> dict[str, list[tuple[int, int]]]:
    return {e.name: [m.span for m in e.mentions] for e in list(corpus)[number].entities}


def kinds_of(corpus: corefeval.Corpus) -> dict[str, int]:
    return {notice.kind: notice.count for notice in corpus.notices}


def span(identifier: str, start: int, end: int, label: str = "Person", **value: Any) -> Any:
    value = {"start": start, "end": end, "labels": [label], **value}
    return {"id": identifier, "type": "labels", "to_name": "text", "value": value}


def relation(first: str, second: str, *labels: str, **details: Any) -> Any:
    ends = {"type": "relation", "from_id": first, "to_id": second}
    return {**ends, **({"labels": list(labels)} if labels else {}), **details}


def task(*results: Any, text: str = TEXT, number: int = 1, **details: Any) -> Any:
    annotations = [{"id": 7, "result": list(results), "was_cancelled": False}]
    return {"id": number, "annotations": annotations, "data": {"text": text}, **details}


ALL = [span(name, *place) for name, place in SPANS.items()]


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def read(*records: Any, name: str = "export.json", **options: Any) -> corefeval.Corpus:
        path = tmp_path / name
        lines = map(json.dumps, records)
        path.write_text("\n".join(lines) if name.endswith("l") else json.dumps(records))
        return corefeval.read(path, **options)

    return read


class TestLabelStudio:
    def test_relations_join_mentions_and_singletons_stay(self, read: Any) -> None:
        corpus = read(task(*ALL, relation("c", "a", "coreference")))
        assert entities_of(corpus) == {"0": [(0, 3), (22, 25)], "1": [(8, 19)], "2": [(36, 39)]}
        assert [m.features["entity_type"] for m in corpus["1"].mentions] == ["Person"] * 4
        assert corpus["1"].mentions[1].text == "the captain"

    def test_relation_without_label_joins(self, read: Any) -> None:
        assert len(entities_of(read(task(*ALL, relation("c", "a"), relation("d", "b"))))) == 2

    def test_other_relations_are_kept(self, read: Any) -> None:
        results = [relation("c", "a", "same person"), relation("d", "b", "likes")]
        corpus = read(task(*ALL, *results))
        assert [r.kind for r in corpus.relations] == ["likes"]

    def test_bridging_joins_nothing_and_the_anaphor_is_first(self, read: Any) -> None:
        results = [
            relation("c", "a", "coref"),
            relation("b", "d", "Bridging:part", direction="left"),
        ]
        corpus = read(task(*ALL, *results))
        (bridging,) = corpus.relations
        assert (bridging.kind, bridging.label) == ("bridging", "part")
        assert corpus.mention_start[bridging.anaphor[1]] == 36
        assert kinds_of(read(task(*ALL, relation("b", "d", "bridging")))) == {"nothing-joined": 4}

    def test_relations_of_unclear_labels_are_an_error_unless_a_layer_names_one(
        self, read: Any
    ) -> None:
        export = task(*ALL, relation("c", "a", "refers"), relation("d", "b", "likes"))
        with pytest.raises(InputError, match=r"likes.*refers.*\n.*\n.*layer="):
            read(export)
        assert entities_of(read(export, layer="refers"))["0"] == [(0, 3), (22, 25)]
        corpus = read(task(*ALL, relation("c", "a", "refers"), relation("d", "b")), layer="refers")
        assert [kept.kind for kept in corpus.relations] == ["relation"]
        with pytest.raises(InputError, match="no relation has the label ‘refer’"):
            read(export, layer="refer")

    def test_relation_of_a_span_that_is_not_there(self, read: Any) -> None:
        with pytest.raises(InputError, match="there is no mention ‘x’"):
            read(task(*ALL, relation("x", "a")))

    def test_labels_name_entities_without_relations(self, read: Any) -> None:
        labels = ["Cluster1", "Cluster2", "Cluster1", "Cluster2"]
        spans = [span(n, *SPANS[n], label) for n, label in zip(SPANS, labels, strict=True)]
        corpus = read(task(*spans))
        assert entities_of(corpus) == {
            "Cluster1": [(0, 3), (22, 25)],
            "Cluster2": [(8, 19), (36, 39)],
        }
        assert kinds_of(corpus) == {"chains-in-types": 2}

    def test_first_annotation_that_was_not_cancelled(self, read: Any) -> None:
        cancelled = {"result": [span("x", 0, 19)], "was_cancelled": True}
        later = {"result": [span("y", 0, 19)]}
        export = task(*ALL)
        export["annotations"] = [cancelled, *export["annotations"], later]
        corpus = read(export)
        assert corpus.n_mentions == 4
        assert kinds_of(corpus)["other-annotations"] == 2

    def test_predictions_and_nothing(self, read: Any) -> None:
        predicted = {"id": 1, "data": {"text": TEXT}, "predictions": [{"result": ALL}]}
        bare = {"id": 2, "data": {"text": TEXT}, "annotations": [], "predictions": []}
        corpus = read(predicted, bare)
        assert corpus.n_mentions == 4
        assert kinds_of(corpus) == {
            "predicted-tasks": 1,
            "unlabelled-tasks": 1,
            "nothing-joined": 4,
        }

    def test_text_under_another_name(self, read: Any) -> None:
        for data in ({"text2": TEXT, "title": "x"}, {"body": TEXT, "number": 3}):
            spans = [{**span("a", 0, 3), "to_name": "text2"}]
            assert read({**task(*spans), "data": data}).n_mentions == 1

    @pytest.mark.parametrize("data", [{"image": "a", "b": "c"}, {"text": ["x"]}, None, "text"])
    def test_no_text(self, read: Any, data: Any) -> None:
        with pytest.raises(InputError, match="the task has no text"):
            read({**task(*ALL), "data": data})

    def test_further_results_are_attributes_or_counted(self, read: Any) -> None:
        value = {"start": 0, "end": 3, "choices": ["plural"]}
        choice = {"id": "a", "type": "choices", "from_name": "number", "value": value}
        other = {"id": "z", "type": "rating", "value": {"rating": 3}}
        corpus = read(task(*ALL, choice, other))
        assert corpus.n_mentions == 4
        assert corpus["1"].mentions[0].features["number"] == "plural"
        assert kinds_of(corpus)["other-results"] == 1

    def test_two_spans_of_one_id(self, read: Any) -> None:
        with pytest.raises(InputError, match="two spans have the id ‘a’"):
            read(task(span("a", 0, 3), span("a", 22, 25)))

    def test_offsets_count_utf16_where_only_that_fits(self, read: Any) -> None:
        text = "😊 Ada saw her"
        in_points = task(span("a", 2, 5, text="Ada"), span("b", 10, 13, text="her"), text=text)
        in_units = task(span("a", 3, 6, text="Ada"), span("b", 11, 14, text="her"), text=text)
        for export in (in_points, in_units):
            corpus = read(export)
            assert [m.text for m in corpus["1"].mentions] == ["Ada", "her"]
            assert "other-text" not in kinds_of(corpus)
        assert kinds_of(read(task(span("a", 0, 3, text="Bob"))))["other-text"] == 1

    def test_positions_outside_the_text_or_of_pages(self, read: Any) -> None:
        with pytest.raises(InputError, match="outside"):
            read(task(span("a", 0, 99)))
        with pytest.raises(InputError, match="positions of a span"):
            read(task(span("a", "/div/text()[1]", "/div/text()[1]")))  # type: ignore[arg-type]

    def test_white_space_is_trimmed(self, read: Any) -> None:
        corpus = read(task(span("a", 0, 4), span("b", 3, 4)))
        assert entities_of(corpus) == {"0": [(0, 3)]}
        assert kinds_of(corpus)["empty-mentions"] == 1

    def test_large_export_on_one_line_is_not_taken_for_answers(self, tmp_path: Path) -> None:
        results = [span(f"r{number}", 0, 3) for number in range(2000)]
        path = tmp_path / "large.json"
        path.write_text(json.dumps([task(*results, relation("r0", "r1"))]))
        assert b'"data"' not in path.read_bytes()[: 1 << 16]
        assert corefeval.read(path).n_mentions == 2000


DOCCANO: dict[str, Any] = {
    "id": 4,
    "text": TEXT,
    "entities": [
        {"id": number, "label": "PER", "start_offset": start, "end_offset": end}
        for number, (start, end) in enumerate(SPANS.values())
    ],
    "relations": [{"id": 9, "from_id": 2, "to_id": 0, "type": "Coreference"}],
    "Comments": [],
}


class TestDoccano:
    def test_read(self, read: Any) -> None:
        corpus = read(DOCCANO, name="export.jsonl")
        assert entities_of(corpus)["0"] == [(0, 3), (22, 25)]
        assert str(corpus.documents[0]) == "4"

    def test_repeated_id(self, read: Any) -> None:
        entities = [*DOCCANO["entities"], DOCCANO["entities"][0]]
        with pytest.raises(InputError, match="line 1: span ‘0’ appears twice"):
            read({**DOCCANO, "entities": entities}, name="export.jsonl")

    def test_long_text_first(self, read: Any) -> None:
        record = {**DOCCANO, "text": TEXT + " x" * 50_000}
        corpus = read(record, name="export.jsonl", layer="Coreference")
        assert corpus.n_mentions == 4


WORDS = TEXT.split(" ")
STARTS = [sum(len(word) + 1 for word in TEXT.split(" ")[:n]) for n in range(len(WORDS))]
TOKENS = [
    {"text": word, "start": start, "end": start + len(word), "id": n, "ws": True}
    for n, (word, start) in enumerate(zip(WORDS, STARTS, strict=True))
]
PRODIGY: dict[str, Any] = {
    "text": TEXT,
    "meta": {"id": "p1"},
    "tokens": TOKENS,
    "spans": [{"start": 0, "end": 3, "label": "M"}, {"start": 8, "end": 19, "label": "M"}],
    "relations": [
        {
            "label": "COREF",
            "head_span": {"start": 0, "end": 3, "label": "M"},
            "child_span": {"start": 22, "end": 25, "label": "M"},
        }
    ],
    "answer": "accept",
}


class TestProdigy:
    def test_spans_of_relations_are_mentions(self, read: Any) -> None:
        corpus = read(PRODIGY, {**PRODIGY, "answer": "reject"}, name="export.jsonl")
        assert entities_of(corpus) == {"0": [(0, 1), (5, 6)], "1": [(2, 4)]}
        assert kinds_of(corpus) == {"rejected-records": 1}
        assert corpus["p1"].mentions[0].text == "Ada"

    def test_characters_without_tokens(self, read: Any) -> None:
        record = {key: value for key, value in PRODIGY.items() if key != "tokens"}
        assert entities_of(read(record, name="export.jsonl"))["0"] == [(0, 3), (22, 25)]

    def test_tokens_that_are_null_are_none(self, read: Any) -> None:
        spans = [{"start": 0, "end": 3, "label": "A"}]
        corpus = read({"text": "Ada met", "tokens": None, "spans": spans, "relations": []})
        assert [mention.text for mention in corpus[0].mentions] == ["Ada"]

    def test_tokens_and_texts_in_one_file(self, read: Any) -> None:
        record = {key: value for key, value in PRODIGY.items() if key not in ("tokens", "meta")}
        corpus = read(PRODIGY, record, name="export.jsonl")
        assert [str(document) for document in corpus.documents] == ["p1", "export_2"]

    def test_nothing_accepted(self, read: Any) -> None:
        with pytest.raises(InputError, match="no record was accepted"):
            read({**PRODIGY, "answer": "ignore"}, name="export.jsonl")

    def test_long_record_whose_spans_come_late(self, read: Any) -> None:
        tokens = [*TOKENS, *({**TOKENS[-1], "ws": False} for _ in range(1000))]
        corpus = read({**PRODIGY, "tokens": tokens}, name="export.jsonl", layer="COREF")
        assert len(entities_of(corpus)) == 2


ALLENNLP = {"document": ["Ada", "saw", "her"], "clusters": [[[0, 0], [2, 2]]], "top_spans": []}


def connected(spans: list[tuple[int, int]], links: list[tuple[int, int]]) -> list[list[Any]]:
    """The spans that links connect, by brute force."""
    groups = [{number} for number in range(len(spans))]
    for first, second in links:
        merged = set().union(*(group for group in groups if group & {first, second}))
        groups = [group for group in groups if not group & merged] + [merged]
    return sorted(sorted(spans[number] for number in group) for group in groups)


@st.composite
def annotations(draw: Any) -> tuple[str, list[tuple[int, int]], list[tuple[int, int]]]:
    """A text of letters, spans in it, and links between them."""
    text = draw(st.text("ab é😊", min_size=4, max_size=20).filter(lambda text: not text.isspace()))
    edges = [place for place, letter in enumerate(text) if not letter.isspace()]
    pairs = st.tuples(st.sampled_from(edges), st.sampled_from(edges)).map(sorted)
    spans = [(first, last + 1) for first, last in draw(st.sets(pairs.map(tuple), min_size=1))]
    numbers = st.integers(0, len(spans) - 1)
    return text, spans, draw(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=6))


@given(annotations())
@settings(max_examples=60, deadline=None)
def test_the_tools_say_the_same_of_one_annotation(annotation: Any) -> None:
    text, spans, links = annotation
    ids = [f"s{number}" for number in range(len(spans))]
    places = [{"start": start, "end": end, "label": "M"} for start, end in spans]
    ends = [{"from_id": ids[first], "to_id": ids[second]} for first, second in links]
    results = [span(name, *place) for name, place in zip(ids, spans, strict=True)]
    offsets = [
        {"id": name, "start_offset": start, "end_offset": end}
        for name, (start, end) in zip(ids, spans, strict=True)
    ]
    pairs = [{"head_span": places[a], "child_span": places[b], "label": "COREF"} for a, b in links]
    exports = (
        task(*results, *({"type": "relation", **pair} for pair in ends), text=text),
        {"text": text, "entities": offsets, "relations": [{**e, "type": "same"} for e in ends]},
        {"text": text, "spans": places, "relations": pairs, "answer": "accept"},
    )
    for export in exports:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.json"
            path.write_text(json.dumps(export))
            corpus = corefeval.read(path)
        found = sorted(sorted(places) for places in entities_of(corpus).values())
        assert found == connected(spans, links)


class TestAllenNLP:
    def test_read(self, read: Any) -> None:
        assert entities_of(read(ALLENNLP)) == {"0": [(0, 1), (2, 3)]}
        corpus = read(ALLENNLP, ALLENNLP, name="out.jsonl")
        assert [str(document) for document in corpus.documents] == ["out_1", "out_2"]

    def test_predictions_of_python(self) -> None:
        assert corefeval.score(ALLENNLP, ALLENNLP)["conll"].f1 == 1.0

    def test_no_layers(self, read: Any) -> None:
        with pytest.raises(UsageError, match="no layers"):
            read(ALLENNLP, layer="x")


class TestSacr:
    @pytest.fixture
    def read(self, tmp_path: Path) -> Any:
        def read(text: str) -> corefeval.Corpus:
            (tmp_path / "story.sacr").write_text(text)
            return corefeval.read(tmp_path / "story.sacr")

        return read

    def test_read(self, read: Any) -> None:
        corpus = read(
            '#textid: t1\n#title: x\n\n{A:type="PER",note="a \\"b} {x:" Ada} met {B:head=2 the\n'
            '{C:type="X" ship}\'s cook}.\n***\n\n{A:type="PER" She}\\nsmiled.\n#COLOR:A=red\n'
        )
        document = corpus["t1"]
        assert document.mentions[0].features["note"] == 'a "b} {x:'
        assert {e.name: [m.text for m in e.mentions] for e in document.entities} == {
            "A": ["Ada", "She"],
            "B": ["the ship's cook"],
            "C": ["ship"],
        }

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ('x\n\n{A:t="x" Ada\n\n{B:t="x" Bob}', "line 3: the mention of ‘A’ does not close"),
            ('{A:t="x" Ada} met\n Bob}', "line 2: a brace neither"),
            ('{A:t="x" Ada} {met} Bob', "line 1: a brace neither"),
        ],
    )
    def test_braces_that_do_not_match(self, read: Any, text: str, message: str) -> None:
        with pytest.raises(InputError, match=message):
            read(text)

    @given(st.recursive(st.text("ab \n{}", max_size=4), lambda s: st.lists(s).map("".join)))
    def test_any_braces_are_read_or_refused(self, text: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.sacr"
            path.write_text('{A:t="x" Ada} ' + text)
            try:
                assert corefeval.read(path).n_mentions >= 1
            except InputError as error:
                assert error.line


class TestRecognition:
    @pytest.mark.parametrize(
        ("record", "format"),
        [
            ({"id": 1, "annotations": [{"result": []}], "data": {"text": "x"}}, "label-studio"),
            ({"text": "x", "spans": [], "relations": [], "answer": "accept"}, "prodigy"),
            ({"text": "x", "entities": [], "relations": [], "output": "x"}, "doccano"),
            ({"text": "x", "clusters": [], "spans": [], "relations": []}, "json"),
            ({"sentences": [], "clusters": [], "corefs": {}}, "json"),
            ({"document": [], "clusters": []}, "allennlp"),
            ({"result": {"message": {"content": "x", "annotations": []}}}, "llm"),
            ({"data": 1, "choices": [{"message": {"content": "x", "annotations": []}}]}, "llm"),
            ({"answer": '{M1:head="x" Ada}'}, "llm"),
        ],
    )
    def test_content_decides(self, record: Any, format: str) -> None:
        for text in (json.dumps(record), json.dumps([record])):
            assert detect_format(text.encode(), "x").name == format

    def test_unknown_json_names_its_keys(self, read: Any) -> None:
        with pytest.raises(InputError, match="‘id’, ‘text’, ‘label’"):
            read({"id": 1, "text": "x", "label": [[0, 1, "PER"]]})
