"""Files of annotation tools and pipelines: the exact mentions and entities, and clear errors.

`tests/data/tools` has small files of every kind, made for this purpose, with what is in them. Files
of real corpora and broken ones are read where the conformance vectors lie beside the project.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

import corefeval
from corefeval import InputError

MADE = Path(__file__).parents[1] / "data" / "tools"
SHARED = Path(__file__).parents[2].parent / "shared" / "conformance" / "tools"


def cases(folder: Path, name: str):
    """The cases of a file of vectors, as parameters; none where it is not there."""
    path = folder / name
    listed = json.loads(path.read_text(encoding="utf-8"))["cases"] if path.exists() else []
    return [
        pytest.param(folder, case, id=f"{case['path']}:{case.get('layer', '')}") for case in listed
    ]


def visible(text: str) -> list[int]:
    """For each position of a text, how many visible characters are before it."""
    counts = [0]
    for character in text:
        counts.append(counts[-1] + (not character.isspace()))
    return counts


def content(document) -> dict:
    """A document as the vectors describe it."""
    text = document.text
    places = list(range(document.n_tokens + 1)) if text is None else visible(text)
    plain = "".join(("".join(document.words) if text is None else text).split())
    entities = [
        (
            frozenset(
                tuple((places[a], places[b]) for a, b in mention.parts) for mention in entity
            ),
            len(entity),
            entity.name,
        )
        for entity in document.entities
    ]
    return {
        "unit": "token" if text is None else "character",
        "size": document.n_tokens if text is None else places[-1],
        "sentences": len(document.sentences) if text is None else None,
        "sha1": hashlib.sha1(plain.encode()).hexdigest()[:12],
        "entities": entities,
    }


def check(folder: Path, case: dict) -> None:
    """Compare what is read with what a case says."""
    corpus = corefeval.read(folder / case["path"], layer=case.get("layer"))
    assert [str(document.id) for document in corpus] == [d["id"] for d in case["documents"]]
    for document, expected in zip(corpus, case["documents"], strict=True):
        found = content(document)
        for name in ("unit", "size", "sha1"):
            assert found[name] == expected[name]
        if expected.get("sentences") is not None:
            assert found["sentences"] == expected["sentences"]
        mentions = [
            frozenset(tuple(map(tuple, mention)) for mention in entity)
            for entity in expected["entities"]
        ]
        assert sorted(map(sorted, (m for m, *_ in found["entities"]))) == sorted(
            map(sorted, mentions)
        )
        stated = zip(mentions, expected.get("names") or [None] * len(mentions), strict=True)
        names = {(entity, name) for entity, name in stated if name is not None}
        assert names <= {(entity, name) for entity, _, name in found["entities"]}


@pytest.mark.parametrize(("folder", "case"), cases(MADE, "made.json"))
def test_made_files_have_the_mentions_and_entities_that_were_put_there(folder, case):
    check(folder, case)


@pytest.mark.parametrize(("folder", "case"), cases(SHARED, "real.json"))
def test_real_files_have_what_their_second_version_has(folder, case):
    check(folder, case)


@pytest.mark.parametrize(("folder", "case"), cases(SHARED, "errors.json"))
def test_broken_files_have_one_clear_error(folder, case):
    with (
        corefeval.unpack_limit(case.get("limit", "1GB")),
        pytest.raises(InputError) as error,
    ):
        corefeval.read(folder / case["path"], layer=case.get("layer"))
    message = str(error.value)
    assert Path(case["path"]).name in message
    assert any(words.lower() in message.lower() for words in case["says"]), message
    assert case.get("never") is None or case["never"] not in message
    if "line" in case:
        assert error.value.line == case["line"]
