"""One issue with two problems: a unit becomes parts, before coding or after it."""

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from labeling.errors import DecisionError, InvalidInputError, RoundStateError
from labeling.models import UNIT, AgreementReport, Annotation, Decision, Role, Round, RoundUnit
from labeling.services.exports import stream
from labeling.services.reconciliation import (
    Answer,
    propose_decision,
    record_decision,
    reopen_decision,
)
from labeling.services.rounds import create_round, finish_round, open_round
from labeling.services.splitting import split_unit
from tests.factories import (
    lead_of,
    make_codebook,
    make_member,
    make_round,
    make_sample,
    make_study,
    make_unit,
)
from tests.labeling.closing import close, coded_round, coder_called

pytestmark = pytest.mark.django_db
TITLES = ["The crash on start", "The wrong warning"]


def split(unit, **fields):
    return split_unit(
        **{"unit": unit, "parts": TITLES, "reason": "Two problems", "by": lead_of(unit.study)} | fields
    )


def labels(study, **fields):
    text = b"".join(stream(study=study, name="labels.csv", member=lead_of(study), **fields).chunks).decode()
    header, *rows = [line.split(",") for line in text.splitlines()]
    named = [dict(zip(header, row, strict=False)) for row in rows]
    return {(row["unit"], row["dimension"]): (row["status"], row["category"], row["how"]) for row in named}


# While a round is planned


def test_in_a_draft_the_parts_take_the_place_of_the_whole():
    study = make_study()
    make_codebook(study)
    unit, other = make_unit(study), make_unit(study)
    coders = [make_member(study), make_member(study)]
    sample = make_sample(study, units=[unit, other])
    planned = create_round(study=study, by=lead_of(study), sample=sample, coders=coders)
    first, second = split(unit)
    assert (first.ref, second.ref) == (f"{unit.ref}~1", f"{unit.ref}~2")
    assert (first.title, first.snapshot) == (TITLES[0], unit.snapshot)
    opened = open_round(coding_round=planned, by=lead_of(study))
    coded = opened.round_units.filter(assignments__isnull=False).distinct().values_list("unit", flat=True)
    assert set(coded) == {first.pk, second.pk, other.pk}
    row = opened.round_units.get(unit=unit)
    assert (row.left_out, row.reason) == (True, "Two problems")


def test_a_round_planned_later_takes_the_parts_too():
    study = make_study()
    unit = make_unit(study)
    sample = make_sample(study, units=[unit])
    parts = split(unit)
    planned = create_round(study=study, by=lead_of(study), sample=sample, coders=[])
    assert set(planned.round_units.values_list("unit", flat=True)) == {part.pk for part in parts}


def test_the_page_of_a_split_unit_names_its_parts_and_offers_no_form(client):
    unit = make_unit(make_study())
    client.force_login(lead_of(unit.study).user)
    where = reverse("labeling:unit-split", args=[unit.study.slug, unit.pk])
    assert 'name="parts"' in client.get(where).text
    part, _ = split(unit)
    assert f"{unit.ref}~2" in client.get(where).text
    for each in (unit, part):
        page = client.get(reverse("labeling:unit-split", args=[unit.study.slug, each.pk])).text
        assert 'name="parts"' not in page
        assert "not split further" in page


def test_a_unit_is_not_split_while_it_is_coded():
    coding_round = make_round(state="open", units=1)
    with pytest.raises(RoundStateError, match="being coded"):
        split(coding_round.round_units.get().unit)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"parts": ["One"]}, "parts"),
        ({"parts": ["One", " "]}, "parts"),
        ({"parts": ["One", "One"]}, "parts"),
        ({"parts": [str(part) for part in range(21)]}, "parts"),
        ({"reason": " "}, "reason"),
    ],
)
def test_a_split_names_its_parts_and_a_reason(fields, named):
    with pytest.raises(InvalidInputError) as refused:
        split(make_unit(make_study()), **fields)
    assert set(refused.value.errors) == {named}


def test_neither_a_split_unit_nor_a_part_is_split_again():
    unit = make_unit(make_study())
    part, _ = split(unit)
    for each in (unit, part):
        with pytest.raises(DecisionError):
            split(each)


# After coding


@pytest.fixture
def closed():
    """Two units: on the first the coders disagree, on the second they agree."""
    return close(coded_round({"ada": ["crash", "hang"], "ben": ["hang", "hang"]}))


@pytest.fixture
def whole(closed):
    return closed.round_units.order_by("pk")[0].unit


def test_after_coding_the_parts_are_decided_without_being_coded(closed, whole):
    before = (
        list(AgreementReport.objects.order_by("pk").values_list("payload")),
        list(Annotation.objects.order_by("pk").values_list()),
    )
    parts = split(whole)
    open_rows = Decision.objects.filter(round_unit__round=closed, how="")
    assert {(row.round_unit.unit_id, row.type) for row in open_rows} == {
        (part.pk, "one_sided") for part in parts
    }
    lead = lead_of(closed.study)
    for part, code in zip(parts, ("crash", "warning"), strict=True):
        row = RoundUnit.objects.select_related("round", "unit").get(round=closed, unit=part)
        record_decision(
            round_unit=row, dimension="symptom", by=lead, answer=Answer(categories=(code,)), version=0
        )
    finish_round(coding_round=closed, by=lead)
    told = labels(closed.study)
    assert told[whole.ref, "symptom"] == ("split", "", "")
    assert told[parts[0].ref, "symptom"] == ("final", "crash", "discussed")
    assert told[parts[1].ref, "symptom"] == ("final", "warning", "discussed")
    assert before == (
        list(AgreementReport.objects.order_by("pk").values_list("payload")),
        list(Annotation.objects.order_by("pk").values_list()),
    )


