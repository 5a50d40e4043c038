"""Pairs of mentions: whom each refers to, and the entities that follow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from corefeval.formats.answers.items import Unit
from corefeval.formats.answers.lookup import KeyText
from corefeval.formats.answers.text import fold_text
from corefeval.model.ledger import Span

_SURE = 3  # words of an antecedent that may be the beginning of a longer mention
Points = Callable[[Unit, Span], float]


@dataclass(slots=True)
class Links:
    """The mentions of an answer and who of them is the same, as antecedents become known."""

    key: KeyText
    points: Points
    parent: dict[object, object] = field(default_factory=dict)
    spans: dict[Span, object] = field(default_factory=dict)  # known mentions
    starts: dict[int, Span] = field(default_factory=dict)  # the longest that begins at a token

    def root(self, name: object) -> object:
        """What stands for all that is linked with a mention or label."""
        while (above := self.parent.setdefault(name, name)) != name:
            name = above
        return name

    def link(self, mentions: Sequence[tuple[Span, Unit]]) -> list[tuple[Unit, Span]]:
        """Link mentions to their antecedents; antecedents that were no mentions yet come back.

        An antecedent is the known mention with its words nearest before the mention; else their
        nearest place before it, else the nearest. Words that are not in the text are a label.
        """
        for span, _ in mentions:
            self.spans.setdefault(span, span)
            self.starts[span[0]] = max(span, self.starts.get(span[0], span))
        added = []
        for span, unit in sorted(mentions, key=lambda pair: pair[0]):
            antecedent = unit.antecedent
            if antecedent is None:
                continue
            places = [place for place in self.key.look_up(antecedent.text).every if place != span]
            if antecedent.state == "aside" or not places:
                self.parent[self.root(span)] = self.root(fold_text(antecedent.text))
                continue
            place = min(places, key=lambda place: self._cost(antecedent, span, place))
            mention = self._known(place, span)
            if mention is None:
                self.spans[place] = mention = place
                added.append((antecedent, place))
            self.parent[self.root(span)] = self.root(mention)
        return added

    def _cost(self, antecedent: Unit, span: Span, place: Span) -> tuple[float, bool, bool, int]:
        is_behind = place[0] > span[0]
        is_known = self._known(place, span) is not None and not is_behind
        return self.points(antecedent, place), not is_known, is_behind, abs(place[0] - span[0])

    def _known(self, place: Span, span: Span) -> object | None:
        """The known mention at a place, or a longer one that begins with all of these words."""
        longer = self.starts.get(place[0], span)
        if place in self.spans or longer == span or place[1] - place[0] < _SURE:
            return self.spans.get(place)
        return longer if longer[1] > place[1] else None
