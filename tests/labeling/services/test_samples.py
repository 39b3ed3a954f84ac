"""Draws that can be repeated, pins that hold still."""

import pytest
from django.utils import timezone

from labeling.errors import InvalidInputError, SampleError
from labeling.frames import unpack_frame
from labeling.models import Issue, Job, Sample, Unit
from labeling.sampling import frame_hash
from labeling.selectors.round_units import next_units
from labeling.services import samples
from labeling.services.rounds import create_round
from tests.factories import (
    assignment_of,
    lead_of,
    make_codebook,
    make_issue,
    make_member,
    make_round,
    make_snapshot,
    make_study,
    make_unit,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def corpus(study):
    for number in range(1, 7):
        make_issue(study, number=number, repository="octo/spoon", rendered=False)
    for number in range(1, 5):
        make_issue(study, number=number, repository="octo/fork", rendered=False)
    return list(Issue.objects.filter(study=study))


def draw(study, **asked):
    return samples.draw(**{"study": study, "method": "random", "seed": 7, "by": lead_of(study)} | asked)


def drawn_keys(sample):
    return list(sample.sample_units.order_by("stratum", "rank").values_list("unit__issue__key", flat=True))


def test_the_same_seed_draws_the_same_issues_again(study, corpus):
    first = draw(study, size=4)
    make_round(study, sample=first, units=list(first.units.all()), state="draft")
    second = draw(study, size=4)
    assert first != second
    assert drawn_keys(first) == drawn_keys(second)
    assert len(drawn_keys(first)) == 4
    assert drawn_keys(draw(study, size=4, seed=8)) != drawn_keys(first)
    assert Unit.objects.filter(study=study, issue__key__in=drawn_keys(first)).count() == 4


def test_a_draw_that_no_round_uses_is_given_back_and_not_made_again(study, corpus):
    first, is_new = samples.draw_or_find(study=study, method="random", size=4, seed=7, by=lead_of(study))
    assert is_new
    assert draw(study, size=4) == first
    assert draw(study, size=4, pilot=1) != first
    samples.top_up(sample=first, size=1, by=lead_of(study))
    assert draw(study, size=5) != first, "it was drawn otherwise"
    make_issue(study, number=99, repository="octo/spoon", rendered=False)
    assert draw(study, size=4) != first
    assert study.events.filter(verb="sample.drawn").count() == study.samples.count() == 4


def test_the_frame_is_kept_for_a_repetition(study, corpus):
    sample = draw(study, size=4)
    frame = unpack_frame(sample.frame)
    assert set(frame) == {issue.key for issue in corpus}
    assert sample.frame_hash == frame_hash(frame)
    assert sample.frame_size == 10


def test_a_corpus_without_anything_to_fetch_is_rendered_pinned_and_frozen_at_once(study, corpus):
    sample = draw(study, size=4)
    assert sample.state == Sample.State.FROZEN
    for unit in sample.units.select_related("snapshot"):
        assert unit.snapshot == unit.issue.latest
        assert unit.snapshot.documents.get(key="body").text == "It crashes when I start it.\n"
    assert not Job.objects.exists()


def test_patches_on_github_are_fetched_by_a_job_before_the_sample_is_frozen(study):
    fix = {"key": "octo/spoon#7", "changed_files": 1}
    issue = make_issue(
        study, node_id="I_1", fixes=[fix], snapshot={"carries": ["title", "fixes"]}, rendered=False
    )
    sample = draw(study, method="all")
    assert sample.state == Sample.State.PREPARING
    assert Job.objects.get().sample == sample
    assert samples.pin_sample(sample=sample).state == Sample.State.FROZEN
    assert Unit.objects.get(issue=issue).snapshot == issue.latest
    samples.pin_sample(sample=sample)
    assert study.events.filter(verb="sample.frozen").count() == 1


def test_a_sample_of_named_size_is_shared_out_over_the_strata(study, corpus):
    sample = draw(study, method="stratified", strata="repository", size=5)
    assert samples.strata_table(sample) == [
        {"stratum": "octo/fork", "eligible": 4, "drawn": 2},
        {"stratum": "octo/spoon", "eligible": 6, "drawn": 3},
    ]
    own = draw(
        study,
        method="stratified",
        strata="repository",
        allocation={"kind": "given", "sizes": {"octo/fork": 1, "octo/spoon": 4}},
    )
    assert [row["drawn"] for row in samples.strata_table(own)] == [1, 4]


def test_confidence_and_margin_give_the_size(study, corpus):
    assert draw(study, confidence=0.95, margin=0.2).size == 8


def test_ineligible_and_filtered_issues_are_not_in_the_frame(study, corpus):
    Issue.objects.filter(key="github.com/octo/spoon#1").update(eligible=False)
    sample = draw(study, method="all", filters={"repository": "octo/spoon"})
    assert "github.com/octo/spoon#1" not in drawn_keys(sample)
    assert sample.size == 5
    assert draw(study, method="all", filters={"github_label": "bug", "state": "closed"}).size == 9
    with pytest.raises(SampleError, match="No eligible issue"):
        draw(study, method="all", filters={"github_label": "none"})


def test_a_list_takes_issues_by_address_reference_or_id(study, corpus):
    named = ["https://github.com/octo/spoon/issues/1", "octo/fork#2", corpus[2].pk]
    assert draw(study, method="list", issues=named).size == 3
    assert draw(study, method="list", issues=[*named, "octo/spoon#1"]).size == 3, "one of them by two names"


def test_unknown_issues_of_a_list_are_named_up_to_ten(study, corpus):
    with pytest.raises(SampleError, match=r"1 of them are in the corpus\. Not there: 0, octo/spoon#99\."):
        draw(study, method="list", issues=["octo/spoon#1", "octo/spoon#99", 0])
    with pytest.raises(SampleError, match=r"#908, octo/spoon#909 and 2 more\."):
        draw(study, method="list", issues=[f"octo/spoon#{number}" for number in range(900, 912)])


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({}, "size"),
        ({"size": 3, "margin": 0.1}, "size"),
        ({"size": 0}, "size"),
        ({"method": "stratified", "size": 3}, "strata"),
        ({"method": "stratified", "size": 3, "strata": "colour"}, "strata"),
        ({"method": "guess", "size": 3}, "method"),
        ({"method": "list"}, "issues"),
        ({"size": 3, "issues": ["octo/spoon#1"]}, "issues"),
        ({"size": 3, "filters": {"colour": "red"}}, "filters"),
        ({"size": 3, "filters": {"created_after": "soon"}}, "created_after"),
        ({"size": 3, "allocation": {"kind": "odd"}}, "allocation"),
        ({"size": 3, "proportion": 1.0}, "proportion"),
        ({"method": "all", "pilot": 1}, "pilot"),
        ({"size": 3, "strata": "repository"}, "strata"),
        ({"method": "all", "size": 3}, "size"),
        ({"method": "all", "margin": 0.1}, "margin"),
        (
            {"method": "stratified", "strata": "repository", "size": 3, "allocation": {"kind": "given"}},
            "size",
        ),
        ({"margin": 0.0}, "margin"),
        ({"size": 3, "proportion": 0.0}, "proportion"),
    ],
)
def test_what_makes_no_sense_is_answered_by_field(study, corpus, asked, field):
    with pytest.raises(InvalidInputError) as caught:
        draw(study, **asked)
    assert list(caught.value.errors) == [field]


