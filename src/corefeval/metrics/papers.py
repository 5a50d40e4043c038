"""The declarations of the metrics that the papers on evaluation propose."""

from __future__ import annotations

from dataclasses import replace

from corefeval.metrics.declarations import SAME, TWINLESS, Declaration, Parameter

_CHEN_AND_NG = "Chen and Ng 2013"
_TUGGENER = "Tuggener 2014"

_WEIGHTS = (
    Parameter("name", 1.0, "the weight of a link with a name at either end", above=0),
    Parameter("nominal", 0.75, "the weight of a link with a nominal, but no name", above=0),
    Parameter("pronoun", 0.5, "the weight of a link between pronouns", above=0),
    Parameter("singleton", 1.0, "the weight of an entity of one mention", above=0),
    TWINLESS,
)
# A singleton may weigh 0 in metrics that only sum weights, but not where its weight is a divisor.
_SUMMED_WEIGHTS = tuple(
    replace(weight, above=-float("inf"), at_least=0) if weight.name == "singleton" else weight
    for weight in _WEIGHTS
)
_TREES = (
    "The weight of a link depends on its more informative end. The weight of an entity is that of "
    "its heaviest spanning tree, or the singleton weight; w(k, r) is the weight of the heaviest "
    "tree over the mentions that both share, or the singleton weight if both are the same single "
    "mention. The weight of a response entity is Σ w(k, r) plus the heaviest links that join its "
    "parts: its shares of key entities and its twinless mentions."
)
_LINGUISTIC_EDGES = (
    "If all weights are 1, every link counts the same.",
    "A pronoun may weigh more than a name; the trees are exact for any weights.",
    "Needs the kind of every mention: tags, a format that states it, or `--features FILE`.",
)

