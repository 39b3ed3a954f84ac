"""The paragraphs on method: what they say, and that every number can be found again."""

import re
from datetime import UTC, date, datetime, timedelta

import pytest

from labeling.export.columns import columns_of
from labeling.export.rows import FILES
from labeling.methods import methods_text
from labeling.models import Codebook, Membership, Round, Sample, SampleUnit
from labeling.selectors.methods import methods_facts
from labeling.services.codebook_acts import perform
from labeling.services.codebooks import freeze
from labeling.services.corpus import set_rules
from labeling.services.exports import stream
from labeling.services.reconciliation import Answer, record_decision
from labeling.services.round_plans import update_round
from labeling.services.rounds import open_round
from labeling.services.training import set_reference
from tests.factories import (
    assignment_of,
    lead_of,
    make_member,
    make_round,
    make_sample,
    make_study,
    make_submission,
)
from tests.labeling.closing import close, coded_round, coder_called
from tests.labeling.services.test_codebook_acts import merge

pytestmark = pytest.mark.django_db

FOUR = {"ada": ["crash", "crash", "hang", "warning"], "ben": ["hang", "crash", "hang", "crash"]}


@pytest.fixture
def study():
    study = make_study(zone="Europe/Berlin")
    sample = make_sample(study, units=4, seed=7)
    units = list(sample.units.order_by("pk"))
    coded_round(FOUR, study=study, units=units, kind=Round.Kind.PILOT, counts_in_results=False)
    coded_round(FOUR, study=study, units=units, sample=sample, masked_fields=["github_labels", "author"])
    for coding_round in study.rounds.all():
        close(coding_round)
    coder = coder_called(study, "ada")
    coder.experience, coder.training = "five years of C++.", "two hours with the codebook"
    coder.save()
    return study


def text_of(study, **options):
    return methods_text(methods_facts(study, **options))


def plain(study):
    """Give the text without its notes."""
    return re.sub(r"\[\^\d+\](?!:)", "", text_of(study))


def test_the_whole_way_is_told(study):
    text = plain(study)
    for said in (
        "We collected 4 issues.",
        "They are of `octo/spoon`.",
        "4 issues were eligible, opened from 2024-03-01 to 2024-03-01.",
        "From 4 eligible issues we took a simple random sample of 4 (keyed hash, seed 7",
        "The codebook has 1 dimension (Symptom) with 4 categories.",
        "Two coders took part (ada and ben).",
        "ada: experience: five years of C++; training: two hours with the codebook.",
        "two coders coded 4 units with version 1 of the codebook.",
        "The coders did not see the GitHub labels and the author (fields hidden, texts unchanged).",
        "Cohen's κ was 0.20",
        "The coders agreed on 2 of 4 answers (50.00%).",
        "Days are those of the time zone Europe/Berlin.",
    ):
        assert said in text


def test_how_disagreements_were_settled_is_told_in_percent(study):
    coding_round = study.rounds.get(number=2)
    round_unit = coding_round.round_units.order_by("pk").first()
    record_decision(
        round_unit=round_unit,
        dimension="symptom",
        by=lead_of(study),
        answer=Answer(("crash",)),
        rationale="It dies.",
        disagreement_reason="misread",
        version=0,
    )
    assert "Of the other 2, 1 was settled in discussion (50.00%); 1 are open." in plain(study)


def test_every_note_names_a_file_with_its_column_or_an_event_or_a_setting(study):
    text = text_of(study)
    notes = dict(re.findall(r"^\[\^(\d+)\]: (.+)$", text, re.MULTILINE))
    called = set(re.findall(r"\[\^(\d+)\](?!:)", text))
    assert called == set(notes)
    for note in notes.values():
        files = re.findall(r"`(\w+\.csv)`", note)
        columns = {each.name for file in files for each in columns_of(FILES[file])}
        for column in re.findall(r"columns? `(\w+)`", note):
            assert column in columns, note
        assert files or "event" in note or "settings" in note or "members" in note, note


def test_every_number_of_a_sentence_is_before_a_note(study):
    body = text_of(study).split("\n[^1]:")[0]
    for sentence in re.split(r"(?<=[.\]]) (?=[A-Z*])", body.partition("\n\n")[2]):
        if re.search(r"\d", re.sub(r"\[\^\d+\]", "", sentence)) and "[^" not in sentence:
            # A sentence inside a quoted paragraph on agreement: its note stands at the paragraph's end.
            assert "[^" in body[body.index(sentence) :].split("\n\n")[0], sentence


def test_a_round_that_counts_against_its_kind_is_told_with_the_day(study):
    update_round(coding_round=study.rounds.get(number=1), by=lead_of(study), counts_in_results=True)
    text = text_of(study)
    assert "By decision of a lead this pilot round counts in the results[^" in text
    assert "event `round.changed` of round 1, field `counts_in_results`" in text
    assert " after the round was closed (from no to yes)[^" in text
    assert "By decision" not in text.split("**Round 2**")[1]


def test_what_was_added_to_a_sample_is_part_of_its_size(study):
    sample = study.samples.get()
    sample.sample_units.filter(rank__gte=4).update(drawn=SampleUnit.Drawn.TOP_UP)
    assert "a simple random sample of 4 (keyed hash, seed 7" in plain(study)
    assert "Of these, 1 was added later." in plain(study)


