"""XMI, CAS JSON, TEI, MMAX2, ECB+ and CoreNLP: layers, oddities and mistakes."""

from __future__ import annotations

import json

import pytest

import corefeval
from corefeval import InputError

XMI = (
    '<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore" '
    'xmlns:c="http:///webanno/custom.ecore" '
    'xmlns:s="http:///de/tudarmstadt/ukp/dkpro/core/api/segmentation/type.ecore" '
    'xmlns:m="http:///de/tudarmstadt/ukp/dkpro/core/api/metadata/type.ecore" '
    'xmlns:v1="http:///de/unistuttgart/ims/coref/annotator/api/v1.ecore" '
    'xmlns:v2="http:///de/unistuttgart/ims/coref/annotator/api/v2.ecore" xmi:version="2.0">\n'
    '<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" sofaString="{text}"/>\n'
    "{structures}</xmi:XMI>"
)
TEI = '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/><text><body>{}</body></text></TEI>'


@pytest.fixture
def read(tmp_path):
    """A function that reads a content as a file of a name, in a layer."""

    def read_content(content, name="doc.xml", layer=None, format=None):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        return corefeval.read(path, layer=layer, format=format)

    return read_content


@pytest.fixture
def read_xmi(read):
    """A function that reads structures of an XMI file on a text."""

    def read_structures(structures, layer=None, text="Ada saw her cat ."):
        return read(XMI.format(text=text, structures=structures), "doc.xmi", layer)

    return read_structures


def texts(corpus):
    """The texts of the mentions of each entity, by the entity's name."""
    return {entity.name: [m.text for m in entity] for entity in corpus[0].entities}


def groups(corpus):
    """The texts of the mentions of each entity."""
    return sorted(texts(corpus).values())


def kinds(corpus):
    """How many of each kind the notices count."""
    return {notice.kind: notice.count for notice in corpus.notices}


def span(kind, number, begin, end, **values):
    """A structure of XMI on a range of the text."""
    listed = "".join(f' {key}="{value}"' for key, value in values.items())
    return f'<{kind} xmi:id="{number}" sofa="1" begin="{begin}" end="{end}"{listed}/>\n'


ADA_HER = span("c:PersonLink", 2, 0, 3, next="3") + span("c:PersonLink", 3, 8, 11)
PERSONS = ADA_HER + '<c:PersonChain xmi:id="4" first="2"/>'
CATS = span("c:CatLink", 5, 12, 15) + '<c:CatChain xmi:id="6" first="5"/>'


def test_the_only_chain_layer_counts_and_a_layer_can_be_named(read_xmi):
    assert groups(read_xmi(PERSONS)) == [["Ada", "her"]]
    assert groups(read_xmi(PERSONS + CATS, "CatLink")) == [["cat"]]
    assert groups(read_xmi(PERSONS + CATS, "webanno.custom.PersonLink")) == [["Ada", "her"]]


@pytest.mark.parametrize(
    ("structures", "layer", "words"),
    [
        (PERSONS + CATS, None, "several .*CatLink.*PersonLink"),
        (PERSONS, "Nobody", "no layer ‘Nobody’.*PersonLink"),
        (PERSONS, "Nobody.who", "no layer ‘Nobody.who’.*PersonLink"),
        (span("c:Name", 2, 0, 3), "Name", "no layer ‘Name’ that joins"),
    ],
)
def test_layers_that_cannot_be_chosen_are_errors_that_list_them(read_xmi, structures, layer, words):
    with pytest.raises(InputError, match=f"(?s){words}.*layer="):
        read_xmi(structures, layer)


def test_a_layer_that_is_declared_but_empty_is_a_document_without_mentions(read):
    name = "http:///de/tudarmstadt/ukp/dkpro/core/api/coref/type.ecore"
    content = XMI.format(text="Ada .", structures=span("c:Name", 2, 0, 3))
    corpus = read(content.replace("xmlns:v1", f'xmlns:t="{name}" xmlns:v1'), "doc.xmi")
    assert (len(corpus), corpus.n_mentions) == (1, 0)


def test_loops_and_links_outside_of_chains_are_counted(read_xmi):
    loop = span("c:PersonLink", 2, 0, 3, next="3") + span("c:PersonLink", 3, 8, 11, next="2")
    corpus = read_xmi(loop + '<c:Chain xmi:id="4" first="2"/>' + span("c:PersonLink", 5, 12, 15))
    assert groups(corpus) == [["Ada", "her"], ["cat"]]
    assert kinds(corpus) == {"chain-loops": 1, "unchained-links": 1}


