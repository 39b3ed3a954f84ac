import itertools

import pytest

from labeling import codebooks as templates
from labeling.codebook_input import CategoryInput
from labeling.errors import CodebookError, InvalidInputError
from labeling.models import Category
from labeling.services.codebooks import assign_hotkeys, codebook_data, draft_or_current, freeze, save_draft
from tests.factories import assignment_of, lead_of, make_member, make_round, make_study, make_submission

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return make_study()


def body(*categories, **dimension):
    return {
        "dimensions": [
            {
                "key": "cause",
                "name": "Cause",
                "categories": [{"code": code, "name": code} for code in categories],
            }
            | dimension
        ]
    }


def save(study, data):
    return save_draft(study=study, data=data, by=lead_of(study))


@pytest.mark.parametrize("name", [each.name for each in templates.available()])
def test_every_template_comes_back_as_it_was_written(study, name):
    wanted = templates.load(name)["dimensions"]
    got = codebook_data(save(study, templates.load(name)))["dimensions"]
    assert [each["key"] for each in got] == [each["key"] for each in wanted]
    for mine, theirs in zip(got, wanted, strict=True):
        assert mine["asked_if"] == theirs["asked_if"]
        assert {each["code"]: each["parent"] for each in mine["categories"]} == {
            each["code"]: each["parent"] for each in theirs["categories"]
        }


def test_what_was_read_can_be_written_again_without_a_change(study):
    first = codebook_data(save(study, templates.load("gpu-kernel-libraries")))
    assert codebook_data(save(study, first)) == first


def test_the_code_keeps_the_concept_and_the_concept_survives_a_new_code(study):
    save(study, body("api", "config"))
    concepts = dict(Category.objects.values_list("code", "concept"))
    renamed = body("api", "config")
    renamed["dimensions"][0]["categories"][1] |= {"code": "settings", "concept": str(concepts["config"])}
    save(study, renamed)
    assert dict(Category.objects.values_list("code", "concept")) == {
        "api": concepts["api"],
        "settings": concepts["config"],
    }


def test_a_frozen_version_stays_and_the_next_change_makes_a_draft(study):
    save(study, body("api"))
    first = freeze(study=study, by=lead_of(study), note="pilot")
    draft = save(study, body("api", "config"))
    assert (first.version, draft.version, draft.frozen_at) == (1, 2, None)
    assert list(first.dimensions.get().categories.values_list("code", flat=True)) == ["api"]
    assert draft_or_current(study) == draft


def test_a_codebook_without_categories_cannot_be_frozen(study):
    for data in ({"dimensions": []}, body()):
        save(study, data)
        with pytest.raises(CodebookError, match="Add"):
            freeze(study=study, by=lead_of(study))


def test_the_kind_of_a_coded_dimension_is_fixed(study):
    ada, ben = make_member(study), make_member(study)
    coding_round = make_round(study, state="open", coders=[ada, ben])
    make_submission(assignment_of(coding_round, ada))
    with pytest.raises(CodebookError, match="new key"):
        save(study, body("api", kind="multiple"))


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ({}, "dimensions"),
        ({"dimensions": "x"}, "dimensions"),
        (body("a/b"), "dimensions[0].categories[0].code"),
        (body("a|b"), "dimensions[0].categories[0].code"),
        (body("unclear"), "dimensions[0].categories[0].code"),
        (body("a", "a"), "dimensions[0].categories[1].code"),
        (body("a", key="_unit"), "dimensions[0].key"),
        (body("a", kind="scale"), "dimensions[0].kind"),
        (body("a", asked_if={"dimension": "later", "any_of": ["x"]}), "dimensions[0].asked_if"),
        (body("a", asked_if="symptom"), "dimensions[0].asked_if"),
        (body("a", required="yes"), "dimensions[0].required"),
        (body("a", order=-1), "dimensions[0].order"),
        (body("a", name=7), "dimensions[0].name"),
        (body(categories=[{"code": "a", "parent": "b"}]), "dimensions[0].categories[0].parent"),
        (body(categories=[{"code": "a", "parent": "a"}]), "dimensions[0].categories[0].parent"),
        (body(categories=[{"code": "a", "concept": "1"}]), "dimensions[0].categories[0].concept"),
        (body(categories=[{"code": "a", "hotkey": "1"}]), "dimensions[0].categories[0].hotkey"),
        (body(categories=[{"code": "a", "name": "nul \0"}]), "dimensions[0].categories[0].name"),
    ],
)
def test_every_mistake_is_named_at_its_place(study, data, place):
    with pytest.raises(InvalidInputError) as refused:
        save(study, data)
    assert place in refused.value.errors
    assert not study.codebooks.exists()


def test_hotkeys_are_unique_and_none_starts_another():
    for size in (1, 26, 27, 60):
        keys = assign_hotkeys([CategoryInput(code=f"c{n}", name=f"category {n}") for n in range(size)])
        assert len(set(keys.values())) == size
        values = sorted(keys.values())
        assert not any(later.startswith(key) for key, later in itertools.pairwise(values))


def test_headings_get_no_hotkey_and_given_ones_are_kept():
    keys = assign_hotkeys(
        [
            CategoryInput(code="memory", name="Memory"),
            CategoryInput(code="leak", name="Leak", parent="memory", hotkey="m"),
            CategoryInput(code="oom", name="Out of memory", parent="memory"),
        ]
    )
    assert keys == {"leak": "m", "oom": "o"}
