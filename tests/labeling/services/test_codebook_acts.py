"""Acts on the draft of a study with three closed rounds; agreement before and after, computed by hand."""

from functools import partial

import pytest

from labeling import codebook_acts as acts
from labeling.errors import CodebookError, InvalidInputError
from labeling.models import AgreementReport, Category, CategoryMapping, Codebook, CodebookAct, Round
from labeling.selectors.codebook_changes import version_changes
from labeling.services.agreement import report_of
from labeling.services.codebook_acts import last_act, perform, preview, preview_freeze, undo
from labeling.services.codebooks import codebook_data, draft_or_current, freeze, save_draft
from tests.factories import lead_of, make_codebook, make_study
from tests.labeling.closing import coded_round

pytestmark = pytest.mark.django_db

#: Three rounds of four units. Observed: 2/4, 3/4, 4/4.
FIRST = {"ada": ["crash", "crash", "hang", "warning"], "ben": ["hang", "crash", "hang", "crash"]}
SECOND = {"ada": ["crash", "hang", "hang", "warning"], "ben": ["hang", "hang", "hang", "warning"]}
THIRD = {"ada": ["wrong-output", "warning", "warning", "warning"]}
THIRD["ben"] = THIRD["ada"]


@pytest.fixture
def study():
    study = make_study()
    for answers in (FIRST, SECOND, THIRD):
        coded_round(answers, study=study, state=Round.State.CLOSED)
    return study


def lead(study):
    return lead_of(study)


def merge(*codes, into):
    return partial(acts.merge, dimension="symptom", categories=codes, into=into)


def split(code, *parts, **more):
    named = [{"name": each} for each in parts]
    return partial(acts.split, dimension="symptom", category=code, into=named, **more)


def act(kind, category_code, /, **asked):
    return partial(getattr(acts, kind), dimension="symptom", category=category_code, **asked)


def do(study, wanted):
    return perform(study=study, act=wanted, by=lead(study))[0]


def tried(study, wanted):
    return preview(study=study, act=wanted, by=lead(study))[1]


def mappings(draft):
    codes = dict(Category.objects.values_list("concept", "code"))
    rows = CategoryMapping.objects.filter(to_codebook=draft)
    return {codes[each.from_concept]: (each.act, codes.get(each.to_concept)) for each in rows}


def category(codebook, code):
    return Category.objects.get(dimension__codebook=codebook, code=code)


# What it would do


def test_a_merge_says_whose_answers_it_touches_and_what_agreement_becomes(study):
    impact = tried(study, merge("hang", into="crash"))
    # hang was said 3 times of 2 units in round 1 and 5 times of 3 units in round 2, never in round 3.
    assert [(each.round, each.units, each.annotations) for each in impact.rounds] == [(1, 2, 3), (2, 3, 5)]
    assert (impact.units, impact.annotations) == (5, 8)
    first, second = impact.agreement
    # Round 1: p_o = 2/4; p_e = (crash 2 x 2 + hang 1 x 2 + warning 1 x 0) / 16.
    assert first.before.value == pytest.approx((2 / 4 - 6 / 16) / (1 - 6 / 16))
    # Merged: ada crash 3, warning 1; ben crash 4: p_o = 3/4 = p_e.
    assert first.after.value == pytest.approx(0)
    # Round 2: crash 1 x 0, hang 2 x 3, warning 1 x 1: p_e = 7/16, p_o = 3/4. Merged: all the same.
    assert second.before.value == pytest.approx((3 / 4 - 7 / 16) / (1 - 7 / 16))
    assert second.after.value == pytest.approx(1)
    assert {each.before.statistic for each in impact.agreement} == {"cohen_kappa"}


def test_a_split_takes_its_answers_out_of_the_numbers(study):
    impact = tried(study, split("crash", "Segfault", "Abort"))
    first = impact.agreement[0]
    assert (first.before.n_both, first.after.n_both) == (4, 1)
    assert impact.rounds[0].annotations == 4
    # Round 2 is left with hang, hang and warning, alike; round 3 never said crash.
    second = impact.agreement[1]
    assert (second.round, second.after.n_both) == (2, 3)
    assert second.before.value == pytest.approx((3 / 4 - 7 / 16) / (1 - 7 / 16))
    assert second.after.value == pytest.approx(1)
    assert [each.round for each in impact.rounds] == [1, 2]


def test_a_rename_touches_answers_and_no_number(study):
    impact = tried(study, act("rename", "hang", name="Freeze"))
    assert impact.annotations == 8
    assert all(each.is_same for each in impact.agreement)


