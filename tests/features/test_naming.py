"""What entities are called: their most frequent name, their longest nominal, or what is there."""

from __future__ import annotations

import pytest

import corefeval
from corefeval.model import CorpusBuilder

# The words of each mention with their tags, in textual order.
DARCY = ("My/PRP$ dear/NN", "Fitzwilliam/NNP Darcy/NNP", "Darcy/NNP", "he/PRP", "Darcy/NNP")
ENTITIES = [
    (DARCY, "Darcy"),
    (("she/PRP", "Elizabeth/NNP", "Elizabeth/NNP Bennet/NNP"), "Elizabeth Bennet"),
    (("it/PRP", "the/DT house/NN", "the/DT old/JJ house/NN", "this/DT place/NN"), "the old house"),
    (("the/DT man/NN", "the/DT cat/NN"), "the man"),
    (("they/PRP", "themselves/PRP"), "they"),
]


def corpus(*entities: tuple[str, ...], tags: bool = True, lacking: int = 0):
    """A document in which all mentions of the entities follow each other, entity by entity.

    So many of its mentions are in an entity of their own instead.
    """
    builder = CorpusBuilder(name="novel")
    mentions = [(str(number), text) for number, texts in enumerate(entities) for text in texts]
    tokens = [token.split("/") for _, text in mentions for token in [*text.split(), "./."]]
    columns = {"tag": [tag for _, tag in tokens]} if tags else {}
    document = builder.document("d", words=[word for word, _ in tokens], columns=columns)
    start = 0
    for place, (entity, text) in enumerate(mentions):
        end = start + len(text.split())
        document.mention("x" if place < lacking else entity, start, end)
        start = end + 1
    return builder.build()


@pytest.mark.parametrize(("texts", "name"), ENTITIES)
def test_errors_name_entities(texts, name):
    key, other = corpus(texts), corpus(texts, lacking=len(texts))
    empty = other.keep_mentions(other.mention_entity < 0)
    analysis = corefeval.analyse(key, empty, metrics="b3")
    assert analysis.entities(1)[0].mention.text == name
    (error,) = analysis.listed("missing entity")
    assert error.mentions[error.name].text == name
    (error,) = corefeval.analyse(empty, key, metrics="b3").listed("extra entity")
    assert error.mentions[error.name].text == name


def test_lists_and_tables_show_names(run, tmp_path):
    key, response = (tmp_path / f"{name}.conllu" for name in ("key", "response"))
    corefeval.write(corpus(DARCY), key)
    corefeval.write(corpus(DARCY, lacking=1), response)
    out = run("errors", key, response, "-m", "b3", "-q")[1]
    assert "Tokens  Name " in out and "First mention" not in out
    out = run("errors", key, response, "-m", "b3", "-q", "--list", "divided")[1]
    assert "My dear" in out and "Darcy" in out.split("My dear")[1]


@pytest.mark.parametrize("kind", ["conflated", "divided"])
def test_parts_of_entities_have_names(kind):
    whole, apart = corpus(DARCY), corpus(DARCY, lacking=1)
    sides = (whole, apart) if kind == "divided" else (apart, whole)
    (error,) = corefeval.analyse(*sides, metrics="b3").listed(kind)
    assert (error.mentions[0].text, error.instead.text) == ("My dear", "Darcy")


def test_without_kinds_the_first_mention_is_the_name():
    untagged = corpus(DARCY, tags=False)
    empty = untagged.keep_mentions(untagged.mention_entity < 0)
    analysis = corefeval.analyse(untagged, empty, metrics="b3")
    assert analysis.entities(1)[0].mention.text == "My dear"


def test_sets_have_the_names_of_their_elements():
    builder = CorpusBuilder(name="x")
    words, tags = ["she", "Ann", "he", "Bob", "they"], ["PRP", "NNP", "PRP", "NNP", "PRP"]
    document = builder.document("d", words=words, columns={"tag": tags})
    for place, entity in enumerate("11223"):
        document.mention(entity, place, place + 1)
    empty = builder.build()
    document.relation("split-antecedent", "3", ["1", "2"])
    (error,) = corefeval.analyse(builder.build(), empty, metrics="b3").listed("missed set")
    assert error.key_entity == "Ann + Bob"


def test_the_report_has_the_same_names():
    pytest.importorskip("vl_convert")
    texts = [texts for texts, _ in ENTITIES]
    page = corefeval.report(corpus(*texts), {"mine": corpus(*texts, lacking=1)}, metrics="b3")
    shown = page.payload["texts"][0][0]
    words = shown["words"].split(" ")
    spans = [(shown["start"][row], shown["length"][row]) for row in shown["named"]]
    names = [" ".join(words[start : start + length]) for start, length in spans]
    assert names == [name for _, name in ENTITIES]
    assert len(page.payload["systems"][0]["documents"][0]["named"]) == len(ENTITIES) + 1