def test_relations_join_and_bridging_does_not(read_xmi):
    spans = [(2, 0, 3), (3, 8, 11), (4, 12, 15)]
    corpus = read_xmi(
        "".join(span("c:M", number, begin, end) for number, begin, end in spans)
        + span("c:Coref", 5, 0, 1, Governor=3, Dependent=2, label="same")
        + span("c:Coref", 6, 0, 1, source=4, target=3, label="bridge:part")
    )
    assert groups(corpus) == [["Ada", "her"], ["cat"]]
    (relation,) = corpus.relations
    rows = [m.text for m in corpus[0].mentions]
    assert relation.kind == "bridging"
    assert rows[relation.anaphor[1]] == "cat"
    assert rows[relation.antecedents[0][1]] == "her"


def test_offsets_count_utf16_units(read_xmi):
    name = span("c:Name", 2, 3, 6, who="Ada")
    assert texts(read_xmi(name, "Name.who", "😊 Ada")) == {"Ada": ["Ada"]}
    with pytest.raises(InputError, match="line 3: an annotation is outside of the text"):
        read_xmi(span("c:Name", 2, 1, 6), "Name.who", "😊 Ada")


def test_mentions_have_the_tokens_that_they_touch(read_xmi):
    tokens = [(0, 3), (4, 7), (8, 11), (12, 15), (16, 17)]
    structures = "".join(span("s:Token", 10 + n, *token) for n, token in enumerate(tokens))
    corpus = read_xmi(structures + span("c:Name", 2, 2, 4) + span("c:Name", 3, 8, 16), "Name.who")
    assert [m.positions for m in corpus[0].mentions] == [(0,), (2, 3)]
    assert kinds(corpus) == {"widened-mentions": 1}
    assert corpus[0].text is None


def test_annotations_of_other_texts_do_not_count(read_xmi):
    other = '<cas:Sofa xmi:id="9" sofaNum="2" sofaID="x" sofaString="Eve"/>'
    foreign = span("c:PersonLink", 8, 0, 90).replace('sofa="1"', 'sofa="9"')
    assert groups(read_xmi(other + PERSONS + foreign)) == [["Ada", "her"]]


def test_documents_are_named_by_their_address(read_xmi):
    address = "file:/a/G%C3%B6.v1.txt"
    data = span("m:DocumentMetaData", 9, 0, 3, documentId="admin", documentUri=address)
    assert str(read_xmi(PERSONS + data)[0].id) == "Gö.v1"
    assert str(read_xmi(PERSONS)[0].id) == "doc"


def test_corefannotator_has_parts_labels_sets_and_mentions_alone(read_xmi):
    corpus = read_xmi(
        '<v2:Entity xmi:id="2" Label="A"/><v2:Entity xmi:id="3" Label="A"/>'
        '<v2:Entity xmi:id="4" Label="Both" Members="2 3"/>'
        + span("v2:MentionSurface", 5, 0, 3)
        + span("v2:MentionSurface", 6, 12, 15)
        + span("v2:MentionSurface", 7, 8, 11, Mention="12")
        + '<cas:FSArray xmi:id="8" elements="5 6"/><v2:Mention xmi:id="11" Entity="2" Surface="8"/>'
        '<v2:Mention xmi:id="12" Entity="3"/><v2:Mention xmi:id="13" Entity="4" Surface="6"/>'
        '<v2:Mention xmi:id="14" Surface="7"/><v2:Mention xmi:id="15" Entity="2"/>'
        '<cas:View sofa="1"/>' + span("c:Link", 21, 4, 7) + '<c:Chain xmi:id="22" first="21"/>'
    )
    assert (
        texts(corpus).items()
        >= {
            "A": ["Ada cat"],
            "A (2)": ["her"],
            "Both": ["cat"],
        }.items()
    )
    assert len(corpus[0].entities) == 4
    (relation,) = corpus.relations
    assert (relation.kind, len(relation.antecedents)) == ("split-antecedent", 2)
    assert kinds(corpus) == {"unlinked-mentions": 1, "empty-mentions": 1}


def test_cas_json_may_have_structures_by_id(read):
    kind = {"%TYPE": "c.Link", "@sofa": 1}
    structures = {
        "1": {"%TYPE": "uima.cas.Sofa", "sofaID": "_InitialView", "sofaString": "Ada saw her"},
        "2": {**kind, "begin": 0, "end": 3, "@next": 3},
        "3": {**kind, "begin": 8, "end": 11, "referenceType": "pron"},
        "4": {"%TYPE": "c.Chain", "@first": 2},
    }
    corpus = read(json.dumps({"%TYPES": {}, "%FEATURE_STRUCTURES": structures}), "doc.json")
    assert groups(corpus) == [["Ada", "her"]]
    assert corpus.features["referenceType"].tolist() == ["", "pron"]
    for broken in ([1], 1, "x", None):
        with pytest.raises(InputError, match="no structure"):
            read(json.dumps({"%FEATURE_STRUCTURES": broken}), "doc.json")


