"""The declarations of the metrics that the papers on evaluation propose."""

from __future__ import annotations

from dataclasses import replace

from corefeval.metrics.declarations import SAME, TWINLESS, Declaration, Parameter

_CHEN_AND_NG = "Chen and Ng 2013"
_TUGGENER = "Tuggener 2014"

_WEIGHTS = (
    Parameter("name", 1.0, "what a link weighs that has a name at an end", above=0),
    Parameter("nominal", 0.75, "what it weighs with a nominal, but no name", above=0),
    Parameter("pronoun", 0.5, "what it weighs between pronouns", above=0),
    Parameter("singleton", 1.0, "what an entity of one mention weighs", above=0),
    TWINLESS,
)
# Sums of weights may have an entity that weighs nothing; what is divided by its weight may not.
_SUMMED_WEIGHTS = tuple(
    replace(one, above=-float("inf"), at_least=0) if one.name == "singleton" else one
    for one in _WEIGHTS
)
_TREES = (
    "A link weighs by its most informative end. An entity weighs as much as its heaviest "
    "spanning tree, or the singleton weight; w(k, r) is the tree over what both share, or the "
    "singleton weight where both are that one mention. A response entity weighs Σ w(k, r) and the "
    "heaviest links that join its parts: its shares of key entities and its twinless mentions."
)
_LINGUISTIC_EDGES = (
    "With all weights 1 every link is as good as another.",
    "Weights may come in any order; the trees are exact for all of them.",
    "Needs the kind of every mention: tags, a format that states it, or `--features FILE`.",
)

