"""What blinding keeps from somebody is not told in a roundabout way either.

That no address simply tells it is a matter of ``test_access``.
"""

import re
import secrets
from typing import Any

import pytest
from django.db import connection, transaction
from django.urls import reverse
from django.utils import timezone

from labeling.models import UNIT, Job, Membership, Round, Study, User
from labeling.services import coding, rounds
from labeling.services.events import notify
from labeling.services.mail import send_mail
from labeling.services.proposals import resolve_proposal
from tests.factories import make_submission
from tests.world import (
    Mark,
    World,
    addresses,
    body_of,
    marks_in,
    url_patterns,
)

pytestmark = pytest.mark.django_db


def test_closing_a_round_opens_its_answers_to_those_who_coded_in_it(world):
    address = reverse("api:decision-detail", args=[world.rounds["open"].pk, world.units["o1"].pk, UNIT])
    before = world.client("ada").get(address)
    assert before.status_code == 404
    closed = rounds.close_round(
        coding_round=world.rounds["open"], by=world.members["lead"], missing=Round.Missing.ACCEPT
    )
    for proposal in closed.proposals.all():
        resolve_proposal(proposal=proposal, act="reject", by=world.members["lead"])
    said = {
        persona: marks_in(body_of(world.client(persona).get(address)))
        for persona in ("ada", "lead", "retester")
    }
    assert Mark("open", "o1", "ben", "memo") in said["ada"]
    assert Mark("open", "o1", "ben", "memo") in said["lead"]
    assert not said["retester"]


# An open round tells nothing of what is said in it ----------------------------------------------------------

#: What differs between two answers to the same request: the tokens of forms.
TOKENS = re.compile(r'(?<=csrfmiddlewaretoken" value=")\w+|(?<="X-CSRFToken": ")\w+|csrftoken=\w+')
#: One who leads and codes, one who codes, and one who does neither; on PostgreSQL the first.
WATCHERS = ("coding_lead",) if connection.vendor == "postgresql" else ("coding_lead", "ada", "observer")


def about_the_open_round(world: World) -> list[str]:
    """Every address of the study as a whole and of the open round."""
    found: list[str] = []
    for name, pattern in url_patterns():
        wanted = set(pattern.pattern.converters)
        if wanted and wanted <= {"slug", "number", "round_id", "name"}:
            found += addresses(world, name, pattern, where="open")
    return found


def looks(world: World, persona: str, found: list[str]) -> dict[str, str]:
    client = world.client(persona)
    asked = [each + query for each in found for query in ("", *SPYING.get(each.rsplit("/", 2)[-2], ()))]
    answers = {each: client.get(each) for each in asked}
    return {
        each: TOKENS.sub("", body_of(answer)) for each, answer in answers.items() if answer.status_code == 200
    }


#: Filters that could be asked what others said.
SPYING = {
    "queue": ("?category=crash", "?dimension=fix"),
    "issues": ("?coded=true",),
    "corpus": ("?coded=true",),
}


@pytest.mark.parametrize("persona", WATCHERS)
def test_what_another_coder_says_changes_nothing_that_anybody_sees(world, persona, monkeypatch):
    """Whether ben codes o2 as a crash without a doubt, or leaves it out with a remark."""
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)
    monkeypatch.setattr(secrets, "randbelow", lambda _: 7)  # forms offer a seed
    found = about_the_open_round(world)
    assignment = world.assignment("open", "o2", "ben")
    seen = []
    for said in ({"answers": {"symptom": "crash"}, "confidence": "high"}, {"exclude_reason": "duplicate"}):
        with transaction.atomic():
            make_submission(assignment, **said)
            assignment.refresh_from_db()
            seen.append(looks(world, persona, found))
            transaction.set_rollback(True)
    first, second = seen
    assert len(first) > 10
    assert first.keys() == second.keys()
    assert not [each for each in first if first[each] != second[each]]


# What is refused tells nothing either -----------------------------------------------------------------------


def call(
    world: World, persona: str, method: str, name: str, args: list[int], body: dict[str, Any] | None = None
):
    send = getattr(world.client(persona), method)
    return send(reverse(name, args=args), body or {}, content_type="application/json")


@pytest.mark.parametrize("method", ["get", "patch", "put"])
def test_an_own_answer_of_before_is_gone_while_its_issue_is_coded_again(world, method):
    sealed, free = (world.assignment("pilot", unit, "retester") for unit in ("p1", "p3"))
    body = {"version": 0, "memo": "What did I say?", "annotations": {"symptom": ["crash"]}}
    hidden = call(world, "retester", method, "api:assignment-detail", [sealed.pk], body)
    assert hidden.status_code == 404
    assert not marks_in(body_of(hidden))
    if method == "get":
        shown = call(world, "retester", method, "api:assignment-detail", [free.pk])
        assert Mark("pilot", "p3", "retester", "memo") in marks_in(body_of(shown))


def test_the_page_of_a_unit_coded_before_is_gone_too(world):
    where = [world.study.slug, world.rounds["pilot"].number, world.units["p1"].pk]
    # Nothing is chosen, which a page answers with what is stored and what is missing.
    response = world.client("retester").post(
        reverse("labeling:coding-detail", args=where), {"action": "submit"}
    )
    assert response.status_code == 404


