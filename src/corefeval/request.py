"""The request: everything that a caller asks for, made once and handed on as it is."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from corefeval.checks import check_count, check_probability, check_seed, did_you_mean, split_list
from corefeval.diagnostics import UsageError
from corefeval.files import PathLike
from corefeval.formats import check_reading
from corefeval.metrics import Metric, MetricRequest, Metrics, parse_metrics
from corefeval.pieces import Cutting
from corefeval.protocol import STEPS, Choices, Protocol, choices, split_choices

if TYPE_CHECKING:
    from corefeval.features.tagsets import TagSet
    from corefeval.features.token_columns import Samples

SEGMENTS = 20  # into which a single document is cut

Input = object  # a path, a Corpus, what a system returned, or plain Python
Stated = Mapping[str, object] | PathLike | None  # features, or a file of them


class ScoreOptions(Choices, total=False):
    """What every function that scores takes: choices of the protocol, and how files are read."""

    ignore_tokens: bool
    encoding: str
    word_column: int | None
    key_format: str | None
    response_format: str | None
    key_encoding: str | None
    response_encoding: str | None
    key_layer: str | None
    response_layer: str | None
    answer_at: str | None
    id_at: str | None


_READING = (
    *("encoding", "word_column", "key_format", "response_format"),
    *("key_encoding", "response_encoding", "key_layer", "response_layer"),
    *("answer_at", "id_at"),
)


class Reading(NamedTuple):
    """How the files of a side are read: see `corefeval.read`."""

    format: str | None = None
    encoding: str = "utf-8"
    word_column: int | None = None
    occurrences: str = "in-order"
    layer: str | None = None
    choice: int = 1
    pieces: str = "apart"
    answer_at: str | None = None
    id_at: str | None = None

    def under(self, protocol: Protocol) -> Reading:
        """The reading with the choices of a protocol that act here."""
        choice = 1 if protocol.choice == "auto" else int(protocol.choice)
        pieces = "joined" if protocol.pieces == "joined" else "apart"
        return self._replace(occurrences=protocol.occurrences, choice=choice, pieces=pieces)


@dataclass(frozen=True, slots=True)
class Sampling:
    """Level, samples and seed of intervals, and segments of a single document: see `score`."""

    ci: float | None = None
    samples: int = 1000
    seed: int = 0
    segments: int = SEGMENTS
    as_segments: bool = False

    def __post_init__(self) -> None:
        if self.ci is not None:
            check_probability("the level of an interval", self.ci)
            check_count("the number of samples", self.samples)
            check_seed(self.seed)
        if self.segments is SEGMENTS:
            return
        from corefeval.pairing.regrouping import LEAST

        number = self.segments
        if isinstance(number, bool) or not isinstance(number, int) or number < LEAST:
            raise UsageError(f"segments must be a whole number of at least {LEAST}, not {number!r}")


@dataclass(frozen=True, slots=True)
class Request:
    """A protocol, metrics, features, how files are read, how results are sampled and files cut.

    `base` is the protocol before options change it, which may state where heads and minimum spans
    came from. `metrics` are parsed, unless another program is emulated, which has its own. `by` are
    features to slice by. `features` are values that the caller states, in memory or in a file with
    this `encoding`. `samples` show what the token columns of either side hold in all documents,
    where only some of the documents are prepared. `emulated` is the protocol of another program
    that the nearest sound rules stand for.
    """

    protocol: Protocol
    base: Protocol
    by: tuple[str, ...]
    features: Stated
    tagset: TagSet | None
    encoding: str
    key_reading: Reading
    response_reading: Reading
    sampling: Sampling
    cutting: Cutting
    metrics: tuple[MetricRequest | Metric | str, ...] = ()
    samples: tuple[Samples, Samples] | None = None
    emulated: Protocol | None = None

    @staticmethod
    def of(
        protocol: Protocol | str | None,
        options: Mapping[str, Any],
        sampling: Sampling | None = None,
        cutting: Cutting | None = None,
        *,
        metrics: Metrics | None = None,
        by: object = (),
        features: Stated = None,
        steps: tuple[str, ...] = STEPS,
        sound: bool = False,
        nearest: bool = False,
    ) -> Request:
        """The request that the keywords of a function or the options of a command make.

        Raises a UsageError for what is wrong before anything is read. Choices must act at one of
        `steps`. With `sound`, no program can be emulated; with `nearest`, sound rules replace it.
        """
        chosen, reading = split_choices(options, steps)
        _check_reading(reading, steps)
        # Layers are no choices, but part of the signature.
        chosen |= {n: reading[n] for n in ("key_layer", "response_layer") if reading.get(n)}
        base = Protocol.of(protocol)
        adjusted, tagset = _adjust(base, chosen, features)
        emulated = adjusted if nearest and adjusted.emulates else None
        adjusted = adjusted.nearest if emulated else adjusted
        if sound:
            adjusted.check_sound()
        settled, sampling = adjusted, sampling or Sampling()
        if adjusted.values:
            settled, sampling = _settle_sampling(adjusted, sampling)
        request = Request(
            settled,
            base,
            by=feature_names(by),
            features=features,
            tagset=tagset,
            encoding=reading.get("encoding") or "utf-8",
            key_reading=_make_reading("key", reading, adjusted),
            response_reading=_make_reading("response", reading, adjusted),
            sampling=sampling,
            cutting=cutting or Cutting(),
            emulated=emulated,
        )
        return request if metrics is None else request.with_metrics(metrics)

    def with_metrics(self, metrics: Metrics) -> Request:
        """The request for these metrics; a UsageError for those that do not exist."""
        if not self.protocol.emulates or not isinstance(metrics, Iterable | Metric):
            return replace(self, metrics=tuple(parse_metrics(metrics)))
        items = [metrics] if isinstance(metrics, str | Metric) else metrics
        request = replace(self, metrics=tuple(items))
        _check_emulated(request)
        return request


def _check_reading(reading: Mapping[str, Any], steps: tuple[str, ...]) -> None:
    """Refuse unknown keywords, and formats, encodings and columns that do not exist."""
    for name in reading:
        if name not in _READING:
            names = [*choices(steps), *_READING]
            hint = did_you_mean(name, (*names, "metrics", "by", "protocol", "features"), names)
            raise UsageError(f"there is no option {name!r} here: {hint}")
    check_reading(**reading)


def _make_reading(side: str, options: Mapping[str, Any], protocol: Protocol) -> Reading:
    """How the files of a side are read; its own encoding counts more than that of all files."""
    encoding = options.get(f"{side}_encoding") or options.get("encoding") or "utf-8"
    word_column = options.get("word_column")
    layer = getattr(protocol, f"{side}_layer")
    layer = None if layer == "auto" else layer
    reading = Reading(options.get(f"{side}_format"), encoding, word_column, layer=layer)
    if side == "key":
        return reading
    answer_at, id_at = options.get("answer_at"), options.get("id_at")
    return reading.under(protocol)._replace(answer_at=answer_at, id_at=id_at)


def _adjust(
    base: Protocol, chosen: dict[str, Any], features: Stated
) -> tuple[Protocol, TagSet | None]:
    """A protocol with what was chosen, and the tag set that it names, if it names any."""
    if not chosen and not base.values and features is None:
        return base, None
    _check_features(features, base)
    tagset = _find_tagset(chosen, base)
    # What the data decided is decided anew.
    decided = dict.fromkeys(("features", "heads", "minimum", "stands_for"), "none")
    return base.but(**chosen | decided), tagset


def _check_features(features: Stated, base: Protocol) -> None:
    """Refuse what cannot be features, and a protocol that needs other features or is of a slice."""
    if features is not None and not isinstance(features, str | os.PathLike):
        from corefeval.features.statements import check_given

        check_given(features)
    if not features and base.features != "none":
        raise UsageError(
            f"the protocol says features:{base.features}: pass them with --features FILE"
        )
    if base.slice != "whole":
        raise UsageError(
            f"the protocol says slice:{base.slice}, a part of a result: leave it out, and ask for "
            f"scores by {base.slice.partition('=')[0]}"
        )


def _find_tagset(chosen: dict[str, Any], base: Protocol) -> TagSet | None:
    """The tag set that is chosen, or that the protocol names; None where the tags show it.

    What is not chosen by name becomes a name in `chosen`.
    """
    tagset = chosen.get("tagset", base.tagset)
    if tagset == "auto":
        return None
    from corefeval.features.tagsets import read_tagset

    content = read_tagset(tagset)
    if not isinstance(tagset, str):
        chosen["tagset"] = content.name
    return content


def _settle_sampling(protocol: Protocol, sampling: Sampling) -> tuple[Protocol, Sampling]:
    """The protocol without segments and intervals, and the sampling with those that it states.

    Raises a UsageError for intervals that cannot be repeated.
    """
    if protocol.segments != "none":
        sampling = replace(sampling, segments=int(protocol.segments), as_segments=True)
    if protocol.ci != "none" and sampling.ci is None:
        text = re.search(r"level=([\d.]+),samples=(\d+),seed=(\d+)", protocol.ci)
        if text is None:
            raise UsageError(f"the protocol says ci:{protocol.ci}, which cannot be repeated")
        level, samples, seed = text.groups()
        sampling = replace(sampling, ci=float(level), samples=int(samples), seed=int(seed))
    return protocol.but(segments="none", ci="none"), sampling


def feature_names(by: object) -> tuple[str, ...]:
    """The names in `by`, a list or a text with commas; a UsageError for anything else."""
    names = split_list(by) if isinstance(by, str) else by
    if not isinstance(names, Iterable) or isinstance(names, Mapping):
        raise UsageError(f"by is a list of features, not {by!r:.60}")
    features = tuple(names)
    for name in features:
        if not isinstance(name, str):
            raise UsageError(f"a feature is written as text, not {name!r:.60}")
    return features


def _check_emulated(request: Request) -> None:
    """Refuse what another program does not have: features, slices, formats, metrics, choices."""
    from corefeval.emulation import check_request

    protocol, readings = request.protocol, (request.key_reading, request.response_reading)
    if request.by or request.features:
        unsupported = f"scores by {', '.join(request.by)}" if request.by else "features of mentions"
        raise UsageError(f"{name_accident(protocol)} has no {unsupported}: leave them out")
    formats = {reading.format for reading in readings} - {None, "corefud"}
    if protocol.reads_itself and (formats or request.key_reading.word_column):
        raise UsageError(f"{name_accident(protocol)} reads only corefud: leave out formats")
    check_request(request.metrics, protocol)


def name_accident(protocol: Protocol) -> str:
    """The first choice by which a protocol is that of another program."""
    name, value = next(iter(protocol.accidents.items()))
    return f"{name.replace('_', '-')}:{value}"
