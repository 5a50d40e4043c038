"""What systems return is scored as it is: spaCy, stanza, fastcoref, Maverick."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

import corefeval
from corefeval import InputError, PairingError
from corefeval.live import corpus_from_object

WORDS = ["Ada", "met", "Bob", ".", "She", "greeted", "the", "old", "captain", "."]
ENTITIES = {"1": [(0, 1), (4, 5)], "2": [(2, 3), (6, 9)]}  # ends exclusive
SENTENCES = [WORDS[:4], WORDS[4:]]


def conll_text(name: str = "a", words: list[str] = WORDS) -> str:
    cells = [[] for _ in words]
    for entity, spans in ENTITIES.items():
        for start, end in spans:
            if end == start + 1:
                cells[start].append(f"({entity})")
            else:
                cells[start].append(f"({entity}")
                cells[end - 1].append(f"{entity})")
    rows = [
        f"{name} 0 {i} {word} NN {'|'.join(cell) or '-'}"
        for i, (word, cell) in enumerate(zip(words, cells, strict=True))
    ]
    return "\n".join((f"#begin document ({name}); part 000", *rows, "#end document", ""))


@pytest.fixture
def key(conll):
    return conll(conll_text())


def spacy_doc(name: str | None = None, words: list[str] = WORDS):
    spacy = pytest.importorskip("spacy")
    doc = spacy.tokens.Doc(spacy.blank("en").vocab, words=words)
    for entity, spans in ENTITIES.items():
        doc.spans[f"coref_clusters_{entity}"] = [doc[start:end] for start, end in spans]
    if name is not None:
        doc.user_data["doc_id"] = name
    return doc


@dataclass
class CorefMention:
    sentence: int
    start_word: int | tuple[int, int]
    end_word: int | tuple[int, int]


@dataclass
class CorefChain:
    index: int
    mentions: list[CorefMention]


@dataclass
class StanzaDocument:
    sentences: list
    coref: list[CorefChain]
    docid: str | None = None


def stanza_doc(name: str | None = None) -> StanzaDocument:
    sentences = [
        SimpleNamespace(words=[SimpleNamespace(text=word) for word in words]) for words in SENTENCES
    ]
    chains = [
        CorefChain(0, [CorefMention(0, 0, 1), CorefMention(1, 0, 1)]),
        CorefChain(1, [CorefMention(0, 2, 3), CorefMention(1, 2, 5)]),
    ]
    return StanzaDocument(sentences, chains, name)


@dataclass
class CorefResult:
    """What fastcoref returns: as text, offsets of characters; as words, of words."""

    text: str | list[str]
    spans: list[list[tuple[int, int] | None]] = field(repr=False)

    def get_clusters(self, as_strings: bool = True):
        if not as_strings:
            return self.spans
        return [[self.text[start:end] for start, end in cluster] for cluster in self.spans]


def fastcoref_words() -> CorefResult:
    return CorefResult(list(WORDS), list(ENTITIES.values()))


def fastcoref_text() -> CorefResult:
    text = "Ada met Bob. She greeted the old captain."
    mentions = (("Ada", "She"), ("Bob", "the old captain"))
    spans = [[(text.index(m), text.index(m) + len(m)) for m in entity] for entity in mentions]
    return CorefResult(text, spans)


def maverick_dictionary(**more: object) -> dict[str, object]:
    offsets = [[(start, end - 1) for start, end in spans] for spans in ENTITIES.values()]
    return {"tokens": list(WORDS), "clusters_token_offsets": offsets, **more}


MAKERS = [spacy_doc, stanza_doc, fastcoref_words, fastcoref_text, maverick_dictionary]
each_kind = pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)


def assert_perfect(result: corefeval.Result, kinds: tuple[str, ...] = ()) -> None:
    assert result["conll"].f1 == 1.0
    assert result["mentions"].counts["recall_denominator"] == 4 * len(result.document_ids)
    assert tuple(notice.kind for notice in result.notices) == kinds


@each_kind
def test_a_nameless_object_pairs_with_the_only_document(key, make):
    assert_perfect(corefeval.score(key, make()))
    assert_perfect(corefeval.score(key, [make()]))
    assert_perfect(corefeval.score(key, (make(),)))
    assert_perfect(corefeval.score(key, iter([make()])))


@each_kind
def test_an_object_may_be_the_key(key, make):
    assert_perfect(corefeval.score(make(), make()))
    assert_perfect(corefeval.score(make(), key))


@each_kind
def test_a_mapping_names_the_documents(conll, make):
    key = conll(conll_text("a") + conll_text("b"))
    assert_perfect(corefeval.score(key, {"b": make(), "a": make()}))
    result = corefeval.score(key, {"b": make()})
    assert result["mentions"].recall == 0.5


@each_kind
def test_a_list_of_nameless_objects_cannot_be_paired(conll, make):
    key = conll(conll_text("a") + conll_text("b"))
    with pytest.raises(InputError, match="have no id") as caught:
        corefeval.score(key, [make(), make()])
    assert "pass a mapping" in caught.value.fix


@each_kind
def test_one_nameless_object_does_not_pair_with_one_of_several(conll, make):
    with pytest.raises(PairingError):
        corefeval.score(conll(conll_text("a") + conll_text("b")), make())


@pytest.mark.parametrize(
    "make",
    [
        spacy_doc,
        stanza_doc,
        lambda name: maverick_dictionary(doc_key=name),
        lambda name: maverick_dictionary(doc_id=name),
        lambda name: maverick_dictionary(id=name),
    ],
)
def test_objects_that_name_themselves_pair_by_id(conll, make):
    key = conll(conll_text("a") + conll_text("b"))
    assert_perfect(corefeval.score(key, [make("b"), make("a_0")]))
    with pytest.raises(InputError, match="appears twice"):
        corefeval.score(key, [make("a"), make("a")])
    with pytest.raises(PairingError, match="no document of the response"):
        corefeval.score(conll(conll_text("a")), make("z"))


@pytest.mark.parametrize("make", [spacy_doc, stanza_doc, fastcoref_words, maverick_dictionary])
def test_another_text_is_an_error(conll, make):
    words = ["Eva", *WORDS[1:]]
    with pytest.raises(PairingError, match="has another text"):
        corefeval.score(conll(conll_text(words=words)), make())


def test_objects_of_several_kinds_are_an_error(key):
    with pytest.raises(InputError, match="not a stanza document, but others are"):
        corefeval.score(key, {"a": stanza_doc(), "b": [["x"]]})


@pytest.mark.parametrize(
    "source", [[], {}, [["a", "b"]], {"a": [["x", "y"]]}, 7, None, object(), {"tokens": ["a"]}]
)
def test_plain_python_is_no_live_object(source):
    assert corpus_from_object(source, "response") is None


def test_a_nameless_document_of_any_kind_pairs_with_the_only_one():
    assert corefeval.score({"x; part 003": [["a", "b"]]}, [["a", "b"]])["muc"].f1 == 1.0
    assert corefeval.score([["a", "b"]], {"x": [["a", "b"]]})["muc"].f1 == 1.0
    with pytest.raises(PairingError):
        corefeval.score({"x": [["a", "b"]]}, {"": [["a", "b"]], "y": []})


def test_no_system_is_imported_to_recognise_its_objects():
    script = (
        "import sys, corefeval\n"
        "corefeval.score([['a', 'b']], [['a', 'b']])\n"
        "assert not {'spacy', 'stanza', 'fastcoref', 'maverick'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


class TestSpacy:
    def test_ids_come_from_user_data_and_extensions(self):
        tokens = pytest.importorskip("spacy.tokens")
        doc = spacy_doc()
        doc.user_data["id"] = 7
        assert corpus_from_object(doc, "key").documents[0].name == "7"
        tokens.Doc.set_extension("doc_id", default=None)
        try:
            assert corpus_from_object(doc, "key").documents[0].name == "7"
            doc._.doc_id = "essay"
            assert corpus_from_object(doc, "key").documents[0].name == "essay"
        finally:
            tokens.Doc.remove_extension("doc_id")

    def test_sentences_tags_and_heads_are_kept_where_they_are_known(self):
        spacy = pytest.importorskip("spacy")
        doc = spacy.tokens.Doc(
            spacy.blank("en").vocab,
            words=["the", "captain", "slept", "He", "snored"],
            tags=["DT", "NN", "VBD", "PRP", "VBD"],
            heads=[1, 2, 2, 4, 4],
            deps=["det", "nsubj", "ROOT", "nsubj", "ROOT"],
            sent_starts=[True, False, False, True, False],
        )
        doc.spans["coref_clusters_9"] = [doc[0:2], doc[3:4]]
        (document,) = corpus_from_object(doc, "key")
        assert document.sentences == [["the", "captain", "slept"], ["He", "snored"]]
        assert document.tags == ["DT", "NN", "VBD", "PRP", "VBD"]
        assert [(m.text, m.head) for m in document.mentions] == [("the captain", 1), ("He", 3)]
        assert document.entities[0].name == "9"

    def test_groups_of_other_names_are_noted(self, key):
        doc = spacy_doc()
        for group in list(doc.spans):
            doc.spans["coref_head" + group.removeprefix("coref")] = list(doc.spans.pop(group))
        result = corefeval.score(key, doc)
        assert [notice.kind for notice in result.notices] == ["no-span-groups", "no-mentions"]
        assert "‘coref_head_clusters_1’" in result.notices[0].message

    def test_documents_of_a_pipe(self, key):
        spacy = pytest.importorskip("spacy")
        nlp = spacy.blank("en")

        @spacy.Language.component("clusters_for_a_test")
        def clusters(doc):
            for entity, spans in ENTITIES.items():
                doc.spans[f"coref_clusters_{entity}"] = [doc[start:end] for start, end in spans]
            return doc

        nlp.add_pipe("clusters_for_a_test")
        assert_perfect(corefeval.score(key, nlp.pipe([" ".join(WORDS)])))


class TestStanza:
    def test_sentences_and_chains_keep_their_names(self):
        (document,) = corpus_from_object(stanza_doc("x"), "key")
        assert document.sentences == SENTENCES
        assert [entity.name for entity in document.entities] == ["0", "1"]

    def test_zeros_become_tokens_behind_their_word(self):
        doc = stanza_doc()
        doc.sentences[1].empty_words = [SimpleNamespace(id=(1, 1), text="she")]
        doc.coref[0].mentions.append(CorefMention(1, (1, 1), (1, 1)))
        doc.coref[1].mentions.append(CorefMention(0, (0, 1), (0, 1)))
        (document,) = corpus_from_object(doc, "key")
        assert document.sentences == [["_", *SENTENCES[0]], ["She", "she", *SENTENCES[1][1:]]]
        texts = [[mention.text for mention in entity.mentions] for entity in document.entities]
        assert texts == [["Ada", "She", "she"], ["_", "Bob", "the old captain"]]
        assert document.column("empty") == ["1", *[""] * 5, "1", *[""] * 5]

    @pytest.mark.parametrize(
        "mention", [(0, 3, 5), (1, 2, 2), (2, 0, 1), (-1, 0, 1), (0, -1, 1), (0, 3, 2)]
    )
    def test_mentions_outside_of_their_sentence(self, key, mention):
        doc = stanza_doc()
        doc.coref[0].mentions.append(CorefMention(*mention))
        with pytest.raises(InputError, match="outside its sentence"):
            corefeval.score(key, doc)

    def test_a_document_without_coreference(self, key):
        doc = stanza_doc()
        doc.coref = None
        assert [notice.kind for notice in corefeval.score(key, doc).notices] == ["no-mentions"]


class TestFastcoref:
    def test_mentions_without_a_place_are_noted(self, key):
        result = fastcoref_words()
        result.spans = [[*result.spans[0], None], result.spans[1]]
        assert_perfect(corefeval.score(key, result), ("placeless-mentions",))

    @pytest.mark.parametrize("spans", [[[(0,)]], [3], [["ab"]], [[(0, 1.5)]]])
    def test_clusters_that_are_no_spans(self, key, spans):
        with pytest.raises(InputError, match="are not spans"):
            corefeval.score(key, CorefResult(WORDS, spans))

    def test_texts_and_words_are_not_mixed(self, key):
        for results in ([fastcoref_text(), fastcoref_words()], [CorefResult(7, [])]):
            with pytest.raises(InputError, match="of texts, others of words"):
                corefeval.score(key, dict(enumerate(results)))

    def test_another_text_is_an_error(self, key):
        result = fastcoref_text()
        result.text = result.text.replace("Bob", "Rob")
        with pytest.raises(PairingError, match="has another text"):
            corefeval.score(key, result)

    def test_spans_outside_of_the_text(self, key):
        for text in ("Ada met Bob.", WORDS):
            with pytest.raises(InputError):
                corefeval.score(key, CorefResult(text, [[(0, 99)]]))


class TestMaverick:
    def test_numpy_numbers_and_sentences_of_tokens(self, key):
        offsets = [np.array([(s, e - 1) for s, e in spans]) for spans in ENTITIES.values()]
        record = {"tokens": SENTENCES, "clusters_token_offsets": offsets}
        assert_perfect(corefeval.score(key, record))
        (document,) = corpus_from_object(record, "key")
        assert document.sentences == SENTENCES

    def test_no_clusters(self, key):
        record = maverick_dictionary(clusters_token_offsets=[])
        assert [n.kind for n in corefeval.score(key, record).notices] == ["no-mentions"]

    @pytest.mark.parametrize("clusters", [5, [5], [[5]], [[("a", "b")]], [[(1, 2, 3)]]])
    def test_clusters_that_are_no_spans(self, key, clusters):
        with pytest.raises(InputError, match=r"is not a list|is no span of the document"):
            corefeval.score(key, maverick_dictionary(clusters_token_offsets=clusters))

    @pytest.mark.parametrize("span", [(0, 10), (-1, 0), (4, 2)])
    def test_offsets_out_of_range(self, key, span):
        with pytest.raises(InputError, match="is no span of the document"):
            corefeval.score(key, maverick_dictionary(clusters_token_offsets=[[span]]))

    def test_zeros_of_crac_records(self):
        record = {"doc_id": "x", "tokens": ["##", "Vino", "##Ana", "."]}
        record["clusters_token_offsets"] = [[(0, 0), (2, 2)]]
        (document,) = corpus_from_object(record, "key")
        assert document.words == ["##", "Vino", "##Ana", "."]
        assert document.column("empty") == ["1", "", "1", ""]

    def test_tokens_that_are_no_text(self, key):
        with pytest.raises(InputError, match="does not hold words"):
            corefeval.score(key, maverick_dictionary(tokens=[1, 2]))

    def test_values_that_json_cannot_hold(self, key):
        with pytest.raises(InputError, match="that JSON cannot hold"):
            corefeval.score(key, maverick_dictionary(tokens=[object()]))


def test_loaded_records_follow_the_rules_of_other_objects(key):
    record = {"sentences": SENTENCES, "clusters": maverick_dictionary()["clusters_token_offsets"]}
    assert_perfect(corefeval.score(key, record))
    assert_perfect(corefeval.score(key, {"a": {**record, "doc_key": "z"}}))
    with pytest.raises(InputError, match="have no id"):
        corefeval.score([record, record], [record, record])
    with pytest.raises(InputError, match="not a record of JSON, but others are"):
        corefeval.score(key, {"a": record, "b": [["x"]]})


def test_a_mapping_names_the_documents_of_corenlp():
    mention = {"sentNum": 1, "startIndex": 1, "endIndex": 2}
    record = {"sentences": [{"tokens": [{"word": "Ada"}]}], "corefs": {"1": [mention]}}
    corpus = corpus_from_object({"essay": record}, "key")
    assert [document.name for document in corpus.documents] == ["essay"]


def test_loaded_json_records():
    record = {"doc_key": "d", "sentences": [["Ada", "met", "her"]], "clusters": [[[0, 0], [2, 2]]]}
    nameless = {key: value for key, value in record.items() if key != "doc_key"}
    for response in (record, [record], {"d": nameless}, ({**nameless, "doc_key": "d"},)):
        assert corefeval.score([record], response)["lea"].f1 == 1.0
    with pytest.raises(corefeval.CorefEvalError):
        corefeval.score(record, {**record, "clusters": [[[0, 9]]]})