def test_trying_stores_nothing(study):
    before = codebook_data(draft_or_current(study))
    tried(study, merge("hang", into="crash"))
    assert codebook_data(draft_or_current(study)) == before
    assert not study.events.exclude(verb="round.first_read").exists()
    assert not AgreementReport.objects.exists()
    assert not CodebookAct.objects.exists()


def test_whoever_tried_has_read_the_rounds_that_are_touched(study):
    tried(study, merge("hang", into="crash"))
    assert [each.first_unblinded_read_at is not None for each in study.rounds.all()] == [True, True, False]


def test_nothing_is_said_of_an_open_round(study):
    coded_round({"ada": ["hang"] * 3, "ben": ["hang"] * 3}, study=study)
    assert [each.round for each in tried(study, merge("hang", into="crash")).rounds] == [1, 2]


def test_what_was_tried_is_what_the_frozen_version_gives(study):
    impact = tried(study, merge("hang", into="crash"))
    do(study, merge("hang", into="crash"))
    freeze(study=study, by=lead(study))
    for change in impact.agreement:
        coding_round = study.rounds.get(number=change.round)
        (symptom,) = report_of(coding_round, to_version=2).payload["dimensions"]
        assert symptom["statistics"]["cohen_kappa"]["value"] == pytest.approx(change.after.value)
        assert symptom["n_both"] == change.after.n_both


def test_freezing_adds_up_what_was_done_since_the_last_version(study):
    do(study, merge("hang", into="crash"))
    do(study, act("archive", "warning"))
    impact = preview_freeze(study=study, by=lead(study))
    assert [each.round for each in impact.rounds] == [1, 2, 3]
    assert impact.agreement[2].after.n_both == 1


# What it does


def test_a_merged_category_is_kept_archived_and_mapped(study):
    draft = do(study, merge("hang", "warning", into="crash"))
    assert (draft.version, draft.frozen_at) == (2, None)
    assert mappings(draft) == {"hang": ("merge", "crash"), "warning": ("merge", "crash")}
    assert category(draft, "hang").archived
    assert not category(draft, "crash").archived


def test_a_split_category_has_no_target(study):
    draft = do(study, split("crash", "Segfault", "Abort"))
    assert mappings(draft) == {"crash": ("split", None)}
    assert {category(draft, each).parent.code for each in ("segfault", "abort")} == {"runtime"}


def test_a_category_is_split_below_itself(study):
    draft = do(study, split("crash", "Segfault", "Abort", as_heading=True))
    assert category(draft, "abort").parent.code == "crash"
    assert not category(draft, "crash").archived
    assert mappings(draft) == {"crash": ("split", None)}


def test_rename_move_and_archive_are_mapped(study):
    do(study, act("rename", "hang", name="Freeze", code="freeze"))
    do(study, act("move", "warning", parent="runtime"))
    draft = do(study, act("archive", "crash"))
    concepts = dict(Category.objects.filter(dimension__codebook__version=1).values_list("concept", "code"))
    rows = CategoryMapping.objects.filter(to_codebook=draft)
    assert {concepts[each.from_concept]: (each.act, each.to_concept is None) for each in rows} == {
        "hang": ("rename", False),
        "warning": ("move", False),
        "crash": ("archive", True),
    }
    assert category(draft, "freeze").concept == category(study.codebooks.get(version=1), "hang").concept


def test_a_change_by_hand_is_mapped_like_an_act(study):
    data = codebook_data(draft_or_current(study))
    hang = next(each for each in data["dimensions"][0]["categories"] if each["code"] == "hang")
    hang["name"] = "Freeze"
    assert mappings(save_draft(study=study, data=data, by=lead(study))) == {"hang": ("rename", "hang")}


def test_what_was_merged_follows_what_is_done_to_its_target(study):
    do(study, merge("hang", into="crash"))
    draft = do(study, merge("crash", into="warning"))
    assert mappings(draft) == {"hang": ("merge", "warning"), "crash": ("merge", "warning")}
    draft = do(study, split("warning", "Notice", "Alarm"))
    assert mappings(draft) == {
        "hang": ("split", "warning"),
        "crash": ("split", "warning"),
        "warning": ("split", None),
    }


def test_acts_of_several_versions_compose(study):
    do(study, merge("hang", into="crash"))
    freeze(study=study, by=lead(study))
    do(study, merge("crash", into="warning"))
    freeze(study=study, by=lead(study))
    (symptom,) = report_of(study.rounds.get(number=1), to_version=3).payload["dimensions"]
    assert symptom["observed"]["value"] == 1


def test_a_heading_is_archived_with_what_stands_below_it(study):
    draft = do(study, act("archive", "output"))
    assert category(draft, "warning").archived
    assert category(draft, "wrong-output").archived


