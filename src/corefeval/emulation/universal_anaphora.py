"""Two corpora, scored as version 1 of the Universal Anaphora scorer scores them.

With minimum spans the program takes mentions of other spans for the same in CEAF, in what refers to
nothing and in antecedents, and in nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from corefeval.alignment import Alignment
from corefeval.diagnostics import InputError, Notice, UsageError, memory_for
from corefeval.emulation.anaphora_scenes import Element, Entity, Scene, make_scenes
from corefeval.emulation.corefud_scorer import AGGREGATES, check_choices
from corefeval.emulation.documents import pair_corpora
from corefeval.emulation.tables import (
    CONLL,
    Entry,
    Homes,
    Image,
    find_homes,
    keep_cells,
    make_result,
    tabulate,
    tabulate_sides,
)
from corefeval.metrics import Metric, Metrics, parse_metrics
from corefeval.metrics.coreference import (
    HALVES,
    Counts,
    Ratio,
    b3_recall,
    blanc,
    count_ceaf,
    lea_recall,
    links_recall,
    muc_recall,
    phi3,
    phi4,
    ratio_counts,
)
from corefeval.model import DEIXIS, Corpus
from corefeval.model.arrays import plain_rows
from corefeval.model.identity import digest
from corefeval.model.relations import find_sets
from corefeval.protocol import Protocol
from corefeval.results import CountTable, Result
from corefeval.results.rates import Numbers

# In the program's order.
_METRICS = ("lea", "muc", "b3", "ceafe", "ceafm", "blanc", "conll")
_OF_ANAPHORA = ("split", "bridging", "non-referring")
_RATIO = ("recall_numerator", "recall_denominator", "precision_numerator", "precision_denominator")
# What a protocol that names the program may say besides; all else is the program's own affair.
_VALUES = {
    "match": ("exact", "min"),
    "singletons": ("keep", "drop"),
    "tokens": ("same", "ignore"),
    "aggregate": AGGREGATES,
}
_FREE = ("split", "layer", "missing", "documents", "undefined", "rounding")


def score_anaphora(
    key: Corpus,
    response: Corpus,
    metrics: Metrics,
    protocol: Protocol,
) -> Result:
    """The program's result, with counts for each document of the key.

    A UsageError names a choice or a metric that the program does not have; an InputError says
    where it stops.
    """
    chosen = choose_metrics(metrics, protocol)
    for corpus in (key, response):
        if corpus.labels is not None:
            raise UsageError(
                f"emulate:{protocol.emulate} needs token positions, and plain Python mentions have "
                "none: give files, or spans of tokens"
            )
    with memory_for():
        paired = pair_corpora(key, response, protocol)
        corpora = paired.key, paired.response
        scenes = _make_scenes(corpora, protocol)
        has_split = any(metric.name == "split" for metric in chosen)
        complete = _make_scenes(corpora, protocol, complete=True) if has_split else scenes
        tables = {
            str(metric): _make_table(
                metric,
                complete if metric.name == "split" else scenes,
                loose=protocol.match == "min",
            )
            for metric in chosen
        }
        notices = [*paired.notices]
        if protocol.split == "score" or has_split:
            notices += _note_sets(corpora, protocol)
    return make_result(
        protocol,
        tables,
        tuple(map(str, paired.key.documents)),
        sides=(key.name, response.name),
        key_digest=digest(key),
        notices=notices,
    )


def choose_metrics(metrics: Metrics, protocol: Protocol) -> list[Metric]:
    """The metrics that are asked for; presets leave out what the program does not have.

    Raises a UsageError for a metric or a choice that it does not have.
    """
    check_choices(protocol, _VALUES, (*_FREE, "emulate"))
    if protocol.layer == "deixis" and (protocol.singletons, protocol.split) != ("keep", "score"):
        raise UsageError(
            f"emulate:{protocol.emulate} has layer deixis only with singletons keep and split score"
        )
    chosen = []
    for request in parse_metrics(metrics):
        metric = request.metric
        parameters = {name for name, _ in metric.parameters}
        is_known = metric.name in _METRICS and not parameters
        if metric.name in _OF_ANAPHORA:
            is_known = parameters <= {"metric", "level"} and protocol.layer != "deixis"
        if is_known:
            chosen.append(metric)
        elif request.by_name:
            has = ", ".join((*_METRICS, *(_OF_ANAPHORA if protocol.layer == "identity" else ())))
            raise UsageError(f"emulate:{protocol.emulate} has no {metric}: it has {has}")
    return chosen


def _make_scenes(
    corpora: tuple[Corpus, Corpus], protocol: Protocol, *, complete: bool = False
) -> list[tuple[Scene, Scene]]:
    """Both sides of each document; `complete` ones have sets and singletons in any case.

    Raises an InputError where the program cannot do what the protocol says.
    """
    drops = protocol.singletons == "drop"
    if drops and protocol.split == "score" and any(len(find_sets(c)) for c in corpora):
        raise InputError(
            "there are sets of antecedents, and the program cannot score them and drop singletons",
            fix="use --split off or --singletons keep",
        )
    make = partial(
        make_scenes,
        deixis=protocol.layer == "deixis",
        with_sets=complete or protocol.split == "score",
        keeps_singletons=complete or protocol.singletons == "keep",
    )
    key = make(corpora[0], uses_minima=protocol.match == "min")
    return list(zip(key, make(corpora[1], uses_minima=False), strict=True))


def _note_sets(corpora: tuple[Corpus, Corpus], protocol: Protocol) -> Iterator[Notice]:
    """What was left out of sets, on which the program hangs or stops."""
    for corpus in corpora:
        is_deixis = corpus.mention_layer == DEIXIS
        layer = corpus.keep_mentions(is_deixis == (protocol.layer == "deixis"))
        yield from find_sets(layer).notices(corpus.name)


def _make_table(
    metric: Metric, scenes: Sequence[tuple[Scene, Scene]], *, loose: bool
) -> CountTable:
    """The counts of a metric."""
    parameters = dict(metric.parameters)
    if metric.name == "conll":
        return CONLL
    if metric.name == "non-referring":
        return _ratios([_count_pseudo(*sides) for sides in scenes])
    if metric.name == "bridging":
        level = str(parameters.get("level", "entity"))
        return _ratios([_count_bridging(*sides, level) for sides in scenes])
    of_sets = metric.name == "split"
    name = str(parameters.get("metric", "muc")) if of_sets else metric.name
    count = partial(count_scenes, scenes=scenes, of_sets=of_sets, loose=loose)
    if name != "blanc":
        return _ratios(count(name))
    halves = [count(half)[:, [0, 1, 3]] for half in HALVES]
    columns = tuple(f"{half}_{side}" for half in HALVES for side in ("common", "key", "response"))
    return CountTable("blanc-of-both", columns, np.hstack(halves))


def _ratios(counts: Numbers | Sequence[Sequence[float]]) -> CountTable:
    values = np.array(counts, dtype=np.float64).reshape(-1, len(_RATIO))
    return CountTable("ratio", _RATIO, values)


Worths = dict[Element, tuple[Element, float]]  # aligned sets: the partner of each, and its worth


@dataclass(frozen=True)
class Pair:
    """The entities of both sides, and what the sets that a metric aligned are worth.

    `precision` is by the response's sets, the others by the key's. `loose` says that mentions of
    other spans may be the same to CEAF.
    """

    key: list[Entity]
    response: list[Entity]
    recall: Worths = field(default_factory=dict)
    precision: Worths = field(default_factory=dict)
    f1: Worths = field(default_factory=dict)
    loose: bool = False


Direction = tuple[list[Entity], list[Entity], Worths]  # entities, the other side's, sets' worths


def count_scenes(
    metric: str, scenes: Sequence[tuple[Scene, Scene]], *, of_sets: bool, loose: bool
) -> Numbers:
    """The counts of a metric, or of a half of BLANC, or with `of_sets` those of sets alone.

    A row for each document has numerator and denominator of recall, then of precision. `loose` says
    that mentions of other spans may be the same where the program takes them for such.
    """
    sets = [
        [[e for entity in scene.entities for e in entity if e.blocks] for scene in sides]
        for sides in scenes
    ]
    pairs = [
        Pair(_list_blocks(a), _list_blocks(b), loose=loose)
        for key, response in sets
        for a in key
        for b in response
    ]
    counts = _count(metric, pairs, inside=True)
    documents, of_aligned, first = [], np.zeros((len(scenes), 4)), 0
    for number, ((key, response), sides) in enumerate(zip(sets, scenes, strict=True)):
        shape = len(key), len(response), 4
        of_pairs = counts[first : first + len(key) * len(response)].reshape(shape)
        first += len(key) * len(response)
        aligned, worths = _align(key, response, of_pairs)
        of_aligned[number] = sum(of_pairs[cell] for cell in aligned)
        documents.append(Pair(sides[0].entities, sides[1].entities, *worths, loose=loose))
    if not of_sets:
        return _count(metric, documents, inside=False)
    for side, column in enumerate((1, 3)):  # denominators are those of all sets
        alone = [
            [Pair(_list_blocks(element), _list_blocks(element)) for element in elements[side]]
            for elements in sets
        ]
        of_aligned[:, column] = [_count(metric, pairs, inside=True)[:, 1].sum() for pairs in alone]
    return of_aligned


def _list_blocks(element: Element) -> list[Entity]:
    return [list(block) for block in element.blocks]


def _align(
    key: list[Element], response: list[Element], counts: Numbers
) -> tuple[list[tuple[int, int]], tuple[Worths, Worths, Worths]]:
    """The best alignment of sets, and what it is worth to recall, to precision, and as F1.

    Of several best ones it is the one that the program's solver gives.
    """
    recall, precision = (
        np.divide(counts[..., n], counts[..., n + 1], out=np.zeros(counts.shape[:2]),
                  where=counts[..., n + 1] != 0)
        for n in (0, 2)
    )  # fmt: skip
    f1 = 2 * recall * precision / np.where(recall + precision == 0, 1, recall + precision)
    aligned: list[tuple[int, int]] = []
    if f1.size:
        from scipy.optimize import linear_sum_assignment

        rows, columns = linear_sum_assignment(-f1)
        aligned = list(plain_rows(rows, columns))
    worths: list[Worths] = [
        {key[i]: (response[j], float(worth[i, j])) for i, j in aligned if worth[i, j] > 0}
        for worth in (recall, f1)
    ]
    backward = {
        response[j]: (key[i], float(precision[i, j])) for i, j in aligned if precision[i, j] > 0
    }
    return aligned, (worths[0], backward, worths[1])


def _count(metric: str, pairs: Sequence[Pair], *, inside: bool) -> Numbers:
    """A metric's counts, a row for each pair; `inside` sets a single mention has a link to MUC."""
    if metric in ("ceafm", "ceafe"):
        table = tabulate((pair.key, pair.response, _look_up_ceaf(pair)) for pair in pairs)
        counts = count_ceaf(phi3 if metric == "ceafm" else phi4, table)
    elif metric in HALVES:
        counts = _count_half(metric, pairs)
    else:
        directions = (
            [(pair.key, pair.response, pair.recall) for pair in pairs],
            [(pair.response, pair.key, pair.precision) for pair in pairs],
        )
        recall, precision = (_count_direction(metric, sides, inside) for sides in directions)
        counts = ratio_counts(recall, precision)
    return np.column_stack(list(counts.values()))


