"""Names, words and codecs that nobody would use in good faith."""

from __future__ import annotations

NAMES = (
    "", " ", "-", "_", ".", "..", "/", "*", "?", "~", "a b", "a,b", "a;b", "a|b", "a=b", "(1)",
    "(1", "1)", "[x]", "[x", "{y}", "=1+1", "+1", "-1", "@x", "#",
    "#begin document (x); part 000", "'q'", '"q"', "`q`", "\\", "\\n", "\t", "a\tb", "a\nb",
    "a\r\nb", "\r", "\x00", "a\x00b", "\x07", "\x0b", "\u061c", "\x1b[2J", "\x1b[31mred",
    "\x1b]0;title\x07", "\x7f", "\x85", "\x9b2J", "\u00a0", "\u200b", "\u202eevil", "\u2066x",
    "\u2028", "\u2029", "\ufeff", "\ufffe", "\u0301", "é", "日本", "𝔸", "\U000e0001", "\ud800",
    "\udcff", "<b>", "</script><script>", "<!--", "&amp;", "$x_1^2$", "%", "%s", "{0}", "{{ x }}",
    "${x}", "\\input{x}", "null", "true", "nan", "inf", "-0", "1e999", "0x10", "\u0661", "9" * 30,
    "9" * 5000, "x" * 5000, "../../x", "newdoc", "e1--1", "x[1/2]", "T1", "MENTION", "error: no",
    "error:", "note:", "auto", "[red]", "[/]",
)  # fmt: skip

# Of text, of bytes, and of neither; of one byte, of several, with states and with marks.
CODECS = (
    "utf-8", "UTF8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "utf-7", "latin-1", "ascii",
    "cp1252", "cp037", "cp500", "koi8-r", "mac-roman", "shift_jis", "euc_jp", "gb18030", "big5",
    "hz", "iso2022_jp", "iso2022_kr", "idna", "punycode", "unicode_escape", "raw_unicode_escape",
    "undefined", "rot13", "hex", "base64", "bz2", "zip", "uu", "quopri", "charmap", "mbcs", "oem",
    "palmos", "johab", "tis-620", "", " ", "utf-9", "x" * 300, "utf\x008", "../utf-8", "é",
    "none", "string_escape", "unicode_internal",
)  # fmt: skip

NUMBERS = (
    "0", "1", "-1", "2", "3", "007", "99", "1000000", "2147483648", "9223372036854775808",
    "1" + "0" * 40, "1.5", "-0.0", "1e5", "1e400", "nan", "inf", "true", "null", "", "x", "１",
)  # fmt: skip

# Pieces of all formats, to be put anywhere.
PIECES = (
    b"(1", b"1)", b"(1)", b"(1)|(1)", b"0)|(0", b"|", b"-", b"_", b"*", b"\n", b"\n\n", b"\r\n",
    b"\r", b"\t", b" ", b"#", b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x0c", b"\x0b",
    b"\xc2\x85", b"(", b")", b"#begin document (x); part 000\n", b"#begin document",
    b"#end document\n", b"\xef\xbb\xbf", b"\x1f\x8b", b"\xff\xfe", b"\xfe\xff",
    b"(12345678901234567890)", b"x" * 100, b"[e1", b"e1]", b"|[e1]", b",", b";", b"T1", b"99",
    b"-1", b"0", b"MENTION\t", b"COREF\tT1\tx\n", b"R1\tCoref ", b"*\tEquiv ",
    b"*\tEquiv T1 T1\n", b"Arg1:T1", b"# newdoc id = x\n", b"# global.Entity = eid\n",
    b"Entity=(e1)", b"Entity=", b"1.1", b"2-3", b"{", b"}", b"[", b"]", b"[[", b"null", b"NaN",
    b"1e999", b"\"", b"\\u0000", b"\\ud800", b"\x1b[2J", "\u202e".encode(), "\u2028".encode(),
)  # fmt: skip

# What may stand where JSON has something else.
VALUES = (
    None, True, False, 0, 1, -1, 3, 2**31, 2**63, 10**30, 0.5, float("nan"), float("inf"), "",
    "1", "x", "\x1b[2J", "\ud800", "a\x00b", [], [[]], [[[]]], {}, {"x": 1}, [0, 0], [1, 0],
    [0, -1], [None], ["x"], [[0, 99999]], [[0, 0], [0, 0]], [[[0, 0]]], [0.0, 1.0],
    [[True, True]],
)  # fmt: skip