PAPERS = (
    Declaration(
        name="lmuc",
        title="LMUC",
        summary="MUC with links that weigh: finding the name counts more than two pronouns.",
        definition=f"{_TREES} Recall: Σ w(k, r) / Σ w(k); precision: Σ w(k, r) / Σ w(r).",
        reference=_CHEN_AND_NG,
        function="corefeval.metrics.linguistic:lmuc",
        parameters=_SUMMED_WEIGHTS,
        use="When a resolved pronoun is worth something only if it leads to a name.",
        edges=(
            *_LINGUISTIC_EDGES,
            "Unlike MUC it counts singletons; with singleton=0 and all else 1 it is MUC.",
        ),
        needs=("kind",),
        levels=("document", "entity"),
    ),
    Declaration(
        name="lb3",
        title="LB³",
        summary="B³ with links that weigh.",
        definition=(
            f"{_TREES} Recall: the mean of w(k, r) / w(k) over the key's mentions; precision: of "
            "w(k, r) / w(r) over the response's; 0 for a mention that the other side lacks."
        ),
        reference=_CHEN_AND_NG,
        function="corefeval.metrics.linguistic:lb3",
        aliases=("lbcub", "lb-cubed", "lb³"),
        parameters=_WEIGHTS,
        use="When mentions count, and those that lead to a name count more.",
        edges=(*_LINGUISTIC_EDGES, "A mention that is with itself alone earns nothing."),
        needs=("kind",),
        levels=("document", "entity", "mention"),
    ),
    Declaration(
        name="lceafm",
        title="LCEAFm",
        summary="CEAFm with links that weigh.",
        definition=(
            f"{_TREES} The best alignment's Σ w(k, r), over Σ w(k) for recall and Σ w(r) for "
            "precision."
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
        summary="CEAFe with links that weigh.",
        definition=(
            f"{_TREES} The best alignment's Σ 2w(k, r) / (w(k) + w(r)), over the number of key "
            "entities for recall and of response entities for precision."
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
        summary="Is the mention before it in its chain the right one? For sequences of mentions.",
        definition=(
            "A key mention that is not the first of its entity is fn (false negative) if the "
            "response lacks it or has it first, tp (true positive) if the mention before it is the "
            "same, else wl (wrong linkage). fp (false positives) are response mentions that are "
            "not the first of their entity, and that the key lacks or has first. "
            "R = tp / (tp + wl + fn), P = tp / (tp + wl + fp), accuracy = tp / (tp + wl)."
        ),
        reference=f"{_TUGGENER}, Table 1",
        shape="antecedents",
        function="corefeval.metrics.antecedents:immediate",
        aliases=("immediate-antecedents", "arcs-immediate"),
        parameters=(
            Parameter(
                "chains",
                "all",
                "all key chains, or as the author's program without chains that have no noun and "
                "pronouns that have none before them",
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
        summary="Does the closest noun before it name the right entity? For reading a pronoun.",
        definition=(
            "As immediate, but the closest noun before a mention in its response chain must be in "
            "its key chain. A mention is a noun when it has more than one token or a noun tag. "
            "Key chains without a noun are skipped, and pronouns without a noun before them. A "
            "response mention that the key lacks is fp, in a chain that has a noun; one that the "
            "key has with no noun before it, but the response with one, is wl (wrong linkage)."
        ),
        reference=f"{_TUGGENER}, Section 3.2",
        shape="antecedents",
        function="corefeval.metrics.antecedents:inferred",
        aliases=("inferred-antecedents", "arcs-inferred"),
        parameters=(
            Parameter(
                "spurious",
                "wl",
                "what a mention is that has a noun before it in the response and none in the key: "
                "wl as behind the paper's Table 3, fp as in the author's later program, or the "
                "paper's formula to the letter",
                choices=("wl", "fp", "formula"),
            ),
        ),
        use="For summaries and translation: whatever replaces a pronoun by what it stands for.",
        edges=(
            "Chains without a noun tell a reader nothing, and are not counted.",
            "wl that the response's loop finds counts in the denominator of recall too, so that "
            "spurious links cost recall, and a key singleton counts as a key mention.",
            "Needs to know what is a noun: tags, a format that states it, or `--features FILE`.",
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
        function="corefeval.metrics.antecedents:zero",
        aliases=("zeros", "zero-anaphora"),
        use="For languages that drop pronouns, beside scores of all mentions.",
        edges=(
            "Without zeros the score is 0.",
            "A zero is a mention whose head is an empty node, whatever else is in it.",
            "The match may be a mention that is no zero.",
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
            "entity. Mentions, over pairs aligned so: tp = |k ∩ r|, fn = |k − r|, fp = |r − k|. "
            "The score is Fφ, the harmonic mean of the two F1."
        ),
        reference=f"{_TUGGENER}, Table 2",
        shape="anchors",
        function="corefeval.metrics.antecedents:anchors",
        aliases=("anchor", "anchor-mentions", "arcs-anchors"),
        use="For search, sentiment and knowledge bases: all contexts of one entity.",
        edges=(
            "Entities without a noun and singletons are left out.",
            "Mentions are compared only for entities that were detected, so read both parts.",
            "Needs to know what is a noun: tags, a format that states it, or `--features FILE`.",
        ),
        needs=("noun",),
        levels=("document", "entity"),
    ),
    Declaration(
        name="p-link",
        title="p-link",
        summary="MUC's links shared out: which kind of mention do the errors come from?",
        definition=(
            "Links are between consecutive mentions of a chain; each gives half a point to the "
            "category of each of its ends. Recall of a category: its points from links inside "
            "the parts of key entities / its points from all links of key entities. With "
            "half a point for each end all categories together are MUC."
        ),
        reference="Zeldes and Simonson 2016",
        function="corefeval.metrics.links:p_link",
        aliases=("plink", "partitioned-link"),
        parameters=(
            Parameter(
                "by",
                "auto",
                "the feature that says a mention's category; by itself the first one that scores "
                "are asked for by, else kind",
                is_feature=True,
            ),
            Parameter("anaphor", 0.5, "what the later end of a link earns", at_least=0),
            Parameter("antecedent", 0.5, "what the earlier end earns", at_least=0),
        ),
        use="To find out where a system fails: by kind, sentence type, speaker, genre, anything.",
        edges=(
            "Both ends of a link may be of one category: then it earns the whole point.",
            "Singletons have no links.",
        ),
        levels=("document", "entity", "mention"),
    ),
    Declaration(
        name="split",
        title="Split",
        summary="Sets of antecedents alone: is *they* for the right two people?",
        definition=(
            "A set is compared with a set of the other side by a metric, applied to the entities "
            "that either consists of; sets are aligned one to one so that the F1 add up to most. "
            "Recall: what the metric counts in aligned sets / what all sets of the key have. With "
            "muc an element of one mention counts as one link."
        ),
        reference="Yu et al. 2021; Paun et al. 2023",
        function="corefeval.metrics.sets:split",
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
        use="Beside scores with `--split score`, in which sets are few among many mentions.",
        edges=(
            "It looks at sets whatever the choice `split` says; who refers to a set plays no role.",
            "Without sets the score is 0.",
            "The best alignment need not be the only one, so slices are by document only.",
        ),
    ),
    Declaration(
        name="bridging",
        title="Bridging",
        summary="Is *the door* that of the right house?",
        definition=(
            "Recall: anaphors of the key that the response has, with the right antecedent / "
            "anaphors of the key. `anaphor`: any antecedent is right; `mention`: one that the key "
            "has for it; `entity`: or another mention, in the key, of the entity of one of these."
        ),
        reference="Yu et al. 2022",
        function="corefeval.metrics.bridging:bridging",
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
            "For corpora with bridging (Universal Anaphora, CorefUD's `Bridge`); the headline of "
            "CODI-CRAC is the F1 of `entity`. `--by relation` has it for each relation."
        ),
        edges=(
            "Anaphors and antecedents match as mentions do (`--match`); they may be singletons "
            "that are dropped, and mentions that refer to nothing, which are right by themselves "
            "only.",
            "Of several antecedents in the key any will do; of several in the response all must "
            "be right.",
            "Where a format names the antecedent's entity alone, it is the last mention that "
            "starts before the anaphor, else the first.",
            "Without bridging in key or response the score is 0.",
        ),
        levels=("document", "mention"),
    ),
    Declaration(
        name="non-referring",
        title="Non-referring",
        summary="Was it seen that *it* refers to nothing, as in *it rains*?",
        definition=(
            "Recall: mentions that refer to nothing on both sides / those that do in the key."
        ),
        reference="Yu et al. 2022",
        function="corefeval.metrics.bridging:refers_not",
        with_sets=SAME,
        beyond=True,
        aliases=("nonreferring", "non-referring-mentions"),
        use="For keys that mark expletives and the like, as Universal Anaphora's do.",
        edges=(
            "They are never part of coreference: a response that makes an expletive a singleton "
            "pays there, one that leaves it out pays here alone.",
            "Without such mentions in key or response the score is 0.",
        ),
        levels=("document", "mention"),
    ),
)