def _count_direction(metric: str, sides: Sequence[Direction], inside: bool) -> Ratio:
    if metric == "lea":
        return _lea(sides)
    table = _tabulate(sides)
    return muc_recall(table, self_links=inside) if metric == "muc" else b3_recall(table)


def _tabulate(directions: Sequence[Direction], *, unaligned: float = 0.0) -> Alignment:
    """Elements looked up in the last entity of the other side that has them.

    A set that is aligned is looked up by its partner, with its worth; another has the weight
    `unaligned`.
    """

    def look_up_in(worths: Worths) -> Image:
        return lambda element: worths.get(element, (element, unaligned if element.blocks else 1.0))

    sides = [(entities, opposite) for entities, opposite, _ in directions]
    return tabulate_sides(sides, "last", [look_up_in(worths) for *_, worths in directions])


def _look_up_ceaf(pair: Pair) -> Iterator[Entry]:
    """Elements looked up in all entities; those that state a minimum span loosely."""
    homes = find_homes(pair.response, "all")
    for number, entity in enumerate(pair.key):
        for element in entity:
            partner, worth = pair.f1.get(element, (element, 0.0 if element.blocks else 1.0))
            numbers = {*homes.get(partner, ())} if worth else set()
            if pair.loose and element.minimum is not None:
                numbers = {
                    home
                    for mention, its_homes in homes.items()
                    if not mention.blocks and element.covers(mention)
                    for home in its_homes
                }
            for home in numbers:
                yield number, home, worth


