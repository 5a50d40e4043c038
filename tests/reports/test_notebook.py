"""What notebooks show: results as tables, documents with their chains, reports in a frame."""

from __future__ import annotations

from html import escape

import corefeval
from corefeval.reports.notebook import document_html, result_html
from corefeval.reports.page import frame

KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))


def test_notebooks_show_a_result_as_tables():
    result = corefeval.score(KEY, EAGER, metrics="conll", by="kind", ci=0.95)
    shown = result_html(result)
    assert f"{100 * result['conll'].f1:.2f}" in shown and "95 %" in shown
    assert f"{100 * result.by('kind')['pronoun']['muc'].f1:.2f}" in shown
    assert "pronoun" in shown and result.signature in shown
    assert all(escape(str(notice)) in shown for notice in result.notices) and result.notices
    assert "95 %" not in result_html(corefeval.score(KEY, EAGER, metrics="conll"))


def test_notebooks_show_every_type_of_result():
    for thing, words in (
        (corefeval.compare(KEY, [EAGER, CAUTIOUS]), ("eager", "cautious", "<sup>")),
        (corefeval.agree([KEY, EAGER]), ("MASI", "key")),
        (corefeval.analyse(KEY, EAGER), ("conflated", "divided")),
        (corefeval.score(KEY, EAGER, by="size").by("size"), ("2–10",)),
    ):
        shown = thing._repr_html_()
        assert all(word.lower() in shown.lower() for word in words)
        assert shown.count("<table>") == shown.count("</table>") > 0


def test_long_tables_are_cut_short_in_notebooks():
    key = {f"d{n}": [["a", "b"]] for n in range(300)}
    names = {name: {"a": name, "b": name} for name in key}
    result = corefeval.score(key, key, metrics="muc", by="what", features={"what": names})
    assert "101 more rows" in result._repr_html_()


def test_notebooks_show_a_document_with_its_chains():
    shown = document_html(corefeval.read(KEY)[0])
    assert shown.count("<sub") == len(corefeval.read(KEY)[0].mentions)
    assert "Marigold" in shown
    labels = document_html(corefeval.corpus_from_entities([["<b>", "it"]])[0])
    assert "&lt;b&gt;" in labels and "<b>" not in labels


def test_notebooks_escape_what_they_show(conll):
    lines = "<i> 0 0 <script> X (1)\n<i> 0 1 x X (1)\n\n"
    path = conll(f"#begin document (<i>); part 000\n{lines}#end document\n")
    corpus = corefeval.read(path)
    assert "<script>" not in document_html(corpus[0]) and "<i>" not in document_html(corpus[0])
    named = corpus.with_details(name="<script>")
    assert "<script>" not in result_html(corefeval.score(named, named))
    assert "<script" not in frame("<script>1</script>")
    assert 'srcdoc="&lt;script' in frame("<script>1</script>")


def test_long_documents_are_cut_short_in_notebooks():
    words = [str(n) for n in range(400)]
    lists = document_html(corefeval.corpus_from_entities([[word] for word in words])[0])
    assert "200 more entities" in lists
