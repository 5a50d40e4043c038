"""What a list says of a mention: its words, and remarks about its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from corefeval.formats.answers.lookup import KeyDocument, Unit
from corefeval.model.ledger import Span

QUOTED = re.compile(
    r'"((?:"\*\*(?=\w)[^*"\n]*\w\*\*"|[^"\n])+)"|“([^”“"\n]+)[”"]|„([^“”"„\n]+)[“”"]|«([^«»\n]+)»|»([^«»\n]+)«|「([^「」\n]+)」'
    r"|『([^『』\n]+)』|‹([^‹›\n]+)›|`([^`\n]+)`|(?<![\w*])\*([^*\s][^*\n]*)\*(?![\w*])"
    r"|(?<!\w)['‘‚]((?:[^\n'‘’]|['’](?=\w)){1,200})['’‘](?!\w)|\\text\w*\{([^{}\n]+)\}"
)
HALF_QUOTED = re.compile(r'(?:^|(?<=[\s,;:(\[]))["“„«「]([^"“”„«»「」\n]+)\Z')
REMARK = re.compile(r"\([^()]*\)|（[^（）]*）|\[[^\[\]]*\]|【[^【】]*】")
ARROW = re.compile(r"\s*(?:<?[-=–—]{1,20}>|[→⇒⟶➔➜↦←]|<[-=]{1,20})\s*")
_SEPARATORS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\s*(?:[;；]|<br\s?/?>)\s*",
        ARROW.pattern,
        r"\s+=+\s+",
        r"\s+[/·•+~>]\s+|\s*\|\s*",
    )
)
_DASHES = re.compile(r"\s+[–—]\s+")
_BRACED = re.compile(
    r"\s*(?:\$?\\?[\[{]\$?|\((?=[^()]*,[^()]*\)\Z)|\*(?=[^*]*\s…\s))(?P<items>.*?)"
    r"(?:\$?\\?[\]})]\$?|\*)[\s\\]*(?:#.*)?"
)
_BRACKETS = re.compile(r"\s*(?:\[[^\[\]\"]+\][\s,;]*){2,}")
_AS_QUOTES = str.maketrans("[]", '""')
_BOLD = re.compile(r"\*{1,2}([^*]+)\*{1,2}")
_COMMA = re.compile(r"\s*[,，、]\s*(?:(?:and|und|en|et|y|e|и|和)\s+)?")
_IN = re.compile(
    r"(?i)(?:^|[\s(（])(?:as in|in|from|wie in|aus|dans|en|de|uit|nel|в|以及)\s*[:：]?\s*$"
)
_SENTENCE_WORD = (
    r"(?:sentence|sent|line|s|satz|zeile|z|zin|regel|phrase|ligne|frase|oración|línea|riga"
    r"|предложени[ея]|предл|строка|turn|utterance|clause|cl+|l|f|p|п|§|¶|第|句|文|行)"
)
_SENTENCE = re.compile(
    rf"(?i:(?:(?<!\w){_SENTENCE_WORD}(?:e?[sn])?[\s.:#_-]*|(?=\d{{1,6}}[文行]目))"
    r"(\d{1,6}(?:\s*(?:,|&|and|und|et|en|y|e|и)\s*\d{1,6})*)(?!\w*\d))",
)
_ONLY_SENTENCE = re.compile(rf"(?i)[\s*#_]*{_SENTENCE.pattern}[句文行目.:：)\s*#_]*")
_ONLY_NUMBERS = re.compile(r"\A\W*(\d{1,6}(?:\s*[,;&]\s+\d{1,6})*)(?:[.:,–-]\d{1,6})*\W*\Z")


# Which group there is says the number.
_ORDINAL = re.compile(
    r"\b(?:(first|erste|ersten|premier|première|primer|primera|prima|eerste|第一)"
    r"|(second|zweite|zweiten|deuxième|segundo|segunda|secondo|seconda|tweede|第二)"
    r"|(third|dritte|dritten|troisième|tercero|tercera|terzo|terza|derde|第三))\b"
)
_NTH = re.compile(
    r"(\d{1,4})\s*(?:st|nd|rd|th|\.|e|er|ª|º)\s*(?:occurrence|mention|time|place|one)?"
)
_COUNTS = {
    word: number
    for number, words in enumerate(
        (
            "two zwei deux dos due twee 两 兩 二",
            "three drei trois tres tre drie 三",
            "four vier quatre cuatro quattro 四",
            "five fünf cinq cinco cinque vijf 五",
        ),
        2,
    )
    for word in words.split()
}
_COUNT = rf"(\d{{1,3}}|{'|'.join(_COUNTS)})"
_TIMES = re.compile(
    rf"(?i)[×x]\s?(\d{{1,3}})(?!\d)|{_COUNT}\s?(?:[×x](?!\w)|times|occurrences|mal|keer|fois|veces|volte"
    rf"|раза?|[次回])|\b(?:all|alle|les|tutt[ei])\s{_COUNT}\b|\b(?:twice|both|beide|tweemaal)\b",
)
VERB = re.compile(
    r"(?i)\s*(?:(?:all\s+|both\s+|back\s+)?(?:refers?|referring|points?)(?:\s+back)?\s+to|corefers?\s+with"
    r"|(?:is|are)\s+(?:coreferent\s+with|the\s+same\s+as)|stands?\s+for|verwij(?:st|zen)\s+naar"
    r"|sla(?:at|an)\s+op|bezieh(?:t|en)\s+sich(?:\s+\w+)?\s+auf|verweis(?:t|en)\s+auf|meint"
    r"|renvoie(?:nt)?\s+à|désigne(?:nt)?|se\s+réf(?:ère|èrent)\s+à|se\s+refieren?\s+a|remiten?\s+a"
    r"|aluden?\s+a|si\s+riferi(?:sce|scono)\s+a|rimanda(?:no)?\s+a|относ[ия]тся\s+к"
    r"|указыва[ею]т\s+на|指的是|指代|指向|(?<!共)指)"
    r"\s*[:：]?\s*",
)
LINK = re.compile(rf"{VERB.pattern}|{ARROW.pattern}|\s+=\s+|\s*＝\s*")


class Text(str):
    """A string of an answer: where it stands, whether it has its end, and what it stands in.

    Its `kind` is `string` where quotes or tags say where it ends; else `cell`, `bullet` or `line`,
    which may have several mentions.
    """

    where: int
    complete: bool
    kind: str

    def __new__(
        cls, value: str = "", where: int = 0, complete: bool = True, kind: str = "string"
    ) -> Text:
        """A string with what is known of it."""
        text = super().__new__(cls, value)
        text.where, text.complete, text.kind = where, complete, kind
        return text

    @property
    def is_line(self) -> bool:
        """Whether it is a line, or what stands behind a label in one."""
        return self.kind in ("bullet", "line")


def sentence_named(text: str) -> int | None:
    """The number of a sentence, where a text says nothing else: `S1`, `Satz 2`, `第3句`."""
    match = _ONLY_SENTENCE.fullmatch(text)
    return int(match[1]) if match and match[1].isdigit() else None


_SAID = re.compile(f"(?P<remark>{REMARK.pattern})|{QUOTED.pattern}")


def mask_remarks(text: str, *, quotes: bool = False) -> str:
    """The text with null characters for remarks outside quotes; with `quotes`, for quotes, too."""

    def blank(match: re.Match[str]) -> str:
        return "\0" * len(match[0]) if quotes or match["remark"] else match[0]

    return _SAID.sub(blank, text)


def words_of(match: re.Match[str]) -> str:
    """What the group that matched has in it, as between quotes or brackets."""
    return str(next(filter(None, match.groups()))).replace("*", "").strip()


def apply_remark(unit: Unit, remark: str, key: KeyDocument) -> list[Unit]:
    """The unit with what a remark says of its place; several where it has several, or a number."""
    unit.remark = remark.strip(" ,;:.()（）[]【】–—-")
    plain = QUOTED.sub(" ", remark)
    contexts = [words_of(match) for match in QUOTED.finditer(remark)]
    count = 1
    if times := _TIMES.search(plain):
        number = times[times.lastindex or 0].lower()
        count = int(number) if number.isdigit() else _COUNTS.get(number, 2)
        plain = plain.replace(times[0], " ")
    place = _SENTENCE if _SENTENCE.search(plain) else _ONLY_NUMBERS
    numbers = " ".join(match[1] for match in place.finditer(plain))
    sentences = [int(number) for number in re.findall(r"\d+", numbers)]
    unit.sentence = next(iter(sentences), unit.sentence)
    plain = place.sub(" ", plain)
    if nth := _NTH.search(plain):
        unit.nth = int(nth[1])
    if ordinal := _ORDINAL.search(plain.lower()):
        unit.nth = ordinal.lastindex
    unit.contexts += tuple(filter(key.stands, contexts or [unit.remark]))
    if unit.contexts[1:] and all(unit.text.lower() in text.lower() for text in unit.contexts):
        return [replace(unit, contexts=(text,)) for text in unit.contexts]  # a place in each
    if sentences[1:]:
        return [replace(unit, sentence=number) for number in sentences]
    return [unit, *(replace(unit) for _ in range(1, count))]


def split_items(text: str, where: int, key: KeyDocument) -> list[Unit]:
    """The mentions of an inline list, quoted or not, in braces or not, with their remarks."""
    braced = _BRACED.fullmatch(text)
    if _BRACKETS.fullmatch(text):
        text = text.translate(_AS_QUOTES)
    elif braced:
        where, text = where + braced.start("items"), braced["items"]
    masked = mask_remarks(text)
    outside = mask_remarks(text, quotes=True)
    separator = next((pattern for pattern in _SEPARATORS if pattern.search(outside)), _COMMA)
    pieces = cut_at(separator, outside)
    dashed = cut_at(_DASHES, outside)
    if dashed[1:] and all(key.stands(_cut_remark(text[low:high], key)[0]) for low, high in dashed):
        pieces = dashed
    is_quoted, is_cut_off = QUOTED.search(masked), HALF_QUOTED.search(outside)
    if separator is _COMMA and not (is_quoted or braced):
        pieces = _join_runs(masked, pieces, key)
    items = [(where + low, *_cut_remark(text[low:high], key)) for low, high in pieces]
    is_bare = any(map(str.isalnum, outside)) and all(key.stands(words) for _, words, _ in items)
    if is_cut_off or (is_quoted and not is_bare):
        return list(_quoted_items(text, masked, where, key))
    return [
        unit
        for place, words, remark in items
        if words
        for unit in apply_remark(Unit(words, place), remark, key)
    ]


def _read_snippet(text: str, where: int, key: KeyDocument) -> Unit | None:
    """A bold mention with words around it, which are its context."""
    bold, context = _BOLD.search(text), _cut_remark(text.replace("*", ""), key)[0]
    if bold is None or bold[1] == context or bold[1] not in context or not key.stands(context):
        return None
    return Unit(bold[1], where + bold.start(1), contexts=(context,))


def _quoted_items(text: str, masked: str, where: int, key: KeyDocument) -> Iterator[Unit]:
    """Quoted mentions: what follows each is its remark, and a quote behind `in` is its context."""
    quotes: list[re.Match[str]] = []
    end = 0
    for quote in QUOTED.finditer(masked):
        is_remark = quotes and (
            _IN.search(masked[end : quote.start()])
            or quote[0][0] == "*" != quotes[-1][0][0]
            or f"**{words_of(quotes[-1])}**" in quote[0]
        )
        if not is_remark:
            quotes.append(quote)
        end = quote.end()
    ends = [*(quote.start() for quote in quotes[1:]), len(text)]
    for quote, remark_end in zip(quotes, ends, strict=False):
        place = where + quote.start()
        unit = _read_snippet(quote[0], place, key) or Unit(words_of(quote), place)
        yield from apply_remark(unit, text[quote.end() : remark_end], key)
    if half := HALF_QUOTED.search(masked, end):
        yield Unit(half[1], where + half.start(), state="lost", why="cut off")


def cut_at(separator: re.Pattern[str], text: str) -> list[Span]:
    """Where the pieces of a text between separators begin and end."""
    places = [place for match in separator.finditer(text) for place in match.span()]
    edges = [0, *places, len(text)]
    return list(zip(edges[::2], edges[1::2], strict=True))


def _join_runs(masked: str, pieces: list[Span], key: KeyDocument) -> list[Span]:
    """Pieces between commas, where the longest run of them that stands in the text is one."""
    joined: list[Span] = []
    for index, (low, high) in enumerate(pieces):
        if not joined or joined[-1][1] <= low:
            ends = [end for _, end in reversed(pieces[index + 1 : index + 7])]
            runs = (end for end in ends if key.stands(masked[low:end].rstrip(" \0")))
            joined.append((low, next(runs, high)))
    return joined


_REMARK_SIGN = re.compile(r"\s+[–—#·-]+\s+|\s*[:：]\s+|\s*@\s*(?=\d)|\s+(?=[×x]\s?\d|\d+\s?[×x])")


_BEFORE = re.compile(  # `T1:`, `turn 1: `, `S1  `, `(at last) `
    r"(?:\w{0,9}[\W_]?\d{1,4}(?:\s?[:：]|\s)|[(（][^()（）]*[)）])\s*"
)


def _cut_remark(piece: str, key: KeyDocument) -> tuple[str, str]:
    """The words of an unquoted mention, and the remark behind them, if it has any."""
    piece = piece.strip(' \t*_`"“”„«».。:')
    remark = ""
    if not key.stands(piece):
        mark = _REMARK_SIGN.search(piece)
        if not (mark and key.stands(piece[: mark.start()])):
            mark = REMARK.search(piece, 1)
        if mark:
            piece, remark = piece[: mark.start()].rstrip(' *"“”»'), piece[mark.start() :]
        place = _BEFORE.match(piece)
        if place and not key.stands(piece) and key.stands(piece[place.end() :]):
            piece, remark = piece[place.end() :], f"{place[0]}{remark}"
    return piece, remark
