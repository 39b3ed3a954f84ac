import pytest

from labeling.errors import InvalidInputError, StudyRuleError
from labeling.models import CorpusRule, Role, Study
from labeling.services.codebooks import codebook_data, draft_or_current, freeze
from labeling.services.studies import create_study, delete_study, restore_study, update_study
from tests.factories import lead_of, make_member, make_round, make_study, make_user

pytestmark = pytest.mark.django_db


def test_who_makes_a_study_leads_it():
    user = make_user()
    study = create_study(title="Kernel bugs", by=user)
    member = study.memberships.get()
    assert (member.user, member.role, member.number) == (user, Role.LEAD, 1)
    assert study.slug == "kernel-bugs"


def test_a_second_study_of_the_same_title_gets_another_slug():
    slugs = [create_study(title="Kernel bugs", by=make_user()).slug for _ in range(3)]
    assert slugs == ["kernel-bugs", "kernel-bugs-2", "kernel-bugs-3"]


def test_titles_without_letters_and_reserved_words_still_get_an_address():
    assert create_study(title="問題", by=make_user()).slug == "study"
    assert create_study(title="New", by=make_user()).slug == "new-2"


@pytest.mark.parametrize("slug", ["Has Space", "UPPER", "new", "x" * 61])
def test_a_bad_slug_is_refused_with_an_example(slug):
    with pytest.raises(InvalidInputError, match="for example llm-failures"):
        create_study(title="T", slug=slug, by=make_user())


def test_a_template_gives_the_first_draft():
    study = create_study(title="T", by=make_user(), template="llm-training-systems")
    draft = draft_or_current(study)
    assert draft.frozen_at is None
    assert {"symptom", "root-cause", "fix"} <= set(draft.dimensions.values_list("key", flat=True))
    with pytest.raises(InvalidInputError, match="no codebook template"):
        create_study(title="T", by=make_user(), template="nope")


def test_a_copied_design_keeps_settings_rules_and_concepts():
    source = create_study(title="First", by=make_user(), template="dl-compilers")
    update_study(study=source, by=lead_of(source), scale="mchugh", exclusion_reasons=["off topic"])
    CorpusRule.objects.create(
        study=source, version=3, position=0, field="state", op="is", value="closed", text="closed"
    )
    source.refresh_from_db()
    freeze(study=source, by=lead_of(source))
    make_round(source, kind="pilot", goal=0.7, masked_fields=["author"], instructions="Read the fix first.")
    copy = create_study(title="Second", by=make_user(), copy_of=source)
    planned = copy.rounds.get()
    assert (planned.kind, planned.state, planned.goal, planned.masked_fields) == (
        "pilot",
        "draft",
        0.7,
        ["author"],
    )
    assert not planned.coders.exists()
    assert not planned.round_units.exists()
    assert (copy.scale, copy.exclusion_reasons) == ("mchugh", ["off topic"])
    assert copy.corpus_rules.get().text == "closed"
    concepts = [
        [
            each["concept"]
            for dimension in codebook_data(draft_or_current(study))["dimensions"]
            for each in dimension["categories"]
        ]
        for study in (source, copy)
    ]
    assert concepts[0] == concepts[1]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"zone": "Mars/Olympus"}, "zone"),
        ({"unit_kinds": []}, "unit_kinds"),
        ({"unit_kinds": ["commit"]}, "unit_kinds"),
        ({"exclusion_reasons": ["a", "a"]}, "exclusion_reasons"),
        ({"exclusion_reasons": [""]}, "exclusion_reasons"),
        ({"scale": "mine"}, "scale"),
        ({"title": ""}, "title"),
        ({"slug": "other"}, "slug"),
    ],
)
def test_bad_settings_are_refused_by_field(fields, field):
    study = make_study()
    with pytest.raises(InvalidInputError) as refused:
        update_study(study=study, by=lead_of(study), **fields)
    assert set(refused.value.errors) == {field}


def test_how_states_count_is_fixed_once_a_round_opened():
    study = make_study()
    make_round(study, state="draft")
    update_study(study=study, by=lead_of(study), count_states="leave_out")
    make_round(study, state="open", coders=[make_member(study), make_member(study)])
    with pytest.raises(StudyRuleError, match="fixed once the first round was opened"):
        update_study(study=study, by=lead_of(study), count_states="category")


def test_a_deleted_study_is_hidden_and_can_be_brought_back_by_who_deleted_it():
    study = make_study()
    lead = lead_of(study)
    with pytest.raises(InvalidInputError, match=study.slug):
        delete_study(study=study, confirm="yes", by=lead)
    delete_study(study=study, confirm=study.slug, by=lead)
    assert not Study.objects.of_user(lead.user).exists()
    with pytest.raises(Study.DoesNotExist):
        restore_study(study=study, by=make_member(study, role=Role.LEAD).user)
    restore_study(study=study, by=lead.user)
    assert Study.objects.of_user(lead.user).get().purge_at is None


def test_freezing_what_is_frozen_is_refused():
    study = create_study(title="T", by=make_user(), template="odc")
    freeze(study=study, by=lead_of(study))
    with pytest.raises(StudyRuleError, match="frozen already"):
        freeze(study=study, by=lead_of(study))
