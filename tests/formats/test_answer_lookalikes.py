"""What looks like a mention, a list or a copy and may be none, as people wrote it."""

from __future__ import annotations

import json

import pytest

import corefeval
from corefeval.live import corpus_from_object
from outsiders import WORDS, read


def test_prose_with_quotes_is_unread_and_every_quote_has_a_row():
    answer = (
        'The text is about "Ada" and about "Bo". When it says "She", the woman is meant, and '
        'with "him" the man; at the end "her" comes back to the woman (as in "knew her").'
    )
    ledger = read(answer).ledger
    assert ledger.documents[0].state == "unread"
    assert {"Ada", "Bo", "She", "him", "her"} <= {entry.written for entry in ledger.entries}


@pytest.mark.parametrize(
    "answer",
    [
        "Ada/1 met/0 Bo/2 ./0 She/1 liked/0 him/2 ./0 Bo/0 knew/0 her/1 ./0",
        "**Ada** met **Bo**. **She** liked **him**. Bo knew **her**.",
        "<<Ada = A>> met <<Bo = B>>. <<She = A>> liked <<him = B>>. Bo knew <<her = A>>.",
        "Ada[^1] met Bo[^2]. She[^3] liked him[^4]. Bo knew her[^5].\n\n[^3]: Ada\n[^4]: Bo\n",
    ],
)
def test_copies_with_unknown_marks_are_unread(answer):
    ledger = read(answer).ledger
    assert ledger.documents[0].state == "unread"
    assert not ledger.placed
    assert ledger.unclear


def test_quotes_in_parentheses_behind_words_are_remarks():
    answer = (
        'The woman is "Ada" and then "She" (both "She liked" and elsewhere), and the man is taken '
        'up by "him" ("liked him", "knew her").'
    )
    corpus = read(answer)
    assert corpus.ledger.documents[0].state == "unread"
    assert not corpus.ledger.placed


def test_antecedents_behind_noun_phrases_take_their_articles_and_names():
    text = "Ada saw Captain Bo Lund . The old dog knew the man and „ He “ smiled ."
    answer = (
        "Ada saw Captain Bo Lund . The old dog knew the man (Captain Bo Lund) and "
        "„He (the man)“ smiled ."
    )
    entries = read(answer, text).ledger.entries
    assert {entry.written.lower() for entry in entries} == {"the man", "he", "captain bo lund"}
    assert len({entry.entity for entry in entries}) == 1


def test_a_text_with_other_words_for_pronouns_is_unread():
    text = (
        "Anna : Good morning . Has he sent it to you , Mark ? "
        "Mark : No , he told me that he would finish it today . Anna : I need it before noon ."
    )
    answer = (
        "Anna: Good morning. Has Peter sent the report to Mark, Mark?\n"
        "Mark: No, Peter told Mark that Peter would finish the report today.\n"
        "Anna: Anna needs the report before noon.\n"
    )
    ledger = read(answer, text).ledger
    assert ledger.documents[0].state in ("unread", "empty")
    assert not ledger.placed


def test_lists_of_long_mentions_are_no_copies():
    text = "The old captain of the ship met Ada . She gave the man from Cork his hat ."
    answer = "1. The old captain of the ship / the man from Cork / his\n2. Ada / She\n"
    ledger = read(answer, text).ledger
    assert ledger.documents[0].state == "read"
    assert ledger.placed == 5


@pytest.mark.parametrize(
    "answer",
    [
        "[Ada](#1) met [Bo]. [She](#1) liked [him]. Bo knew [her](#1).",
        "[Ada](#1) met [Bo](#2\n[She](#1) liked him.\nBo knew her.\n",
        '[["Ada", "She"]]\n\n<a>Ada</a> met <b>Bo</b>. She liked <b>him</b>. Bo knew <a>her</a>.\n',
        "| Entity | Mentions |\n|---|---|\n| A | Ada, She |\n\nBo → him\nher → Bo\n",
        "🔵(Ada) met 🟠(Bo). 🔵She liked 🟠him. 🟠Bo knew 🔵her.",
    ],
)
def test_what_another_form_has_is_unclear_and_never_left_out_in_silence(answer):
    ledger = read(answer).ledger
    assert ledger.placed
    assert ledger.unclear


def test_prose_before_the_quotes_of_an_item_says_whose_they_are():
    answer = (
        '1. Ada is referred to as "Ada", "She", and "her".\n'
        '2. The man, as we learn, is referred to as "Bo" and "him".\n'
    )
    corpus = read(answer)
    assert corpus.ledger.documents[0].state == "read"
    assert corpus.ledger.placed == 5


