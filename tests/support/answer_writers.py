"""Writers of every form in which answers are read: those of prompts, and the ones people have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from corefeval.formats.answers.lookup import fold_text
from corefeval.formats.answers.prompts import STYLES, Passage, Triple, clusters_of

Writer = Callable[[Passage], str]
CROSSING = ("crac", "json", "lines", "qa")  # these can write mentions that cross


def tags_writer(opening: str, closing: str) -> Writer:
    """A writer of tags around words; `{e}` is the entity."""

    def write(passage: Passage) -> str:
        words = list(passage.words)
        for start, end, entity in sorted(passage.mentions, key=lambda m: (m[1] - m[0], -m[0])):
            words[start] = opening.replace("{e}", entity) + words[start]
            words[end - 1] += closing.replace("{e}", entity)
        return Passage(words, passage.starts).text

    return write


def write_tanl(passage: Passage) -> str:
    """Each mention but the first names an earlier one, the newest whose words are of its entity."""
    newest: dict[str, str] = {}
    earlier = defaultdict[str, list[str]](list)
    tags: list[Triple] = []
    for mention in sorted(passage.mentions, key=lambda m: (m[0], -m[1])):
        start, end, entity = mention
        spellings = earlier[entity]
        clear = next((words for words in reversed(spellings) if newest[words] == entity), None)
        link = clear or (spellings[0] if spellings else None)
        tags.append((start, end, f" | {link}" if link else ""))
        words = fold_text(words_of(passage, mention))
        newest[words] = entity
        spellings.append(words)
    return tags_writer("[ ", "{e} ]")(Passage(passage.words, passage.starts, tags))


def write_lines(passage: Passage) -> str:
    return "\n".join(
        f"- Entity {number}: " + "; ".join(quote(passage, mention) for mention in cluster)
        for number, cluster in enumerate(clusters_of(passage).values(), start=1)
    )


def quote(passage: Passage, mention: Triple) -> str:
    """A mention in quotes, with its sentence; quotes in it become `″`, which is read alike."""
    words = words_of(passage, mention).replace('"', "″")
    return f'"{words}" (sentence {sum(start <= mention[0] for start in passage.starts)})'


def write_questions(passage: Passage) -> str:
    return "\n".join(
        f"{quote(passage, mention)} refers to {quote(passage, cluster[0])}"
        for cluster in clusters_of(passage).values()
        for mention in cluster[1:]
    )


def words_of(passage: Passage, mention: Triple) -> str:
    return " ".join(passage.words[mention[0] : mention[1]])


WRITERS: dict[str, Writer] = {
    **{name: style.write for name, style in STYLES.items()},
    "bracket": tags_writer("[e{e} ", "]"),
    "subscript": tags_writer("[", "]_{e}"),
    "hash": tags_writer("[", "]#{e}"),
    "colon": tags_writer("[", ": {e}]"),
    "seq2seq": tags_writer("<m> ", " | {e} </m>"),
    "mask": tags_writer("<m>", "</m>#{e}"),
    "curly": tags_writer("{{", "|{e}}}"),
    "tanl": write_tanl,
    "lines": write_lines,
    "qa": write_questions,
}