def _lea(sides: Sequence[Direction]) -> Ratio:
    resolved, total = lea_recall(_without_sets(sides))
    for document, (entities, opposite, worths) in enumerate(sides):
        homes = find_homes(opposite, "last")
        for entity in filter(_has_set, entities):
            links = _links_in_order(entity, homes, worths, sticky=True)
            resolved[document] += 2 * links / (len(entity) - 1)
    return resolved, total


def _count_half(half: str, pairs: Sequence[Pair]) -> Counts:
    """Half of BLANC; with sets, its coreference links depend on the order of elements."""
    sides = [(pair.key, pair.response, pair.f1) for pair in pairs]
    counts = blanc(_tabulate(sides, unaligned=1.0))
    common = counts[f"{half}_common"]
    if half == "coreference":
        common = links_recall(_without_sets(sides))[0]
        for document, (entities, opposite, worths) in enumerate(sides):
            homes = find_homes(opposite, "last")
            for entity in filter(_has_set, entities):
                common[document] += _links_in_order(entity, homes, worths, sticky=False)
    return ratio_counts((common, counts[f"{half}_key"]), (common, counts[f"{half}_response"]))


def _has_set(entity: Entity) -> bool:
    return any(element.blocks for element in entity)


def _without_sets(sides: Sequence[Direction]) -> Alignment:
    """The table of both sides with the cells of entities that have no set."""
    table = _tabulate(sides)
    has_set = [_has_set(entity) for entities, _, _ in sides for entity in entities]
    return keep_cells(table, ~np.array(has_set, dtype=np.bool_)[table.overlap.key])