@pytest.mark.parametrize(
    "answer",
    [
        "m(m1, 1, 'Ada').\nm(m2, 1, 'Bo').\nm(m3, 2, 'She').\nm(m4, 2, 'him').\n"
        "m(m5, 3, 'her').\nsame(m3, m1).\nsame(m4, m2).\nsame(m5, m3).\n",
        'graph RL\n  a["Ada (1)"]\n  b["Bo (1)"]\n  c["She (2)"] --> a\n  d["him (2)"] --> b\n'
        '  e["her (3)"] --> c\n',
        "- Ada\n- Bo\n- She\n- him\n- her\n",
        "Line 1:\n- Ada\n- met\nLine 2:\n- She\n- liked\nLine 3:\n- Bo\n- knew\n"
        "Line 4:\n- her\n- .\n",
        'Q: Who is "She"?\nA: Ada\n\nQ: Who is "him"?\nA: Bo\n\nQ: Who is "her" in "knew her"?\n'
        "A: Ada\n",
    ],
)
def test_mentions_of_which_nothing_is_linked_are_unclear(answer):
    corpus = read(answer)
    assert corpus.ledger.documents[0].state == "unread"
    assert len(corpus["d"].mentions) == corpus.ledger.placed == 0
    assert corpus.ledger.unclear >= 4


@pytest.mark.parametrize(
    ("lists", "placed", "lost"),
    [("Ada|Bo|She|him", 4, 0), ("Ada, She|Zoe, Una|Max, Kim|Eva, Ole", 2, 6)],
)
def test_lists_that_were_asked_for_are_read_whatever_they_have(lists, placed, lost):
    key = corpus_from_object({"doc_key": "d", "sentences": [WORDS], "clusters": []}, "key")
    answer = "".join(f"Entity {n}: {words}\n" for n, words in enumerate(lists.split("|")))
    ledger = corefeval.read_answers({"d": answer}, key, format="llm-lines").ledger
    assert (ledger.placed, ledger.lost, ledger.unclear) == (placed, lost, 0)


def test_items_that_are_not_in_the_text_have_rows():
    ledger = read("## A\n- Ada\n- She\n- the sailor\n\n## B\n- Bo\n- him\n").ledger
    assert [row["written"] for row in ledger.rows() if row["state"] == "lost"] == ["the sailor"]


def test_quotes_within_cells_and_snippets_belong_to_the_mention():
    text = 'the " Tenant " pays , and the Tenant leaves . She is " Ada " .'
    for answer in (
        'chain,words\n1,"the ""Tenant"""\n1,the Tenant\n2,She\n2,"""Ada"""\n',
        '## A\n- "the "**Tenant**" pays…"\n- "…and **the Tenant**…"\n'
        '## B\n- "…**She** is…"\n- "…is "**Ada**"."\n',
    ):
        corpus = read(answer, text)
        assert [len(entity.mentions) for entity in corpus["d"].entities] == [2, 2]
        assert corpus.ledger.placed == 4


def test_mentions_within_others_have_braces_of_one_kind():
    text = "Ada fed her dog . It slept ."
    corpus = read("{Ada|A} fed {{her|A} dog|D}. {It|D} slept.", text)
    spans = [[m.span for m in entity.mentions] for entity in corpus["d"].entities]
    assert sorted(spans) == [[(0, 1), (2, 3)], [(2, 4), (5, 6)]]


def test_counts_behind_words_are_as_many_mentions():
    answer = "- A (3): Ada, She, her\n- B: Bo ×2, him ×1\n"
    assert read(answer).ledger.placed == 6


def test_where_a_phrase_begins_before_a_footnote_is_a_guess():
    ledger = read("Ada[^1] met Bo[^2]. She[^1] liked him[^2]. Bo[^2] knew her[^1].").ledger
    assert ledger.changed == ledger.placed == 6
    assert {row["why"] for row in ledger.rows()} == {"where it begins is not said"}


def test_antecedents_in_words_that_the_text_does_not_have_are_unclear():
    text = "Старый рыбак жил у моря . Он показал её деду . Он молчал . Дед обнял её ."
    answer = (
        "Старый рыбак жил у моря. Он (= рыбака) показал её (= Настю) деду (= рыбаку). "
        "Он (= рыбака) молчал. Дед (= старику) обнял её (= внучку)."
    )
    assert read(answer, text).ledger.documents[0].state == "unread"


def test_lists_of_which_no_line_is_read_are_not_passed_over():
    answer = "- Ada & She & her\n- Bo & him\n- x & y\n- u & w\n\nIn short: Ada → Bo\n"
    ledger = read(answer).ledger
    assert ledger.documents[0].state == "unread"
    assert "Ada & She & her" in [entry.written for entry in ledger.entries]