def test_a_category_that_no_version_had_leaves_the_draft(study):
    data = codebook_data(draft_or_current(study))
    new = {"code": "smoke", "name": "Smoke", "parent": "runtime", "order": 9}
    data["dimensions"][0]["categories"].append(new)
    save_draft(study=study, data=data, by=lead(study))
    draft = do(study, merge("smoke", into="crash"))
    assert not Category.objects.filter(dimension__codebook=draft, code="smoke").exists()
    assert mappings(draft) == {}


def test_a_question_that_depended_on_a_category_depends_on_what_came_instead():
    study = make_study()
    codebook = make_codebook(study)
    condition = {"dimension": "symptom", "any_of": ["hang", "crash"]}
    codebook.dimensions.filter(key="cause").update(asked_if=condition)
    draft = do(study, merge("hang", into="warning"))
    assert draft.dimensions.get(key="cause").asked_if["any_of"] == ["crash", "warning"]
    draft = do(study, split("crash", "Segfault", "Abort"))
    assert draft.dimensions.get(key="cause").asked_if["any_of"] == ["warning", "segfault", "abort"]


# Undo


@pytest.mark.parametrize(
    "wanted",
    [
        merge("hang", into="crash"),
        split("hang", "Livelock", "Deadlock"),
        act("rename", "hang", name="Freeze"),
        act("move", "hang", parent="output"),
        act("archive", "hang"),
    ],
)
def test_every_act_is_undone(study, wanted):
    do(study, act("rename", "warning", name="Caution"))
    draft = draft_or_current(study)
    before, rows = codebook_data(draft), mappings(draft)
    do(study, wanted)
    back, undone = undo(study=study, by=lead(study))
    assert codebook_data(back) == before
    assert mappings(back) == rows
    assert undone.undone_at is not None
    assert last_act(study).summary == "Warning is now called Caution (warning)."


def test_undoing_the_change_that_began_the_draft_gives_it_up(study):
    do(study, merge("hang", into="crash"))
    back, _ = undo(study=study, by=lead(study))
    assert back == study.codebooks.get()
    assert not CategoryMapping.objects.exists()


def test_nothing_is_undone_after_a_freeze(study):
    do(study, merge("hang", into="crash"))
    do(study, act("archive", "warning"))
    freeze(study=study, by=lead(study))
    with pytest.raises(CodebookError, match="nothing to undo"):
        undo(study=study, by=lead(study))
    assert not [each for each in CodebookAct.objects.all() if each.before]


def test_a_draft_with_notes_from_reconciliation_is_not_given_up(study):
    do(study, merge("hang", into="crash"))
    Codebook.objects.filter(frozen_at__isnull=True).update(note="Definition unclear: symptom")
    with pytest.raises(CodebookError, match="notes"):
        undo(study=study, by=lead(study))


# What is refused


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        (merge("hang", into="nope"), "into"),
        (merge("nope", into="hang"), "categories"),
        (merge("hang", into="hang"), "categories"),
        (merge("hang", into="output"), "into"),
        (merge("runtime", into="hang"), "into"),
        (split("crash", "Only one"), "into"),
        (split("crash", "Hang", "Other"), "into"),
        (split("runtime", "One", "Two"), "category"),
        (act("rename", "hang", code="crash"), "code"),
        (act("rename", "hang", code="unclear"), "dimensions[0].categories[2].code"),
        (act("rename", "hang"), "name"),
        (act("move", "runtime", parent="hang"), "parent"),
        (act("move", "hang", parent="runtime"), "parent"),
        (act("archive", "nope"), "category"),
    ],
)
def test_an_act_that_makes_no_sense_is_refused_at_its_field(study, wanted, field):
    with pytest.raises(InvalidInputError) as refused:
        do(study, wanted)
    assert field in refused.value.errors
    assert draft_or_current(study).frozen_at is not None


def test_a_merge_stays_told_when_what_stayed_was_split(study):
    earlier = study.codebooks.get()
    do(study, merge("crash", "hang", into="warning"))
    do(study, split("warning", "Loud", "Quiet"))
    (changed,) = version_changes(earlier, draft_or_current(study))
    assert set(changed.sentences) >= {
        "Crash was merged into Warning, which was split.",
        "Hang was merged into Warning, which was split.",
        "Warning was split.",
    }


def test_what_a_name_or_a_place_collides_with_is_said(study):
    with pytest.raises(InvalidInputError, match="Another category is called hang"):
        do(study, act("rename", "crash", name="hang"))
    with pytest.raises(InvalidInputError, match="cannot stand below Crash, one of its own categories"):
        do(study, act("move", "runtime", parent="crash"))
