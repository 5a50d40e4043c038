"""Minimum spans as coval finds them, step by step, and each of its bugs with a cure of its own.

A minimum span is a list of terminals: the tokens of each, and the place that coval gives it.
`cures` names the bugs that are mended; with all of `BUGS`, what remains is the definition. Its
steps and bugs are those of section 3 of the specification of scorers, but for `words on top` and
`places`, which coval's numbers show.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linear_sum_assignment

BUGS = {
    "words lost": "words before an opening bracket count only if one is all letters or digits",
    "numbers inside": "words of a mention without content are numbered from 0",
    "subjects": "a mention has all constituents around it that begin where it does, and a clause "
    "the minimum span of its subject: a whole sentence is *the old man*",
    "words on top": "what follows words that stand in no constituent hangs on them",
    "places": "a terminal is placed at its last token, or at the one behind it",
}
NOMINAL, VERBAL = {"NP", "NM", "QP", "NX"}, {"VP"}
CLAUSES = {"TO", "RO", "S", "SB", "SI", "SQ"}
Terminal = tuple[tuple[int, ...], int]


@dataclass
class Node:
    """A constituent, or words that something hangs on as if they were one."""

    label: str
    children: list[Node | Terminal] = field(default_factory=list)
    terminal: Terminal | None = None


@dataclass
class Text:
    """Words, tags and parse bits of a document, and where its sentences begin."""

    words: list[str]
    tags: list[str]
    parse: list[str]
    starts: list[int]

    def minimum(self, start: int, end: int, cures=frozenset()) -> frozenset:
        """The identity that coval gives the tokens from `start` up to `end`."""
        sentence = int(np.searchsorted(self.starts, start, side="right"))
        base = start if "numbers inside" in cures else 0
        every = [((token,), token - start + base) for token in range(start, end)]
        return frozenset(
            (sentence, tuple(self.words[t] for t in tokens), tokens[0] if "places" in cures else at)
            for tokens, at in self.search(self.cut(start, end, cures), cures) or every
        )

    def tokens(self, start: int, end: int, cures=frozenset()) -> tuple[int, ...]:
        """The tokens of a minimum span."""
        found = self.search(self.cut(start, end, cures), cures)
        return tuple(sorted(t for one, _ in found for t in one)) or tuple(range(start, end))

    def cut(self, start: int, end: int, cures) -> Node | Terminal:
        """The tree over some tokens, from their parse bits, character by character."""
        roots: list[Node | Terminal] = []
        stack: list[Node] = []
        waiting: list[int] = []
        name = None

        def hang(child: Node | Terminal) -> None:
            (stack[-1].children if stack else roots).append(child)

        def hang_words(place: int) -> None:
            if waiting:
                hang((tuple(waiting), place))
            waiting.clear()

        def push() -> None:
            if name is not None:
                stack.append(Node(re.sub("[^A-Za-z]", "", name)[:2]))

        bits = self.parse[start:end]
        if "subjects" in cures:
            bits[0] = self.without_constituents_around(start, end)
        for at, cell in enumerate(bits, start):
            for character in cell:
                if character == "(":
                    push()
                    name = ""
                    plain = any(self.words[t].isalpha() or self.words[t].isdigit() for t in waiting)
                    if plain or "words lost" in cures:
                        if waiting and not stack and "words on top" not in cures:
                            stack.append(Node("", terminal=(tuple(waiting), at)))
                        else:
                            hang_words(at)
                    waiting.clear()
                elif character == "*":
                    push()
                    name = None
                    waiting.append(at)
                elif character == ")":
                    hang_words(at)
                    if stack:
                        hang(stack.pop())
                elif name is not None:
                    name += character
        hang_words(end - 1)
        while stack:
            hang(stack.pop())
        return roots[0] if len(roots) == 1 else Node("NP", roots)

    def without_constituents_around(self, start: int, end: int) -> str:
        """The parse bits of a first token from the constituent on that is the mention.

        The largest that ends with it, else the smallest that goes beyond it, else all of them.
        """
        begun = re.findall(r"\([^()*]*", self.parse[start])
        rest = self.parse[start][sum(map(len, begun)) :]
        stop = min((one for one in self.starts if one > start), default=len(self.words))
        ends: dict[int, int] = {}  # by the number of the bracket in the first cell
        depth = len(begun)
        for at in range(start, stop):
            depth += self.parse[at].count("(") if at > start else 0
            for _ in range(self.parse[at].count(")")):
                depth -= 1
                ends.setdefault(depth, at + 1)
        around = [number for number in range(len(begun)) if ends.get(number, 0) >= end]
        exact = [number for number in around if ends[number] == end]
        return "".join(begun[(exact[:1] or around[-1:] or [0])[0] :]) + rest

    def is_good(self, terminal) -> bool:
        return any(
            word not in ("-LRB-", "-RRB-")
            and any(c.isalnum() or c == "%" for c in word)
            and tag not in ("CC", "DT", "IN")
            for word, tag in ((self.words[t], self.tags[t]) for t in terminal[0])
        )

    def search(self, root: Node | Terminal, cures) -> list[Terminal]:
        """The terminals of the minimum span; none where no word has content."""
        own = root if isinstance(root, tuple) else root.terminal
        if own is not None and self.is_good(own):
            return [own]
        if isinstance(root, tuple):
            return []
        verbal = VERBAL | CLAUSES if "subjects" in cures else VERBAL
        labels = {child.label for child in root.children if isinstance(child, Node)}
        if root.label in verbal:
            allowed = verbal
        elif root.label in ("NP", "NM") or labels & {"NP", "NM"} or "VP" not in labels:
            allowed = NOMINAL
        else:
            allowed = verbal
        words = [c if isinstance(c, tuple) else c.terminal for c in root.children]
        found = [one for one in words if one is not None and self.is_good(one)]
        if found:
            return found
        children = [c for c in root.children if isinstance(c, Node) and c.label in allowed]
        if children:
            return [one for child in children for one in self.nearest(child, allowed)]
        return self.nearest(root, None, verbal)

    def nearest(self, root: Node, allowed, verbal=VERBAL) -> list[Terminal]:
        """The good terminals at the smallest depth; without `allowed` the first phrase decides."""
        queue, found, least = deque([(root, 0)]), [], None
        while queue:
            node, depth = queue.popleft()
            if allowed is None and node.label in ("NP", "NM", "VP"):
                allowed = verbal if node.label == "VP" else NOMINAL
            if least is not None and depth >= least:
                break
            is_allowed = allowed is not None and node.label in allowed
            for child in node.children:
                if isinstance(child, Node):
                    if allowed is None or child.label in allowed:
                        queue.append((child, depth + 1))
                elif is_allowed and self.is_good(child):
                    found.append(child)
                    least = depth + 1
        return found


def count(key, response) -> dict[str, list[float]]:
    """coval's counts of entities of identities; the last entity with an identity owns it.

    For each metric the numerator and the denominator of recall, then those of precision.
    """
    counts: dict[str, list[float]] = {"muc": [], "bcub": [], "lea": []}
    for mine, theirs in ((key, response), (response, key)):
        owner = {mention: number for number, one in enumerate(theirs) for mention in one}
        size = np.array([len(one) for one in mine], dtype=float)
        cells = [Counter(owner[m] for m in one if m in owner) for one in mine]
        links = np.array([sum(n - 1 for n in cell.values()) for cell in cells], dtype=float)
        squares = np.array([sum(n * n for n in cell.values()) for cell in cells], dtype=float)
        pairs = np.array([sum(n * (n - 1) for n in cell.values()) for cell in cells], dtype=float)
        kept = [any(len(theirs[other]) == 1 for other in cell) for cell in cells]
        share = np.where(size == 1, kept, pairs / np.maximum(size * (size - 1), 1))
        counts["muc"] += [links.sum(), (size - 1).sum()]
        counts["bcub"] += [(squares / size).sum(), size.sum()]
        counts["lea"] += [(size * share).sum(), size.sum()]
    similarity = np.zeros((len(key), len(response)))
    for row, one in enumerate(key):
        for column, other in enumerate(response):
            common = sum(mention in other for mention in one)
            similarity[row, column] = 2 * common / (len(one) + len(other))
    total = similarity[linear_sum_assignment(-similarity)].sum()
    counts["ceafe"] = [total, len(key), total, len(response)]
    return counts