def test_of_a_training_it_is_told_how_many_answers_matched_the_known_ones(study):
    planned = make_round(study, units=4, kind=Round.Kind.TRAINING, state=Round.State.DRAFT)
    refs = [each.unit.ref for each in planned.round_units.order_by("unit__ref")]
    known = {ref: {"symptom": ["crash"]} for ref in (*refs[:2], refs[3])}
    known[refs[2]] = {"exclude": {"reason": study.exclusion_reasons[0], "note": ""}}
    set_reference(coding_round=planned, answers=known, by=lead_of(study))
    opened = open_round(coding_round=planned, by=lead_of(study))
    one, two = opened.coders.order_by("number")
    for coder, said in ((one, ("crash", "hang", "hang")), (two, ("crash", "crash", None))):
        for place, answer in enumerate(said):
            answers = {"answers": {"symptom": answer}} if answer else {"exclude_reason": "other"}
            unit = opened.round_units.get(unit__ref=refs[place]).unit
            make_submission(assignment_of(opened, coder, unit), **answers)
    close(opened)
    assert "two coders coded 3 units" in plain(study).split("**Round 3**")[1], "nobody coded the fourth"
    assert (
        "4 of their 6 answers matched the known ones (66.67%; Kept or excluded 1 of 2 and Symptom 3 of 4)."
        in plain(study)
    )


def test_of_a_retest_it_is_told_how_far_each_coder_agreed_with_themself(study):
    first = study.rounds.get(number=2)
    ada = coder_called(study, "ada")
    units = [each.unit for each in first.round_units.order_by("pk")]
    retest = make_round(study, units=units, coders=[ada], kind=Round.Kind.RETEST, based_on=first)
    for place, answer in enumerate(("crash", "crash", "hang", "crash")):
        at = datetime.now(UTC) + timedelta(days=21)
        make_submission(assignment_of(retest, ada, place), {"symptom": answer}, at=at)
    close(retest)
    text = plain(study).split("**Round 3**")[1]
    # Observed 3/4; by chance (crash 2 x 3 + hang 1 x 1) / 16.
    assert "ada answered again after 21 days (median). Between the two times Cohen's κ was 0.56" in text
    assert "Disagreements were" not in text


def test_what_the_rules_left_out_is_told_by_rule(study):
    rule = {"field": "state", "op": "is", "value": "open", "text": "Still open"}
    set_rules(study=study, rules=[rule], by=lead_of(study))
    assert "We left out, in this order: 4 by the rule “Still open”." in plain(study)


def test_versions_and_their_acts_are_told(study):
    perform(study=study, act=merge("hang", into="crash"), by=lead_of(study))
    freeze(study=study, by=lead_of(study))
    Codebook.objects.filter(study=study).update(frozen_at="2024-05-06T22:30:00Z")
    text = plain(study)
    assert "It was frozen 2 times: version 1 on 2024-05-07 and version 2 on 2024-05-07." in text
    assert "For version 2 1 category was merged." in text


def test_an_open_round_is_named_and_nothing_more(study):
    coded_round({"ada": ["warning"] * 3, "cleo": ["warning"] * 3}, study=study)
    text = plain(study)
    assert "Round 3 is not closed yet and not told of here." in text
    assert "cleo" not in text


def test_of_a_group_its_people_are_told():
    study = make_study(consensus=True)
    team = make_member(study, kind=Membership.Kind.GROUP, title="Team")
    for name in ("ada", "ben"):
        make_member(study, user=name, group=team, training=f"two hours with {name}")
    sample = make_sample(study, units=2, method=Sample.Method.LIST)
    units = list(sample.units.order_by("pk"))
    agreed = make_round(study, sample=sample, units=units, coders=[team], coders_per_unit=1)
    for place in range(2):
        make_submission(assignment_of(agreed, team, place))
    close(agreed)
    text = plain(study)
    assert "We took 2 issues that were named one by one." in text
    assert "Two coders took part (ada and ben)." in text
    assert "ben: training: two hours with ben." in text
    assert "They coded as a group" in text
    assert "one group coded 2 units" in text


def test_a_consensus_study_says_why_it_has_no_coefficient(study):
    study.consensus = True
    study.save()
    text = plain(study)
    assert "They coded as a group" in text
    assert "κ" not in text


def test_a_round_after_unblinding_says_so(study):
    study.rounds.filter(number=2).update(after_unblinding=True)
    assert "this coding is not independent" in plain(study)


def test_pseudonyms_replace_names(study):
    text = text_of(study, pseudonyms=True)
    assert "ada" not in text
    assert coder_called(study, "ada").pseudonym in text


def test_an_empty_study_says_little():
    assert methods_text(methods_facts(make_study())).startswith("# How the study was done\n\nDays are those")


def test_the_days_are_those_of_the_study_zone(study):
    study.rounds.filter(number=1).update(closed_at="2024-05-06T22:30:00Z")
    assert methods_facts(study).rounds[0].closed_on == date(2024, 5, 7)


def test_the_text_is_a_file_of_the_study(study):
    export = stream(study=study, name="methods.md", member=lead_of(study))
    assert b"".join(export.chunks).decode() == text_of(study)
    study.rounds.get(number=1).refresh_from_db()
    assert study.rounds.get(number=1).first_unblinded_read_at is not None


def test_the_codebook_is_a_file_of_the_study(study):
    for name in ("codebook.yaml", "codebook.qdc"):
        assert b"Crash" in b"".join(stream(study=study, name=name, member=lead_of(study)).chunks)


def test_what_one_alone_coded_is_no_disagreement_and_what_is_missing_is_told(client):
    study = make_study()
    said = {"ada": ["crash", None, None, None], "ben": [None, "hang", "crash", None]}
    coding_round = close(coded_round(said, study=study))
    text = plain(study)
    assert "two coders coded 3 units" in text
    assert "No unit was coded by two coders. 5 codings that were asked for were missing at the close." in text
    assert "agreed on" not in text
    client.force_login(lead_of(study).user)
    page = client.get(coding_round.get_absolute_url())
    assert "No unit was answered by several coders." in page.text
    assert [unit.codings for unit in page.context["units"]] == [1, 1, 1, 0]