def test_tei_joins_pointers_and_ids_and_keeps_sets(read):
    corpus = read(
        TEI.format(
            '<p><rs xml:id="a">Ada</rs> and <rs xml:id="b" corresp="#a"> she </rs></p>'
            '<l><name ref="#b #c">they</name> <rs ref="#c">Eve</rs>,<lb/>Ju<lb break="no"/>ne'
            "<!-- no --> or<?pi no?></l><p><rs>nobody</rs><rs ref='#c'> </rs></p>"
        )
    )
    assert corpus[0].text == "Ada and she\nthey Eve,\nJune or\nnobody"
    assert texts(corpus) == {"a": ["Ada", "she"], "b+c": ["they"], "c": ["Eve"]}
    assert [relation.kind for relation in corpus.relations] == ["split-antecedent"]
    assert kinds(corpus) == {"empty-mentions": 1}


def test_keys_of_tei_may_have_blanks(read):
    corpus = read(TEI.format('<p><rs key="Ada L.">Ada</rs> <rs key="Ada L.">she</rs></p>'))
    assert texts(corpus) == {"Ada L.": ["Ada", "she"]}
    assert len(corpus.relations) == 0


@pytest.mark.parametrize(
    ("layer", "entities"),
    [
        (None, [["Ada"], ["Eve"]]),
        ("rs", [["Ada"]]),
        ("@ana", [["Ada", "Eve"]]),
        ("seg@corresp", [["saw"]]),
    ],
)
def test_layers_of_tei_are_elements_and_attributes(read, layer, entities):
    content = '<p><rs ref="#a" ana="#x">Ada</rs> <seg corresp="#s">saw</seg> '
    content += '<name ref="#e" ana="#x">Eve</name></p>'
    assert groups(read(TEI.format(content), layer=layer)) == entities


def test_a_corpus_of_tei_has_several_documents(read):
    document = TEI.format('<p><rs ref="#a">Ada</rs></p>')
    corpus = read(f"<teiCorpus>{document}{TEI.format('<p>x</p>')}</teiCorpus>")
    assert [str(document.id) for document in corpus] == ["doc_1", "doc_2"]
    assert kinds(corpus) == {"texts-without-mentions": 1}
    with pytest.raises(InputError, match="there is no text"):
        read('<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/></TEI>')


def write_mmax(folder, levels, words="m_words.xml", paths=""):
    """The path of an MMAX2 document of five words, with levels of markables."""
    (folder / "Basedata").mkdir()
    (folder / "markables").mkdir()
    (folder / "m.mmax").write_text(f"<mmax_project><words>{words}</words></mmax_project>")
    listed = "".join(f'<word id="word_{n}">{w}</word>' for n, w in enumerate("abcde"))
    doctype = '<!DOCTYPE words SYSTEM "words.dtd">\n'
    (folder / "Basedata" / "m_words.xml").write_text(f"{doctype}<words>{listed}</words>")
    if paths:
        (folder / "common_paths.xml").write_text(f"<common_paths>{paths}</common_paths>")
    for level, markables in levels.items():
        spans = "".join(f'<markable id="{n}" {m}/>' for n, m in enumerate(markables))
        name = f"m_{level}_level.xml"
        (folder / "markables" / name).write_text(f"<markables>{spans}</markables>")
    return folder / "m.mmax"


def test_mmax_has_sets_gaps_and_single_markables(tmp_path):
    markables = [
        'span="word_0..word_1,word_3" coref_class="s1" np="def"',
        'span="word_4" coref_class="s1"',
        'span="word_2" coref_class="empty"',
        'span="word_9" coref_class="s1"',
    ]
    sentences = ['span="word_2..word_4"', 'span="word_0..word_1"']
    corpus = corefeval.read(write_mmax(tmp_path, {"coref": markables, "sentence": sentences}))
    assert groups(corpus) == [["a b d", "e"], ["c"]]
    assert kinds(corpus) == {"single-markables": 1, "broken-spans": 1}
    assert [len(sentence) for sentence in corpus[0].sentences] == [2, 3]
    assert "def" in corpus.features["np"].tolist()


