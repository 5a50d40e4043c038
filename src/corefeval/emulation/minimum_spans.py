"""coval's minimum spans, NP_only and remove_nested, step by step as coval takes them.

Trees are cut from the key's parse bits, for mentions of both sides. The steps are not what the
paper (Moosavi et al. 2019) means in every corner: `match:min` is for those who want that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from corefeval.diagnostics import Notice, UsageError, note
from corefeval.emulation.documents import (
    Document,
    Entities,
    Mention,
    Paired,
    place_in_sentence,
    sentence_starts,
)
from corefeval.protocol import Protocol, programs_with

_NOMINAL = frozenset(("NP", "NM", "QP", "NX"))
_VERBAL = frozenset(("VP",))
_NO_CONTENT = frozenset(("CC", "DT", "IN"))
_BRACKETS = frozenset(("-LRB-", "-RRB-"))


@dataclass(slots=True)
class Node:
    """A constituent, or a terminal: its words joined as its tag, their place, if it is good.

    A terminal may have children: what follows words that stand outside of all constituents.
    """

    tag: str
    children: list[Node] = field(default_factory=list)
    place: int | None = None
    is_good: bool = False

    @property
    def is_terminal(self) -> bool:
        """Whether it stands for words."""
        return self.place is not None


@dataclass(frozen=True, slots=True)
class Text:
    """The columns of the key's document that trees are cut from; tokens of all sentences.

    `starts` are where sentences begin, and where the last one ends; `trees` are those that were
    cut, by their first and last token and the first one's number.
    """

    words: Sequence[str]
    tags: Sequence[str]
    bits: Sequence[str]
    starts: Sequence[int]
    trees: dict[tuple[int, int, int], Node | None] = field(default_factory=dict)


Texts = Mapping[int | None, Text | None]


def read_texts(documents: Sequence[Document], paired: Paired) -> Texts:
    """The key's text of each document, by its index; None where there is no parse."""
    tokens = paired.key.tokens
    if tokens is None or not {"word", "parse"} <= set(tokens.columns):
        return dict.fromkeys(document.index for document in documents)
    names = [name for name in ("word", "parse", "tag") if name in tokens.columns]
    cells = [[value or "" for value in tokens.coded(name).values()] for name in names]
    if len(names) < 3:
        cells.append([""] * len(cells[0]))
    texts: dict[int | None, Text | None] = {}
    for index in dict.fromkeys(document.index for document in documents):
        first = 0 if index is None else int(tokens.offsets[index])
        last = len(cells[0]) if index is None else first + int(tokens.counts[index])
        words, bits, tags = (column[first:last] for column in cells)
        has_trees = any("*" in cell or "(" in cell for cell in bits)
        starts = [*sentence_starts(paired.key, index), last - first]
        texts[index] = Text(words, tags, bits, starts) if has_trees else None
    return texts


def cut_mentions(
    documents: Sequence[Document], paired: Paired, texts: Texts, protocol: Protocol
) -> tuple[list[Document], list[Notice]]:
    """Documents with mentions by their minimum spans, without verb phrases or nested mentions.

    Raises a UsageError where all documents are one, in which case coval's minimum spans crash.
    """
    if protocol.min_span == "yes" and protocol.pairing == "one":
        raise UsageError(
            f"minimum spans stop {programs_with('pairing', 'one')} (it passes a list of sentences "
            "to a function that opens a file): use --min-span no"
        )
    if not paired.has_spans:  # labels have no place in a text
        return list(documents), _notices(documents, documents, texts, protocol)
    cut = []
    for document in documents:
        key, response = (
            _Side(sentence_starts(corpus, document.index), texts[document.index], protocol).settle(
                entities
            )
            for entities, corpus in zip(document.sides, (paired.key, paired.response), strict=True)
        )
        cut.append(replace(document, key=key, response=response))
    return cut, _notices(documents, cut, texts, protocol)


def _notices(
    before: Sequence[Document], after: Sequence[Document], texts: Texts, protocol: Protocol
) -> list[Notice]:
    notices = []
    if "yes" in (protocol.min_span, protocol.np_only) and not any(texts.values()):
        text = "the key has no parse: mentions are compared by their whole spans"
        notices.append(Notice("no-parse", text))
    numbers = [
        sum(len(e) for document in d for s in document.sides for e in s) for d in (before, after)
    ]
    text = "left out: verb phrases, nested mentions, or what remains of entities with these"
    return [*notices, *note("left-out", numbers[0] - numbers[1], "mention", text)]