def test_a_conflict_shows_the_own_two_versions_and_nobody_elses(world):
    mine = world.assignment("open", "o2", "ada")
    body = {"version": 0, "memo": "Typed in another window."}
    response = call(world, "ada", "patch", "api:assignment-detail", [mine.pk], body)
    assert response.status_code == 409
    assert marks_in(body_of(response)) == {Mark("open", "o2", "ada", "draft")}


@pytest.mark.parametrize("name", ["api:round-close", "api:round-redeal"])
def test_a_lead_who_codes_masked_units_is_not_told_their_names_in_passing(world, name):
    body = {"from": "ada", "dry_run": True} if name == "api:round-redeal" else {}
    told = {
        persona: marks_in(body_of(call(world, persona, "post", name, [world.rounds["masked"].pk], body)))
        for persona in ("coding_lead", "lead")
    }
    assert not told["coding_lead"]
    assert Mark("mask", "k1", "github", "repository") in told["lead"]


def test_an_adjudicator_decides_alike_only_what_they_answered_first(world):
    body = {"dimension": "symptom", "cell": "crash|hang", "categories": ["crash"]}
    response = call(world, "adjudicator", "post", "api:decision-bulk", [world.rounds["main"].pk], body)
    assert response.json() == {"decided": 1}


def test_the_units_of_a_round_do_not_say_how_those_stand_that_an_adjudicator_answers_first(world):
    response = call(world, "adjudicator", "get", "api:round-units", [world.rounds["main"].pk])
    said = {row["id"]: row["decided"] for row in response.json()["results"]}
    assert said == {world.units["m1"].pk: False, world.units["m2"].pk: None}


# Masks ------------------------------------------------------------------------------------------------------


def test_searching_and_filtering_finds_no_issue_by_what_is_masked(world):
    Study.objects.filter(pk=world.study.pk).update(coders_see_corpus=True)
    hidden = {
        kind: str(Mark("mask", "k1", "github", kind)) for kind in ("label", "repository", "fix_message")
    }
    asked = {
        "github_label": hidden["label"],
        "repository": f"acme/{hidden['repository']}",
        "search": hidden["fix_message"],
    }
    k1 = world.units["k1"].issue_id
    for name, value in asked.items():
        for persona, finds_it in (("ada", False), ("ben", True)):
            address = reverse("api:issue-list", args=[world.study.slug])
            rows = world.client(persona).get(address, {name: str(value)}).json()["results"]
            assert (k1 in [row["id"] for row in rows]) is finds_it, (name, persona)


def test_the_corpus_masks_for_a_coder_what_their_round_does(world):
    Study.objects.filter(pk=world.study.pk).update(coders_see_corpus=True)
    told: dict[str, set[Mark]] = {"ada": set(), "ben": set()}
    for persona, marks in told.items():
        for name, pattern in url_patterns():
            if "issue-" in name:
                for address in addresses(world, name, pattern):
                    marks |= marks_in(body_of(world.client(persona).get(address)))
    assert not [str(mark) for mark in told["ada"] if mark.where == "mask"]
    assert Mark("mask", "k1", "github", "fix_patch") in told["ben"]


def test_a_stage_reveals_the_fix_where_it_is_coded_and_nowhere_else(world):
    assignment = world.assignment("masked", "k1", "ada")
    title = Mark("mask", "k1", "github", "fix_title")
    page = reverse(
        "labeling:coding-detail",
        args=[world.study.slug, world.rounds["masked"].number, world.units["k1"].pk],
    )
    assert title not in marks_in(body_of(world.client("ada").get(page)))
    coding.submit(
        assignment=assignment,
        by=world.members["ada"],
        changes={"annotations": {"symptom": ["crash"]}},
        version=assignment.version,
    )
    told = marks_in(body_of(world.client("ada").get(page)))
    assert title in told
    assert {mark.kind for mark in told if mark.where == "mask"} <= {
        "fix_title",
        "fix_message",
        "fix_path",
        "fix_patch",
    }


def test_a_notice_names_a_masked_unit_to_those_alone_who_see_its_name(world, mailoutbox):
    readers = [world.members[name] for name in ("ada", "lead")]
    for reader in readers:
        User.objects.filter(pk=reader.user_id).update(email=f"{reader.user.username}@example.org")
    told = [*Membership.objects.filter(pk__in=[reader.pk for reader in readers])]
    notify(told, verb="comment.mentioned", object=f"unit:{world.units['k1'].ref}")
    send_mail(Job.objects.get(kind=Job.Kind.MAIL).pk)
    name = Mark("mask", "k1", "github", "repository")
    assert {message.to[0]: name in marks_in(message.subject + message.body) for message in mailoutbox} == {
        "ada@example.org": False,
        "lead@example.org": True,
    }
    for address in ("labeling:inbox", "api:inbox"):
        assert name not in marks_in(body_of(world.client("ada").get(reverse(address))))
        assert name in marks_in(body_of(world.client("lead").get(reverse(address))))


# The admin --------------------------------------------------------------------------------------------------


def test_the_admin_tells_an_operator_nothing_that_was_said(world):
    client = world.client("superuser")
    pages = [
        reverse(name)
        for name, pattern in url_patterns()
        if name.startswith("admin:labeling_") and name.endswith("_changelist")
    ]
    pages += [reverse("admin:labeling_study_change", args=[world.study.pk]), reverse("admin:index")]
    assert len(pages) > 5
    for page in pages:
        response = client.get(page)
        assert response.status_code == 200, page
        assert not marks_in(body_of(response)), page
