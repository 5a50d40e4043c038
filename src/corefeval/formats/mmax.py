"""MMAX2: words in a file, and levels of markables with spans of words in files beside it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from corefeval.diagnostics import excerpt
from corefeval.formats.annotations import AnnotatedDocument, build_corpus, choose_layer
from corefeval.formats.source import Source, read_source
from corefeval.formats.xml import Element, parse_xml, places_by
from corefeval.model import Corpus

_PATHS = "common_paths.xml"
_ENTITIES = ("coref_class", "coref_set", "coref_chain")  # attributes that name entities
_NO_ENTITY = ("", "empty", "none")


def read_mmax(source: Source, *, name: str = "", layer: str | None = None) -> Corpus:
    """Read a `.mmax` with its words and levels, or a file of words with the levels beside it.

    The layer is a level, or a level and the attribute that names the entities: `coref.coref_set`.
    """
    root, folder, identifier = parse_xml(source), Path(source.file).parent, str(source.stem)
    words_source, words = source, root
    if root.name == "words":
        identifier = identifier.removesuffix("_words")
        signs = (folder.parent / file for file in (_PATHS, f"{identifier}.mmax"))
        folder = folder.parent if any(sign.is_file() for sign in signs) else folder
    else:
        words_source = _find_words(source, root, folder)
        words = parse_xml(words_source)
    listed = list(words.find_all("word"))
    places = places_by(words_source, listed, "id")
    levels = _find_levels(source, folder, identifier)
    sentences = _markables(source, levels["sentence"]) if "sentence" in levels else []
    starts = {min(parts)[0] for s in sentences if (parts := _find_parts(s.get("span"), places))}
    document = AnnotatedDocument(
        source,
        identifier,
        words=[word.text.strip() for word in listed],
        sentence_starts=sorted(starts | {0}) if listed else [],
    )
    markables, attribute = _choose_level(source, levels, layer)
    structure = ("id", "span", "mmax_level", attribute)
    for markable in markables:
        parts, entity = _find_parts(markable.get("span"), places), markable.get(attribute)
        is_single = entity.strip().lower() in _NO_ENTITY
        document.counts["broken-spans"] += not parts
        document.counts["single-markables"] += is_single and bool(parts)
        if parts:
            features = {k: v for k, v in markable.attributes.items() if k not in structure}
            features["mention_id"] = markable.get("id")
            document.add(parts, None if is_single else entity, features)
    return build_corpus([document], source, name)


def _find_words(source: Source, project: Element, folder: Path) -> Source:
    """The words that a `.mmax` names, which must be a file in its folders."""
    names = [element.text.strip() for element in project.find_all("words")]
    name = names[0] if names else ""
    if not name or name.startswith(".") or not set(name).isdisjoint("/\\:\0"):
        raise source.error(
            "the words file is not in the folder of this file",
            project.line,
            found=excerpt(name) if name else "no words file",
            expected="the plain name of a file, such as NAME_words.xml",
            fix="name the words file without a path, and put it into Basedata",
        )
    folders = list(_folders(source, folder, "basedata"))
    for place in folders:
        if os.path.isfile(place / name):  # also of names that are too long for a file
            return read_source(place / name, encoding=source.encoding)
    raise source.error(
        f"the words file {excerpt(name)} is missing",
        project.line,
        expected=f"the file in {' or '.join(dict.fromkeys(map(str, folders)))}",
        fix="put the words file there",
    )


def _folders(source: Source, folder: Path, kind: str) -> Iterator[Path]:
    """Where files of a kind, `basedata` or `markable`, may be: below the folder of the `.mmax`."""
    paths = folder / _PATHS
    if paths.is_file():
        source = read_source(paths, encoding=source.encoding)
        for element in parse_xml(source).find_all(f"{kind}_path"):
            place = Path(element.text.strip().replace("\\", "/"))
            if place.is_absolute() or ".." in place.parts:
                raise source.error(
                    "a path leads out of the folder",
                    element.line,
                    found=excerpt(str(place)),
                    expected="a folder below the one of this file",
                    fix="move the files below, and name their folder",
                )
            if os.path.isdir(folder / place):
                yield folder / place
    usual = (kind, f"{kind}s")
    yield from sorted(p for p in folder.glob("*") if p.name.lower() in usual and p.is_dir())
    yield folder


def _find_levels(source: Source, folder: Path, identifier: str) -> dict[str, Path]:
    """The files of the levels of a document by their names."""
    before, after = f"{identifier}_", "_level.xml"
    projects = (path.stem for path in folder.glob("*.mmax"))
    longer_names = tuple(f"{stem}_" for stem in projects if stem.startswith(before))
    for place in _folders(source, folder, "markable"):
        levels = {
            path.name[len(before) : -len(after)]: path
            for path in sorted(place.glob(f"*{after}"))
            if path.name.startswith(before) and not path.name.startswith(longer_names)
        }
        if levels:
            return levels
    return {}


def _markables(source: Source, path: Path) -> list[Element]:
    return list(parse_xml(read_source(path, encoding=source.encoding)).find_all("markable"))


def _choose_level(
    source: Source, levels: Mapping[str, Path], layer: str | None
) -> tuple[list[Element], str]:
    """The markables of the level that counts, and the attribute that names their entities."""

    def prefer() -> Iterator[list[str]]:
        yield ["coref"] if "coref" in levels else []
        yield [name for name, path in levels.items() if _entity_attribute(_markables(source, path))]

    level, attribute = choose_layer(source, layer, prefer(), levels, dict.fromkeys(levels, ()))
    markables = _markables(source, levels[level])
    return markables, attribute or _entity_attribute(markables)


def _entity_attribute(markables: list[Element]) -> str:
    """The first of the usual attributes that names an entity somewhere; "" where none does."""
    for attribute in _ENTITIES:
        if any(m.get(attribute).strip().lower() not in _NO_ENTITY for m in markables):
            return attribute
    return ""


def _find_parts(span: str, places: Mapping[str, int]) -> list[tuple[int, int]]:
    """The parts of a span such as `word_3..word_5,word_9`; none if it is broken."""
    parts = []
    for part in span.split(","):
        first, _, last = part.strip().partition("..")
        start, end = places.get(first, -1), places.get(last or first, -1) + 1
        if not 0 <= start < end:
            return []
        parts.append((start, end))
    return parts
