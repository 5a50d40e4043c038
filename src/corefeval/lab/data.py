"""The papers' data, made anew: keys, responses and kinds of mentions."""

from __future__ import annotations

from functools import partial

import numpy as np

from corefeval.lab.additions import add_extra_mentions, link_missing_pairwise
from corefeval.lab.declarations import compose
from corefeval.lab.editing import fresh_mentions, joined
from corefeval.lab.groupings import merge_entities, split_entities
from corefeval.lab.resolution import resolve_links
from corefeval.model import Corpus, corpus_from_arrays, corpus_from_entities

# Moosavi and Strube 2016, Section 7: the sizes of the entities of the key.
MOOSAVI_STRUBE_SIZES = (20, 10, 10, 5, 5, 5, 4, *(2,) * 10)


def moosavi_strube_key(singletons: int = 0) -> Corpus:
    """The key of Moosavi and Strube's analysis, and as many singletons besides as are wanted.

    >>> moosavi_strube_key()
    <Corpus 'key': 1 document, 17 entities, 79 mentions>
    """
    sizes = (*MOOSAVI_STRUBE_SIZES, *(1,) * singletons)
    entity = np.repeat(np.arange(len(sizes)), sizes)
    # Entities are interleaved, as in a text.
    order = np.random.default_rng(2016).permutation(entity.size)
    return corpus_from_arrays(entity=entity[order], start=np.arange(entity.size), name="key")


def noisy_response(key: Corpus, seed: int = 0) -> Corpus:
    """A response with errors of every sort: missing links, wrong links, missing and extra mentions.

    About as good as a resolver on newspaper text.
    """
    make = compose(
        partial(resolve_links, share=0.6, seed=seed),
        partial(split_entities, share=0.2, seed=seed),
        partial(merge_entities, share=0.3, seed=seed),
        partial(link_missing_pairwise, share=0.4, seed=seed),
        partial(add_extra_mentions, where="document", number=1, size=0, seed=seed),
    )
    return make(key, key.with_details(name="response"))


def tagger_response(key: Corpus, seed: int = 0) -> Corpus:
    """A response to mentions of a tagger that finds too many: more than half are twinless.

    Most of the twinless ones are singletons, some are linked to each other, some are in entities
    with key mentions.
    """
    make = compose(
        partial(resolve_links, share=0.6, seed=seed),
        partial(link_missing_pairwise, share=0.3, seed=seed),
    )
    response = make(key, key.with_details(name="response"))
    document = np.repeat(response.mention_document, 2)
    extra = fresh_mentions(key, response, document, seed)
    number = np.arange(extra.n_mentions)
    # Singletons, pairs, and members of the entity of a mention of the same document.
    entity = response.n_entities + number
    pairs = np.flatnonzero(
        (number % 10 == 3) & (extra.mention_document == extra.mention_document[number - 1])
    )
    entity[pairs] = entity[pairs - 1]
    members = np.flatnonzero(number % 10 == 7)
    entity[members] = response.mention_entity[members // 2]
    return joined(response, response.mention_entity, extra, number, entity)


# Chen and Ng 2013, Figures 1 and 2. All pronouns for the city are in every response.
_YOU = "ghijklm"
CHEN_NG_KEY = ("abc", f"def{_YOU}", "no", "p", "q", "r", "s", "t")
CHEN_NG_RESPONSES = {
    "a": ("bc", _YOU, *"adefnopqrst"),
    "b": ("bc", f"f{_YOU}", *"adenopqrst"),
    "c": ("bc", f"e{_YOU}", *"adfnopqrst"),
    "d": ("bc", f"d{_YOU}", *"aefnopqrst"),
    "e": (f"abc{_YOU}", "def", "no", *"pqrst"),
}
CHEN_NG_KINDS = {
    **dict.fromkeys("ad", "name"),
    **dict.fromkeys("enpqrst", "nominal"),
    **dict.fromkeys(f"bcfo{_YOU}", "pronoun"),
}
# The weights of a link with a name, with a nominal, between pronouns, and of a singleton.
CHEN_NG_WEIGHTS = {
    "W1": (1.0, 1.0, 1.0, 1e-20),
    "W2": (1.0, 1.0, 1.0, 0.5),
    "W3": (1.0, 1.0, 1.0, 1.0),
    "W4": (1.0, 0.75, 0.5, 1.0),
    "W5": (1.0, 0.5, 0.25, 1.0),
}


def chen_ng_corpora() -> tuple[Corpus, dict[str, Corpus]]:
    """The key and the five responses of Chen and Ng's example."""
    responses = {
        name: corpus_from_entities(map(list, entities), name=f"response ({name})")
        for name, entities in CHEN_NG_RESPONSES.items()
    }
    return corpus_from_entities(map(list, CHEN_NG_KEY), name="key"), responses
