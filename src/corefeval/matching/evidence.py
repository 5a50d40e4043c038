"""What matchers need besides the tokens of mentions: heads, and stated or parsed minimum spans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from corefeval.diagnostics import Notice
from corefeval.features import Features
from corefeval.features.annotations import HEAD_RULES, find_matched_heads
from corefeval.features.brackets import LONGEST, minimum_spans
from corefeval.features.declarations import MissingFeatureError
from corefeval.matching.candidates import Mentions, TokenSets, bounds, contain, sizes
from corefeval.matching.matchers import common_rows
from corefeval.model import Corpus
from corefeval.model.arrays import IntArray, all_true, all_zero, integers, plain_rows, unset
from corefeval.model.moving import MINIMUM, parse_minimum
from corefeval.protocol import MATCHERS

_POSITIONS = "needs token positions, and plain Python mentions have none"
# Columns from which heads and minimum spans are found, by the name of what is in them.
_COLUMNS = {"dependencies": ("head",), "parse trees": ("parse",), "tags": ("tag", "upos")}
_FIX = "use match exact, or score files or spans of tokens"


@dataclass(frozen=True, eq=False)
class Evidence:
    """Both sides with what a matcher needs, and fields of the signature and notices about it.

    `columns` names the annotations in token columns that were used, such as parse trees.
    """

    key: Mentions
    response: Mentions
    fields: dict[str, str] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)
    columns: Sequence[str] = ()


def gather(
    key: Mentions,
    response: Mentions,
    match: str,
    tagset: object = None,
    *,
    own_tokens: bool = True,
) -> Evidence:
    """Both sides with what the matcher `match` needs.

    Heads are what each side states of its mentions, else what the other side states of the same
    tokens, else what the token columns tell, the key's first. A key that was a text has no
    `own_tokens`: it was put on those of the response. Raises `MissingFeatureError` where there is
    nothing that the matcher could go by.
    """
    corpora = key.corpus, response.corpus
    if any(corpus.labels is not None for corpus in corpora):
        raise MissingFeatureError(f"match {match}", _POSITIONS, fix=_FIX)
    analyses = [Features(corpus, texts=corpora, tagset=tagset) for corpus in corpora]
    needs = MATCHERS[match].needs
    if needs == "heads":
        evidence = _add_heads(key, response, analyses, f"match {match}")
    elif needs == "cores":
        evidence = _add_cores(key, response, analyses)
    elif needs == "minima":
        evidence = _add_minima(key, response, analyses)
    else:
        return Evidence(key, response)
    evidence.notices.extend(_list_borrowed(analyses[0], evidence.columns, own_tokens=own_tokens))
    return replace(evidence, key=_on_axis(evidence.key), response=_on_axis(evidence.response))


def _on_axis(side: Mentions) -> Mentions:
    """A side with heads and cores where mentions are compared, not in the text of their file."""
    own_text, document = side.corpus.own_text, side.corpus.mention_document
    if own_text is None:
        return side
    heads = None if side.heads is None else side.corpus.find_axis_heads(side.heads)
    cores = side.cores
    if cores is not None:
        owner = np.repeat(np.arange(document.size), cores.counts)
        n_pieces, places = own_text.list_pieces(document[owner], cores.tokens)
        counts = np.bincount(np.repeat(owner, n_pieces), minlength=document.size)
        cores = TokenSets(counts, places)
    return side._replace(heads=heads, cores=cores)


def _add_cores(key: Mentions, response: Mentions, analyses: Sequence[Features]) -> Evidence:
    """The sides with cores of key mentions: stated minimum spans, or heads where there are none."""
    minima, notices = stated_minima(key.corpus.on_own_text)
    evidence = _add_heads(key, response, analyses[:1], "match partial", minima)
    stated = {"minimum": "stated"} if minima.counts.any() else {}
    return replace(
        evidence,
        key=evidence.key._replace(cores=_or_heads(minima, evidence.key.heads)),
        fields=evidence.fields | stated,
        notices=[*evidence.notices, *notices],
    )


def _add_minima(key: Mentions, response: Mentions, analyses: Sequence[Features]) -> Evidence:
    """The sides with minimum spans: those that the key states, and others from its parse trees.

    Trees are only searched for mentions whose tokens are no mention of the other side.
    """
    cores, notices = stated_minima(key.corpus.on_own_text)
    alone = [all_true(side.codes.size) for side in (key, response)]
    for is_alone, rows in zip(alone, common_rows(key.codes, response.codes), strict=True):
        is_alone[rows] = False
    alone[0] &= cores.counts == 0
    searched_rows = [np.flatnonzero(is_alone) for is_alone in alone]
    own_texts = key.corpus.own_text, response.corpus.own_text
    minima = minimum_spans(analyses, searched_rows, own_texts)
    bare = cores.counts == 0
    lacking = int((bare & (sizes(key.corpus.on_own_text, np.arange(bare.size)) > 1)).sum())
    is_used = {"stated": not bare.all(), "parse": minima is not None and bare.any()}
    rules = "+".join(rule for rule, used in is_used.items() if used)
    if lacking and not rules:
        raise (
            analyses[0]
            .columns("match min")
            .missing(
                "match min",
                "minimum spans that the key states, or parse trees",
                ("parse",),
                "use a key with parse trees or minimum spans (minspan)",
            )
        )
    if minima is None:
        minima = [unset(side.codes.size) for side in (key, response)]
        text = f"{key.corpus.name or 'key'}: {{n}} without a stated minimum span, and there are no "
        text += "parse trees: matched only where the tokens are the same"
        notices += [Notice("minimum-unknown", text, lacking, noun="mention")] if lacking else []
    else:
        notices += _list_long((key, response), minima, searched_rows)
    sides = key._replace(cores=cores, minima=minima[0]), response._replace(minima=minima[1])
    columns = ["parse trees"] if any(rows.size for rows in searched_rows) else []
    return Evidence(*sides, {"minimum": rules} if rules else {}, notices, columns)


def _list_long(
    sides: Sequence[Mentions], minima: Sequence[IntArray], searched_rows: Sequence[IntArray]
) -> Iterator[Notice]:
    """How many mentions of each side are too long to look for their minimum spans."""
    for side, codes, rows in zip(sides, minima, searched_rows, strict=True):
        count = int((codes[rows] < 0).sum())
        text = f"{side.corpus.name or 'corpus'}: {{n}} of more than {LONGEST:,} tokens, matched "
        text += "only where the tokens are the same"
        if count:
            yield Notice("minimum-long", text, count, noun="mention")


def _add_heads(
    key: Mentions,
    response: Mentions,
    analyses: Sequence[Features],
    feature: str,
    minima: TokenSets | None = None,
) -> Evidence:
    """The heads of one or both sides; mentions that have a minimum span need none."""
    sides, notices, used = [key, response], [], all_zero(len(HEAD_RULES))
    unknown = []
    for number, analysis in enumerate(analyses):
        heads, rule = find_matched_heads(analysis, feature)
        several = sizes(analysis.corpus, np.arange(heads.size)) > 1
        if minima is not None:
            several &= minima.counts == 0
        counts = np.bincount(rule[several & (rule >= 0)], minlength=len(HEAD_RULES))
        unknown.append(int((several & (heads < 0)).sum()))
        used += counts
        sides[number] = sides[number]._replace(heads=heads)
        notices += _describe_heads(sides[number].corpus, counts, unknown[-1])
    if sum(unknown) and not used.any() and (minima is None or not minima.counts.any()):
        guilty = next(a for a, n in zip(analyses, unknown, strict=True) if n)
        raise guilty.columns(feature).missing(
            feature, "heads, or tags to find them", ("tag",), "add tags, or state heads"
        )
    rules = "+".join(rule for rule, n in plain_rows(HEAD_RULES, used) if n)
    columns = [name for name, n in plain_rows(_COLUMNS, used[1:]) if n]
    fields = {"heads": rules} if rules else {}
    tags = next((a.tagset_name for a in analyses if a.tagset_name), None)
    fields |= {"tagset": tags} if tags else {}
    return Evidence(sides[0], sides[1], fields, notices, columns)


def _list_borrowed(analysis: Features, used: Sequence[str], *, own_tokens: bool) -> list[Notice]:
    """A notice on annotations that only the response's file has, and that may be predictions."""
    columns = analysis.columns("match")
    key, response = columns.corpora
    places = {name: columns.find(_COLUMNS[name]) for name in used}
    lacking = [
        name
        for name, at in places.items()
        if at and (columns.texts[at[0]][1] is not key.tokens or not own_tokens)
    ]
    if not lacking:
        return []
    text = f"{key.name or 'key'}: no {', no '.join(lacking)}: those of "
    return [Notice("borrowed", f"{text}{response.name or 'response'} are used", len(lacking))]