def test_more_than_there_are_cannot_be_drawn(study, corpus):
    with pytest.raises(SampleError, match="10"):
        draw(study, size=11)


def test_a_top_up_continues_the_draw(study, corpus):
    sample = draw(study, size=4)
    longer = drawn_keys(draw(study, size=6))
    topped = samples.top_up(sample=sample, size=2, by=lead_of(study))
    assert drawn_keys(topped) == longer
    assert (topped.size, topped.state) == (6, Sample.State.FROZEN)
    with pytest.raises(SampleError, match="4 issues of this draw are left"):
        samples.top_up(sample=sample, size=5, by=lead_of(study))


@pytest.mark.parametrize("allocation", [{"kind": "equal"}, {"kind": "proportional"}])
def test_a_stratified_sample_that_was_added_to_is_the_draw_of_its_whole_size(study, corpus, allocation):
    asked = {"method": "stratified", "strata": "repository", "allocation": allocation}
    topped = samples.top_up(sample=draw(study, size=2, **asked), size=4, by=lead_of(study))
    at_once = draw(study, size=6, **asked)
    assert drawn_keys(topped) == drawn_keys(at_once)
    assert samples.statement(topped) == f"{samples.statement(at_once)} Of these, 4 were added later."


def test_own_numbers_share_out_what_is_added_and_a_stratum_without_one_gets_nothing(study, corpus):
    given = {"kind": "given", "sizes": {"octo/fork": 0, "octo/spoon": 2}}
    sample = draw(study, method="stratified", strata="repository", allocation=given)
    assert set(
        samples.top_up(sample=sample, size=4, by=lead_of(study)).sample_units.values_list("stratum")
    ) == {("octo/spoon",)}
    assert "of 6, shared out over the strata in proportion to numbers set" in samples.statement(
        Sample.objects.get()
    )
    with pytest.raises(SampleError, match="0 issues of this draw are left"):
        samples.top_up(sample=sample, size=1, by=lead_of(study))


def test_where_a_larger_draw_would_give_a_stratum_less_the_sentence_says_what_was_added(study):
    for repository, count in {"octo/fork": 1, "octo/knife": 3, "octo/spoon": 3}.items():
        for number in range(count):
            make_issue(study, number=number + 1, repository=repository, rendered=False)
    sample = draw(study, size=3, method="stratified", strata="repository")
    topped = samples.top_up(sample=sample, size=1, by=lead_of(study))
    assert [row["drawn"] for row in samples.strata_table(topped)] == [1, 2, 1]
    assert samples.statement(topped) == (
        "From 7 eligible issues we took a random sample, stratified by repository, of 4 (keyed hash, "
        "seed 7). Of these, 3 were shared out over the strata in proportion to their size and 1 was added "
        "later, each stratum keeping what it had."
    )


