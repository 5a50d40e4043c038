"""The one alignment of two texts by their characters, and tokens as they are compared.

Tokens are folded: without case, accents, kinds of quotes and marks of tokenisers.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from corefeval.texts.aligning import UNKNOWN, TextAlignment, align_tokens, hash_runs

__all__ = ["TextAlignment", "align_tokens", "continues_word", "fold_token", "hash_runs"]

_BRACKETS = {
    "-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}",
    "[unk]": UNKNOWN, "<unk>": UNKNOWN,
}  # fmt: skip
_SIGNS = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»〝〞″", '"'),
        **dict.fromkeys("‘’‚‛‹›´′`", "'"),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        "▁": None,
    }
)
_DASHES = re.compile("--+")
_UNSEEN = ("M", "Z", "Cc", "Cf")  # marks, blanks, control and format characters


@lru_cache(maxsize=1 << 16)
def fold_token(token: str) -> str:
    """The characters of a token that are compared; none for one of blanks or marks alone.

    >>> [fold_token(token) for token in ("Zoë", "-LRB-", "``", "--", "##er", "Straße", "…")]
    ['zoe', '(', '"', '-', 'er', 'strasse', '...']
    """
    if token.isascii() and token.isalnum():
        return token.lower()
    if (sign := _BRACKETS.get(token.lower())) is not None:
        return sign
    if continues_word(token):
        token = token[2:]
    token = token.replace("\\/", "/").replace("\\*", "*").translate(_SIGNS)
    token = _DASHES.sub("-", token.replace("''", '"'))
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", token).casefold())
    return "".join(c for c in plain if not unicodedata.category(c).startswith(_UNSEEN))


def continues_word(token: str) -> bool:
    """Whether a token is one of BERT's pieces that go on with the word before them: `##er`."""
    return token.startswith("##") and token[2:3] not in ("", "#")