def test_rows_say_where_their_words_stand_in_the_answer():
    answer = 'Chains:\n1. Ada, She, her:\n2. "Bo", him\n'
    for entry in read(answer).ledger.entries:
        assert answer[entry.where :].lstrip('"').startswith(entry.written)


def test_referents_that_no_row_lists_are_mentions_too():
    text = "Ada met Bo . She liked him . She saw him . She knew him ."
    rows = [("She", "Ada"), ("him", "Bo")] * 3
    answer = "| Sentence | Pronoun | Refers to |\n|---|---|---|\n" + "".join(
        f"| {number // 2 + 2} | {pronoun} | {name} |\n"
        for number, (pronoun, name) in enumerate(rows)
    )
    corpus = read(answer, text)
    assert [len(entity.mentions) for entity in corpus["d"].entities] == [4, 4]


def test_referents_that_rows_list_are_names_of_entities():
    text = "Ada saw Ada Lund . She met Bo , and he met her . Bo knew her ."
    rows = ["Ada|Ada", "Ada Lund|Ada", "She|Ada", "Bo|Bo", "he|Bo", "her|Ada", "Bo|Bo", "her|Ada"]
    answer = "| Mention | Refers to |\n|---|---|\n" + "".join(f"| {row} |\n" for row in rows)
    corpus = read(answer.replace("|Ada", " | Ada").replace("|Bo", " | Bo"), text)
    assert [len(entity.mentions) for entity in corpus["d"].entities] == [5, 3]


def test_several_contexts_and_several_sentences_are_as_many_mentions():
    text = "Ada took her hat . Bo took her bag . Ada lost her hat ."
    answer = (
        '## A\n- "Ada" — 2 times (sentences 1 and 3)\n- "her" — 3 times ("took her hat", '
        '"her bag", in *her hat*)\n\n## B\n- "Bo"\n'
    )
    corpus = read(answer, text)
    spans = [[m.span for m in entity.mentions] for entity in corpus["d"].entities]
    assert spans == [[(0, 1), (2, 3), (7, 8), (10, 11), (12, 13)], [(5, 6)]]


def test_mentions_that_are_said_to_be_alone_are_entities_of_their_own():
    for answer in (
        "A: Ada, She, her\nSingletons: Bo, him\nLeft out: met\n",
        "## A\n- Ada\n- She\n- her\n\n**Mentioned only once (no chain):** Bo, him\n",
    ):
        entities = read(answer)["d"].entities
        assert sorted(len(entity.mentions) for entity in entities) == [1, 1, 3]


def test_what_is_bold_in_lines_that_were_not_read_is_unclear_if_it_is_much():
    text = (
        "The captain and her dog saw Bo and his cat on the old pier . She fed it . "
        "He saw her . She saw him ."
    )
    answer = (
        "### One\nHere we first meet **the captain**, who owns **her dog** or so.\n"
        '- **She** – "She fed"\n- **her**\n- **She**\n\n'
        "### Two\nThen there is **Bo**, with **his cat** somewhere at **the old pier**, it seems.\n"
        "- **He**\n- **him**\n"
    )
    ledger = read(answer, text).ledger
    unclear = {row["written"] for row in ledger.rows() if row["state"] == "unclear"}
    assert {"the captain", "her dog", "Bo", "his cat", "the old pier"} <= unclear


def test_pointers_to_rows_are_no_entities():
    words = [f"word{number}" for number in range(24)]
    rows = (
        f"m{number}  {word} (s1)  {f'= m{number - 2}' if number % 3 else 'new'}\n"
        for number, word in enumerate(words)
    )
    ledger = read("".join(rows), " ".join(words)).ledger
    assert (ledger.documents[0].state, ledger.placed) == ("unread", 0)