def test_a_replacement_is_the_next_rank_and_takes_the_place_in_draft_rounds(study, corpus):
    sample = draw(study, size=3)
    units = list(sample.units.order_by("sample_units__rank"))
    coding_round = make_round(study, state="draft", units=units, sample=sample)
    samples.replace(sample=sample, unit=units[0], reason="a duplicate", by=lead_of(study))
    new = sample.sample_units.get(unit=units[0]).replaced_by
    assert new.issue.key == drawn_keys(draw(study, size=4))[3]
    assert set(coding_round.round_units.values_list("unit", flat=True)) == {new.pk, units[1].pk, units[2].pk}
    with pytest.raises(SampleError, match="was replaced before"):
        samples.replace(sample=sample, unit=units[0], reason="again", by=lead_of(study))


def test_a_unit_that_is_dealt_is_not_replaced(study, corpus):
    sample = draw(study, size=3)
    unit = sample.units.first()
    make_round(study, units=[unit], sample=sample)
    with pytest.raises(SampleError, match="dealt in round 1"):
        samples.replace(sample=sample, unit=unit, reason="a duplicate", by=lead_of(study))


def test_a_pin_moves_only_while_nobody_opened_the_unit(study, corpus):
    sample = draw(study, size=2)
    opened, unopened = sample.units.order_by("pk")
    coding_round = make_round(study, units=[opened, unopened], sample=sample)
    assignment = assignment_of(coding_round, coding_round.coders.first(), opened)
    assignment.opened_at = timezone.now()
    assignment.save()
    for unit in (opened, unopened):
        unit.issue.latest = make_snapshot(unit.issue, body="Edited since.", rendered=False)
        unit.issue.save()
    samples.pin_sample(sample=sample)
    first_pin = opened.snapshot_id
    opened.refresh_from_db()
    unopened.refresh_from_db()
    assert opened.snapshot_id == first_pin
    assert unopened.snapshot == unopened.issue.latest


def test_a_reference_that_is_taken_takes_its_host_in_front(study):
    make_unit(study, make_issue(study, number=1, repository="octo/spoon"))
    key = "ghe.example.org/octo/spoon#1"
    make_issue(study, number=1, repository="octo/spoon", key=key, host="ghe.example.org")
    draw(study, method="all")
    assert set(Unit.objects.values_list("ref", flat=True)) == {"octo/spoon#1", key}


def test_the_statement_says_how_it_was_drawn(study, corpus):
    assert samples.statement(draw(study, size=4)) == (
        "From 10 eligible issues we took a simple random sample of 4 (keyed hash, seed 7; margin 40.0% "
        "for one proportion over the whole sample at 95% confidence)."
    )
    assert samples.statement(draw(study, size=4, method="stratified", strata="repository")).startswith(
        "From 10 eligible issues we took a random sample, stratified by repository, of 4, "
        "shared out over the strata in proportion to their size (keyed hash, seed 7; margin"
    )
    equal = draw(study, size=4, method="stratified", strata="repository", allocation={"kind": "equal"})
    assert samples.statement(equal).endswith("over the strata in equal parts (keyed hash, seed 7).")


def test_units_for_the_pilot_alone_are_drawn_beside_the_sample(study, corpus):
    lead = lead_of(study)
    alone = draw(study, method="random", size=4, seed=7, pilot=2)
    rows = alone.sample_units.order_by("rank")
    assert [row.drawn for row in rows] == ["draw"] * 4 + ["pilot"] * 2
    assert [row.rank for row in rows] == [1, 2, 3, 4, 5, 6]
    assert (alone.size, samples.strata_table(alone)[0]["drawn"]) == (4, 4)
    assert samples.statement(alone).endswith(", and 2 more for the pilot alone.")
    coders = [make_member(study) for _ in range(2)]
    make_codebook(study)
    of_kind = {
        kind: create_round(study=study, by=lead, kind=kind, sample=alone, coders=coders)
        for kind in ("pilot", "main")
    }
    units = {kind: set(each.round_units.values_list("unit", flat=True)) for kind, each in of_kind.items()}
    assert units["pilot"] == {row.unit_id for row in rows if row.drawn == "pilot"}
    assert units["main"] == {row.unit_id for row in rows if row.drawn == "draw"}
    assert next_units(alone, 9, "main") == []
    with pytest.raises(SampleError, match="leaves 6 issues"):
        draw(study, size=4, pilot=7)
    topped_up = samples.top_up(sample=alone, size=1, by=lead)
    assert topped_up.sample_units.get(drawn="top_up").rank == 7


def test_an_expected_proportion_makes_the_sample_smaller(study, corpus):
    worst = draw(study, method="random", confidence=0.95, margin=0.3, seed=1)
    known = draw(study, method="random", confidence=0.95, margin=0.3, proportion=0.05, seed=1)
    assert known.size < worst.size
    assert "expected at 5%" in samples.statement(known)
