"""The page of a report: whatever is in the data stays data, and nothing else is asked for."""

from __future__ import annotations

import json
import re
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from corefeval.display import visible
from corefeval.reports import Report, report
from corefeval.reports.page import BOARD_SCRIPTS, SCRIPTS, bundle, frame, style
from html_pages import HOSTILE, Page, shape

pytest.importorskip("vl_convert", reason="charts need vl-convert-python")


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6)


@settings(max_examples=25)
@given(st.lists(WORDS, min_size=1, max_size=4, unique=True), WORDS)
def test_whatever_is_in_the_data_stays_data(words, title):
    made = report([words], {"mine": [words]}, metrics="b3", title=title, by=())
    page = Page(made.html)
    assert json.loads(page.text_of("data")) == json.loads(json.dumps(made.payload))
    assert [tag for tag, *_ in page.elements].count("script") == 3


def hostile_report(texts: tuple[str, ...], **options) -> Report:
    """A report with these texts wherever a corpus has text: words, ids, names, values, title."""
    entities = {f"{one} in {n}": [[(one, n), one], [f"{one}!"]] for n, one in enumerate(texts)}
    values = {
        name: {mention: texts[0] for entity in rows for mention in entity}
        for name, rows in entities.items()
    }
    key = corefeval.corpus_from_entities(entities, name=texts[0])
    responses = {"".join(texts): entities, texts[-1]: dict(list(entities.items())[1:])}
    return report(
        key, responses, metrics="b3", title="".join(texts), by=["topic", "size"],
        features={"topic": values}, **options,
    )  # fmt: skip


def test_hostile_text_stays_text_without_a_browser():
    """Checked by parsing, and by what ends a script to a browser, which parsers may not know."""
    made = hostile_report(HOSTILE)
    harmless = hostile_report(tuple(f"w{n}" for n in range(len(HOSTILE))))
    page = Page(made.html)
    assert json.loads(page.text_of("data")) == json.loads(json.dumps(made.payload))
    assert all(text in json.dumps(made.payload, ensure_ascii=False) for text in ("<!--", "&amp;"))
    assert shape(page) == shape(Page(harmless.html))
    before, data, behind = re.split(
        r'<script type="application/json" id="data">(.*?)</script>\n', made.html, flags=re.DOTALL
    )
    assert not re.search("[<>&]", data)  # so that nothing in it ends, opens or escapes anything
    for sides in (before, behind):
        assert "<b" not in re.sub("<body>|<button ", "", sides.split("<script")[0])
    shown = visible("".join(HOSTILE))
    for tag in ("title", "span", "h1", "th"):
        assert any("".join(texts).startswith(shown) for t, _, texts in page.elements if t == tag)


def test_a_hostile_page_is_framed_and_saved_as_it_is(tmp_path):
    made = hostile_report(HOSTILE)
    made.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == made.html
    [(tag, attributes, _)] = Page(frame(made.html)).elements
    assert tag == "iframe" and attributes["srcdoc"] == made.html


def test_scripts_and_styles_do_not_end_their_elements(monkeypatch):
    """Neither ours nor those of the library, whatever strings it may have one day."""
    import vl_convert

    from corefeval.reports.page import charts_library

    ends = re.compile("</script|<!--", re.IGNORECASE)
    assert not ends.search(bundle()) and "</style" not in style().lower()
    assert not ends.search(charts_library())
    strings = "a = '</script>'; b = '</SCRIPT '; c = '<!--';"
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda _: strings)
    library = charts_library.__wrapped__()
    assert not ends.search(library) and "<\\/script>" in library


def test_the_page_needs_no_network():
    made = report(*map(corefeval.example, ("key", "eager")), metrics="b3")
    addresses = set(re.findall(r"(?:src|href)=[\"'](?!#)([^\"']*)", made.html.split("<script")[0]))
    assert not addresses
    metas = [attributes for tag, attributes, _ in Page(made.html).elements if tag == "meta"]
    policy = next(one["content"] for one in metas if "http-equiv" in one)
    assert "default-src 'none'" in policy and "unsafe-eval" not in policy
    assert "@import" not in style() and "url(" not in style()


@pytest.mark.parametrize("scripts", [SCRIPTS, BOARD_SCRIPTS], ids=["report", "leaderboard"])
def test_scripts_have_no_name_twice(scripts):
    # They are put into one scope.
    text = bundle(scripts)
    names = re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", text, re.MULTILINE)
    assert len(names) > 40
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("scripts", [SCRIPTS, BOARD_SCRIPTS], ids=["report", "leaderboard"])
def test_scripts_import_what_they_use(scripts):
    folder = files("corefeval.reports") / "scripts"
    texts = {name: (folder / f"{name}.js").read_text(encoding="utf-8") for name in scripts}
    export = re.compile(r"^export (?:async )?(?:function|const|let) (\w+)", re.MULTILINE)
    exported = {one: name for name, text in texts.items() for one in export.findall(text)}
    for name, text in texts.items():
        imported = {}
        imports = re.compile(r"^import \{ (.*) \} from \"\./(\w+)\.js\";$", re.MULTILINE)
        for names, source in imports.findall(text):
            imported |= dict.fromkeys(names.split(", "), source)
        assert all(exported.get(one) == source for one, source in imported.items()), name
        body = re.sub(r"^import .*$|//.*$", "", text, flags=re.MULTILINE)
        body = re.sub(r"/\*\*.*?\*/", "", body, flags=re.DOTALL)
        for one, source in exported.items():
            if re.search(rf"(?<![\w.\"'-]){one}(?![\w\"'-])\(", body):
                assert source == name or imported.get(one) == source, f"{name} uses {one}"
        unused = [one for one in imported if not re.search(rf"\b{one}\b", body)]
        assert not unused, f"{name} does not use {unused}"


@pytest.mark.parametrize("script", dict.fromkeys((*SCRIPTS, *BOARD_SCRIPTS)))
def test_nothing_is_put_into_the_page_as_html(script):
    text = bundle((script,))
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", text)
