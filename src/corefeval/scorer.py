"""A scorer: the key is read once, and responses are scored against it one after the other."""

from __future__ import annotations

import os
import pickle
import uuid
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Unpack

from corefeval.diagnostics import UsageError
from corefeval.display import distinct_names
from corefeval.evaluation import read_key, score_whole, with_intervals
from corefeval.metrics import DEFAULT_PRESET, Metrics
from corefeval.model import DocumentId
from corefeval.model.construction import PlainDocument, corpus_from_plain, read_plain
from corefeval.pieces import Cutting, watch_workers
from corefeval.request import SEGMENTS, Input, Request, Sampling, ScoreOptions, Stated
from corefeval.results import Result

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    from corefeval.protocol import Protocol

_LOT = 10_000  # documents of updates that wait to be counted together


class Scorer:
    """Scores many responses against a key that is read and prepared once.

    The arguments are those of `score`, but for those of pieces, and `scorer(response)` is what
    `score(key, response, …)` gives. It pickles, so that responses can be scored in other
    processes: see `map`.

    >>> scorer = Scorer([["Ada", "she"], ["it"]], metrics="muc, b3")
    >>> scorer([["Ada", "she", "it"]])
    <Result of 1 document: muc 66.67, b3 71.43>
    >>> [result["b3"].f1 for result in scorer.map([[["Ada", "she"], ["it"]], [["Ada", "she"]]])]
    [1.0, 0.8]

    Without a key it adds up documents whose entities come in pairs, as in a training loop:

    >>> scorer = Scorer(metrics="muc")
    >>> scorer.update([["Ada", "she"]], [["Ada", "she"]])
    >>> scorer.update([["a", "b", "c"]], [["a", "b"]])
    >>> scorer.compute()
    <Result of 2 documents: muc 80.00>
    """

    _number: int
    _waiting: dict[str, tuple[PlainDocument, PlainDocument]]
    _parts: list[Result]

    def __init__(
        self,
        key: Input = None,
        *,
        metrics: Metrics = DEFAULT_PRESET,
        by: str | Iterable[str] = (),
        protocol: Protocol | str | None = None,
        features: Stated = None,
        ci: float | None = None,
        samples: int = 1000,
        seed: int = 0,
        segments: int = SEGMENTS,
        **options: Unpack[ScoreOptions],
    ) -> None:
        sampling = Sampling(ci, samples, seed, segments)
        self._request = Request.of(
            protocol, options, sampling, metrics=metrics, by=by, features=features
        )
        self._key = None if key is None else read_key(key, self._request)
        self.reset()

    def __call__(self, response: Input) -> Result:
        """The result of a response."""
        if self._key is None:
            raise UsageError("this scorer has no key: create it as Scorer(key), or use update")
        return score_whole(self._key, response, self._request)

    def map(
        self, responses: Iterable[Input], *, executor: Executor | None = None
    ) -> Iterator[Result]:
        """The results of responses, in their order, each as soon as it is there.

        An executor of any kind has them scored elsewhere; no more than a few responses are under
        way at once. The key goes to each process with every response, and is unpacked there once;
        responses that are paths are read there.
        """
        Cutting(executor=executor)  # which may be none
        if isinstance(responses, str | bytes | os.PathLike) or not isinstance(responses, Iterable):
            raise UsageError(f"responses must be a list, not {responses!r:.60}")
        if executor is None:
            yield from map(self, responses)
            return
        from concurrent.futures import ThreadPoolExecutor

        work = self if isinstance(executor, ThreadPoolExecutor) else _Parcel.of(self)
        workers = getattr(executor, "_max_workers", None) or os.cpu_count() or 1
        waiting: deque[Future[Result]] = deque()
        try:
            remaining = iter(responses)
            ahead = 2 * workers
            while True:
                for response in islice(remaining, ahead):
                    with watch_workers():
                        waiting.append(executor.submit(work, response))
                if not waiting:
                    return
                with watch_workers():
                    result = waiting.popleft().result()
                yield result
                ahead = 1
        finally:
            for future in waiting:
                future.cancel()

    def update(self, key: Input, response: Input, *, document: str | None = None) -> None:
        """Count a document, given as the entities of both sides; or anything that `score` takes.

        Documents are numbered from 0 unless they have an id. What cannot be read is an error at
        once; counting waits for `compute`, which does all of them together.
        """
        if self._request.sampling.as_segments:
            raise UsageError("segments are of a single document: leave them out of the protocol")
        name = str(self._number) if document is None else str(DocumentId.parse(str(document)))
        sides = [read_plain(side, name) for side in (key, response)]
        self._number += 1
        if sides[0] is None or sides[1] is None:
            if document is not None:
                raise UsageError("document= is for plain entities only: others have their own ids")
            self._count()
            self._count_pair(key, response)
            return
        if name in self._waiting:
            self._count()  # a result of its own; `compute` tells the two apart
        self._waiting[name] = (sides[0], sides[1])
        if len(self._waiting) >= _LOT:
            self._count()

    def compute(self) -> Result:
        """The result of all documents since the last `reset`, as if they were scored together."""
        self._count()
        if not self._parts:
            raise UsageError("there is nothing to compute: add documents with update first")
        self._parts = [Result.total(self._parts)]
        result = self._parts[0]
        result = replace(result, document_ids=tuple(distinct_names(result.document_ids)))
        return with_intervals(result, self._request.sampling)

    def reset(self) -> None:
        """Forget all documents."""
        self._number = 0
        self._waiting = {}
        self._parts = []

    def merge(self, *scorers: Scorer) -> None:
        """Add the documents of other scorers, such as those of other processes, to this one's."""
        self._count()
        for scorer in scorers:
            if not isinstance(scorer, Scorer):
                raise UsageError(f"a scorer can only merge with scorers, not with {scorer!r:.60}")
            if scorer._choices != self._choices:
                raise UsageError(f"scorers of other metrics or protocols cannot merge: {scorer!r}")
            scorer._count()
            self._parts += scorer._parts
            self._number += scorer._number

    def __add__(self, scorer: Scorer) -> Scorer:
        """A scorer with the documents of both, and this one's key."""
        if not isinstance(scorer, Scorer):
            return NotImplemented
        joint = Scorer.__new__(Scorer)
        joint.__dict__.update(self.__dict__)
        joint.reset()
        joint.merge(self, scorer)
        return joint

    def __radd__(self, start: object) -> Scorer:
        return self if start == 0 else NotImplemented

    def __repr__(self) -> str:
        metrics = ", ".join(str(getattr(item, "metric", item)) for item in self._request.metrics)
        key = "" if self._key is None else f" against {getattr(self._key, 'name', '') or 'a key'}"
        return f"<Scorer{key}: {metrics}|{self._request.protocol}>"

    def __getstate__(self) -> dict[str, Any]:
        """The attributes to pickle, with documents that wait counted first."""
        self._count()
        return vars(self)

    @property
    def _choices(self) -> tuple[object, ...]:
        """Metrics, features and protocol, which must be equal for counts to add up."""
        return self._request.metrics, self._request.by, self._request.protocol

    def _count_pair(self, key: Input, response: Input) -> None:
        """Count added documents without intervals, which need all of them."""
        request = replace(self._request, sampling=Sampling())
        self._parts.append(score_whole(key, response, request))

    def _count(self) -> None:
        """Count the documents that wait."""
        if not self._waiting:
            return
        key, response = (
            corpus_from_plain(
                {name: pair[side] for name, pair in self._waiting.items()}, name=which
            )
            for side, which in enumerate(("key", "response"))
        )
        self._count_pair(key, response)
        self._waiting = {}  # only now: if counting failed, the next call raises the error again


class _Parcel:
    """A scorer on its way to other processes, packed once and unpacked once in each."""

    _open: tuple[str, Scorer] | None = None

    def __init__(self, name: str, data: bytes) -> None:
        self.name, self.data = name, data

    @staticmethod
    def of(scorer: Scorer) -> _Parcel:
        try:
            data = pickle.dumps(scorer, protocol=pickle.HIGHEST_PROTOCOL)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise UsageError(
                f"this scorer cannot be sent to other processes: {error}; give features as "
                "mappings or as functions of a module, or use an executor of threads"
            ) from None
        return _Parcel(uuid.uuid4().hex, data)

    def __call__(self, response: Input) -> Result:
        unpacked = _Parcel._open
        if unpacked is None or unpacked[0] != self.name:
            unpacked = _Parcel._open = self.name, pickle.loads(self.data)
        return unpacked[1](response)