@pytest.mark.parametrize("size", [1, 4])
def test_words_of_the_text_in_an_answer_are_no_mentions(size):
    words = [WORDS[low : low + 12 // size] for low in range(0, 12, 12 // size)]
    text = words[0] if size == 1 else words
    answer = json.dumps({"document": text * 2, "clusters": [[[0, 0], [4, 4]], [[2, 2], [6, 6]]]})
    ledger = read(answer, " ".join(WORDS * 2)).ledger
    assert (ledger.documents[0].state, ledger.placed) == ("unread", 0)


def test_prose_about_what_refers_to_what_is_no_list():
    answer = (
        '1. "She" refers to Ada, because the first sentence is about Ada and about nobody else.\n'
        '2. In "She liked him", "him" refers to Bo, and "She" refers to Ada, as was said before.\n'
        '3. "her" in "knew her" refers to Ada again, or perhaps to somebody whom nobody names.\n'
    )
    ledger = read(answer).ledger
    assert (ledger.documents[0].state, ledger.placed) == ("unread", 0)
    assert {"She", "him", "her"} <= {entry.written for entry in ledger.entries}


def test_all_that_is_quoted_or_bracketed_in_prose_has_rows():
    answer = 'With "fine" they tell us much about [Ada] and then [Bo]; who [she] is stays open.'
    ledger = read(answer, 'Ada met Bo , she said , and Bo said that it was " fine " .').ledger
    assert ledger.documents[0].state == "unread"
    assert [entry.written for entry in ledger.entries] == ["fine", "Ada", "Bo", "she"]


def test_labels_of_records_are_asides():
    names = "".join(
        f"  - name: {name}\n    kind: PER\n    mentions:\n      - {{s: 1, text: {word}}}\n"
        f"      - {{s: 2, text: {pronoun}}}\n"
        for name, word, pronoun in (("woman", "Ada", "She"), ("man", "Bo", "him"))
    )
    ledger = read(f"chains:\n{names}").ledger
    assert ledger.counts == {"placed": 4, "changed": 0, "repeated": 0, "lost": 0, "unclear": 0}
    assert {"woman", "man"} <= {entry.written for entry in ledger.asides}


def test_bold_names_without_an_antecedent_are_who_they_name():
    text = "Ada met Bo . Ada liked him . Bo knew her ."
    answer = "**Ada** met **Bo**. **Ada** liked **him** [Bo]. **Bo** knew **her** [Ada]."
    corpus = read(answer, text)
    assert sorted(len(entity.mentions) for entity in corpus["d"].entities) == [3, 3]


def test_bare_words_between_quoted_ones_are_mentions_too():
    text = "On l' appelait Ada . Elle m' a dit qu' elle partait ."
    answer = "A : « l' » (1), Ada (1), Elle (2), elle (2)\nB : m' (2)\n"
    ledger = read(answer, text).ledger
    assert (ledger.placed, ledger.changed) == (5, 0)


def test_quotes_of_contexts_are_no_snippets():
    answer = (
        '## A\n- **"Ada"** (sentence 1)\n- "She" (*She liked him*)\n- "her"\n'
        '## B\n- "Bo"\n- "him" (*She liked him*)\n'
    )
    assert {row["written"] for row in read(answer).ledger.rows()} == {
        "Ada",
        "She",
        "her",
        "Bo",
        "him",
    }


def test_strings_without_a_word_are_lost():
    ledger = read('{"a": ["Ada", ";", ""], "b": ["She", "()"]}').ledger
    assert (ledger.placed, ledger.lost) == (2, 3)


def test_few_tags_in_a_copy_are_read_before_any_list():
    text = "Hi everyone , welcome back to my channel ."
    corpus = read("Hi everyone , welcome back to [my](#1) channel .", text)
    assert [m.span for m in corpus["d"].mentions] == [(6, 7)]


def test_brackets_of_the_text_itself_are_no_mentions():
    text = "She [ laughs ] left [ 1 ] ."
    for answer in ('<m id="1">She</m> [laughs] left [1] .', "She|[e1] [ laughs ] left [ 1 ] ."):
        ledger = read(answer, text).ledger
        assert (ledger.documents[0].state, ledger.placed, ledger.unclear) == ("read", 1, 0)


def test_elements_in_strings_of_json_keep_their_ids():
    tagged = '<m id="1">Ada</m> met <m id="2">Bo</m>. <m id="1">She</m> liked him. Bo knew her.'
    corpus = read(json.dumps({"text": tagged}))
    assert [len(entity.mentions) for entity in corpus["d"].entities] == [2, 1]


def test_ids_of_json_entities_join_pieces():
    key = corefeval.read(corefeval.example("key"))
    prompts = corefeval.write_prompts(key, "json", max_tokens=60, pieces="joined")
    corpus = corefeval.read_answers(prompts.ideal, key, pieces="joined")
    assert corefeval.score(key, corpus, metrics="conll")["conll"].f1 == 1


def test_quotes_with_the_mention_in_bold_are_the_context_of_the_one_before():
    answer = (
        '### 1. **Ada**\n- "Ada"\n- "her" – *"knew **her**"*\n- "She" (*"**She** liked"*)\n\n'
        '### 2. **Bo**\n- "Bo" – *"met **Bo**"*\n- "him" – *"liked **him**"*\n'
    )
    corpus = read(answer)
    assert [len(entity.mentions) for entity in corpus["d"].entities] == [3, 2]
    assert corpus.ledger.written == corpus.ledger.placed == 5


def test_referents_beside_lists_are_labels():
    corpus = read(
        "| Referent | Mentions |\n|---|---|\n| knew | Ada, She, her |\n| met | Bo, him |\n"
    )
    entities = [{m.start for m in entity} for entity in corpus["d"].entities]
    assert entities == [{0, 4, 10}, {2, 6}]
