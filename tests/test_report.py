"""The report: what its data say, what is in the page and what is not, and what notebooks show."""

from __future__ import annotations

import json
import re
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from corefeval.analysis.errors import KINDS, analyse
from corefeval.diagnostics import InputError, UsageError
from corefeval.display import visible
from corefeval.reports import Report, report
from corefeval.reports.notebook import document_html, frame, result_html
from corefeval.reports.page import BOARD_SCRIPTS, SCRIPTS, bundle, style

pytest.importorskip("vl_convert", reason="charts need vl-convert-python")

KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))


@pytest.fixture(scope="module")
def made() -> Report:
    return report(KEY, {"cautious": CAUTIOUS, "eager": EAGER}, title="The example")


class Page(HTMLParser):
    """The elements of a page: [tag, attributes, text]."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), []))

    def handle_data(self, data):
        if self.elements:
            self.elements[-1][2].append(data)

    def text_of(self, identifier: str) -> str:
        return next("".join(t) for _, a, t in self.elements if a.get("id") == identifier)


def data_of(made: Report) -> dict:
    return json.loads(Page(made.html).text_of("data"))


def test_the_page_has_the_data_as_they_are(made):
    assert data_of(made) == json.loads(json.dumps(made.payload))


def test_scores_are_those_of_score(made):
    for place, path in enumerate((CAUTIOUS, EAGER)):
        result = corefeval.score(KEY, path, ci=0.95)
        for metric in result.metrics:
            shown = made.payload["scores"][metric][place]
            assert shown["f1"] == pytest.approx(result[metric].f1, abs=1e-6)
            low, high = result[metric].intervals["f1"]
            assert shown["intervals"]["f1"] == pytest.approx([low, high], abs=1e-6)
            by_document = made.payload["byDocument"][metric][place]["f1"]
            assert by_document == pytest.approx([d[metric].f1 for d in result.documents], abs=1e-5)


def test_mentions_and_errors_are_those_of_the_analysis(made):
    errors = analyse(KEY, EAGER).classification
    documents = made.payload["systems"][1]["documents"]
    for number, kind in enumerate(KINDS):
        marked = sum(bits >> number & 1 for one in documents for bits in one["wrong"])
        missing = sum(
            bits >> number & 1
            for one in documents
            for k, bits in enumerate(one["keyWrong"])
            if k not in one["twin"]
        )
        assert marked + missing == int(errors.of_kind(kind).sum())
    key = corefeval.read(KEY)
    for document, shown in zip(key, made.payload["texts"][0], strict=True):
        assert shown["words"].split(" ") == document.words
        assert shown["start"] == [mention.start for mention in document.mentions]
        assert shown["sentences"][0] == 0 and len(shown["sentences"]) == len(document.sentences)


def test_a_perfect_document_gives_back_the_points_that_it_lost(made):
    key, response = corefeval.read(KEY), corefeval.read(EAGER)
    whole = corefeval.score(key, response)
    for place in (0, 4):
        rest = np.array([index for index in range(len(key.documents)) if index != place])
        parts = [
            corefeval.score(key.select_documents(rest), response.select_documents(rest)),
            corefeval.score(key[place], key[place]),
        ]
        better = parts[0] + parts[1]
        for metric, lost in made.payload["systems"][1]["lost"].items():
            gain = better[metric].f1 - whole[metric].f1
            assert lost[place] == pytest.approx(max(gain, 0), abs=1e-6)


def test_costs_add_up_to_the_loss(made):
    result = corefeval.score(KEY, EAGER, metrics="muc, b3, lea")
    documents = made.payload["systems"][1]["documents"]
    for name, rate in (("keyCost", "recall"), ("cost", "precision")):
        loss = np.mean([1 - result[metric].rates[rate] for metric in result.metrics]) / 2
        total = sum(sum(one[name]) for one in documents) / 1e6
        assert total == pytest.approx(loss, abs=1e-3)


def test_differences_are_those_of_the_comparison(made):
    first, second = (corefeval.score(KEY, path) for path in (CAUTIOUS, EAGER))
    for one in made.payload["differences"]:
        assert (one["first"], one["second"]) == (0, 1)
        expected = first[one["metric"]].f1 - second[one["metric"]].f1
        assert one["difference"] == pytest.approx(expected, abs=1e-6)
        assert one["interval"][0] <= one["difference"] <= one["interval"][1]


def test_slices_that_the_data_do_not_have_are_left_out_and_told():
    made = report({"a": [["x", "y"]]}, {"mine": {"a": [["x", "y"]]}}, by=["kind", "size"])
    assert [one["feature"] for one in made.payload["slices"]] == ["size"]
    assert any("no slices by kind" in str(notice) for notice in made.notices)
    assert any("no slices by kind" in text for text in made.payload["systems"][0]["notices"])


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6)


@settings(max_examples=25)
@given(st.lists(WORDS, min_size=1, max_size=4, unique=True), WORDS)
def test_whatever_is_in_the_data_stays_data(words, title):
    made = report([words], {"mine": [words]}, metrics="b3", title=title, by=())
    page = Page(made.html)
    assert json.loads(page.text_of("data")) == json.loads(json.dumps(made.payload))
    assert [tag for tag, *_ in page.elements].count("script") == 3


HOSTILE = (
    "</script><b>", "</SCRIPT ", "<!--<script>", "-->", "<b onload=1>", "&lt;b&gt;", "&amp;",
    "\"'`", "\u2028\u2029", "]]>", "</title><b>", "</style>", "{{7*7}}", "\\u003c",
)  # fmt: skip


def shape(page: Page) -> list[tuple[str, tuple[str, ...]]]:
    """The tags of a page with the names of their attributes."""
    return [(tag, tuple(attributes)) for tag, attributes, _ in page.elements]


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


def test_labels_become_tokens_one_line_per_entity():
    made = report([["Ada", "she"], ["it"]], {"mine": [["Ada", "it", "zero"]]}, metrics="b3")
    shown = made.payload["texts"][0][0]
    assert (shown["words"], shown["sentences"]) == ("Ada she it zero", [0, 2, 3])
    response = made.payload["systems"][0]["documents"][0]
    assert (response["start"], response["twin"]) == ([0, 2, 3], [0, 2, -1])


def test_words_with_blanks_stay_one_token():
    made = report([["New York", "it"]], {"mine": [["New York", "it"]]}, metrics="b3")
    assert len(made.payload["texts"][0][0]["words"].split(" ")) == 2


def test_texts_without_tokens_are_cut_where_mentions_begin_and_end(tmp_path):
    text = "Ada went. She sat.\nUnderdog barked."
    spans = {"key": [(0, 3), (10, 13), (24, 27)], "response": [(0, 3), (10, 13)]}
    for side, places in spans.items():
        (tmp_path / side).mkdir()
        (tmp_path / side / "x.txt").write_text(text)
        lines = [f"T{n}\tEntity {a} {b}\t{text[a:b]}\n" for n, (a, b) in enumerate(places)]
        lines.append("R1\tCoref Arg1:T0 Arg2:T1\n")
        (tmp_path / side / "x.ann").write_text("".join(lines))
    made = report(tmp_path / "key", {"mine": tmp_path / "response"}, metrics="b3")
    shown = made.payload["texts"][0][0]
    words = shown["words"].split(" ")
    assert words == ["Ada", "went", ".", "She", "sat", ".", "Under", "dog", "barked", "."]
    assert [words[start] for start in shown["start"]] == ["Ada", "She", "dog"]
    assert shown["glued"] == [2, 5, 7, 9] and shown["sentences"] == [0, 6]


def test_responses_with_other_empty_nodes_have_a_version_of_the_key_of_their_own(tmp_path):
    node = "1.1\tshe\t_\t_\t_\t_\t_\t_\t_\tEntity=(e1)\n"
    lines = "# newdoc id = d\n# global.Entity = eid\n# sent_id = 1\n"
    lines += "1\tAda\t_\t_\t_\t_\t0\t_\t_\tEntity=(e1)\n{}2\tcame\t_\t_\t_\t_\t1\t_\t_\t_\n{}\n"
    more = node.replace("1.1", "2.1").replace("e1", "e2")
    nodes = {"key": (node, ""), "less": ("", ""), "more": (node, more)}
    for name, some in nodes.items():
        (tmp_path / f"{name}.conllu").write_text(lines.format(*some))
    paths = {name: tmp_path / f"{name}.conllu" for name in nodes}
    made = report(paths["key"], paths, metrics="b3", by=())
    assert [one["version"] for one in made.payload["systems"]] == [0, 0, 1]
    assert [texts[0]["count"] for texts in made.payload["texts"]] == [3, 4]


def test_without_text_there_are_no_words(made):
    page = report(KEY, {"mine": EAGER}, text=False, title="T")
    assert "words" not in page.payload["texts"][0][0]
    data = Page(page.html).text_of("data")
    words = {word for document in corefeval.read(KEY) for word in document.words if len(word) > 5}
    known = {word for word in words if word in re.findall(r"\w+", made_of_our_words(made))}
    assert len(words - known) > 100
    assert not [word for word in words - known if word in re.findall(r"\w+", data)]


def made_of_our_words(made: Report) -> str:
    """What the page says by itself: names of documents, features, kinds of errors, notices."""
    kept = {name: value for name, value in made.payload.items() if name not in ("texts", "systems")}
    return json.dumps(kept) + json.dumps([one["notices"] for one in made.payload["systems"]])


def test_the_page_needs_no_network(made):
    addresses = set(re.findall(r"(?:src|href)=[\"'](?!#)([^\"']*)", made.html.split("<script")[0]))
    assert not addresses
    metas = [attributes for tag, attributes, _ in Page(made.html).elements if tag == "meta"]
    policy = next(one["content"] for one in metas if "http-equiv" in one)
    assert "default-src 'none'" in policy and "unsafe-eval" not in policy
    assert "@import" not in style() and "url(" not in style()


def test_a_real_test_set_is_small(shared):
    gum = shared / "gum"
    made = report(gum / "key.conll", [gum / "baseline.conll", gum / "cort-pair.conll"])
    assert len(made.html.encode()) < 2_500_000  # 36 documents; 350 must stay below 15 MB


@pytest.mark.parametrize("scripts", [SCRIPTS, BOARD_SCRIPTS], ids=["report", "leaderboard"])
def test_scripts_have_no_name_twice(scripts):
    # They are put into one scope.
    text = bundle(scripts)
    names = re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", text, re.MULTILINE)
    assert len(names) > 40
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("scripts", [SCRIPTS, BOARD_SCRIPTS], ids=["report", "leaderboard"])
def test_scripts_import_what_they_use(scripts):
    from corefeval.reports.page import _read

    texts = {name: _read("scripts", f"{name}.js") for name in scripts}
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
    from corefeval.reports.page import _read

    text = _read("scripts", f"{script}.js")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", text)


def test_responses_have_names():
    entities = [["a", "b"]]
    one = report(KEY, CAUTIOUS, by=(), ci=None)
    assert [system["name"] for system in one.payload["systems"]] == ["cautious.conll"]
    twice = report(KEY, [CAUTIOUS, CAUTIOUS], metrics="b3", by=(), ci=None)
    names = [one["name"] for one in twice.payload["systems"]]
    assert names == ["cautious.conll", "cautious.conll (2)"]
    plain = report(entities, [entities], metrics="b3", by=())
    assert plain.payload["systems"][0]["name"] == "response 1"


@pytest.mark.parametrize("responses", [[], {}, 7])
def test_no_response_is_an_error(responses):
    with pytest.raises(UsageError, match="response"):
        report(KEY, responses)


def test_without_the_library_of_charts_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("corefeval.reports.page.find_spec", lambda name: None)
    with pytest.raises(UsageError, match="pip install vl-convert-python"):
        report(KEY, CAUTIOUS)


def test_saving_where_one_cannot_is_an_error(made, tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        made.save(tmp_path / "no" / "such" / "folder.html")


def test_a_single_document_has_a_report():
    made = report([["a", "b"]], {"mine": [["a"], ["b"]]})
    assert made.payload["differences"] == []
    assert repr(made) == "<Report of 1 document, 1 response>"


def test_nothing_at_all_has_a_report():
    assert "<main" in report([], {"nothing": []}).html


def test_the_command_writes_a_file(run, tmp_path):
    path = tmp_path / "report.html"
    status, out, err = run("report", KEY, f"mine={CAUTIOUS}", EAGER, "--output", path)
    assert status == 0, err
    assert out.startswith(f"{path}: 9 documents, 2 responses")
    assert "mine" in path.read_text(encoding="utf-8")


def test_the_command_puts_the_best_first_and_ranks(run, tmp_path):
    shown = {}
    for sort in ("score", "given"):
        path = tmp_path / f"{sort}.html"
        command = (
            "report",
            KEY,
            CAUTIOUS,
            EAGER,
            "-m",
            "muc,ceafe",
            "-b",
            "size",
            "-o",
            path,
            "-q",
        )
        assert run(*command, "--sort", sort)[0] == 0
        shown[sort] = json.loads(Page(path.read_text(encoding="utf-8")).text_of("data"))
    names = {sort: [one["name"] for one in page["systems"]] for sort, page in shown.items()}
    assert names == {"score": ["eager", "cautious"], "given": ["cautious", "eager"]}
    assert shown["score"]["ranks"] == {"muc": [1, 2], "ceafe": [1, 1]}
    assert shown["given"]["ranks"]["muc"] == [2, 1]
    ways = report(KEY, [CAUTIOUS, EAGER], match="exact, head", metrics="muc", by=(), sort="score")
    assert [one["name"] for one in ways.payload["systems"]] == [
        f"{name}.conll ({match})" for name in ("eager", "cautious") for match in ("exact", "head")
    ]
    with pytest.raises(UsageError, match="sort is one of"):
        report(KEY, CAUTIOUS, sort="worst")


def test_the_command_leaves_words_out(run, tmp_path):
    path = tmp_path / "report.html"
    assert run("report", KEY, EAGER, "-o", path, "--no-text", "--by", "genre", "-q")[0] == 0
    data = json.loads(Page(path.read_text(encoding="utf-8")).text_of("data"))
    assert not data["text"] and [one["feature"] for one in data["slices"]] == ["genre"]


def test_the_command_does_not_overwrite_its_input(run, tmp_path):
    path = tmp_path / "key.conll"
    path.write_bytes(Path(KEY).read_bytes())
    status, _, err = run("report", path, EAGER, "--output", path)
    assert status == 2 and "overwrite" in err
    assert run("report", KEY, EAGER, EAGER, "-o", tmp_path / "x.html")[0] == 2


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


@pytest.mark.parametrize("feature", ["head", "words", "speaker", "column(word)", "column(4)"])
def test_without_text_no_slice_shows_a_word(feature):
    """A feature may have the words of the text as its values."""
    made = report(KEY, {"eager": EAGER}, by=[feature, "kind"], text=False, ci=None)
    corpus = corefeval.read(KEY)
    words = {w.lower() for d in corpus for m in d.mentions for w in m.words if len(w) > 4}
    shown = json.dumps(made.payload, ensure_ascii=False).lower()
    assert not [word for word in words if f'"{word}"' in shown]
    assert any("words of the text" in str(notice) for notice in made.notices)
    assert '"kind"' in shown


def test_empty_texts_are_reported(tmp_path):
    records = [
        {"doc_key": "empty", "text": "", "clusters": []},
        {"doc_key": "full", "text": "Ada slept", "clusters": [[[0, 3]]]},
    ]
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    page = corefeval.report(str(path), str(path)).html
    assert "Ada" in page


def test_a_switch_for_ways_to_match_mentions(run, tmp_path):
    made = report(KEY, {"one": EAGER, "two": CAUTIOUS}, match="exact, head", metrics="conll")
    systems = made.payload["systems"]
    names = ["one (exact)", "one (head)", "two (exact)", "two (head)"]
    assert [one["name"] for one in systems] == names
    assert ["match:head" in one["signature"] for one in systems] == [False, True] * 2
    pairs = {(one["first"], one["second"]) for one in made.payload["differences"]}
    assert pairs == {(0, 2), (1, 3)}, "only results of one match are tested against each other"
    page = tmp_path / "page.html"
    status, _, _ = run("report", KEY, EAGER, "--match", "exact,head", "-m", "muc", "-o", page)
    assert status == 0
    assert "eager (head)" in page.read_text()
