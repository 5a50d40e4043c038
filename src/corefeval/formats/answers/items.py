"""What a list says of a mention: its words, and remarks about its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from corefeval.formats.answers.lookup import KeyDocument, Unit

QUOTED = re.compile(
    r'"((?:"\*\*(?=\w)[^*"\n]*\w\*\*"|[^"\n])+)"|“([^”“"\n]+)[”"]|„([^“”"„\n]+)[“”"]|«([^«»\n]+)»|»([^«»\n]+)«|「([^「」\n]+)」'
    r"|『([^『』\n]+)』|‹([^‹›\n]+)›|`([^`\n]+)`|(?<![\w*])\*([^*\s][^*\n]*)\*(?![\w*])"
    r"|(?<!\w)['‘‚]((?:[^\n'‘’]|['’](?=\w)){1,200})['’‘](?!\w)|\\text\w*\{([^{}\n]+)\}"
)
HALF_QUOTED = re.compile(r'(?:^|(?<=[\s,;:(\[]))["“„«「]([^"“”„«»「」\n]*)\Z')
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
    r"(?:^|[\s(（])(?:as in|in|from|wie in|aus|dans|en|de|uit|nel|в|以及)\s*[:：]?\s*$", re.I
)
_PLACE = (
    r"(?:sentence|sent|line|s|satz|zeile|z|zin|regel|phrase|ligne|frase|oración|línea|riga"
    r"|предложени[ея]|предл|строка|turn|utterance|clause|cl+|l|f|p|п|§|¶|第|句|文|行)"
)
_SENTENCE = re.compile(
    rf"(?:(?<!\w){_PLACE}(?:e?[sn])?[\s.:#_-]*|(?=\d{{1,6}}[文行]目))"
    r"(\d{1,6}(?:\s*(?:,|&|and|und|et|en|y|e|и)\s*\d{1,6})*)(?!\w*\d)",
    re.IGNORECASE,
)
_PLACED = re.compile(rf"[\s*#_]*{_SENTENCE.pattern}[句文行目.:：)\s*#_]*", re.IGNORECASE)
_BARE = re.compile(r"\W*(\d{1,6}(?:\s*[,;&]\s+\d{1,6})*)(?:[.:,–-]\d{1,6})*\W*")
_ORDINALS = (
    "first erste ersten premier première primer primera prima eerste 第一",
    "second zweite zweiten deuxième segundo segunda secondo seconda tweede 第二",
    "third dritte dritten troisième tercero tercera terzo terza derde 第三",
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
        start=2,
    )
    for word in words.split()
}
_COUNT = rf"(\d{{1,3}}|{'|'.join(_COUNTS)})"
_TIMES = re.compile(
    rf"[×x]\s?(\d{{1,3}})(?!\d)|{_COUNT}\s?(?:[×x](?!\w)|times|occurrences|mal|keer|fois|veces|volte"
    rf"|раза?|[次回])|\b(?:all|alle|les|tutt[ei])\s{_COUNT}\b|\b(?:twice|both|beide|tweemaal)\b",
    re.IGNORECASE,
)
VERB = re.compile(
    r"\s*(?:(?:all\s+|both\s+|back\s+)?(?:refers?|referring|points?)(?:\s+back)?\s+to|corefers?\s+with"
    r"|(?:is|are)\s+(?:coreferent\s+with|the\s+same\s+as)|stands?\s+for|verwij(?:st|zen)\s+naar"
    r"|sla(?:at|an)\s+op|bezieh(?:t|en)\s+sich(?:\s+\w+)?\s+auf|verweis(?:t|en)\s+auf|meint"
    r"|renvoie(?:nt)?\s+à|désigne(?:nt)?|se\s+réf(?:ère|èrent)\s+à|se\s+refieren?\s+a|remiten?\s+a"
    r"|aluden?\s+a|si\s+riferi(?:sce|scono)\s+a|rimanda(?:no)?\s+a|относ[ия]тся\s+к"
    r"|указыва[ею]т\s+на|指的是|指代|指向|(?<!共)指)"
    r"\s*[:：]?\s*",
    re.IGNORECASE,
)
LINK = re.compile(rf"{VERB.pattern}|{ARROW.pattern}|\s+=\s+|\s*＝\s*", re.IGNORECASE)


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


def place_named(text: str) -> int | None:
    """The number of a sentence, where a text says nothing else: `S1`, `Satz 2`, `第3句`."""
    match = _PLACED.fullmatch(text)
    return int(match[1]) if match and match[1].isdigit() else None


_SAID = re.compile(f"(?P<remark>{REMARK.pattern})|{QUOTED.pattern}")


def mask_remarks(text: str, *, quotes: bool = False) -> str:
    """The text with remarks blanked out, unless they are quoted; with `quotes`, those too."""

    def blank(match: re.Match[str]) -> str:
        return "\0" * len(match[0]) if quotes or match["remark"] else match[0]

    return _SAID.sub(blank, text)


def words_of(match: re.Match[str]) -> str:
    """What stands between two quotes."""
    return next(group for group in match.groups() if group is not None).strip()


def heed(unit: Unit, remark: str, key: KeyDocument) -> list[Unit]:
    """The unit with what a remark says of its place; several where it has several, or a number."""
    unit.remark = remark.strip(" ,;:.()（）[]【】–—-")
    plain = QUOTED.sub(" ", remark)
    contexts = [words_of(match) for match in QUOTED.finditer(remark)]
    count = 1
    if times := _TIMES.search(plain):
        number = next(filter(None, times.groups()), "2").lower()
        count = int(number) if number.isdigit() else _COUNTS.get(number, 2)
        plain = plain.replace(times[0], " ")
    places = [*_SENTENCE.finditer(plain)] or [*filter(None, [_BARE.fullmatch(plain)])]
    sentences = [int(number) for match in places for number in re.findall(r"\d+", match[1])]
    unit.sentence = next(iter(sentences), unit.sentence)
    for place in places:
        plain = plain.replace(place[0], " ")
    if nth := _NTH.search(plain):
        unit.nth = int(nth[1])
    for number, names in enumerate(_ORDINALS, start=1):
        if set(re.findall(r"\w+", plain.lower())) & set(names.split()):
            unit.nth = number
    if unit.sentence is unit.nth is None:
        contexts = contexts or [unit.remark]
    unit.contexts += tuple(filter(key.stands, contexts))
    if unit.contexts[1:] and all(unit.text.lower() in text.lower() for text in unit.contexts):
        return [replace(unit, contexts=(text,)) for text in unit.contexts]  # a place in each
    if sentences[1:]:
        return [replace(unit, sentence=number) for number in sentences]
    return [unit, *(replace(unit) for _ in range(min(count, 200) - 1))]


def split_items(text: str, where: int, key: KeyDocument) -> list[Unit]:
    """The mentions of an inline list, quoted or not, in braces or not, with their remarks."""
    if unit := _read_snippet(text, where, key):
        return [unit]
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
    quotes = list(QUOTED.finditer(masked))
    if quotes or HALF_QUOTED.search(masked):
        bare = [_cut_remark(text[low:high], key)[0] for low, high in pieces]
        has_bare = quotes and any(map(str.isalnum, outside))
        if not (has_bare and all(map(key.stands, bare))):
            return list(_quoted_items(text, masked, quotes, where, key))
    elif separator is _COMMA and not braced:
        pieces = _join_runs(text, masked, pieces, key)
    units = list[Unit]()
    for low, high in pieces:
        words, remark = _cut_remark(text[low:high], key)
        if words:
            unit = Unit(words, where=where + low)
            units += heed(unit, remark, key) if remark else [unit]
    return units


def _read_snippet(text: str, where: int, key: KeyDocument) -> Unit | None:
    """A bold mention with words around it, which are its context."""
    bold, context = _BOLD.search(text), _cut_remark(text.replace("*", ""), key)[0]
    if bold is None or bold[1] == context or bold[1] not in context or not key.stands(context):
        return None
    return Unit(bold[1], where=where + bold.start(1), contexts=(context,))


def _quoted_items(
    text: str, masked: str, quotes: list[re.Match[str]], where: int, key: KeyDocument
) -> Iterator[Unit]:
    """Quoted mentions: what follows each is its remark, and a quote behind `in` is its context."""
    index = 0
    while index < len(quotes):
        quote, end = quotes[index], len(text)
        remark_start = quote.end()
        index += 1
        while index < len(quotes) and (
            _IN.search(masked[remark_start : quotes[index].start()])
            or quotes[index][0][0] == "*" != quote[0][0]
        ):
            remark_start = quotes[index].start()
            index += 1
        if index < len(quotes):
            end = quotes[index].start()
        place = where + quote.start()
        unit = _read_snippet(quote[0], place, key) or Unit(words_of(quote).strip("*"), where=place)
        yield from heed(unit, text[quote.end() : end], key)
    if half := HALF_QUOTED.search(masked, quotes[-1].end() if quotes else 0):
        yield Unit(half[1], where=where + half.start(), state="lost", why="cut off")


def cut_at(separator: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    """Where the pieces of a text between separators begin and end."""
    places = [place for match in separator.finditer(text) for place in match.span()]
    edges = [0, *places, len(text)]
    return list(zip(edges[::2], edges[1::2], strict=True))


def _join_runs(
    text: str, masked: str, pieces: list[tuple[int, int]], key: KeyDocument
) -> list[tuple[int, int]]:
    """Pieces between commas, where the longest run of them that stands in the text is one."""
    joined = []
    index = 0
    while index < len(pieces):
        low = pieces[index][0]
        last = min(index + 6, len(pieces) - 1)
        while last > index:
            run = text[low : pieces[last][0]] + masked[slice(*pieces[last])].split("\0")[0]
            if key.stands(run):
                break
            last -= 1
        joined.append((low, pieces[last][1]))
        index = last + 1
    return joined


_DASH = re.compile(r"\s+[–—#·-]+\s+|\s*[:：]\s+|\s*@\s*(?=\d)|\s+(?=[×x]\s?\d|\d+\s?[×x])")


_BEFORE = re.compile(  # `T1:`, `turn 1: `, `S1  `, `(at last) `
    r"(?:\w{0,9}[\W_]?\d{1,4}(?:\s?[:：]|\s)|[(（][^()（）]*[)）])\s*"
)


def _cut_remark(piece: str, key: KeyDocument) -> tuple[str, str]:
    """The words of an unquoted mention, and the remark behind them, if it has any."""
    piece = piece.strip(' \t*_`"').rstrip(".。:")
    remark = ""
    if not key.stands(piece):
        cut, dash = REMARK.search(piece), _DASH.search(piece)
        if dash and key.stands(piece[: dash.start()]):
            piece, remark = piece[: dash.start()], piece[dash.end() :]
        elif cut and cut.start():
            piece, remark = piece[: cut.start()].rstrip(), piece[cut.start() :]
        place = _BEFORE.match(piece)
        if place and not key.stands(piece) and key.stands(piece[place.end() :]):
            piece, remark = piece[place.end() :], f"{place[0]}{remark}"
    return piece.strip(" \t*_`\"“”„«»'‘’").rstrip(".。"), remark