class _Side:
    """One side of a document: its sentences, and the key's text."""

    def __init__(self, starts: list[int], text: Text | None, protocol: Protocol) -> None:
        self.starts, self.text, self.protocol = starts or [0], text, protocol

    def settle(self, entities: Entities) -> Entities:
        """The entities as coval scores them."""
        if self.protocol.np_only == "yes":
            entities = list(self._without_verbs(entities))
        moved = [[self._identity(mention) for mention in entity] for entity in entities]
        if self.protocol.remove_nested == "yes":
            moved = [
                kept
                for entity, identities in zip(entities, moved, strict=True)
                if (kept := self._without_nested(entity, identities))
            ]
        return moved

    def place(self, mention: Mention) -> tuple[int, int, int]:
        """The sentence of a mention's end, and both ends, each counted in its own sentence."""
        return place_in_sentence(mention, self.starts)

    def tree(self, mention: Mention) -> Node | None:
        """The tree of a mention, from the key's sentence with the number of that of its end."""
        if self.text is None:
            return None
        place = *self._tokens(mention, self.text.starts), self.place(mention)[1]
        if place not in self.text.trees:
            self.text.trees[place] = _cut(self.text, *place)
        return self.text.trees[place]

    def _tokens(self, mention: Mention, starts: Sequence[int]) -> tuple[int, int]:
        """The key's first and last token of a mention; no token where its sentence is shorter."""
        sentence, first, last = self.place(mention)
        if sentence + 1 >= len(starts):
            return 0, -1
        return starts[sentence] + first, min(starts[sentence] + last, starts[sentence + 1] - 1)

    def _identity(self, mention: Mention) -> Mention:
        tree = self.tree(mention) if self.protocol.min_span == "yes" else None
        if tree is None and self.protocol.identity != "sentence":
            return mention
        place = self.place(mention)
        if tree is None or self.text is None:
            return *place, *mention[2:]
        first, last = self._tokens(mention, self.text.starts)
        words = self.text.words[first : last + 1]
        return place[0], _minimum(tree) or frozenset((w, i) for i, w in enumerate(words))

    def _without_verbs(self, entities: Entities) -> Iterator[list[Mention]]:
        for entity in entities:
            trees = [self.tree(mention) for mention in entity]
            kept = [m for m, t in zip(entity, trees, strict=True) if t is None or t.tag != "VP"]
            if len(kept) == len(entity) or len(kept) > 1:
                yield kept

    def _without_nested(self, entity: list[Mention], identities: list[Mention]) -> list[Mention]:
        places = [self.place(mention) for mention in entity]
        nested = [
            identity
            for (sentence, first, last), identity in zip(places, identities, strict=True)
            for outer, outer_identity in zip(places, identities, strict=True)
            if identity != outer_identity
            and sentence == outer[0]
            and outer[1] <= first
            and last <= outer[2]
        ]
        if len(entity) - len(nested) == 1:
            return [] if self.protocol.singletons == "drop" else identities
        return [identity for identity in identities if identity not in nested]


def _cut(text: Text, start: int, last: int, offset: int) -> Node | None:
    """The tree of the tokens from `start` to `last`, of which the first has number `offset`."""
    roots: list[Node] = []
    stack: list[Node] = []
    waiting: list[int] = []
    name: str | None = None
    seen = False

    def hang(node: Node, *, stays: bool) -> None:
        (stack[-1].children if stack else roots).append(node)
        if stays:
            stack.append(node)

    def hang_words(place: int, *, stays: bool = False) -> None:
        if waiting:
            hang(_join_words(text, waiting, place), stays=stays)
            waiting.clear()

    for token in range(start, min(last + 1, len(text.bits))):
        place = token - start + offset
        for character in text.bits[token]:
            seen |= character in "(*)"
            if character == "(":
                if not any(_is_plain(text.words[word]) for word in waiting):
                    waiting.clear()
                # Words outside of constituents stay open, and what follows is below them.
                hang_words(place, stays=not stack)
                if name is not None:
                    hang(Node(name), stays=True)
                name = ""
            elif character == "*":
                if name is not None:
                    hang(Node(name), stays=True)
                name = None
                waiting.append(token)
            elif character == ")":
                hang_words(place)
                if stack:
                    stack.pop()
            elif name is not None and character.isalpha():
                name += character
    if not seen:
        return None
    hang_words(last - start + offset)
    return roots[0] if len(roots) == 1 else Node("NP", roots)


def _join_words(text: Text, tokens: Sequence[int], place: int) -> Node:
    """The terminal of words that stand side by side."""
    is_good = any(_is_good(text.words[token], text.tags[token]) for token in tokens)
    words = " ".join(text.words[token] for token in tokens)
    return Node(words, place=place, is_good=is_good)


def _is_plain(word: str) -> bool:
    return word.isalpha() or word.isdigit()


def _is_good(word: str, tag: str) -> bool:
    if word in _BRACKETS or tag in _NO_CONTENT:
        return False
    return word == "%" or any(letter.isalpha() or letter.isdigit() for letter in word)


def _minimum(root: Node) -> frozenset[tuple[str, int]]:
    """The words and places of the terminals of a minimum span; empty if there are none."""
    terminals = [root] if root.is_good else [child for child in root.children if child.is_good]
    if not terminals:
        allowed = _allow(root)
        chosen = [c for c in root.children if c.tag[:2] in allowed and c.children]
        searches = [_search(child, allowed) for child in chosen] or [_search(root, None)]
        terminals = [terminal for terminals in searches for terminal in terminals]
    return frozenset((node.tag, node.place) for node in terminals if node.place is not None)


def _allow(root: Node) -> frozenset[str]:
    if root.tag[:2] in ("VP", "NP", "NM"):
        return _VERBAL if root.tag[:2] == "VP" else _NOMINAL
    tags = {child.tag[:2] for child in root.children}
    return _VERBAL if "VP" in tags and not tags & {"NP", "NM"} else _NOMINAL


def _search(root: Node, allowed: frozenset[str] | None) -> list[Node]:
    """The good terminals at the smallest depth below allowed constituents.

    Where nothing is allowed yet, everything is opened, until the first noun or verb phrase that
    comes up says what is: this holds for its neighbours on the right too.
    """
    level = [root]
    while level:
        following: list[Node] = []
        for node in level:
            tag = node.tag[:2]
            if allowed is None and tag in ("NP", "NM", "VP"):
                allowed = _VERBAL if tag == "VP" else _NOMINAL
            is_allowed = allowed is not None and tag in allowed
            if not node.is_terminal and (is_allowed or allowed is None or node is root):
                following += [
                    child for child in node.children if is_allowed or not child.is_terminal
                ]
        if good_nodes := [node for node in following if node.is_good]:
            return good_nodes
        level = following
    return []