def test_disagreements_of_the_whole_are_still_counted_but_not_decided(closed, whole):
    row = Decision.objects.get(round_unit__unit=whole, dimension="symptom")
    split(whole)
    row.refresh_from_db()
    assert (row.type, row.how) == ("disagreed", "derived")
    with pytest.raises(DecisionError, match="split"):
        reopen_decision(decision=row, reason="Again", by=lead_of(closed.study))


def test_the_coders_of_the_whole_decide_its_parts_together(closed, whole):
    part, _ = split(whole)
    row = RoundUnit.objects.select_related("round", "unit").get(round=closed, unit=part)
    for name in ("ada", "ben"):
        decision = propose_decision(
            round_unit=row,
            dimension="symptom",
            by=coder_called(closed.study, name),
            answer=Answer(categories=("crash",)),
        )
    assert (decision.how, decision.categories.get().code) == ("discussed", "crash")


def test_a_part_can_be_excluded_by_itself(client, closed, whole):
    first, second = split(whole)
    page = reverse(
        "labeling:reconciliation-detail", args=[closed.study.slug, closed.number, first.pk, "symptom"]
    )
    exclusion = page.replace("symptom", UNIT)
    body = {"answer": "other", "other": "excluded:duplicate", "version": "0", "action": "propose"}
    for name in ("ada", "ben"):
        client.force_login(coder_called(closed.study, name).user)
        assert exclusion in client.get(page).text
        assert client.post(exclusion, body).status_code == 302
    assert Decision.objects.get(round_unit__unit=first, dimension=UNIT).how == "discussed"
    assert Decision.objects.get(round_unit__unit=first, dimension="symptom").how == "excluded"
    assert Decision.objects.get(round_unit__unit=second, dimension="symptom").is_open
    assert labels(closed.study, all_rounds=True)[first.ref, "symptom"][0] == "excluded"


def test_a_finished_round_reconciles_again(closed, whole):
    lead = lead_of(closed.study)
    row = RoundUnit.objects.select_related("round", "unit").get(round=closed, unit=whole)
    record_decision(
        round_unit=row, dimension="symptom", by=lead, answer=Answer(categories=("hang",)), version=0
    )
    finish_round(coding_round=closed, by=lead)
    split(whole)
    closed.refresh_from_db()
    assert closed.state == Round.State.CLOSED


def test_the_parts_can_be_coded_in_a_follow_up_round(closed, whole):
    parts = split(whole, follow_up=True)
    planned = Round.objects.get(based_on=closed)
    assert (planned.kind, planned.state) == ("recode", "draft")
    assert set(planned.round_units.values_list("unit", flat=True)) == {part.pk for part in parts}
    assert not RoundUnit.objects.filter(round=closed, unit__in=parts).exists()
    assert not Decision.objects.filter(round_unit__round=closed, how="").exists()
    finish_round(coding_round=closed, by=lead_of(closed.study))
    assert labels(closed.study)[whole.ref, "symptom"][0] == "split"


# Over the API and in the page


def test_a_lead_splits_over_the_api_and_nobody_else(closed, whole):
    url = reverse("api:unit-split", args=[whole.pk])
    body = {"parts": [{"title": title} for title in TITLES], "reason": "Two problems"}
    statuses = {}
    members = {
        "coder": coder_called(closed.study, "ada"),
        "adjudicator": make_member(closed.study, role=Role.ADJUDICATOR),
        "observer": make_member(closed.study, role=Role.OBSERVER),
        "outsider": lead_of(make_study()),
        "lead": lead_of(closed.study),
    }
    for name, member in members.items():
        client = APIClient()
        client.force_authenticate(member.user)
        answer = client.post(url, body)
        statuses[name] = answer.status_code
    assert statuses == {"coder": 403, "adjudicator": 403, "observer": 403, "outsider": 404, "lead": 201}
    assert [each["ref"] for each in answer.data["parts"]] == [f"{whole.ref}~1", f"{whole.ref}~2"]
    assert client.post(url, body).status_code == 409


def test_a_lead_splits_in_the_page_and_decides_the_parts(client, closed, whole):
    client.force_login(lead_of(closed.study).user)
    url = reverse("labeling:unit-split", args=[closed.study.slug, whole.pk])
    refused = client.post(url, {"parts": "Only one", "reason": "Two problems"})
    assert refused.status_code == 422
    assert "Name at least two parts" in refused.content.decode()
    done = client.post(url, {"parts": "\n".join(TITLES), "reason": "Two problems"})
    assert done.headers["Location"] == closed.get_absolute_url()
    listing = reverse("labeling:disagreement-list", args=[closed.study.slug, closed.number])
    page = client.get(listing, follow=True)
    text = page.content.decode()
    assert TITLES[0] in text
    assert "This part was made after the round was coded" in text
    body = {"answer": "other", "other": "crash", "version": "0", "action": "record"}
    client.post(page.redirect_chain[-1][0], body)
    part = whole.parts.order_by("part").first()
    assert Decision.objects.get(round_unit__unit=part, dimension="symptom").how == "discussed"
