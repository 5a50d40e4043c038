"""Files of annotation tools and pipelines: the exact mentions and entities, and clear errors.

`tests/data/tools` has small files of every kind, made for this purpose, with what is in them. Files
of real corpora and broken ones are read where the conformance vectors lie beside the project.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

import corefeval
from corefeval import InputError
from corefeval.formats import fingerprint

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


TEI = '<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><p>{}</p></text></TEI>'
SPEAKER = '<rs ref="#a">Ada</rs>'


@pytest.mark.parametrize(
    ("prolog", "body", "words"),
    [
        ('<!DOCTYPE TEI [<!ENTITY x "y">]>', SPEAKER, "entity"),
        ('<!DOCTYPE TEI [<!ENTITY x SYSTEM "/etc/passwd">]>', "&x;", "entity"),
        ('<!DOCTYPE TEI [<!ENTITY % x SYSTEM "http://localhost/x"> %x;]>', SPEAKER, "entity"),
        ("", "<hi>" * 1500 + "</hi>" * 1500, "1,000 deep"),
        ("", "<hi>" * 500_000, "1,000 deep"),
        ("", "&x;", "well-formed"),
        ("", "<rs>Ada", "well-formed"),
        ("", "<rs ref='a' ref='b'>Ada</rs>", "well-formed"),
        ("", "\x00", "well-formed"),
    ],
)
def test_hostile_xml_is_one_error_with_its_line(tmp_path, prolog, body, words):
    path = tmp_path / "a.xml"
    path.write_text(f"<?xml version='1.0'?>\n{prolog}\n{TEI.format(body)}", encoding="utf-8")
    with pytest.raises(InputError, match=words) as error:
        corefeval.read(path)
    assert error.value.line in (2, 3) and "root:" not in str(error.value)


def test_what_a_document_type_says_of_attributes_is_not_read(tmp_path):
    path = tmp_path / "a.xml"
    body = TEI.format('<rs ref="#a">Ada</rs> saw <rs ref="#a">her</rs>')
    path.write_text(f'<!DOCTYPE TEI [<!ATTLIST rs note CDATA "x">]>{body}')
    corpus = corefeval.read(path)
    assert [mention.text for mention in corpus[0].mentions] == ["Ada", "her"]
    assert not corpus.features


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("http://www.tei-c.org/ns/1.0", "http://" + "x" * 20_000, "address of a namespace .*‘http"),
        ("<TEI", f'<!DOCTYPE TEI [<!ATTLIST rs x CDATA "{"x" * 20_000}">]><TEI', "ATTLIST ‘rs’"),
        ("<TEI", f"<!DOCTYPE TEI [{'<!ATTLIST rs x ID #IMPLIED>' * 20_000}]><TEI", "ATTLIST ‘rs’"),
    ],
)
def test_declarations_that_count_again_for_each_element_are_limited(tmp_path, old, new, words):
    path = tmp_path / "a.xml"
    path.write_text(TEI.format("<rs/>").replace(old, new))
    with pytest.raises(InputError, match=rf"(?s), line 1: .*{words}.*expected.*fix: "):
        corefeval.read(path, format="tei")


def test_a_document_type_elsewhere_is_accepted_and_never_opened(tmp_path):
    path = tmp_path / "a.xml"
    for prolog in ('<!DOCTYPE TEI SYSTEM "tei.dtd">', "<!-- < --><?x <y> ?><!DOCTYPE TEI>"):
        path.write_text(prolog + TEI.format(SPEAKER), encoding="utf-8")
        assert corefeval.read(path).n_mentions == 1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-8-sig", "iso-8859-1"])
def test_the_encoding_that_xml_declares_counts(tmp_path, encoding):
    path = tmp_path / "a.xml"
    name = encoding.removesuffix("-sig")
    text = f"<?xml version='1.0' encoding='{name}'?>" + TEI.format("<rs ref='#a'>Élan</rs>")
    path.write_bytes(text.encode(encoding))
    assert corefeval.read(path)[0].mentions[0].text == "Élan"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("<?xml version='1.0'?><NAF/>", "NAF"),
        ("<typeSystemDescription/>", "typeSystemDescription"),
        ("<!DOCTYPE html><html><p>(a (b - -</html>", "html"),
        ("<markables/>", "name the .mmax file"),
        ('{"words": ["a"]}', "JSON"),
    ],
)
def test_unknown_xml_and_json_are_named_as_such(tmp_path, run, content, words):
    path = tmp_path / "a.conll"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        corefeval.read(path)
    status, out, _ = run("check", str(path))
    assert status == 1 and words in out


def test_texts_of_characters_can_be_seen(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text(TEI.format("<rs ref='#a'>Ada</rs> met <rs ref='#a'>her</rs>."))
    (document,) = corefeval.read(path)
    assert document.text == "Ada met her."
    assert [mention.text for mention in document.mentions] == ["Ada", "her"]
    assert corefeval.read(corefeval.example("key"))[0].text is None


def test_files_that_belong_together_count_once(tmp_path):
    for name in ("books2", "mmax2"):
        shutil.copytree(MADE / "made" / name, tmp_path / name)
        corpus = corefeval.read(tmp_path / name)
        assert len(corpus) == 1
        assert not [notice for notice in corpus.notices if notice.kind == "skipped-files"]
        for file in (tmp_path / name).rglob("*"):
            if file.suffix in (".tokens", ".xml") and file.is_file():
                before = fingerprint(tmp_path / name)
                file.write_bytes(file.read_bytes() + b"\n")
                assert fingerprint(tmp_path / name) != before
    (tmp_path / "books2" / "b2.tokens").unlink()
    with pytest.raises(InputError, match=r"\.tokens"):
        corefeval.read(tmp_path / "books2" / "b2.entities")
