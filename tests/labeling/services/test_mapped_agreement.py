"""Agreement in the words of a later version, and over several rounds."""

import pytest

from labeling.errors import InvalidInputError, RoundStateError
from labeling.models import AgreementReport, CategoryMapping, Codebook, Round
from labeling.services.agreement import pooled_agreement, report_of, store_agreement
from tests.factories import make_codebook, make_study
from tests.labeling.closing import close, coded_round

pytestmark = pytest.mark.django_db

FOUR = {"ada": ["crash", "crash", "hang", "warning"], "ben": ["hang", "crash", "hang", "crash"]}


def next_version(study, **acts) -> Codebook:
    """Freeze a version in which some categories of ``symptom`` went elsewhere (None: nowhere)."""
    first = study.codebooks.latest("version")
    second = make_codebook(study)
    second.dimensions.exclude(key="symptom").delete()
    old, new = first.dimensions.get().categories, second.dimensions.get().categories
    for code, target in acts.items():
        CategoryMapping.objects.create(
            from_codebook=first,
            to_codebook=second,
            dimension="symptom",
            from_concept=old.get(code=code).concept,
            to_concept=new.get(code=target).concept if target else None,
            act="merge" if target else "split",
        )
        new.get(code=code).delete()
    return second


def test_merged_categories_agree_in_the_later_version():
    coding_round = close(coded_round(FOUR))
    next_version(coding_round.study, hang="crash")
    mapped = report_of(coding_round, to_version=2)
    assert mapped.kind == AgreementReport.Kind.MAPPED
    (symptom,) = mapped.payload["dimensions"]
    assert symptom["observed"]["value"] == 0.75
    assert "hang" not in {row["category"] for row in symptom["categories"]}
    assert store_agreement(coding_round).payload["dimensions"][0]["observed"]["value"] == 0.5


def test_a_value_without_target_is_missing_with_the_act_as_reason():
    coding_round = close(coded_round(FOUR))
    next_version(coding_round.study, hang=None)
    (symptom,) = report_of(coding_round, to_version=2).payload["dimensions"]
    assert symptom["n_both"] == 2
    assert symptom["left_out"] == {"split": 2}


def test_versions_compose():
    coding_round = close(coded_round(FOUR))
    next_version(coding_round.study, hang="crash")
    next_version(coding_round.study, warning="crash")
    (symptom,) = report_of(coding_round, to_version=3).payload["dimensions"]
    assert symptom["observed"]["value"] == 1


def test_the_rounds_own_version_is_the_report_as_coded():
    coding_round = close(coded_round(FOUR))
    assert report_of(coding_round, to_version=1) == store_agreement(coding_round)
    with pytest.raises(InvalidInputError):
        report_of(coding_round, to_version=9)


def test_a_later_mapped_report_is_computed_once():
    coding_round = close(coded_round(FOUR))
    next_version(coding_round.study, hang="crash")
    assert report_of(coding_round, to_version=2) == report_of(coding_round, to_version=2)


# Pooled


def test_rounds_are_pooled_with_each_unit_once():
    first = close(coded_round(FOUR))
    units = [each.unit for each in first.round_units.order_by("pk")]
    again = {"ada": ["crash"], "ben": ["crash"]}
    close(coded_round(again, study=first.study, units=units[:1]))
    pooled = pooled_agreement(first.study)
    assert pooled["rounds"] == [1, 2]
    (symptom,) = pooled["dimensions"]
    assert symptom["n_units"] == 4
    assert symptom["observed"]["value"] == 0.75
    assert pooled_agreement(first.study, [1])["dimensions"][0]["observed"]["value"] == 0.5


def test_other_coders_make_alpha_the_headline():
    first = close(coded_round(FOUR))
    close(coded_round({"ada": ["crash"] * 2, "cleo": ["crash"] * 2}, study=first.study))
    (symptom,) = pooled_agreement(first.study)["dimensions"]
    assert symptom["headline"] == "krippendorff_alpha_nominal"
    assert len(symptom["coders"]) == 3


def test_values_are_pooled_in_the_words_of_the_newest_version():
    first = close(coded_round(FOUR))
    next_version(first.study, hang="crash")
    close(coded_round({"ada": ["crash"], "ben": ["crash"]}, study=first.study))
    pooled = pooled_agreement(first.study)
    assert pooled["kind"] == "mapped"
    assert pooled["dimensions"][0]["observed"]["value"] == 0.8


@pytest.mark.parametrize("fields", [{"kind": Round.Kind.PILOT}, {"after_unblinding": True}])
def test_pilots_and_rounds_after_unblinding_never_enter(fields):
    first = close(coded_round(FOUR))
    close(coded_round(FOUR, study=first.study, **fields))
    assert pooled_agreement(first.study)["rounds"] == [1]
    with pytest.raises(InvalidInputError):
        pooled_agreement(first.study, [1, 2])


def test_a_study_without_a_closed_main_round_has_nothing_to_pool():
    with pytest.raises(RoundStateError):
        pooled_agreement(make_study())
