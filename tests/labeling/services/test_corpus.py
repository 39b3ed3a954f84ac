"""Which issues are eligible, why the others are not, and the funnel that says so."""

from datetime import UTC, datetime

import pytest

from labeling.errors import CorpusError, InvalidInputError
from labeling.models import CorpusRule, Decision, Event, Round
from labeling.selectors.draws import sampled_count
from labeling.services.corpus import (
    apply_rules,
    current_rules,
    funnel,
    mark_duplicates,
    override,
    set_rules,
)
from labeling.services.issues import add_issues
from tests.factories import (
    lead_of,
    make_annotation,
    make_codebook,
    make_issue,
    make_member,
    make_round,
    make_sample,
    make_study,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def lead(study):
    return lead_of(study)


def eligible(study):
    return set(study.issues.filter(eligible=True).values_list("number", flat=True))


def rule(field, op, value):
    return {"field": field, "op": op, "value": value}


def issue(study, number, **snapshot):
    told = {name: snapshot.pop(name) for name in ("title", "body", "repository") if name in snapshot}
    return make_issue(study, number=number, snapshot=snapshot, **told)


@pytest.mark.parametrize(
    ("told", "left"),
    [
        (rule("state", "is", "closed"), {1, 2}),
        (rule("state", "is_not", ["closed"]), {3}),
        (rule("state_reason", "is", ["completed"]), {1}),
        (rule("has_fix", "is", True), {1}),
        (rule("has_fix", "is", False), {2, 3}),
        (rule("github_labels", "any", ["BUG", "perf"]), {1, 2}),
        (rule("github_labels", "all", ["bug", "gpu"]), {1}),
        (rule("github_labels", "none", ["gpu"]), {2, 3}),
        (rule("opened_at", "from", "2024-02-01"), {2, 3}),
        (rule("opened_at", "to", "2024-02-01"), {1, 2}),
        (rule("closed_at", "to", "2024-12-31"), {1, 2}),
        (rule("author_kind", "is_not", "bot"), {1, 2}),
        (rule("repository", "is", "acme/other"), {3}),
        (rule("title", "contains", ["CRASH"]), {1}),
        (rule("title", "contains_not", ["crash"]), {2, 3}),
        (rule("body", "contains", ["cuda", "rocm"]), {1, 2}),
        (rule("text", "contains", ["crash", "cuda"]), {1}),
        (rule("is_duplicate", "is", False), {1, 3}),
    ],
)
def test_each_rule_leaves_what_it_says(study, lead, told, left):
    closed = datetime(2024, 5, 1, tzinfo=UTC)
    issue(
        study, 1, title="A crash", body="CUDA 12", state="closed", state_reason="completed",
        github_labels=["bug", "gpu"], has_merged_fix=True, author_kind="user",
        opened_at=datetime(2024, 1, 31, 23, 59, tzinfo=UTC), closed_at=closed,
    )  # fmt: skip
    issue(
        study, 2, title="Slow", body="with ROCm", state="closed", state_reason="duplicate",
        github_labels=["Bug"], has_merged_fix=False, author_kind="user",
        opened_at=datetime(2024, 2, 1, tzinfo=UTC), closed_at=closed,
    )  # fmt: skip
    issue(
        study, 3, title="Bump", body="", repository="acme/other", state="open", github_labels=[],
        has_merged_fix=False, author_kind="bot", opened_at=datetime(2024, 2, 2, tzinfo=UTC), closed_at=None,
    )  # fmt: skip

    set_rules(study=study, rules=[told], by=lead)

    assert eligible(study) == left


def test_the_first_rule_that_fails_is_the_reason(study, lead):
    made = issue(study, 1, state="open", github_labels=[])

    set_rules(
        study=study, rules=[rule("state", "is", "closed"), rule("github_labels", "any", "bug")], by=lead
    )

    made.refresh_from_db()
    assert (made.eligible, made.because) == (False, "State is closed")


def test_a_rule_may_bring_its_own_words(study, lead):
    made = issue(study, 1, state="open")

    set_rules(study=study, rules=[{**rule("state", "is", "closed"), "text": "Closed"}], by=lead)

    made.refresh_from_db()
    assert made.because == "Closed"


def test_a_change_writes_a_new_version_and_keeps_the_old_one(study, lead):
    issue(study, 1, state="open")
    set_rules(study=study, rules=[rule("state", "is", "closed")], by=lead)
    assert eligible(study) == set()

    version = set_rules(study=study, rules=[], by=lead)

    assert version == 2
    assert current_rules(study) == []
    assert eligible(study) == {1}
    assert CorpusRule.objects.filter(study=study, version=1).count() == 1
    assert Event.objects.filter(study=study, verb="rules.changed").count() == 2


@pytest.mark.parametrize(
    "wrong",
    [
        rule("weather", "is", "fine"),
        rule("state", "contains", "closed"),
        rule("state", "is", []),
        rule("opened_at", "from", "yesterday"),
        rule("has_fix", "is", "yes"),
        rule("github_labels", "any", None),
        rule("github_labels", "any", ["x" * 201]),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused_with_its_place(study, lead, wrong):
    with pytest.raises(InvalidInputError) as error:
        set_rules(study=study, rules=[rule("state", "is", "closed"), wrong], by=lead)
    assert list(error.value.errors) == ["rules.1"]
    assert not CorpusRule.objects.exists()


def test_the_same_rule_twice_is_refused(study, lead):
    with pytest.raises(InvalidInputError):
        set_rules(study=study, rules=[rule("state", "is", "closed")] * 2, by=lead)


def test_a_lead_decides_after_the_rules_and_must_say_why(study, lead):
    open_one, closed_one = issue(study, 1, state="open"), issue(study, 2, state="closed")
    set_rules(study=study, rules=[rule("state", "is", "closed")], by=lead)

    override(study=study, issues=[open_one], eligible=True, reason="fixed on a branch", by=lead)
    override(study=study, issues=[closed_one], eligible=False, reason="a test issue", by=lead)
    assert eligible(study) == {1}

    override(study=study, issues=[open_one, closed_one], eligible=None, reason="", by=lead)
    assert eligible(study) == {2}
    with pytest.raises(InvalidInputError, match="Say why"):
        override(study=study, issues=[open_one], eligible=True, reason=" ", by=lead)


def test_a_duplicate_is_left_out_and_the_original_stays(study, lead):
    original, copy, copy_of_copy = (issue(study, number) for number in (1, 2, 3))
    mark_duplicates(study=study, issues=[copy_of_copy], duplicate_of=copy, by=lead)

    mark_duplicates(study=study, issues=[copy], duplicate_of=original, by=lead)

    assert eligible(study) == {1}
    copy_of_copy.refresh_from_db()
    assert copy_of_copy.duplicate_of == original
    mark_duplicates(study=study, issues=[copy, copy_of_copy], duplicate_of=None, by=lead)
    assert eligible(study) == {1, 2, 3}


def test_an_issue_is_no_duplicate_of_itself_nor_of_a_duplicate(study, lead):
    original, copy, other = (issue(study, number) for number in (1, 2, 3))
    mark_duplicates(study=study, issues=[copy], duplicate_of=original, by=lead)

    with pytest.raises(CorpusError, match="itself"):
        mark_duplicates(study=study, issues=[other], duplicate_of=other, by=lead)
    with pytest.raises(CorpusError, match="is itself a duplicate"):
        mark_duplicates(study=study, issues=[other], duplicate_of=copy, by=lead)


def test_the_funnel_adds_up(study, lead):
    issues = [
        issue(study, n, state="closed" if n > 4 else "open", has_merged_fix=n > 6) for n in range(1, 13)
    ]
    rules = [rule("state", "is", "closed"), rule("has_fix", "is", True)]
    set_rules(study=study, rules=rules, by=lead)
    override(study=study, issues=issues[:1], eligible=True, reason="needed", by=lead)
    override(study=study, issues=issues[11:], eligible=False, reason="spam", by=lead)
    mark_duplicates(study=study, issues=issues[10:11], duplicate_of=issues[9], by=lead)

    steps = {(step.kind, step.text): (step.count, step.removed) for step in funnel(study)}

    assert steps["stored", "Imported"] == (12, 0)
    assert steps["rule", "State is closed"] == (8, 4)
    assert steps["rule", "Has a merged fix: yes"] == (6, 2)
    assert steps["override", "Included by hand"] == (7, -1)
    assert steps["override", "Left out by hand"] == (6, 1)
    assert steps["duplicate", "Duplicates"] == (5, 1)
    assert steps["eligible", "Eligible"][0] == len(eligible(study)) == 5


def test_sampled_is_what_rounds_use_and_no_draw_that_none_uses(study):
    used = make_sample(study, units=4)
    make_sample(study, units=3)
    make_sample(study, units=9, state="preparing", frozen_at=None)
    assert sampled_count(study) == 3, "no round yet: the newest that is frozen"
    make_round(study, sample=used, units=list(used.units.all()), state="draft")
    used.sample_units.filter(rank=4).update(drawn="pilot")
    shared = used.sample_units.get(rank=4).unit
    again = make_sample(study, units=[used.sample_units.get(rank=1).unit, shared])
    assert sampled_count(study) == 3
    make_round(study, sample=again, units=[shared], state="draft")
    make_round(study, units=2, kind=Round.Kind.IMPORTED)
    assert sampled_count(study) == 6, "each once; for a pilot in one sample, in another sample for good"
    assert {step.kind: step.count for step in funnel(study)}["sampled"] == 6


def test_the_funnel_tells_nothing_about_an_open_round(study):
    make_codebook(study)
    ada, ben = make_member(study), make_member(study)
    sample = make_sample(study, units=3)
    coding_round = make_round(study, sample=sample, coders=[ada, ben], state=Round.State.OPEN)
    make_annotation(coding_round, coder=ada)

    counts = {step.kind: step.count for step in funnel(study)}

    assert (counts["sampled"], counts["coded"], counts["final"]) == (3, 0, 0)


def test_the_funnel_goes_on_to_what_was_excluded_coded_and_decided(study):
    make_codebook(study)
    ada, ben = make_member(study), make_member(study)
    sample = make_sample(study, units=4)
    coding_round = make_round(study, sample=sample, coders=[ada, ben], state=Round.State.OPEN)
    units = list(coding_round.round_units.order_by("pk"))
    for place in range(3):
        make_annotation(coding_round, coder=ada, unit=place)
    at = datetime(2025, 1, 1, tzinfo=UTC)
    rows = Round.objects.filter(pk=coding_round.pk)
    rows.update(state=Round.State.RECONCILED, closed_at=at, reconciled_at=at)
    for unit, excluded in zip(units, (True, False), strict=False):
        Decision.objects.create(
            round_unit=unit,
            dimension="_unit",
            type="agreed",
            excluded=excluded,
            how="agreed",
            decided_at=at,
            version=1,
        )

    steps = [(step.kind, step.count, step.removed) for step in funnel(study)]

    assert steps[-4:] == [("sampled", 4, 0), ("excluded", 3, 1), ("coded", 2, 0), ("final", 2, 0)]
    # What is drawn and coded for a pilot alone is no part of it.
    sample.sample_units.filter(rank=4).update(drawn="pilot")
    rows.update(counts_in_results=False)
    assert [step.count for step in funnel(study)][-4:] == [3, 3, 0, 0]


def test_applying_the_rules_to_many_issues_takes_few_queries(study, lead, django_assert_max_num_queries):
    for number in range(1, 41):
        issue(study, number, state="open" if number % 2 else "closed")
    set_rules(study=study, rules=[rule("text", "contains", "crash"), rule("state", "is", "closed")], by=lead)

    with django_assert_max_num_queries(8):
        apply_rules(study=study)


def test_adding_many_issues_takes_few_queries(study, django_assert_max_num_queries):
    from labeling.records import IssueRecord

    records = [IssueRecord(repository="acme/train", number=n, title=f"t{n}", body="b") for n in range(1, 101)]

    with django_assert_max_num_queries(16):
        result = add_issues(study=study, records=records)

    assert result.new == 100
