"""The life of a round, and what it refuses."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection
from django.utils import timezone

from labeling.errors import InvalidInputError, RoundStateError, StudyRuleError
from labeling.models import (
    AgreementReport,
    Assignment,
    Decision,
    Membership,
    Notice,
    Round,
    Sample,
    Submission,
)
from labeling.services import coding, rounds
from labeling.services.dealing import plan_units
from labeling.services.training import set_reference
from tests.factories import (
    assignment_of,
    lead_of,
    make_codebook,
    make_dimension,
    make_member,
    make_round,
    make_sample,
    make_study,
    make_submission,
    make_unit,
)

ANSWERS = {"symptom": ["crash"], "cause": ["logic"], "fix": []}


@pytest.fixture
def study(db):
    return make_study()


@pytest.fixture
def lead(study):
    return lead_of(study)


@pytest.fixture
def coders(study):
    return [make_member(study, user=name) for name in ("ada", "ben", "eve")]


@pytest.fixture
def codebook(study):
    return make_codebook(study)


@pytest.fixture
def draft(study, lead, coders, codebook):
    return create(study, coders=coders[:2])


def create(study, **fields):
    fields.setdefault("sample", make_sample(study, units=6) if "units" not in fields else None)
    plan = {"study": study, "by": lead_of(study), "seed": 1, "overlap_seed": 2} | fields
    return rounds.create_round(**plan)


def open_round(coding_round, **asked):
    return rounds.open_round(coding_round=coding_round, by=lead_of(coding_round.study), **asked)


def close(coding_round, missing="refuse"):
    return rounds.close_round(coding_round=coding_round, missing=missing, by=lead_of(coding_round.study))


def reopen(coding_round, **asked):
    return rounds.reopen_round(
        **{"coding_round": coding_round, "reason": "a typo", "by": lead_of(coding_round.study)} | asked
    )


def submit_all(coding_round, **answers):
    for assignment in Assignment.objects.filter(round_unit__round=coding_round):
        make_submission(assignment, answers)


def dealt(coding_round):
    """Units of each coder, in their order."""
    rows = Assignment.objects.active().filter(round_unit__round=coding_round).order_by("coder", "position")
    table = {}
    for coder, ref in rows.values_list("coder__user__username", "round_unit__unit__ref"):
        table.setdefault(coder, []).append(ref)
    return table


# Planning


def test_a_round_takes_the_units_of_its_sample_with_their_strata(study, lead):
    sample = make_sample(study, units=3)
    sample.sample_units.update(stratum="octo/spoon")
    coding_round = create(study, sample=sample)
    assert coding_round.state == "draft"
    assert set(coding_round.round_units.values_list("unit", "stratum")) == {
        (unit.pk, "octo/spoon") for unit in sample.units.all()
    }


def test_numbers_of_rounds_are_never_used_again(study, lead):
    first = create(study)
    rounds.discard(coding_round=first, by=lead)
    assert create(study).number == 2


def test_parts_take_the_place_of_a_split_unit(study):
    whole, other = make_unit(study), make_unit(study)
    parts = [make_unit(study, whole.issue, part=n, ref=f"{whole.ref}~{n}", split_from=whole) for n in (1, 2)]
    whole.split_at = timezone.now()
    whole.save()
    coding_round = create(study, units=[whole, other])
    assert set(coding_round.round_units.values_list("unit", flat=True)) == {
        other.pk,
        *(part.pk for part in parts),
    }


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"kind": "imported"}, "kind"),
        ({"kind": "recode"}, "based_on"),
        ({"sample": None}, "sample"),
        ({"share": 0.5}, "share"),
        ({"coders_per_unit": 0}, "coders_per_unit"),
        ({"coders_per_unit": 1, "overlap": 0.5}, "overlap"),
        ({"overlap": 1.5}, "overlap"),
        ({"masked_fields": ["title"]}, "masked_fields"),
        ({"dimensions": ["colour"]}, "dimensions"),
        ({"stages": [{"dimensions": ["symptom"], "reveals": []}]}, "stages"),
        ({"stages": [{"dimensions": ["symptom"]}, {"dimensions": ["symptom"]}]}, "stages"),
        ({"stages": [{"dimensions": ["colour"]}, {"dimensions": ["symptom"]}]}, "stages"),
        (
            {"stages": [{"dimensions": ["symptom"]}, {"dimensions": ["cause"], "reveals": ["title"]}]},
            "stages",
        ),
        ({"decide": "dice"}, "decide"),
        ({"goal": 2}, "goal"),
        ({"due_on": "soon"}, "due_on"),
        ({"majority": "yes"}, "majority"),
        ({"seed": 2**60}, "seed"),
        ({"instructions": None}, "instructions"),
        ({"state": "open"}, "state"),
    ],
)
def test_a_plan_that_makes_no_sense_is_answered_by_field(study, codebook, asked, field):
    with pytest.raises(InvalidInputError) as caught:
        create(study, **asked)
    assert list(caught.value.errors) == [field]


@pytest.mark.parametrize("role", ["observer", "left", "imported", "foreign"])
def test_only_present_members_who_may_code_are_named(study, codebook, role):
    member = {
        "observer": lambda: make_member(study, role="observer"),
        "left": lambda: make_member(study, left_at=timezone.now()),
        "imported": lambda: make_member(study, kind=Membership.Kind.IMPORTED, title="sheet"),
        "foreign": lambda: make_member(make_study()),
    }[role]()
    with pytest.raises(InvalidInputError, match="cannot code"):
        create(study, coders=[member])


def test_a_draft_can_be_changed_and_an_open_round_only_a_little(draft, lead, coders):
    changed = rounds.update_round(
        coding_round=draft, by=lead, coders_per_unit=3, masked_fields=["author"], coders=coders
    )
    assert (changed.coders_per_unit, changed.masked_fields) == (3, ["author"])
    open_round(draft)
    assert rounds.update_round(coding_round=draft, by=lead, goal=0.7, instructions="Read all.").goal == 0.7
    with pytest.raises(RoundStateError, match="masked_fields cannot change"):
        rounds.update_round(coding_round=draft, by=lead, masked_fields=[])
    with pytest.raises(RoundStateError, match="coders cannot change"):
        rounds.update_round(coding_round=draft, by=lead, coders=coders[:1])
    with pytest.raises(InvalidInputError):
        rounds.update_round(coding_round=draft, by=lead, state="closed")


@pytest.mark.parametrize("fields", [{"goal": 0.9}, {"instructions": "Read all."}])
def test_once_the_agreement_can_be_known_no_goal_is_set_and_what_counts_is_recorded(draft, lead, fields):
    rounds.update_round(coding_round=draft, by=lead, masked_fields=["author", "author"], seed=9)
    changed = draft.events.filter(verb="round.changed").latest("pk").data
    assert changed["fields"] == ["masked_fields", "seed"]
    assert (changed["before"], changed["after"]) == ({"masked_fields": []}, {"masked_fields": ["author"]})
    open_round(draft)
    rounds.close_round(coding_round=draft, by=lead, missing="accept")
    with pytest.raises(RoundStateError, match=f"is closed: {next(iter(fields))} cannot change"):
        rounds.update_round(coding_round=draft, by=lead, **fields)
    rounds.update_round(coding_round=draft, by=lead, counts_in_results=False)
    changed = draft.events.filter(verb="round.changed").latest("pk").data
    assert (changed["before"], changed["after"]) == (
        {"counts_in_results": True},
        {"counts_in_results": False},
    )


def test_with_one_coder_for_each_unit_nothing_overlaps(draft, lead):
    changed = rounds.update_round(coding_round=draft, by=lead, coders_per_unit=1)
    assert changed.overlap == 0


# Opening


def test_opening_deals_every_unit_to_so_many_coders(draft):
    opened = open_round(draft)
    table = dealt(opened)
    assert {name: len(refs) for name, refs in table.items()} == {"ada": 6, "ben": 6}
    assert table["ada"] != table["ben"], "each in an order of their own"
    assert (opened.state, opened.codebook.version) == ("open", 1)
    assert Notice.objects.filter(verb="round.opened").count() == 2


def test_the_same_seeds_deal_the_same(study, coders, codebook):
    sample = make_sample(study, units=12)
    first = open_round(create(study, sample=sample, coders=coders, overlap=0.5))
    before = dealt(first)
    rounds.discard(coding_round=first, by=lead_of(study))
    assert dealt(open_round(create(study, sample=sample, coders=coders, overlap=0.5))) == before


def test_the_overlap_is_coded_by_several_and_the_rest_by_one(study, coders, codebook):
    opened = open_round(create(study, coders=coders, sample=make_sample(study, units=10), overlap=0.25))
    counts = sorted(each.assignments.count() for each in opened.round_units.all())
    assert counts == [1] * 7 + [2] * 3
    assert opened.round_units.filter(overlap=True).count() == 3


def test_ids_of_assignments_do_not_tell_who_shares_a_unit(draft):
    coders = list(
        Assignment.objects.filter(round_unit__round=open_round(draft))
        .order_by("pk")
        .values_list("coder", flat=True)
    )
    assert coders == sorted(coders)


def test_a_round_waits_for_its_sample(study, coders, codebook):
    sample = make_sample(study, units=4, state=Sample.State.PREPARING, frozen_at=None, prepared=3)
    with pytest.raises(RoundStateError, match="3 of 4"):
        open_round(create(study, sample=sample, coders=coders))


def test_a_round_needs_units_and_enough_coders(study, coders, codebook):
    with pytest.raises(RoundStateError, match="no units"):
        open_round(create(study, units=[], coders=coders))
    with pytest.raises(RoundStateError, match="Name more coders"):
        open_round(create(study, coders=coders[:1]))


def test_a_codebook_draft_is_frozen_or_another_version_named(study, coders, codebook):
    later = make_codebook(study, frozen=False)
    coding_round = create(study, coders=coders)
    with pytest.raises(RoundStateError, match="not frozen"):
        open_round(coding_round)
    with pytest.raises(InvalidInputError):
        open_round(coding_round, codebook_version=2)
    assert open_round(coding_round, codebook_version=1).codebook == codebook
    later.refresh_from_db()
    assert later.frozen_at is None
    frozen = open_round(create(study, coders=coders), freeze=True)
    assert frozen.codebook == later
    assert frozen.codebook.frozen_at is not None


def test_a_study_without_a_codebook_opens_no_round(study, coders):
    with pytest.raises(RoundStateError, match="no codebook"):
        open_round(create(study, coders=coders))


def test_dimensions_must_be_in_the_version_that_is_coded_with(study, coders, codebook):
    make_dimension(make_codebook(study, frozen=False), "depth", ["deep"])
    coding_round = create(study, coders=coders, dimensions=["depth"])
    with pytest.raises(RoundStateError, match="depth"):
        open_round(coding_round, codebook_version=1)


def test_a_unit_named_without_a_sample_is_pinned_when_the_round_opens(study, coders, codebook):
    unit = make_unit(study, snapshot=None)
    open_round(create(study, units=[unit], coders=coders))
    unit.refresh_from_db()
    assert unit.snapshot == unit.issue.latest


def test_nobody_codes_an_issue_in_two_open_rounds(study, coders, codebook):
    unit, other = make_unit(study), make_unit(study)
    part = make_unit(study, unit.issue, part=1, ref=f"{unit.ref}~1", split_from=unit)
    first = open_round(create(study, units=[unit], coders=coders[:2]))
    second = create(study, units=[part, other], coders=coders[1:])
    with pytest.raises(RoundStateError, match="another open round") as caught:
        open_round(second)
    assert caught.value.extra["units"] == [part.ref]
    close(first, "accept")
    assert open_round(second).state == "open"


def test_a_group_counts_as_its_people(study, coders, codebook):
    group = make_member(study, kind=Membership.Kind.GROUP, title="Both")
    Membership.objects.filter(pk=coders[0].pk).update(group=group)
    unit = make_unit(study)
    open_round(create(study, units=[unit], coders=[coders[0]], coders_per_unit=1))
    with pytest.raises(RoundStateError, match="another open round"):
        open_round(create(study, units=[unit], coders=[group], coders_per_unit=1))


# Back and out


def test_an_opened_round_goes_back_while_nobody_answered(draft, lead):
    opened = open_round(draft)
    back = rounds.to_draft(coding_round=opened, by=lead)
    assert (back.state, back.codebook, Assignment.objects.count()) == ("draft", None, 0)
    again = open_round(draft)
    coder = again.coders.first()
    coding.save_draft(assignment=assignment_of(again, coder), changes={"memo": "x"}, version=0, by=coder)
    with pytest.raises(RoundStateError, match="answered"):
        rounds.to_draft(coding_round=again, by=lead)


def test_a_round_is_discarded_while_nothing_is_submitted(draft, lead, coders):
    opened = open_round(draft)
    assignment = assignment_of(opened, coders[0])
    coding.save_draft(assignment=assignment, changes={"memo": "kept"}, version=0, by=coders[0])
    rounds.discard(coding_round=opened, by=lead)
    kept = Assignment.objects.defer(None).get(pk=assignment.pk)
    assert (kept.status, kept.draft["fields"]["memo"]) == ("withdrawn", "kept")
    with pytest.raises(StudyRuleError):
        coding.save_draft(assignment=assignment, changes={"memo": "y"}, version=1, by=coders[0])


def test_a_round_with_a_submission_is_not_discarded(draft, lead, coders):
    make_submission(assignment_of(open_round(draft), coders[0]))
    with pytest.raises(RoundStateError, match="close it"):
        rounds.discard(coding_round=draft, by=lead)


# Closing


def test_a_complete_round_closes_with_its_numbers_and_opens_reconciliation(draft):
    submit_all(open_round(draft))
    closed = close(draft)
    assert (closed.state, closed.missing) == ("closed", "refuse")
    assert AgreementReport.objects.filter(round=closed, scope="whole").exists()
    assert Decision.objects.filter(round_unit__round=closed, type="agreed").exists()
    closed.refresh_from_db()
    assert closed.reconciliation_opened_at is not None


def test_an_incomplete_round_answers_with_what_is_left(draft, coders, lead):
    opened = open_round(draft)
    submit_all(opened)
    first, second, third = (assignment_of(opened, coders[0], place) for place in range(3))
    coding.save_draft(
        assignment=first, changes={"annotations": {"symptom": ["hang"]}}, version=1, by=coders[0]
    )
    coding.return_assignment(assignment=second, reason="Look again.", by=lead)
    Submission.objects.filter(assignment=third).delete()
    with pytest.raises(RoundStateError, match="1 missing, 1 changed, 1 returned") as caught:
        close(draft)
    told = {name: [row["unit"] for row in rows] for name, rows in caught.value.extra.items()}
    assert told == {
        "missing": [third.round_unit.unit.ref],
        "changed": [first.round_unit.unit.ref],
        "returned": [second.round_unit.unit.ref],
    }
    assert close(draft, "accept").missing == "accept"


def test_an_answer_to_how_to_close_is_one_of_two(draft):
    with pytest.raises(InvalidInputError):
        close(open_round(draft), "perhaps")


def test_a_round_is_closed_once(draft):
    submit_all(open_round(draft))
    close(draft)
    with pytest.raises(RoundStateError):
        close(draft)


def test_reconciliation_waits_for_proposed_categories(draft, coders):
    opened = open_round(draft)
    coding.propose_category(coding_round=opened, by=coders[0], dimension="symptom", name="New")
    submit_all(opened)
    close(draft)
    assert not Decision.objects.exists()
    with pytest.raises(RoundStateError, match="proposed"):
        rounds.finish_round(coding_round=draft, by=lead_of(draft.study))


# Reopening and finishing


def test_a_close_nobody_has_seen_is_undone_without_a_trace(draft):
    submit_all(open_round(draft))
    close(draft)
    reopened = reopen(draft)
    assert reopened.pk == draft.pk
    assert (reopened.state, reopened.instructions) == ("open", "Reopened: a typo")
    assert not AgreementReport.objects.exists()
    assert not Decision.objects.exists()
    assert close(draft).state == "closed"


def test_after_it_was_read_a_round_is_not_reopened_but_coded_again(draft, coders):
    submit_all(open_round(draft))
    close(draft)
    Round.objects.filter(pk=draft.pk).update(first_unblinded_read_at=timezone.now())
    unit = draft.round_units.first().unit
    again = reopen(draft, units=[unit])
    assert (again.kind, again.based_on, again.state) == ("recode", draft, "draft")
    assert [each.unit for each in again.round_units.all()] == [unit]
    assert set(again.coders.all()) == set(coders[:2])
    assert AgreementReport.objects.filter(round=draft).exists()
    assert open_round(again).after_unblinding is True


def test_an_undone_close_refuses_issues_that_are_coded_elsewhere_by_now(draft, study, coders):
    submit_all(open_round(draft))
    close(draft)
    unit = draft.round_units.first().unit
    open_round(create(study, units=[unit], coders=coders[:2]))
    with pytest.raises(RoundStateError, match="another open round"):
        reopen(draft)


def test_reopening_needs_a_closed_round_and_a_reason(draft):
    with pytest.raises(RoundStateError, match="not closed"):
        reopen(open_round(draft))
    with pytest.raises(InvalidInputError):
        reopen(draft, reason=" ")


def test_a_round_is_done_when_everything_is_decided(draft, lead):
    opened = open_round(draft)
    submit_all(opened)
    close(opened)
    assert rounds.finish_round(coding_round=opened, by=lead).state == "reconciled"


def test_an_undecided_disagreement_keeps_a_round_from_being_done(draft, lead, coders):
    opened = open_round(draft)
    unit = opened.round_units.first().unit
    make_submission(assignment_of(opened, coders[0], unit), {"symptom": "crash"})
    make_submission(assignment_of(opened, coders[1], unit), {"symptom": "hang"})
    close(opened, "accept")
    with pytest.raises(RoundStateError, match="to decide: 1"):
        rounds.finish_round(coding_round=opened, by=lead)


# Again


def closed_round(study, coders, **fields):
    coding_round = make_round(study, coders=coders, units=4, **fields)
    submit_all(coding_round)
    return close(coding_round)


def test_a_retest_gives_each_coder_their_own_units(study, coders, codebook):
    first = closed_round(study, coders[:2])
    retest = create(
        study, kind="retest", sample=None, based_on=first, coders=[coders[0]], coders_per_unit=1, share=0.5
    )
    opened = open_round(retest)
    assert opened.round_units.count() == 2
    assert len(dealt(opened)["ada"]) == 2
    assert opened.after_unblinding is False, "nobody has read the earlier round"
    assert opened.counts_in_results is False


# While it is open


def test_units_added_to_an_open_round_come_last(draft, study, lead):
    opened = open_round(draft)
    unit = make_unit(study)
    rounds.add_units(coding_round=opened, units=[unit, opened.round_units.first().unit], by=lead)
    table = dealt(opened)
    assert [table["ada"][-1], table["ben"][-1]] == [unit.ref, unit.ref]
    assert len(table["ada"]) == 7


def test_units_added_later_go_first_to_the_coder_who_came_later(draft, study, lead, coders):
    opened = open_round(draft)
    rounds.add_coders(coding_round=opened, coders=[coders[2]], by=lead)
    units = [make_unit(study) for _ in range(4)]
    assert rounds.workload(opened, lead)["assignments"] == 12, "of an open round too"
    planned = plan_units(coding_round=opened, units=units)
    assert "eve" not in dealt(opened)
    rounds.add_units(coding_round=opened, units=units, by=lead)
    table = dealt(opened)
    assert {coder.name: len(given) for coder, given in planned.dealt.items()} == {
        "ada": len(table["ada"]) - 6,
        "ben": len(table["ben"]) - 6,
        "eve": 4,
    }
    assert len(table["eve"]) == 4
    assert Notice.objects.filter(verb="round.units_added", member=coders[2]).count() == 1


def test_what_a_leaving_coder_has_not_submitted_goes_to_others(draft, lead, coders):
    opened = open_round(draft)
    rounds.add_coders(coding_round=opened, coders=[coders[2]], by=lead)
    done = assignment_of(opened, coders[0])
    make_submission(done)
    planned = rounds.redeal(coding_round=opened, leaving=coders[0], by=lead, dry_run=True)
    assert set(planned.moves.values()) == {coders[2].number}
    assert "eve" not in dealt(opened)
    rounds.redeal(coding_round=opened, leaving=coders[0], by=lead)
    table = dealt(opened)
    assert table["ada"] == [done.round_unit.unit.ref]
    assert set(table["eve"]) == set(planned.moves)


# Training


def test_a_training_opens_with_known_answers_for_all_its_units(study, lead, coders, codebook):
    training = create(study, kind="training", units=[make_unit(study), make_unit(study)], coders=coders)
    refs = list(training.round_units.values_list("unit__ref", flat=True))
    set_reference(coding_round=training, answers={refs[0]: ANSWERS}, by=lead)
    with pytest.raises(RoundStateError, match="known answer: 1"):
        open_round(training)
    set_reference(coding_round=training, answers={refs[1]: {"exclude": {"reason": "duplicate"}}}, by=lead)
    opened = open_round(training)
    assert len(dealt(opened)["ada"]) + len(dealt(opened)["ben"]) + len(dealt(opened)["eve"]) == 4
    assert study.memberships.filter(kind="reference").count() == 1
    with pytest.raises(RoundStateError):
        set_reference(coding_round=training, answers={}, by=lead)


def test_known_answers_are_checked_like_any_others(study, lead, codebook):
    training = create(study, kind="training", units=[make_unit(study)])
    ref = training.round_units.get().unit.ref
    with pytest.raises(InvalidInputError) as caught:
        set_reference(coding_round=training, answers={ref: {"symptom": ["crash"]}, "no#1": {}}, by=lead)
    assert set(caught.value.errors) == {ref, "no#1"}
    assert not Submission.objects.exists()


# Looking ahead


def test_the_preview_shows_three_units_under_the_masks_and_stores_nothing(study, lead):
    coding_round = create(study, masked_fields=["github_labels"])
    shown = rounds.preview_units(coding_round, lead)
    assert len(shown) == 3
    assert {(tuple(issue["github_labels"]), issue["url"]) for issue in shown} == {((), None)}
    assert not Assignment.objects.exists()


def test_the_workload_counts_hours_at_the_pilots_median(study, coders, codebook):
    pilot = make_round(study, kind="pilot", coders=coders[:2], units=3)
    submit_all(pilot)
    for assignment, seconds in zip(Assignment.objects.all(), (600, 600, 600, 600, 60, 6000), strict=True):
        Assignment.objects.filter(pk=assignment.pk).update(active_seconds=seconds)
    close(pilot)
    load = rounds.workload(create(study, coders=coders[:2]), lead_of(study))
    assert load["median_seconds"] == 600
    assert [(row["name"], row["units"], row["hours"]) for row in load["coders"]] == [
        ("ada", 6, 1.0),
        ("ben", 6, 1.0),
    ]
    assert load["seen_before"] == []


def test_units_whose_answers_a_coder_could_read_are_named(study, lead, coders, codebook):
    first = closed_round(study, coders[:2])
    units = [each.unit for each in first.round_units.all()]
    refs = sorted(unit.ref for unit in units)
    assert rounds.workload(create(study, units=units, coders=coders[:2]), lead)["seen_before"] == refs
    assert rounds.workload(create(study, units=units, coders=[coders[2]]), lead)["seen_before"] == []


# Races


def test_a_lead_who_codes_masked_units_is_not_told_their_names_when_planning(study, lead, coders, codebook):
    earlier = closed_round(study, coders)
    units = [each.unit for each in earlier.round_units.select_related("unit")[:2]]
    planned = create(study, units=units, coders=coders[:2])
    make_round(study, coders=[lead], units=units[:1], masked_fields=["repository"])
    seen = rounds.workload(planned, lead)["seen_before"]
    assert sorted(seen) == sorted([f"unit {units[0].pk}", units[1].ref])


def at_once(*calls):
    barrier = Barrier(len(calls))

    def run(call):
        try:
            barrier.wait()
            return call()
        except StudyRuleError as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("attempt", range(3))
def test_no_submission_slips_past_a_close(attempt):
    study = make_study()
    coding_round = make_round(study, units=3)
    assignments = list(Assignment.objects.filter(round_unit__round=coding_round).select_related("coder"))

    def hand_in(assignment):
        return coding.submit(
            assignment=assignment, by=assignment.coder, changes={"annotations": ANSWERS}, version=0
        )

    answers = at_once(
        lambda: close(coding_round, "accept"), *(lambda each=each: hand_in(each) for each in assignments)
    )
    coding_round.refresh_from_db()
    handed_in = [answer for answer in answers[1:] if isinstance(answer, Submission)]
    late = [answer for answer in answers[1:] if isinstance(answer, RoundStateError)]
    assert len(handed_in) + len(late) == len(assignments)
    assert set(Submission.objects.all()) == set(handed_in)
    assert all(submission.at <= coding_round.closed_at for submission in handed_in)
    kept = Assignment.objects.filter(round_unit__round=coding_round, draft__isnull=False)
    assert kept.count() == len(assignments), "what came too late is kept as a draft"


@pytest.mark.django_db(transaction=True)
def test_two_rounds_do_not_open_on_the_same_issue_at_once():
    study = make_study()
    make_codebook(study)
    coders = [make_member(study), make_member(study)]
    unit = make_unit(study)
    planned = [create(study, units=[unit], coders=coders) for _ in range(2)]
    answers = at_once(*(lambda each=each: open_round(each) for each in planned))
    assert sorted(type(answer).__name__ for answer in answers) == ["Round", "RoundStateError"]
