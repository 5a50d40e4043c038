"""The formats, each declared once: how it is recognised, read and written, what it keeps and loses.

Readers and writers are named here, and imported when a file asks for them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from corefeval.diagnostics import Notice
from corefeval.formats.detection import (
    is_answers,
    is_brat,
    is_conll,
    is_conllu,
    is_conllua,
    is_crac_text,
    is_json,
    is_litbank,
    is_parquet,
    never,
)

if TYPE_CHECKING:
    from corefeval.model import Corpus


EVERYTHING = "*"  # all metadata of documents and sentences


class Written(NamedTuple):
    """What a writer made: the content of files by name, and what the format could not carry.

    A format of one file uses the empty name, which stands for the target itself; a format with
    files for each document names them, and the target is their folder.
    """

    files: dict[str, bytes]
    notices: tuple[Notice, ...] = ()


class Tally(NamedTuple):
    """Something that readers or writers count: the kind of notice, its noun, what became of it."""

    kind: str
    noun: str
    text: str


class Format(NamedTuple):
    """A file format: how it is recognised, read and written, what it keeps and what it loses.

    `looks_like` sees the first bytes of a file. `reader` and `writer` are functions as
    `module:function`: the reader makes a `Corpus` of a `Source` (and `name=`), the writer `Written`
    of a `Corpus`. Where several formats share them, `kind` says which is meant. A format without a
    writer is only read. A file whose name ends in one of `endings` is written in this format where
    none is named; `title` is what errors call it. `companions` are the endings of files that differ
    in nothing else, which the reader opens as well.

    A format that `needs_key` is read against the key's tokens: its reader takes `key=`, a corpus,
    and a path or what else has answers in the place of a `Source`. With `has_columns`, the reader
    can be told which column is the words (`word_column=`).

    Of what a corpus has beside words, mentions and entities, `columns` of tokens, `features` of
    mentions and `metadata` with these names are written; with `has_texts` texts without tokens as
    they are, with `has_layers` discourse deixis and mentions that refer to nothing. `losses` are
    what the writer counts. `cutter` is the function that finds the documents in the bytes of a
    file; without one, files are read as a whole.
    """

    name: str
    summary: str
    reader: str
    writer: str = ""
    looks_like: Callable[[bytes], bool] = never
    kind: str = ""
    title: str = ""
    endings: tuple[str, ...] = ()
    companions: tuple[str, ...] = ()
    needs_key: bool = False
    has_columns: bool = False
    has_layers: bool = False
    has_texts: bool = False
    columns: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()
    losses: tuple[Tally, ...] = ()
    cutter: str = ""

    def read(self, source: Any, **options: Any) -> Corpus:
        """The corpus in a source; `options` are what the reader takes, such as `name=`."""
        corpus: Corpus = _load(self.reader)(source, **self._which, **options)
        return corpus

    def write(self, corpus: Corpus) -> Written:
        """The files of a corpus, and notices of what they do not keep of it."""
        from corefeval.formats.losses import adapt_corpus

        fitting, notices = adapt_corpus(corpus, self)
        files, losses = _load(self.writer)(fitting, **self._which)
        return Written(files, (*notices, *losses))

    def find_documents(self, *arguments: Any) -> Any:
        """The `Ranges` that the cutter finds in a file; None where the format has no cutter."""
        return _load(self.cutter)(*arguments) if self.cutter else None

    @property
    def _which(self) -> dict[str, str]:
        return {"kind": self.kind} if self.kind else {}


def _load(path: str) -> Callable[..., Any]:
    """The function behind `module:function`, of this package."""
    module, _, function = path.partition(":")
    loaded: Callable[..., Any] = getattr(
        importlib.import_module(f"corefeval.formats.{module}"), function
    )
    return loaded


# What several formats lose alike.
_CROSSING = Tally(
    "crossing-mentions",
    "mention",
    "left out: crossing another one of the same entity, which brackets cannot express",
)
_GAPS = Tally("discontinuous-mentions", "mention", "with gaps, written as one span")
_MENTION_IDS = Tally("mention-ids", "mention", "with an id, numbered again")
_FILE_NAMES = Tally("document-names", "document", "whose id cannot be used as a file name as it is")
_CHANGED_WORDS = Tally("changed-words", "word", "with blanks or without text, written with _")
_UNNAMED = Tally("entity-names", "entity", "numbered, because brackets cannot hold names")
_RENAMED = Tally("document-names", "document", "whose name CoNLL-U cannot express as it is")
_ANCHORS = Tally("chosen-anchors", "antecedent", "written as the mention before the anaphor")
_SENTENCES = Tally("sentence-boundaries", "sentence boundary", "left out")
_ZEROS = (
    Tally("zero-words", "zero", "whose word is written with ## before it"),
    Tally("false-zeros", "word", "that will read as a zero"),
)
_JSON_LOSSES = (
    Tally("no-words", "document", "without words: _ for each token"),
    Tally("repeated-mentions", "repeated mention", "in another order"),
    _GAPS,
    Tally("entity-names", "entity name", "left out"),
)


def _declare_json(name: str, summary: str, *losses: Tally, **details: Any) -> Format:
    """A kind of the JSON family, which has one reader and one writer."""
    return Format(
        name,
        summary,
        "json.reader:read_json",
        "json.writer:write_json",
        kind=name,
        title="JSON",
        losses=(*_JSON_LOSSES, *losses),
        cutter="ranges:find_json_lines",
        **details,
    )


_CONLLU_COLUMNS = (
    "lemma", "upos", "tag", "features", "head", "relation", "deps", "misc", "empty",
)  # fmt: skip
_TYPES = ("mention_id", "entity_type", "mention_type")

# The order is the order in which formats are tried: those that are recognised for sure come first.
# `json` reads any kind of JSON by its keys; the kinds have names to be insisted on, and written.
_DECLARED = (
    Format(
        "parquet",
        "Parquet whose rows are records of any of the kinds of JSON below",
        "parquet:read_parquet",
        looks_like=is_parquet,
    ),
    Format(
        "conllua",
        "Universal Anaphora's CoNLL-U Plus: columns IDENTITY, BRIDGING, DISCOURSE_DEIXIS",
        "conllua.reader:read_conllua",
        "conllua.writer:write_conllua",
        is_conllua,
        title="Universal Anaphora's CoNLL-U",
        endings=(".conllua",),
        has_layers=True,
        columns=_CONLLU_COLUMNS,
        metadata=(EVERYTHING,),
        losses=(
            Tally(
                "crossing-mentions",
                "mention",
                "that cross others, written in parts of one markable",
            ),
            _CHANGED_WORDS,
            _UNNAMED,
            _RENAMED,
            _ANCHORS,
            Tally("minimum-ranges", "minimum span", "with gaps written as a range"),
            Tally("changed-values", "value", "with blanks or brackets, written with _"),
            _MENTION_IDS,
        ),
        cutter="ranges:find_conllua",
    ),
    Format(
        "corefud",
        "CorefUD CoNLL-U: ten columns, coreference in MISC as Entity=…",
        "conllu.reader:read_conllu",
        "conllu.writer:write_conllu",
        is_conllu,
        title="CoNLL-U",
        endings=(".conllu",),
        columns=_CONLLU_COLUMNS,
        metadata=(EVERYTHING,),
        losses=(
            _CROSSING,
            Tally("blank-tokens", "token", "with blanks at the edges or alone, written with ‘_’"),
            Tally(
                "cross-sentence-mentions",
                "mention",
                "left out: across sentences, which CorefUD cannot express",
            ),
            Tally(
                "entity-names",
                "entity",
                "numbered anew: ids are unique in the file, without blanks, brackets or hyphens",
            ),
            Tally(
                "antecedent-mentions",
                "antecedent",
                "of bridging written as an entity, not as the mention that it is",
            ),
            Tally(
                "moved-anaphors",
                "anaphor",
                "of bridging written for another mention of the entity: one that opens last on a "
                "token",
            ),
            _RENAMED,
        ),
        cutter="ranges:find_conllu",
    ),
    _declare_json(
        "json",
        "JSON or JSON lines of any of the kinds below, recognised by its keys",
        looks_like=is_json,
        columns=("speaker",),
    ),
    _declare_json(
        "e2e",
        "JSON lines with doc_key, sentences, clusters (inclusive token offsets)",
        endings=(".json", ".jsonl", ".jsonlines"),
        columns=("speaker",),
    ),
    _declare_json(
        "bookcoref",
        "BookCoref's JSON: doc_id, sentences, clusters, characters",
        metadata=("gutenberg_key", "characters"),
    ),
    _declare_json(
        "preco",
        "PreCo's JSON: id, sentences, mention_clusters as sentence, begin, end (exclusive)",
        Tally(
            "cross-sentence-mentions",
            "mention",
            "left out: across sentences, which PreCo cannot hold",
        ),
    ),
    _declare_json(
        "crac-json",
        "CRAC's JSON: doc_id, tokens, clusters_token_offsets (inclusive), ## for zeros",
        _SENTENCES,
        *_ZEROS,
        columns=("empty",),
    ),
    _declare_json(
        "maverick",
        "Maverick's dictionaries: tokens, clusters_token_offsets (inclusive)",
        _SENTENCES,
    ),
    _declare_json(
        "fastcoref",
        "fastcoref's JSON: text, clusters as character spans (half-open)",
        Tally("changed-words", "word", "without text, written as _"),
        has_texts=True,
    ),
    Format(
        "litbank",
        "LitBank's TSV: MENTION and COREF lines, with the text beside it",
        "litbank:read_litbank",
        "litbank:write_litbank",
        is_litbank,
        title="LitBank",
        companions=(".txt",),
        features=_TYPES,
        losses=(
            _GAPS,
            _CHANGED_WORDS,
            Tally("entity-names", "entity", "numbered, because names have tabs or the like"),
            _FILE_NAMES,
            _MENTION_IDS,
        ),
    ),
    Format(
        "brat",
        "brat standoff: T, R Coreference and * Equiv lines, with the text beside it",
        "brat:read_brat",
        "brat:write_brat",
        is_brat,
        title="brat",
        endings=(".ann",),
        companions=(".txt",),
        has_texts=True,
        features=_TYPES,
        losses=(
            _CHANGED_WORDS,
            Tally("entity-names", "entity", "named after their first mention"),
            Tally("changed-types", "mention", "of a type with blanks, written with _"),
            Tally("mention-kinds", "mention", "whose mention_type its type does not show"),
            _ANCHORS,
            Tally("trimmed-mentions", "mention", "written without line ends at the edges"),
            _FILE_NAMES,
            _MENTION_IDS,
        ),
    ),
    Format(
        "crac-text",
        "CRAC's plain text: words followed by |[e1, |e1] or |[e1]",
        "crac_text:read_crac_text",
        "crac_text:write_crac_text",
        is_crac_text,
        title="CRAC plain text",
        columns=("empty",),
        losses=(
            Tally(
                "crossing-mentions",
                "mention",
                "left out: crossing another one of the same entity, which marks cannot express",
            ),
            _GAPS,
            _SENTENCES,
            _CHANGED_WORDS,
            *_ZEROS,
            Tally("document-names", "document", "whose name cannot be expressed"),
            Tally("entity-names", "entity", "numbered, because marks cannot hold names"),
        ),
    ),
    Format(
        "conll",
        "CoNLL-2011/2012: a token per line, coreference as brackets in the last column",
        "conll.reader:read_conll",
        "conll.writer:write_conll",
        is_conll,
        title="CoNLL",
        endings=(".conll", "_conll"),
        has_columns=True,
        columns=("tag", "parse", "lemma", "frameset", "sense", "speaker", "named_entity"),
        losses=(
            _CROSSING,
            Tally(
                "overlapping-mentions",
                "token",
                "on which a mention ends and another one of its entity begins: the official scorer "
                "v8.01 reads these as other mentions",
            ),
            _GAPS,
            Tally("blank-words", "word", "with blanks, written as ‘_’"),
            Tally(
                "changed-values",
                "value",
                "of token columns with blanks or the like, written as ‘_’",
            ),
            Tally("document-names", "document", "whose name CoNLL cannot express as it is"),
            Tally(
                "entity-names",
                "entity",
                "numbered, because the official scorer reads only numbers",
            ),
        ),
        cutter="ranges:find_conll",
    ),
)

FORMATS = {format.name: format for format in _DECLARED}

# How language models write coreference; `llm` finds out which of them it is.
_ANSWERS = {
    "llm": "answers of language models in any of the styles below, read against a key",
    "llm-crac": "CRAC's marks after words, repaired: `Ada|[e1] met`",
    "llm-bracket": "brackets that open with the entity: `[e1 Ada]`, `[1 Ada]`",
    "llm-markdown": "links: `[Ada](#cluster_1)`",
    "llm-xml": 'XML-like tags: `<m id="1">Ada</m>`, `<e1>Ada</e1>`, MUC\'s COREF',
    "llm-subscript": "subscripts: `[Ada]_1`",
    "llm-hash": "hashes: `[Ada]#1`",
    "llm-colon": "numbers after colons: `[Ada: 1]`",
    "llm-seq2seq": "Seq2seqCoref's: `<m> Ada | 1 </m>`",
    "llm-mask": "CorefInst's: `<m>Ada</m>#1`",
    "llm-curly": "braces: `{{Ada|1}}`",
    "llm-tanl": "TANL's, linked by words: `[ she | Ada ]`",
    "llm-link-append": "link-append's links with the words after mentions",
    "llm-qa": "questions and answers: `*It* refers to [the park]`",
    "llm-json": "JSON of clusters, of strings or objects, broken or not",
    "llm-lines": 'a line for each entity: `Entity 1: "Ada"; "she"`',
}
ANSWERS = {
    name: Format(
        name,
        summary,
        "answers.reading:read_answers",
        looks_like=is_answers if name == "llm" else never,
        needs_key=True,
    )
    for name, summary in _ANSWERS.items()
}