PAPERS = (
    Declaration(
        name="lmuc",
        title="LMUC",
        summary="MUC with weighted links: one to a name counts more than one between pronouns.",
        definition=f"{_TREES} Recall: Σ w(k, r) / Σ w(k); precision: Σ w(k, r) / Σ w(r).",
        reference=_CHEN_AND_NG,
        function="corefeval.metrics.linguistic:lmuc",
        parameters=_SUMMED_WEIGHTS,
        use="When a resolved pronoun is worth something only if it leads to a name.",
        edges=(
            *_LINGUISTIC_EDGES,
            "Unlike MUC, it counts singletons; with singleton=0 and all other weights 1 it is MUC.",
        ),
        needs=("kind",),
        levels=("document", "entity"),
    ),
    Declaration(
        name="lb3",
        title="LB³",
        summary="B³ with weighted links.",
        definition=(
            f"{_TREES} Recall: the mean of w(k, r) / w(k) over the key's mentions; precision: the "
            "mean of w(k, r) / w(r) over the response's. A mention that the other side lacks has 0."
        ),
        reference=_CHEN_AND_NG,
        function="corefeval.metrics.linguistic:lb3",
        aliases=("lbcub", "lb-cubed", "lb³"),
        parameters=_WEIGHTS,
        use="When mentions count, and those that lead to a name count more.",
        edges=(
            *_LINGUISTIC_EDGES,
            "A mention that is found but not linked to its entity earns nothing.",
        ),
        needs=("kind",),
        levels=("document", "entity", "mention"),
    ),
    Declaration(
        name="lceafm",
        title="LCEAFm",
        summary="CEAFm with weighted links.",
        definition=(
            f"{_TREES} Recall: Σ w(k, r) over the best alignment, divided by Σ w(k); for precision "
            "by Σ w(r)."
        ),
        reference=_CHEN_AND_NG,
        function="corefeval.metrics.linguistic:lceafm",
        aliases=("lceaf-m",),
        parameters=_SUMMED_WEIGHTS,
        use="When each entity must be found in one place, with its name.",
        edges=(*_LINGUISTIC_EDGES, "Slices are by document only, as for CEAF."),
        needs=("kind",),
    ),
    Declaration(
        name="lceafe",
        title="LCEAFe",
        summary="CEAFe with weighted links.",
        definition=(
            f"{_TREES} Recall: Σ 2w(k, r) / (w(k) + w(r)) over the best alignment, divided by the "
            "number of key entities; for precision by that of response entities."
        ),
        reference=_CHEN_AND_NG,
        function="corefeval.metrics.linguistic:lceafe",
        aliases=("lceaf-e",),
        parameters=_WEIGHTS,
        use="When each entity weighs the same and must be found with its name.",
        edges=(*_LINGUISTIC_EDGES, "Slices are by document only, as for CEAF."),
        needs=("kind",),
    ),
    Declaration(
        name="immediate",
        title="Immediate",
        summary="Does each mention follow the right one in its chain? For sequences of mentions.",
        definition=(
            "A key mention that is not the first of its entity is fn (false negative) if the "
            "response lacks it or has it first, tp (true positive) if the mention before it is the "
            "same, else wl (wrong linkage). fp (false positives) are response mentions that are "
            "not the first of their entity, and that the key lacks or has first. "
            "R = tp / (tp + wl + fn), P = tp / (tp + wl + fp), accuracy = tp / (tp + wl)."
        ),
        reference=f"{_TUGGENER}, Table 1",
        shape="antecedents",
        function="corefeval.metrics.mentions:immediate",
        aliases=("immediate-antecedents", "arcs-immediate"),
        parameters=(
            Parameter(
                "chains",
                "all",
                "all key chains, or, as in the author's program, without chains that have no noun "
                "and without pronouns that have no noun before them",
                choices=("all", "nominal"),
            ),
        ),
        use="For models of discourse: entity grids, event chains, anything that follows an entity.",
        edges=(
            "A link that skips a mention of the right chain is wrong linkage.",
            "Singletons take no part.",
        ),
        levels=("document", "entity", "mention"),
    ),
    Declaration(
        name="inferred",
        title="Inferred",
        summary="Is the closest noun before a mention of the right entity? For reading pronouns.",
        definition=(
            "Like immediate, but the closest noun before a mention in its response chain must be "
            "in its key chain. A mention is a noun if it has more than one token or a noun tag. "
            "Key chains without a noun are skipped, and so are pronouns with no noun before them. "
            "A response mention that the key lacks is fp if its chain has a noun. A mention with "
            "a noun before it in the response, but not in the key, is wl (wrong linkage)."
        ),
        reference=f"{_TUGGENER}, Section 3.2",
        shape="antecedents",
        function="corefeval.metrics.mentions:inferred",
        aliases=("inferred-antecedents", "arcs-inferred"),
        parameters=(
            Parameter(
                "spurious",
                "wl",
                "how a mention counts that has a noun before it in the response but not in the "
                "key: as wl, as for the paper's Table 3; as fp, as in the author's later "
                "program; or by the letter of the paper's formula",
                choices=("wl", "fp", "formula"),
            ),
        ),
        use="For summaries and translation: whatever replaces a pronoun by what it stands for.",
        edges=(
            "Chains without a noun tell a reader nothing and are not counted.",
            "Each wl that is found among the response's mentions also counts in the denominator "
            "of recall, so spurious links cost recall, and a key singleton counts as a key "
            "mention.",
            "Needs to know which mentions are nouns: tags, a format that states it, or "
            "`--features FILE`.",
        ),
        needs=("noun",),
        levels=("document", "entity", "mention"),
    ),
    Declaration(
        name="zero",
        title="Zero",
        summary="Are zeros (empty nodes) put into the right entity? Counted zero by zero.",
        definition=(
            "Counts every zero of the key that is not the first mention of its entity. Its match "
            "in the response is tp if its response entity has another mention of its key entity "
            "that comes before it, else wl (wrong linkage). It is fn if it has no match, or if the "
            "match is the first mention of its entity. A response zero that is not the first of "
            "its entity is fp if it matches no such zero. Recall: tp / (tp + wl + fn); precision: "
            "tp / (tp + wl + fp)."
        ),
        reference=f"{_TUGGENER}; Žabokrtský et al. 2022",
        shape="antecedents",
        function="corefeval.metrics.mentions:zero",
        aliases=("zeros", "zero-anaphora"),
        use="For languages that drop pronouns, next to scores of all mentions.",
        edges=(
            "Without zeros the score is 0.",
            "A zero is a mention whose head is an empty node, whatever else is in it.",
            "The match need not be a zero itself.",
        ),
        needs=("zero",),
        levels=("document", "entity", "mention"),
    ),
    Declaration(
        name="anchors",
        title="Anchors",
        summary="Can an entity be looked up by its first noun, and what is found with it?",
        definition=(
            "An entity's anchor is its first noun. Detection: tp if a key entity's anchor is in a "
            "response entity, else fn; fp for each response entity whose own anchor is in no key "
            "entity. Mentions, over the pairs of entities aligned in this way: tp = |k ∩ r|, fn = "
            "|k − r|, fp = |r − k|. The score is Fφ, the harmonic mean of the two F1."
        ),
        reference=f"{_TUGGENER}, Table 2",
        shape="anchors",
        function="corefeval.metrics.mentions:anchors",
        aliases=("anchor", "anchor-mentions", "arcs-anchors"),
        use="For search, sentiment and knowledge bases: all contexts of one entity.",
        edges=(
            "Entities without a noun and singletons are left out.",
            "Mentions are compared only for entities that were detected, so read both parts.",
            "Needs to know which mentions are nouns: tags, a format that states it, or "
            "`--features FILE`.",
        ),
        needs=("noun",),
        levels=("document", "entity"),
    ),
    Declaration(
        name="p-link",
        title="p-link",
        summary="MUC's links divided among mentions: which kind do the errors come from?",
        definition=(
            "Links are between consecutive mentions of a chain; each gives half a point to the "
            "category of each of its ends. Recall of a category: its points from links inside the "
            "parts of key entities / its points from all links of key entities. With half a point "
            "for each end, all categories together add up to MUC."
        ),
        reference="Zeldes and Simonson 2016",
        function="corefeval.metrics.coreference:p_link",
        aliases=("plink", "partitioned-link"),
        parameters=(
            Parameter(
                "by",
                "auto",
                "the feature that gives a mention's category; by default the first feature of "
                "`--by`, else kind",
                is_feature=True,
            ),
            Parameter("anaphor", 0.5, "what the later end of a link earns", at_least=0),
            Parameter("antecedent", 0.5, "what the earlier end earns", at_least=0),
        ),
        use="To find out where a system fails: by kind, sentence type, speaker, genre, anything.",
        edges=(
            "If both ends of a link are of one category, it earns the whole point.",
            "Singletons have no links.",
        ),
        levels=("document", "entity", "mention"),
    ),
    Declaration(
        name="split",
        title="Split",
        summary="Sets of antecedents alone: does *they* stand for the right two people?",
        definition=(
            "A metric compares two sets, one of each side, as if the entities in them were all "
            "there is. Sets are aligned one to one so that the sum of these F1 is greatest. "
            "Recall: what the metric counts in aligned sets / what it can count in all sets of "
            "the key. With muc, an element of one mention counts as one link."
        ),
        reference="Yu et al. 2021; Paun et al. 2023",
        function="corefeval.metrics.anaphora:split",
        with_sets=SAME,
        beyond=True,
        aliases=("split-antecedents", "split-antecedent"),
        parameters=(
            Parameter(
                "metric",
                "muc",
                "the metric by which sets are compared",
                choices=("muc", "b3", "ceafm", "ceafe", "lea", "blanc"),
                shapes=(("blanc", "blanc-of-both"),),
            ),
        ),
        use="Next to scores with `--split score`, where sets are few among many mentions.",
        edges=(
            "It does not depend on the choice `split`, nor on which mentions refer to a set.",
            "Without sets the score is 0.",
            "Several alignments can be equally good, so slices are by document only.",
        ),
    ),
    Declaration(
        name="bridging",
        title="Bridging",
        summary="Does *the door* belong to the right house?",
        definition=(
            "Recall: anaphors of the key that the response has, with the right antecedent / "
            "anaphors of the key. The level decides which antecedent is right. `anaphor`: any; "
            "`mention`: one that the key has for the anaphor; `entity`: also any other key "
            "mention of the same entity as such an antecedent."
        ),
        reference="Yu et al. 2022",
        function="corefeval.metrics.anaphora:bridging",
        with_sets=SAME,
        beyond=True,
        parameters=(
            Parameter(
                "level", "entity", "what must be right", choices=("anaphor", "mention", "entity")
            ),
            Parameter(
                "typed",
                "false",
                "whether the relation must be the same, too",
                choices=("false", "true"),
            ),
        ),
        use=(
            "For corpora with bridging (Universal Anaphora, CorefUD's `Bridge`); the main score "
            "of CODI-CRAC is the F1 of `entity`. `--by relation` shows it for each relation."
        ),
        edges=(
            "Anaphors and antecedents match as mentions do (`--match`); they may also be dropped "
            "singletons, or mentions that refer to nothing, for which only the same mention is "
            "right.",
            "If the key has several antecedents, any will do; if the response has several, all "
            "must be right.",
            "If a format names only the antecedent's entity, the antecedent is the entity's last "
            "mention that starts before the anaphor, or else its first.",
            "Without bridging in key or response the score is 0.",
        ),
        levels=("document", "mention"),
    ),
    Declaration(
        name="non-referring",
        title="Non-referring",
        summary="Was it seen that *it* refers to nothing, as in *it rains*?",
        definition=(
            "Recall: mentions that refer to nothing on both sides / those that refer to nothing "
            "in the key."
        ),
        reference="Yu et al. 2022",
        function="corefeval.metrics.anaphora:refers_not",
        with_sets=SAME,
        beyond=True,
        aliases=("nonreferring", "non-referring-mentions"),
        use="For keys that mark expletives and the like, as Universal Anaphora's do.",
        edges=(
            "Such mentions never take part in coreference: a response that makes an expletive a "
            "singleton loses points in coreference scores, one that leaves it out loses them only "
            "here.",
            "Without such mentions in key or response the score is 0.",
        ),
        levels=("document", "mention"),
    ),
)