def _links_in_order(entity: Entity, homes: Homes, worths: Worths, *, sticky: bool) -> float:
    """Pairs of elements that are together on the other side, in the program's order.

    A set's worth stays with all pairs behind it where it is `sticky`; else a set that comes second
    counts only if the other side has the very same.
    """
    links = 0.0
    for place, element in enumerate(entity):
        first, worth = worths.get(element, (element, 1.0))
        home = homes.get(first)
        for follower in entity[place + 1 :] if home else ():
            second, share = worths.get(follower, (follower, 1.0)) if sticky else (follower, 1.0)
            worth *= share
            links += worth if homes.get(second) == home else 0.0
    return links


def _count_pseudo(key: Scene, response: Scene) -> list[float]:
    """Mentions that refer to nothing: matched and all of the key, then of the response."""
    matched = sum(any(m.covers(answer) for answer in response.pseudo) for m in key.pseudo)
    spurious = sum(not any(m.covers(answer) for m in key.pseudo) for answer in response.pseudo)
    return [matched, len(key.pseudo), matched, matched + spurious]


def _count_bridging(key: Scene, response: Scene, level: str) -> list[float]:
    """Bridging pairs whose anaphors, mentions or entities are right."""
    owners, n_right = key.owners, 0
    for anaphor, antecedent in key.bridging.items():
        answer = response.bridging.get(anaphor)
        if answer is not None:
            is_right = antecedent.covers(answer)
            if level == "entity":
                is_right |= owners.get(answer, -1) == owners.get(antecedent, -2)
            n_right += is_right or level == "anaphor"
    return [n_right, len(key.bridging), n_right, len(response.bridging)]
