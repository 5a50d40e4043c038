"""Answers as people wrote them who had not seen the reader: read, or said to be unclear."""

from __future__ import annotations

import pytest

from outsiders import WORDS, read

COLUMN = ["(0)", "-", "(1)", "-", "(0)", "-", "(1)", "-", "-", "-", "(0)", "-"]
MEANT = [{"Ada", "She", "her"}, {"Bo", "him"}]


@pytest.mark.parametrize(
    "answer",
    [
        'Here are the entities:\n\n## 1. Ada\n- "Ada"\n- "She"\n- "her"\n\n'
        '## 2. Bo\n- "Bo"\n- "him"\n',
        '## Ada\n- **"Ada"** – her name\n- **"She"** – a pronoun\n- **"her"** – a pronoun\n\n'
        '## Bo\n- **"Bo"** – his name\n- **"him"** – a pronoun\n',
        "entities:\n  - id: 1\n    mentions:\n      - Ada  # S1\n      - She  # S2\n"
        "      - her  # S3\n"
        "  - id: 2\n    mentions:\n      - Bo  # S1\n      - him  # S2\n",
        'Sentence 2: "She" → "Ada"; "him" → "Bo"\nSentence 3: "her" → "Ada"\n',
        '[{"anapher": "She", "bezugswort": "Ada"}, {"anapher": "him", "bezugswort": "Bo"},'
        ' {"anapher": "her", "bezugswort": "Ada"}]',
        "Ada = E1 (new)\nBo = E2 (new)\nShe = E1\nhim = E2\nher = E1\n",
        "| Sentence | A | B |\n|---|---|---|\n"
        "| 1 | Ada | Bo |\n| 2 | She | him |\n| 3 | her | - |\n",
        "| Entity | S1 | S2 | S3 |\n|---|---|---|---|\n"
        "| A | Ada | She | her |\n| B | Bo | him | - |\n",
        '**A**\n* Ada — "Ada met Bo"\n* She — "She liked him"\n* her — "Bo knew her"\n'
        '**B**\n* Bo — "Ada met Bo"\n* him — "She liked him"\n',
        '{"A": {"s1": ["Ada"], "s2": ["She"], "s3": ["her"]}, "B": {"s1": ["Bo"], "s2": ["him"]}}',
        '{"s1": [{"mention": "Ada", "entity": "A"}, {"mention": "Bo", "entity": "B"}], "s2": '
        '[{"mention": "She", "entity": "A"}, {"mention": "him", "entity": "B"}], "s3": '
        '[{"mention": "her", "entity": "A"}]}',
        "🔵[Ada] met 🟢[Bo]. 🔵[She] liked 🟢[him]. Bo knew 🔵[her].",
        "[Ada]🚢 met [Bo]👩. [She]🚢 liked [him]👩. Bo knew [her]🚢.",
        "Ada_i met Bo_j. She_i liked him_j. Bo knew her_i.",
        "Ada/B-A met/O Bo/B-B ./O She/B-A liked/O him/B-B ./O Bo/O knew/O her/B-A ./O",
        r"E_1 &= \{\text{Ada},\ \text{She},\ \text{her}\} \\"
        "\n"
        r"E_2 &= \{\text{Bo}_1,\ \text{him}\}",
        "A\n├── Ada\n├── She\n└── her\nB\n├── Bo\n└── him\n",
        "A ← Ada, She, her\nB ← Bo, him\n",
        '- "Ada", "She" and "her" refer to the same person.\n'
        '- "Bo" and "him" refer to the same person.\n',
        "Chain A (Ada): {Ada [1], She [2], her [3]}\nChain B (Bo): {Bo [1], him [2]}\n",
        "**A:** [Ada] [She] [her]\n**B:** [Bo] [him]\n",
        "**链一：A**\nAda（第1句）、She（第2句）、her（第3句，“knew her”）\n\n"
        "**链二：B**\nBo（第1句）、him（第2句）\n",
        'A:\n  - Ada\n  - She    # "*She* liked him"\n  - her    # "Bo knew *her*"\n'
        'B:\n  - Bo\n  - him    # "She liked *him*"\n',
        "A:\n  - {s: 1, de: Ada}\n  - {s: 2, de: She}\n  - {s: 3, de: her}\n"
        "B:\n  - {s: 1, de: Bo}\n  - {s: 2, de: him}\n",
        "| Nr. | Wer? | Ausdrücke (Satz) |\n|---|---|---|\n"
        "| 1 | A | Ada (S1), She (S2), her (S3) |\n| 2 | B | Bo (S1), him (S2) |\n",
        "text\n├── A\n│   ├── Ada\n│   ├── She ····· She liked him\n│   └── her ····· knew her\n"
        "└── B\n    ├── Bo\n    └── him ····· She liked him\n",
        '{"text": "t", "entities": {"A": [["Ada", "line 1"], ["She", "line 2"], '
        '["her", "line 3"]], "B": [["Bo", "line 1"], ["him", "line 2"]]}}',
        'a = {M(1, "Ada"), M(2, "She"), M(3, "her")}\nb = {M(1, "Bo"), M(2, "him")}\n',
        '[{"label": "x", "introduced_as": {"text": "Ada"}, "again": [{"text": "She"}, '
        '{"text": "her"}]}, {"label": "y", "introduced_as": {"text": "Bo"}, "again": '
        '[{"text": "him"}]}]',
        '## A\n- **Names / noun phrases:** "Ada"\n- **Pronouns:** She ("She liked"), her\n\n'
        '## B\n- **Names / noun phrases:** "Bo"\n- **Pronouns:** him ("liked him")\n',
        "A: Ada → „She“ → her\nB: Bo, „him“\n",
        "- Ada → X\n- She → X\n- her → X\n- Bo → B\n- him → B\n",
        '<doc><turn n="1"><e id="a">Ada</e> met <e id="b">Bo</e>.</turn> <turn n="2"><e id="a">She'
        '</e> liked <e id="b">him</e>.</turn> <turn n="3">Bo knew <e id="a">her</e>.</turn></doc>',
        '### A\n- "**Ada** met Bo" (line 1)\n- "**She** liked him"\n- "knew **her**"\n\n'
        '### B\n- "met **Bo**"\n- "She liked **him**"\n',
        "$\\{$Ada, She, her$\\}$\n\n$\\{$Bo, him$\\}$\n",
        '[{"who": "A", "references": [{"text": "Ada", "kind": "name"}, {"text": "She", '
        '"kind": "pro"}, {"text": "her", "kind": "pro"}]}, {"who": "B", "references": '
        '[{"text": "Bo", "kind": "name"}, {"text": "him", "kind": "pro"}]}]',
        "| पात्र | उल्लेख |\n|---|---|\n| **Ada** | Ada (1), She (2), her (3) |\n"
        "| **Bo** | Bo (1), him (2) |\n",
        "<zin><a>Ada</a> met <c>Bo</c>.</zin> <zin><a>She</a> liked <c>him</c>.</zin> "
        "<zin>Bo knew <a>her</a>.</zin>",
        "**A:** Ada → *She* → her\n**B:** Bo → *him*\n",
        "## Analysis\n\nSentence 1: Ada [A]; Bo [B]\nSentence 2: She [A]; him [B]\n"
        "Sentence 3: her [A]\n",
        "1. **Ada** → She → her\n2. **Bo** → him\n",
        "[Ada]١ met [Bo]٢. [She]١ liked [him]٢. Bo knew [her]١.",
        "**A**\n  Ada ~ She (new) ~ her\n\n**B**\n  Bo ~ him\n",
        "| | 文1 | 文2 | 文3 |\n|---|---|---|---|\n| Ada | Ada | She | her |\n"
        "| Bo | Bo | him | – |\n",
        '<p><rs ref="#a">Ada</rs> met <rs ref="#b">Bo</rs>. <q><rs ref="#a">She</rs> liked '
        '<rs ref="#b">him</rs></q>. Bo knew <rs ref="#a">her</rs>.</p>',
        "| # | Entity | Mentions |\n|---|---|---|\n| 1 | **A** | Ada<br>She<br>her (Bo knew) |\n"
        "| 2 | **B** | Bo<br>him |\n\n* *Notes* such as this are left out.\n",
        "S1 = {Ada, She, her}\nS2 = {Bo, him}\n",
        "ADA\n  P1 : Ada\n  P2 : She\n  P3 : her (knew)\n\nBO\n  P1 : Bo\n  P2 : him\n",
        "| 句子 | 指称语 | 类别 | 指代对象 |\n|---|---|---|---|\n| 1 | Ada | 人名 | Ada |\n"
        "| 1 | Bo | 人名 | Bo |\n| 2 | She | 代词 | Ada |\n| 2 | him | 代词 | Bo |\n"
        "| 3 | her | 代词 | Ada |\n",
        r'{"role": "assistant", "calls": [{"arguments": "{\"chains\": [{\"label\": \"A\", '
        r"\"mentions\": [{\"quote\": \"Ada\", \"before\": \"\"}, {\"quote\": \"She\", "
        r"\"before\": \"\\\".\"}, {\"quote\": \"her\", \"before\": \"knew\"}]}, {\"label\": \"B\", "
        r"\"mentions\": [{\"quote\": \"Bo\", \"before\": \"met\"}, {\"quote\": \"him\", "
        r'\"before\": \"She\"}]}]}"}]}',
        "**Entities:** ADA, BO\n\nLine 1: Ada = ADA; Bo = BO\nLine 2: She = ADA; him = BO\n"
        "Line 3: her = ADA\n",
        "Line 1 – Ada = A | Bo = B\nLine 2 – She = A | him = B\nLine 3 – her = A\n",
        "Sentence 1: Ada = X, Bo = Y\nSentence 2: She = X, him = Y\nSentence 3: her = X\n\n"
        "X = Ada Lovelace, Y = the man\n",
        '## 🏢 1. A\n- "…**Ada** met…"\n- "She" – "…**She** liked…"\n- "…knew **her**…"\n'
        '## 2. B\n- "…met **Bo**…"\n- "…liked **him**…"\n',
        'entity,mention,n\n1,"Ada",0\n1,She,0\n2,"Bo",0\n2,him,0\n1,her,0\n',
        "Chain 1: A\nAda, She, her\n\nChain 2: B\nBo, him\n",
        "Cluster 1: A – Ada, She, her\nCluster 2: B – Bo, him\n",
        "[Ada=1] met [Bo=2]. [She=1] liked [him=2]. Bo knew [her=1].",
        "<1>Ada</1> met <2>Bo</2>. <1>She</1> liked <2>him</2>. Bo knew <1>her</1>.",
        "[Ada]PERSON_1 met [Bo]PERSON_2. [She]PERSON_1 liked [him]PERSON_2. Bo knew [her]PERSON_1.",
        "<chain id='1'>Ada, She, her</chain>\n<chain id='2'>Bo, him</chain>\n",
        "**Ada** met **Bo**. **She** [= Ada] liked **him** [= Bo]. Bo knew **her** [= Ada].",
        '{"b": 0, "s": "Ada", "k": 1}\n{"b": 8, "s": "Bo", "k": 2}\n{"b": 13, "s": "She", "k": 1}\n'
        '{"b": 23, "s": "him", "k": 2}\n{"b": 36, "s": "her", "k": 1}\n',
        '[["turn 1: Ada", "turn 2: She", "turn 3: her"], ["turn 1: Bo", "turn 2: him"]]',
        "A: Ada > She > her\nB: Bo > him\n",
        "- A: Ada | She | her\n- B: Bo | him\n",
        "A: Ada – She – her\nB: Bo – him\n",
        "・A：Ada（1文目）、She（2文目）、her（3文目）\n・B：Bo（1文目）、him（2文目）\n",
        "A ........ Ada, She, her\nB ........ Bo, him\n",
        "A = Ada / She / her\nB = Bo / him\n",
        "chains:\n  - name: x\n    mentions:\n      1: [Ada]   # first\n      2: [She]\n"
        "      3: [her]\n  - name: y\n    mentions:\n      1: [Bo]\n      2: [him]  # he\n",
        "第1句：Ada＝A；Bo＝B\n第2句：She＝A，him＝B\n第3句：（最后的）her＝A\n",
        "A: Ada, She, her\nB: Bo, him\nNote: met, liked, knew\n",
        '{"mentions": [{"id": 1, "text": "Ada"}, {"id": 2, "text": "Bo"}, {"id": 3, "text": "She"},'
        ' {"id": 4, "text": "him"}, {"id": 5, "text": "her"}], "clusters": [[1, 3, 5], [2, 4]]}',
        '{"mentions": [{"id": "a", "text": "Ada"}, {"id": "b", "text": "Bo"}, {"id": "c", "text": '
        '"She"}, {"id": "d", "text": "him"}, {"id": "e", "text": "her"}], "links": [["c", "a"], '
        '["d", "b"], ["e", "c"]]}',
        '{"mentions": [{"mention_id": 1, "text": "Ada"}, {"mention_id": 2, "text": "Bo"}, '
        '{"mention_id": 3, "text": "She"}, {"mention_id": 4, "text": "him"}, {"mention_id": 5, '
        '"text": "her"}], "links": [{"from": 3, "to": 1}, {"from": 4, "to": 2}, {"from": 5, '
        '"to": 3}]}',
        "people:\n  x:\n    type: PER\n    s_1: [Ada]\n    s_2: [She]\n    s_3: [her]\n"
        "  y:\n    type: PER\n    s_1: [Bo]\n    s_2: [him]\n",
        '## A\n- Ada\n- "*She* liked"\n- her\n\n## B\n- Bo\n- "liked *him*"\n',
        "[Ada](A) met [Bo](B). [She](A) liked [him](B). Bo knew [her](A).",
        "A\n├── S1  Ada\n├── S2  She\n└── S3  her\nB\n├── S1  Bo\n└── S2  him\n",
        "(Ada, She [liked him], her [knew])\n(Bo, him)\n",
        "A: *Ada* = *She* = *her* (knew her)\nB: *Bo* = *him* (liked him)\n",
        'Set:\n\t(2,1,[1,2]) -> (1,1,[1,2]), that is: "She" -> "Ada"\n'
        '\t(3,3,[3,4]) -> (1,1,[1,2]), that is: "her" -> "Ada"\n'
        'Set:\n\t(2,3,[3,4]) -> (1,3,[3,4]), that is: "him" -> "Bo"\n',
        '### 1. A\n- "**Ada**" – her name\n- "**She** liked" and "knew **her**"\n'
        '### 2. B\n- "**Bo**"\n- "liked **him**"\n',
        "S2  She (liked) → Ada (S1)\nS2  him → Bo (S1)\nS3  her (knew) → Ada (S1)\n",
        'A:\nAda ("Ada met") – She ("She liked") – her\nB:\nBo ("met Bo"), him\n',
        "id,frase,mencao,cadeia,tipo\n1,1,Ada,ADA,nome\n2,1,Bo,BO,nome\n3,2,She,ADA,pronome\n"
        "4,2,him,BO,pronome\n5,3,her,ADA,pronome\n",
        "".join(
            f"d   0   {number}   {word}   -   -   {tag}\n"
            for number, (word, tag) in enumerate(zip(WORDS, COLUMN, strict=True))
        ),
        "【Ada/A】 met 【Bo/B】. 【She/A】 liked 【him/B】. Bo knew 【her/A】.",
        "[Ada]ᵃ met [Bo]ᵇ. [She]ᵃ liked [him]ᵇ. Bo knew [her]ᵃ.",
        "She (2) <- Ada (1): pronoun\nhim (2) <- Bo (1): pronoun\nher (3) <- She (2): object\n",
        "| Pronoun | Where | Stands for |\n|---|---|---|\n| She | s. 2 | Ada |\n"
        "| him | s. 2 | Bo |\n| her | s. 3 | Ada |\n",
        "| Entity | Names | Descriptions | Pronouns |\n|---|---|---|---|\n"
        "| **A** | Ada (S1) | – | She (S2); her (S3) |\n| **B** | Bo (S1) | – | him (S2) |\n",
        "T1\tPER 0 0\tAda\nT2\tPER 2 2\tBo\nT3\tPER 4 4\tShe\nT4\tPER 6 6\thim\n"
        "T5\tPER 10 10\ther\n*\tCoref T1 T3 T5\n*\tCoref T2 T4\n",
        "T1 PER 0 0 Ada\nT2 PER 2 2 Bo\nT3 PER 4 4 She\nT4 PER 6 6 him\nT5 PER 10 10 her\n"
        "R1 Coref Arg1:T3 Arg2:T1\nR2 Coref Arg1:T4 Arg2:T2\nR3 Coref Arg1:T5 Arg2:T3\n",
    ],
)
def test_what_is_meant_is_read(answer):
    corpus = read(answer)
    entities = [{WORDS[m.start] for m in entity.mentions} for entity in corpus["d"].entities]
    assert sorted(map(sorted, entities)) == sorted(map(sorted, MEANT))
    assert corpus.ledger.documents[0].state == "read"