def test_layers_of_mmax_are_levels_and_attributes(tmp_path):
    levels = {
        "np": ['span="word_0" coref_set="x" who="1"', 'span="word_1" coref_set="x" who="2"'],
        "verb": ['span="word_2"'],
    }
    path = write_mmax(tmp_path, levels)
    assert groups(corefeval.read(path)) == [["a", "b"]]
    assert groups(corefeval.read(path, layer="np.who")) == [["a"], ["b"]]
    assert groups(corefeval.read(path, layer="verb")) == [["c"]]
    with pytest.raises(InputError, match=r"(?s)no layer ‘adj’.*np.*verb.*layer="):
        corefeval.read(path, layer="adj")


@pytest.mark.parametrize(
    "options",
    [
        {"words": "../secret.xml"},
        {"words": "Basedata/m_words.xml"},
        {"paths": "<basedata_path>../</basedata_path>"},
        {"paths": "<basedata_path>/etc</basedata_path>"},
    ],
)
def test_mmax_opens_nothing_outside_of_its_folder(tmp_path, options):
    (tmp_path / "secret.xml").write_text("<words><word id='word_0'>secret</word></words>")
    (tmp_path / "inside").mkdir()
    with pytest.raises(InputError, match="folder") as error:
        corefeval.read(write_mmax(tmp_path / "inside", {"coref": []}, **options))
    assert "<word" not in str(error.value)


def ecb(name, relations, markables=""):
    """A document of ECB+ of three tokens, with two mentions and two instances."""
    tokens = "".join(f'<token t_id="{n}" sentence="0">w{n}</token>' for n in (1, 2, 3))
    mentions = "".join(
        f'<{tag} m_id="{n}"><token_anchor t_id="{n}"/></{tag}>'
        for n, tag in ((1, "ACTION_STATE"), (2, "LOC_GEO"))
    )
    instances = '<ACTION_STATE m_id="8" instance_id="ACT1"/><LOC_GEO m_id="9"/>'
    return (
        f'<Document doc_name="{name}.xml">{tokens}<Markables>{mentions}{instances}{markables}'
        f"</Markables><Relations>{relations}</Relations></Document>"
    )


CROSS = '<CROSS_DOC_COREF r_id="1"><source m_id="1"/><target m_id="8"/></CROSS_DOC_COREF>'
INTRA = '<INTRA_DOC_COREF r_id="2"><source m_id="2"/><target m_id="9"/></INTRA_DOC_COREF>'


def test_ecb_names_entities_across_documents(tmp_path):
    (tmp_path / "a.xml").write_text(ecb("a", CROSS + INTRA))
    (tmp_path / "b.xml").write_text(ecb("b", CROSS))
    corpus = corefeval.read(tmp_path)
    names = [[entity.name for entity in document.entities] for document in corpus]
    assert names == [["ACT1", "a/9"], ["ACT1", "b/2"]]
    together = corefeval.score(corpus, corpus, across="all", metrics="muc")
    assert together["muc"].f1 == 1


def test_other_xml_is_no_ecb(read):
    with pytest.raises(InputError, match=r"(?s)line 1: this is not ECB\+.*‘html’.*<Document>.*fix"):
        read("<html><body>hi</body></html>", format="ecb")


def test_layers_of_ecb_are_events_entities_and_tags(read):
    for layer, words in {"event": "w1", "entity": "w2", "LOC_GEO": "w2"}.items():
        assert groups(read(ecb("a", CROSS), layer=layer)) == [[words]]
    assert read(ecb("a", CROSS), layer="TIME_DATE").n_mentions == 0
    with pytest.raises(InputError, match=r"(?s)no layer ‘events’.*LOC_GEO"):
        read(ecb("a", CROSS), layer="events")


@pytest.mark.parametrize(
    ("relations", "markables", "words"),
    [
        (CROSS.replace('"8"', '"77"'), "", "no markable ‘77’"),
        ("", '<X m_id="5"><token_anchor t_id="7"/></X>', "‘5’ is outside of the document"),
    ],
)
def test_ecb_names_what_is_not_there(read, relations, markables, words):
    with pytest.raises(InputError, match=words):
        read(ecb("a", relations, markables))


def test_corenlp_mentions_outside_of_their_sentence_are_errors(read):
    sentences = [{"tokens": [{"word": "Ada"}, {"word": "slept"}]}]
    mention = {"sentNum": 1, "startIndex": 1, "endIndex": 2, "type": "PROPER", "text": "Ada"}
    document = {"docId": "d", "sentences": sentences, "corefs": {"7": [mention]}}
    corpus = read(json.dumps(document), "doc.json")
    assert texts(corpus) == {"7": ["Ada"]}
    assert corpus.features["mention_type"].tolist() == ["PROP"]
    mention["endIndex"] = 4
    with pytest.raises(InputError, match=r"(?s)outside of its sentence.*tokens 1 up to 4"):
        read(json.dumps(document), "doc.json")
    content = "<root><document><sentences/></document></root>"
    with pytest.raises(InputError, match=r"(?s)no chains.*annotator coref"):
        read(content)


