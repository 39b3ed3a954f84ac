"""Pages of the codebook: reading versions, writing the draft."""

import pytest
from django.urls import reverse

from labeling.models import Category, Role
from labeling.services.codebooks import draft_or_current
from tests.factories import (
    lead_of,
    make_codebook,
    make_dimension,
    make_issue,
    make_member,
    make_study,
    make_user,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def lead(client, study):
    client.force_login(lead_of(study).user)
    return client


def address(name, study, *parts):
    return reverse(f"labeling:codebook-{name}", args=[study.slug, *parts])


def concept_of(study, code):
    draft = draft_or_current(study)
    return Category.objects.get(dimension__codebook=draft, code=code).concept


def codes(study, key):
    draft = draft_or_current(study)
    return [each.code for each in draft.dimensions.get(key=key).categories.order_by("order")]


def test_a_coder_reads_frozen_versions_only(client, study):
    make_codebook(study)
    draft = make_codebook(study, frozen=False)
    draft.dimensions.filter(key="cause").update(name="Unfinished thought")
    client.force_login(make_member(study).user)
    page = client.get(address("detail", study))
    assert "Codebook v1" in page.text
    assert "Unfinished thought" not in page.text
    assert client.get(address("detail", study), {"version": 2}).status_code == 404
    assert client.get(address("detail", study), {"version": 1}).status_code == 200


def test_the_page_says_everything_a_category_means(lead, study):
    codebook = make_codebook(study)
    Category.objects.filter(dimension__codebook=codebook, code="crash").update(
        include="Aborts.", exclude="Hangs are hang.", precedence="Beats warning.", examples=["SIGSEGV <1>"]
    )
    text = lead.get(address("detail", study)).text
    for said in ("What crash means.", "Aborts.", "Hangs are hang.", "Beats warning.", "SIGSEGV &lt;1&gt;"):
        assert said in text


def test_an_example_links_the_unit_it_names_for_who_may_look_at_it(client, lead, study):
    issue = make_issue(study, number=17)
    Category.objects.filter(dimension__codebook=make_codebook(study), code="crash").update(
        examples=["see Octo/Spoon#17 & <others>, not octo/spoon#99"]
    )
    page = reverse("labeling:issue-detail", args=[study.slug, issue.pk])
    linked = f'see <a href="{page}">Octo/Spoon#17</a> &amp; &lt;others&gt;, not octo/spoon#99'
    assert linked in lead.get(address("detail", study)).text
    client.force_login(make_member(study).user)
    assert "see Octo/Spoon#17 &amp; &lt;others&gt;" in client.get(address("detail", study)).text


def test_a_coder_hears_that_nothing_is_frozen(client, study):
    make_codebook(study, frozen=False)
    client.force_login(make_member(study).user)
    assert "still being written" in client.get(address("detail", study)).text


@pytest.mark.parametrize("role", [Role.CODER, Role.ADJUDICATOR, Role.OBSERVER])
def test_only_a_lead_writes(client, study, role):
    make_codebook(study, frozen=False)
    client.force_login(make_member(study, role=role).user)
    assert client.get(address("edit", study)).status_code == 403
    assert client.get(address("dimension", study, "cause")).status_code == 403
    for name in ("freeze", "template", "dimension-move"):
        assert client.post(address(name, study)).status_code == 403
    assert client.post(address("dimension-remove", study, "cause")).status_code == 403


def test_an_outsider_learns_nothing(client, study):
    client.force_login(make_user())
    assert client.get(address("detail", study)).status_code == 404
    assert client.get(address("edit", study)).status_code == 404


def test_a_codebook_grows_from_nothing(lead, study):
    added = lead.post(address("edit", study), {"name": "Root cause", "kind": "single"})
    assert added.url == address("dimension", study, "root-cause")
    for name, parent in (("Logic", ""), ("Off by one", "logic")):
        answer = lead.post(
            address("category-add", study, "root-cause"), {"name": name, "parent": parent, "definition": "x"}
        )
        assert answer.status_code == 302
    assert codes(study, "root-cause") == ["logic", "off-by-one"]
    assert "Off by one" in lead.get(address("dimension", study, "root-cause")).text


def test_a_dimension_that_is_there_already_is_refused_on_the_page(lead, study):
    make_codebook(study, frozen=False)
    answer = lead.post(address("edit", study), {"name": "Cause", "kind": "single"})
    assert answer.status_code == 422
    assert "stands twice" in answer.text


def test_the_first_change_starts_the_draft_of_the_next_version(lead, study):
    frozen = make_codebook(study)
    answer = lead.post(address("category-add", study, "cause"), {"name": "Race", "parent": ""})
    assert answer.status_code == 302
    assert draft_or_current(study).version == frozen.version + 1
    assert not Category.objects.filter(dimension__codebook=frozen, code="race").exists()


def test_a_dimension_is_changed_and_asked_only_after_some_answers(lead, study):
    make_codebook(study, frozen=False)
    answer = lead.post(
        address("dimension", study, "cause"),
        {
            "name": "Origin",
            "key": "origin",
            "question": "Where from?",
            "kind": "multiple",
            "allow_unclear": "on",
            "asked_if": ["symptom/crash", "symptom/hang"],
        },
    )
    assert answer.url == address("dimension", study, "origin")
    row = draft_or_current(study).dimensions.get(key="origin")
    assert (row.name, row.kind, row.required, row.allow_not_applicable) == (
        "Origin",
        "multiple",
        False,
        False,
    )
    assert row.asked_if == {"dimension": "symptom", "any_of": ["crash", "hang"]}
    page = lead.get(address("dimension", study, "origin")).text
    assert 'value="symptom/crash" checked' in page


def test_a_condition_names_one_dimension(lead, study):
    make_codebook(study, frozen=False)
    fields = {"name": "Fix", "key": "fix", "kind": "multiple", "asked_if": ["symptom/crash", "cause/logic"]}
    answer = lead.post(address("dimension", study, "fix"), fields)
    assert answer.status_code == 422
    assert "one earlier dimension" in answer.text


def test_a_bad_key_is_told_at_its_field(lead, study):
    make_codebook(study, frozen=False)
    answer = lead.post(address("dimension", study, "cause"), {"name": "C", "key": "a b", "kind": "single"})
    assert answer.status_code == 422
    assert "letters, digits and hyphens" in answer.context["form"].errors["key"][0]


def test_the_key_of_a_frozen_dimension_stays(lead, study):
    make_codebook(study)
    lead.post(address("dimension", study, "cause"), {"name": "Origin", "key": "origin", "kind": "single"})
    assert draft_or_current(study).dimensions.get(name="Origin").key == "cause"


def test_a_category_is_changed_with_its_identity_kept(lead, study):
    make_codebook(study, frozen=False)
    concept = concept_of(study, "config")
    answer = lead.post(
        address("category", study, "cause", concept),
        {"name": "Set-up", "code": "set-up", "parent": "logic", "hotkey": "Z", "examples": "one\n\n two "},
    )
    assert answer.status_code == 302
    row = Category.objects.get(dimension__codebook=draft_or_current(study), concept=concept)
    assert (row.code, row.parent.code, row.hotkey, row.examples) == ("set-up", "logic", "z", ["one", "two"])


def test_a_reserved_code_and_a_taken_key_are_told_at_their_fields(lead, study):
    codebook = make_codebook(study, frozen=False)
    codebook.dimensions.get(key="cause").categories.filter(code="logic").update(hotkey="l")
    fields = {"name": "Config", "code": "unclear", "parent": "", "hotkey": "l"}
    answer = lead.post(address("category", study, "cause", concept_of(study, "config")), fields)
    assert answer.status_code == 422
    errors = answer.context["form"].errors
    assert "reserved state" in errors["code"][0]
    assert "taken" in errors["hotkey"][0]


def test_a_category_cannot_stand_below_what_is_below_it(lead, study):
    make_codebook(study, frozen=False)
    fields = {"name": "Runtime", "code": "runtime", "parent": "crash"}
    answer = lead.post(address("category", study, "symptom", concept_of(study, "runtime")), fields)
    assert answer.status_code == 422
    assert "parent" in answer.context["form"].errors


def test_categories_move_and_the_part_is_swapped(lead, study):
    make_codebook(study, frozen=False)
    answer = lead.post(
        address("category-move", study, "cause"),
        {"down": str(concept_of(study, "logic"))},
        headers={"HX-Request": "true"},
        follow=True,
    )
    assert codes(study, "cause") == ["api-misuse", "logic", "config"]
    assert answer.text.lstrip().startswith('<form class="card" id="categories"')


def test_a_dimension_does_not_move_before_the_one_it_depends_on(lead, study):
    codebook = make_codebook(study, frozen=False)
    codebook.dimensions.filter(key="cause").update(asked_if={"dimension": "symptom", "any_of": ["crash"]})
    answer = lead.post(address("dimension-move", study), {"up": "cause"}, follow=True)
    assert "no earlier dimension" in answer.text
    swapped = lead.post(address("dimension-move", study), {"up": "cause"}, headers={"HX-Request": "true"})
    assert swapped.headers["HX-Refresh"] == "true"
    assert [each.key for each in draft_or_current(study).dimensions.all()] == ["symptom", "cause", "fix"]


def test_a_move_without_a_direction_is_not_found(lead, study):
    make_codebook(study, frozen=False)
    assert lead.post(address("dimension-move", study), {"left": "cause"}).status_code == 404


def test_a_frozen_category_is_archived_and_not_removed(lead, study):
    make_codebook(study)
    concept = concept_of(study, "logic")
    answer = lead.post(address("category-remove", study, "cause", concept), follow=True)
    assert "Archive it instead" in answer.text
    page = lead.get(address("category", study, "cause", concept)).text
    assert address("act-archive", study, "cause", concept) in page
    assert 'name="archived"' not in page


def test_a_category_named_like_another_is_added_only_on_demand(lead, study):
    make_codebook(study, frozen=False)
    fields = {"name": "API-misuses", "parent": ""}
    answer = lead.post(address("category-add", study, "cause"), fields)
    assert answer.status_code == 422
    assert "easily taken for Api misuse" in answer.text
    assert "Add it all the same" in answer.text
    assert (
        lead.post(address("category-add", study, "cause"), fields | {"all_the_same": "on"}).status_code == 302
    )


def test_a_new_category_is_removed(lead, study):
    make_codebook(study, frozen=False)
    lead.post(address("category-remove", study, "cause", concept_of(study, "logic")))
    assert codes(study, "cause") == ["api-misuse", "config"]


def test_a_dimension_is_removed_unless_another_depends_on_it(lead, study):
    codebook = make_codebook(study, frozen=False)
    codebook.dimensions.filter(key="cause").update(asked_if={"dimension": "symptom", "any_of": ["crash"]})
    answer = lead.post(address("dimension-remove", study, "symptom"), follow=True)
    assert "no earlier dimension" in answer.text
    lead.post(address("dimension-remove", study, "cause"))
    assert [each.key for each in draft_or_current(study).dimensions.all()] == ["symptom", "fix"]


def test_a_template_is_added_beside_what_is_there(lead, study):
    codebook = make_codebook(study, frozen=False)
    answer = lead.post(address("template", study), {"template": "odc"}, follow=True)
    assert "The template was added." in answer.text
    keys = [each.key for each in draft_or_current(study).dimensions.all()]
    assert keys[:3] == [each.key for each in codebook.dimensions.all()][:3]
    assert len(keys) > 3
    again = lead.post(address("template", study), {"template": "odc"}, follow=True)
    assert "was there already" in again.text


def test_an_unknown_template_is_refused(lead, study):
    assert lead.post(address("template", study), {"template": "../odc"}).status_code == 422


def test_the_draft_is_frozen_once(lead, study):
    make_codebook(study, frozen=False)
    answer = lead.post(address("freeze", study), {"note": "Ready."}, follow=True)
    assert "Version 1 is frozen" in answer.text
    assert "Ready." in answer.text
    again = lead.post(address("freeze", study), {"note": ""}, follow=True)
    assert "no draft to freeze" in again.text


def test_what_the_draft_does_not_have_is_not_found(lead, study):
    make_codebook(study, frozen=False)
    assert lead.get(address("dimension", study, "nope")).status_code == 404
    missing = "00000000-0000-4000-8000-000000000000"
    assert lead.get(address("category", study, "cause", missing)).status_code == 404


def test_reading_takes_the_same_number_of_queries_for_sixty_categories(
    lead, study, django_assert_max_num_queries
):
    codebook = make_codebook(study)
    make_dimension(codebook, "many", {f"heading-{n}": [f"leaf-{n}-{m}" for m in range(5)] for n in range(12)})
    with django_assert_max_num_queries(10):
        assert "Leaf 11 4" in lead.get(address("detail", study)).text
    with django_assert_max_num_queries(16):
        assert "Leaf 11 4" in lead.get(address("dimension", study, "many")).text


def test_a_window_that_is_behind_writes_nothing_over_what_was_saved_since(lead, study):
    make_codebook(study, frozen=False)
    where = address("category", study, "cause", concept_of(study, "config"))
    fields = {"name": "Config", "code": "config", "parent": "", "hotkey": ""}
    fields["started_from"] = lead.get(where).context["form"].started_from
    assert lead.post(where, fields | {"definition": "How it is set."}).status_code == 302
    late = lead.post(where, fields | {"include": "Flags"})
    assert late.status_code == 422
    assert "Stored now: How it is set." in late.text
    assert "Flags" in late.text
    fields["started_from"] = late.context["form"].started_from
    again = fields | {"definition": "How it is set.", "include": "Flags"}
    assert lead.post(where, again).status_code == 302
    row = Category.objects.get(dimension__codebook=draft_or_current(study), code="config")
    assert (row.definition, row.include) == ("How it is set.", "Flags")


def test_a_category_is_not_called_as_another_one_of_its_dimension(lead, study):
    make_codebook(study, frozen=False)
    fields = {"name": "LOGIC", "code": "config", "parent": "", "hotkey": ""}
    answer = lead.post(address("category", study, "cause", concept_of(study, "config")), fields)
    assert "Another category is called LOGIC." in answer.context["form"].errors["name"][0]