def _describe_heads(corpus: Corpus, counts: IntArray, unknown: int) -> list[Notice]:
    """A notice on where the heads of a side come from; its count is that of heads not stated."""
    names = {"file": "as stated", "dependencies": "by dependencies", "parse": "by parse trees"}
    parts = [(names.get(rule, "by tags"), n) for rule, n in plain_rows(HEAD_RULES, counts)]
    parts.append(("unknown, matched only where the tokens are the same", unknown))
    text = f"{corpus.name or 'corpus'}: heads of mentions of several tokens: {{parts}}"
    return [Notice("heads", text, int(counts[1:].sum()) + unknown, parts=tuple(parts))]


def _or_heads(minima: TokenSets, heads: IntArray | None) -> TokenSets:
    """The minimum of each mention, and the head of those that have none."""
    if heads is None:
        return minima
    use = (minima.counts == 0) & (heads >= 0)
    counts = np.where(use, 1, minima.counts)
    tokens = unset(int(counts.sum()))
    is_head = np.repeat(use, counts)
    tokens[is_head] = heads[use]
    tokens[~is_head] = minima.tokens
    return TokenSets(counts, tokens)


def stated_minima(corpus: Corpus) -> tuple[TokenSets, list[Notice]]:
    """The minimum span that a corpus states of each mention, by its property `minspan`.

    What is no number of a token of its mention is left out, with a notice.
    """
    nothing = all_zero(corpus.n_mentions)
    if MINIMUM not in corpus.features:
        return TokenSets(nothing, nothing[:0]), []
    texts = corpus.features[MINIMUM].tolist()
    parsed = {text: parse_minimum(text) for text in set(texts)}
    counts = integers([len(parsed[text]) for text in texts])
    number = integers([n for text in texts for n in parsed[text]])
    owner = np.repeat(np.arange(counts.size), counts)
    tokens, is_inside = _numbered_tokens(corpus, owner, number)
    lost = int((~is_inside).sum())
    notices = []
    if lost:
        text = f"{corpus.name or 'corpus'}: {{n}} of minimum spans outside their mentions"
        notices.append(Notice("minimum-outside", text, lost, noun="token"))
    counts = np.bincount(owner[is_inside], minlength=corpus.n_mentions)
    return TokenSets(counts, tokens[is_inside]), notices


def _numbered_tokens(
    corpus: Corpus, owner: IntArray, number: IntArray
) -> tuple[IntArray, np.ndarray]:
    """The position of the n-th token of each mention, and whether it has n tokens at all."""
    start, _ = bounds(corpus, owner)
    tokens = start + number - 1
    for row, gaps in corpus.gaps_of.items():  # rare
        for begin, end in gaps:
            low, high = np.searchsorted(owner, (row, row + 1))
            tokens[low:high] += np.where(tokens[low:high] >= begin, end - begin, 0)
    return tokens, (number > 0) & contain(corpus, owner, tokens)