@pytest.mark.parametrize(
    ("format", "problem"), [("corenlp", "there is no document"), ("tei", "there is no text")]
)
def test_a_file_without_documents_is_an_error(format, problem, tmp_path):
    path = tmp_path / "none.xml"
    path.write_text("<teiCorpus><teiHeader/></teiCorpus>")
    with pytest.raises(InputError, match=problem) as caught:
        corefeval.read(path, format=format)
    assert "none.xml" in str(caught.value) and "fix:" in str(caught.value)


def test_two_structures_of_one_id_are_an_error(read_xmi, read):
    link = '<c:A xmi:id="2" sofa="1" begin="0" end="3"/>\n'
    with pytest.raises(InputError, match="two elements have the id ‘2’"):
        read_xmi(link + link)
    structures = [{"%ID": 7, "%TYPE": "a"}, {"%ID": 7, "%TYPE": "b"}]
    with pytest.raises(InputError, match="two elements have the id ‘7’"):
        read(json.dumps({"%FEATURE_STRUCTURES": structures}), "doc.json")


@pytest.mark.parametrize(("dependent", "count"), [("3", 0), ("99", 1)])
def test_relations_of_what_is_not_there_are_counted(read_xmi, dependent, count):
    spans = span("c:M", 2, 0, 3) + span("c:M", 3, 8, 11)
    corpus = read_xmi(spans + span("c:Coref", 5, 0, 1, Governor=2, Dependent=dependent))
    assert kinds(corpus).get("other-relations", 0) == count
    assert groups(corpus) == ([["Ada"], ["her"]] if count else [["Ada", "her"]])


def test_an_annotation_without_an_id_is_a_mention_too(read_xmi):
    nameless = span("c:M", "", 12, 15).replace('xmi:id=""', "")
    spans = span("c:M", 2, 0, 3) + span("c:M", 3, 8, 11) + nameless + nameless
    corpus = read_xmi(spans + span("c:Coref", 5, 0, 1, Governor=2, Dependent=3))
    assert groups(corpus) == [["Ada", "her"], ["cat"], ["cat"]]


def test_parts_of_mentions_that_are_not_there_are_counted(read_xmi):
    mention = '<v2:Entity xmi:id="2"/><v2:Mention xmi:id="3" Entity="2" Surface="4 99"/>'
    surfaces = span("v2:MentionSurface", 4, 0, 3) + span("v2:MentionSurface", 5, 8, 11, Mention=98)
    corpus = read_xmi(mention + surfaces)
    assert groups(corpus) == [["Ada"]]
    assert kinds(corpus) == {"lost-parts": 2}


def test_tokens_in_one_another_are_an_error(read_xmi):
    tokens = span("s:Token", 20, 0, 11) + span("s:Token", 21, 4, 7) + span("s:Token", 22, 8, 11)
    with pytest.raises(InputError, match=r"(?s)doc\.xmi: tokens are in one another.*0 up to 11"):
        read_xmi(tokens + PERSONS)


def test_ids_that_appear_twice_are_errors(read, tmp_path):
    content = ecb("a", CROSS)
    for old, new in (('t_id="2"', 't_id="1"'), ('m_id="2"', 'm_id="1"')):
        assert old in content
        with pytest.raises(InputError, match=r"doc\.xml, line 1: two elements have the id ‘1’"):
            read(content.replace(old, new, 1))
    path = write_mmax(tmp_path, {"coref": []})
    words = tmp_path / "Basedata" / "m_words.xml"
    words.write_text(words.read_text().replace("word_1", "word_0"))
    with pytest.raises(
        InputError, match=r"m_words\.xml, line 2: two elements have the id ‘word_0’"
    ):
        corefeval.read(path)


def test_names_in_mmax_that_no_file_can_have_are_missing_files(tmp_path):
    path = write_mmax(tmp_path, {"coref": []}, words="x" * 300)
    with pytest.raises(InputError, match=r"the words file ‘x+…’ is missing"):
        corefeval.read(path)
    path.write_text("<mmax_project><words>m_words.xml</words></mmax_project>")
    paths = "<basedata_path>{0}</basedata_path><markable_path>{0}</markable_path>".format("x" * 300)
    (tmp_path / "common_paths.xml").write_text(f"<common_paths>{paths}</common_paths>")
    assert corefeval.read(path)[0].n_tokens == 5
