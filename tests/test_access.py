"""Every address and everybody: who is let in, who is told that they may not, and who learns of nothing.

One table says what each reader gets at each address; an address of the URLconf that it misses fails.
And nobody is told what blinding keeps from them, at no address and in no state of a round.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection, transaction
from django.urls import URLPattern, reverse

from labeling.models import Role
from labeling.templatetags.components import PLACES
from tests.sweep import ENOUGH, SIGN_IN, SWEPT, Status, Sweep, has_a_place, status_of
from tests.world import (
    MEMBERS,
    PERSONAS,
    STRANGERS,
    World,
    addresses,
    body_of,
    marks_in,
    may_read,
    named_patterns,
    url_patterns,
)

pytestmark = pytest.mark.django_db


# Words of the table -----------------------------------------------------------------------------------------

#: An act that is let in ends as its rules want: done, or refused (409) or not understood (415, 422).
IN = "let in"
Expected = Mapping[str, Status]


def members(lead: Status, coder: Status, adjudicator: Status, observer: Status, **others: Status) -> Expected:
    """What each role gets; strangers learn of nothing. ``others`` get something of their own."""
    by_role = {Role.LEAD: lead, Role.CODER: coder, Role.ADJUDICATOR: adjudicator, Role.OBSERVER: observer}
    found: dict[str, Status] = {persona: by_role[Role(role)] for persona, role in MEMBERS.items()}
    return found | dict.fromkeys(STRANGERS, 404) | {"anonymous": SIGN_IN} | others


def all_members(status: Status = 200, **others: Status) -> Expected:
    return members(status, status, status, status, **others)


def leads(status: Status = 200, **others: Status) -> Expected:
    return members(status, 403, 403, 403, **others)


def everybody(status: Status = 200, **others: Status) -> Expected:
    """Whoever is signed in, in the study or not."""
    return dict.fromkeys(PERSONAS, status) | {"anonymous": SIGN_IN} | others


def nobody(**others: Status) -> Expected:
    """What is one reader's own, and does not exist for anybody else."""
    return everybody(404, **others)


#: Coders who took no part in the main round.
APART: Mapping[str, Status] = {"ada_again": 404, "retester": 404, "newcomer": 404}
APART_KNOWN: Mapping[str, Status] = dict.fromkeys(APART, 403)
#: Its coders.
PAIR: Mapping[str, Status] = {"ada": IN, "ben": IN}
NO_GET = everybody(405)


@dataclass(frozen=True)
class Row:
    """What a GET answers, and an act, which is a POST unless it says otherwise. ``where`` names a round."""

    get: Expected
    act: Expected | None = None
    where: str = "main"
    method: str = "post"
    body: Mapping[str, Any] | None = None
    at: Callable[[World], Mapping[str, Any]] | None = None
    query: str = ""

    def address(self, world: World, name: str, pattern: URLPattern) -> str:
        if self.at is not None:
            return reverse(name, kwargs=dict(self.at(world)))
        return next(addresses(world, name, pattern, where=self.where)) + self.query


def acts(expected: Expected, **fields: Any) -> Row:
    """Give a row of an address that only takes acts."""
    return Row(NO_GET, expected, **fields)


LEADS_PAGE = Row(leads(), leads(IN))
LEADS_ACT = acts(leads(IN))


def unit_page(world: World) -> Mapping[str, Any]:
    return {
        "slug": world.study.slug,
        "number": world.rounds["open"].number,
        "unit_id": world.units["o1"].pk,
    }


def training_unit(world: World) -> Mapping[str, Any]:
    """One that ada handed in, ben did not, and nobody else was dealt."""
    return {
        "slug": world.study.slug,
        "number": world.rounds["training"].number,
        "unit_id": world.units["t1"].pk,
    }


def unsampled(world: World) -> Mapping[str, Any]:
    return {"slug": world.study.slug, "issue_id": world.ids["issue"]}


DECIDE = {"version": 0, "categories": ["crash"]}
CELL = {"dimension": "symptom", "cell": "crash|hang", "categories": ["crash"]}

# The table --------------------------------------------------------------------------------------------------

ACCOUNTS = {
    "healthz": Row(everybody(200, anonymous=200)),
    "login": Row(everybody(302, anonymous=200)),
    "sign-in-link": Row(everybody(403, anonymous=403)),
    "logout": acts(everybody(IN)),
    "password_change": Row(everybody(), everybody(IN)),
    "password_change_done": Row(everybody()),
    "labeling:account": Row(everybody(), everybody(IN)),
    "labeling:key-map": acts(everybody(IN)),
    "labeling:source-token-create": acts(everybody(IN)),
    "labeling:source-token-delete": acts(nobody(lead=IN)),
    "labeling:theme": Row(everybody(405, anonymous=405), everybody(IN, anonymous=IN)),
    "labeling:inbox": Row(everybody(), everybody(IN)),
    "labeling:invitation-accept": Row(everybody(200, anonymous=200), everybody(IN, anonymous=IN)),
    "api:schema": Row(everybody(200, anonymous=200)),
    "api:docs": Row(everybody(200, anonymous=200)),
    "api:token-list": Row(everybody(), everybody(IN)),
    "api:token-detail": acts(nobody(lead=IN), method="delete"),
    "api:inbox": Row(everybody()),
    "api:inbox-read": acts(everybody(IN)),
}

STUDIES = {
    "labeling:study-list": Row(everybody()),
    "labeling:study-create": Row(everybody(), everybody(IN)),
    "labeling:study-detail": Row(all_members()),
    "labeling:study-settings": LEADS_PAGE,
    "labeling:study-delete": LEADS_ACT,
    "labeling:study-restore": acts(nobody()),
    "labeling:member-list": Row(all_members()),
    "labeling:member-add": LEADS_ACT,
    "labeling:member-edit": LEADS_PAGE,
    "labeling:member-leave": LEADS_ACT,
    "labeling:invitation-create": LEADS_ACT,
    "labeling:invitation-revoke": LEADS_ACT,
    "api:study-list": Row(everybody(), everybody(IN)),
    "api:study-detail": Row(all_members(), leads(IN), method="patch"),
    "api:study-restore": acts(nobody()),
    "api:event-list": Row(all_members()),
    # The lead started it; another lead sees it too.
    "api:job-detail": Row(members(200, 404, 404, 404)),
    "api:member-list": Row(all_members(), leads(IN)),
    "api:member-detail": acts(leads(IN), method="patch", body={"experience": "much"}),
    "api:invitation-list": Row(leads(), leads(IN)),
    "api:invitation-detail": acts(leads(IN), method="delete"),
}

CORPUS = {
    "labeling:issue-list": Row(leads()),
    "labeling:issue-facets": Row(leads()),
    "labeling:issue-duplicates": LEADS_PAGE,
    "labeling:issue-compare": LEADS_ACT,
    "labeling:issue-eligibility": LEADS_ACT,
    "labeling:issue-detail": Row(leads(), at=unsampled),
    "labeling:issue-duplicate": acts(leads(IN), at=unsampled),
    "labeling:issue-fetch-fix": acts(leads(IN), at=unsampled),
    # What was not pinned has not changed since.
    "labeling:issue-changes": Row(leads(404), at=unsampled),
    "labeling:issue-redact": acts(leads(IN), at=unsampled),
    "labeling:rule-edit": LEADS_PAGE,
    "labeling:sample-list": Row(leads()),
    "labeling:sample-create": LEADS_PAGE,
    "labeling:sample-size": Row(leads()),
    "labeling:sample-detail": Row(leads()),
    "labeling:sample-top-up": LEADS_ACT,
    "labeling:sample-prepare": LEADS_ACT,
    "labeling:sample-replace": LEADS_ACT,
    "api:rule-list": Row(leads(), leads(IN), method="put"),
    "api:issue-list": Row(leads()),
    "api:issue-eligibility": LEADS_ACT,
    "api:issue-duplicates": LEADS_PAGE,
    "api:issue-compare": LEADS_ACT,
    "api:issue-detail": Row(leads()),
    "api:issue-fetch-fix": LEADS_ACT,
    "api:issue-redact": LEADS_ACT,
    "api:sample-list": LEADS_PAGE,
    "api:sample-size": acts(leads()),
    "api:sample-detail": Row(leads()),
    "api:sample-top-up": LEADS_ACT,
    "api:sample-replace": LEADS_ACT,
    "ingest:import-list": Row(leads()),
    "ingest:import-create": LEADS_PAGE,
    "ingest:import-upload": LEADS_ACT,
    # The file of the world's upload is gone: it is to be chosen again.
    "ingest:import-file": Row(leads(302)),
    "ingest:import-detail": Row(leads()),
    # The world's import came from GitHub: it has no file.
    "ingest:import-rejected": Row(leads(404)),
    "ingest:import-pause": LEADS_ACT,
    "ingest:import-resume": LEADS_ACT,
    "ingest:import-cancel": LEADS_ACT,
    "ingest:import-retry": LEADS_ACT,
    "api_ingest:import-list": LEADS_PAGE,
    "api_ingest:import-file": Row(leads(404)),
    "api_ingest:import-file-start": acts(leads(404)),
    "api_ingest:import-detail": Row(leads()),
    "api_ingest:import-rejected": Row(leads(404)),
    "api_ingest:import-pause": LEADS_ACT,
    "api_ingest:import-resume": LEADS_ACT,
    "api_ingest:import-cancel": LEADS_ACT,
}

CODEBOOK = {
    "labeling:codebook-detail": Row(all_members()),
    "labeling:codebook-edit": LEADS_PAGE,
    "labeling:codebook-freeze": LEADS_ACT,
    "labeling:codebook-template": LEADS_ACT,
    "labeling:codebook-dimension": LEADS_PAGE,
    "labeling:codebook-dimension-move": acts(leads(IN), body={"up": "symptom"}),
    "labeling:codebook-dimension-remove": LEADS_ACT,
    "labeling:codebook-category": LEADS_PAGE,
    "labeling:codebook-category-add": LEADS_ACT,
    "labeling:codebook-category-move": acts(leads(IN), body={"up": "nothing"}),
    "labeling:codebook-category-remove": LEADS_ACT,
    "labeling:codebook-act-rename": LEADS_PAGE,
    "labeling:codebook-act-move": LEADS_PAGE,
    "labeling:codebook-act-merge": LEADS_PAGE,
    "labeling:codebook-act-split": LEADS_PAGE,
    "labeling:codebook-act-archive": LEADS_PAGE,
    "labeling:codebook-undo": LEADS_ACT,
    # Nothing was split, so no round has units to code again.
    "labeling:codebook-recode": Row(leads(), leads(404)),
    "api:codebook-detail": Row(all_members(), leads(IN), method="put"),
    "api:codebook-freeze": LEADS_ACT,
    "api:codebook-rename": LEADS_ACT,
    "api:codebook-move": LEADS_ACT,
    "api:codebook-merge": LEADS_ACT,
    "api:codebook-split": LEADS_ACT,
    "api:codebook-archive": LEADS_ACT,
    "api:codebook-undo": LEADS_ACT,
    "api:codebook-recode": Row(leads()),
    "api:codebook-versions": Row(all_members()),
    "api:codebook-diff": Row(members(200, 404, 404, 404), query="?from=1&to=2"),
    "api:codebook-upload": LEADS_ACT,
    "labeling:codebook-usage": Row(all_members()),
    "api:codebook-usage": Row(all_members()),
    "labeling:codebook-changes": Row(members(200, 404, 404, 404)),
    "labeling:codebook-files": Row(all_members(), leads(IN)),
    "labeling:codebook-file-csv": Row(all_members()),
    "labeling:codebook-file-md": Row(all_members()),
    "labeling:codebook-file-qdc": Row(all_members()),
    "labeling:codebook-file-tex": Row(all_members()),
    "labeling:codebook-file-yaml": Row(all_members()),
    "api:codebook-csv": Row(all_members()),
    "api:codebook-md": Row(all_members()),
    "api:codebook-qdc": Row(all_members()),
    "api:codebook-tex": Row(all_members()),
    "api:codebook-yaml": Row(all_members()),
}

ROUNDS = {
    "labeling:round-list": Row(all_members()),
    "labeling:round-create": LEADS_PAGE,
    "labeling:round-detail": Row(all_members()),
    "labeling:round-edit": LEADS_PAGE,
    "labeling:round-preview": Row(leads()),
    "labeling:round-proposals": Row(leads()),
    "labeling:round-proposal": acts(leads(IN), where="pilot", body={"act": "reject"}),
    "labeling:round-open": LEADS_ACT,
    "labeling:round-close": LEADS_ACT,
    "labeling:round-reopen": LEADS_ACT,
    "labeling:round-finish": LEADS_ACT,
    "labeling:round-discard": LEADS_ACT,
    "labeling:round-to-draft": LEADS_ACT,
    "labeling:round-redeal": LEADS_ACT,
    "labeling:round-add-units": LEADS_ACT,
    "labeling:round-add-coders": LEADS_ACT,
    "labeling:known-answer-list": Row(leads(), where="training"),
    "labeling:known-answer-renew": acts(leads(IN), where="planned"),
    "labeling:known-answer-detail": Row(leads(), leads(IN), at=training_unit),
    "labeling:feedback-list": Row(all_members(), where="training"),
    "labeling:feedback-detail": Row(nobody(ada=200, ben=302), at=training_unit),
    "api:round-list": Row(all_members(), leads(IN)),
    "api:round-detail": Row(all_members(), leads(IN), method="patch"),
    "api:round-reference": Row(all_members(), leads(IN), method="put", where="training"),
    "api:round-feedback": Row(all_members(), where="training"),
    "api:round-preview": Row(leads()),
    "api:round-open": LEADS_ACT,
    "api:round-close": LEADS_ACT,
    "api:round-reopen": LEADS_ACT,
    "api:round-finish": LEADS_ACT,
    "api:round-discard": LEADS_ACT,
    "api:round-to-draft": LEADS_ACT,
    "api:round-units": Row(all_members(), leads(IN)),
    "api:round-coders": LEADS_ACT,
    "api:round-redeal": LEADS_ACT,
    "api:round-progress": Row(all_members()),
    "api:proposal-list": Row(all_members(), all_members(IN)),
    "api:proposal-resolve": acts(leads(IN)),
}

CODING = {
    # To the next unit of who has one, else a page that says why there is none.
    "labeling:coding-home": Row(all_members(200, ada=302, ben=302, coding_lead=302, retester=302)),
    "labeling:coding-queue": Row(all_members()),
    "labeling:own-units": Row(all_members()),
    "labeling:coding-detail": Row(
        nobody(ada=200, ben=200, coding_lead=200), nobody(ada=IN, ben=IN, coding_lead=IN), at=unit_page
    ),
    "labeling:coding-sections": Row(nobody(ada=200, ben=200, coding_lead=200), at=unit_page),
    "api:queue": Row(all_members()),
    # An adjudicator who answers first has units of a closed round to answer.
    "api:queue-next": Row(members(204, 204, 200, 204)),
    # Of ada, in the pilot.
    "api:assignment-detail": Row(nobody(ada=200), nobody(ada=IN), method="patch"),
    "api:assignment-return": LEADS_ACT,
}

RECONCILIATION = {
    "labeling:agreement-home": Row(all_members(302, newcomer=200)),
    "labeling:agreement-detail": Row(all_members(200, **APART_KNOWN), all_members(IN, **APART_KNOWN)),
    "labeling:reconciliation-home": Row(all_members(302, **dict.fromkeys(APART, 200))),
    "labeling:disagreement-list": Row(all_members(302, **APART)),
    "labeling:disagreement-cell": Row(
        members(200, 403, 200, 403, **APART),
        members(IN, 403, IN, 403, **APART),
        query="?cell=crash|hang",
    ),
    "labeling:outcome-list": Row(all_members(200, **APART)),
    "labeling:reconciliation-detail": Row(all_members(200, **APART), all_members(IN, **APART)),
    "labeling:reconciliation-standing": Row(all_members(200, **APART)),
    "labeling:methods-detail": Row(members(200, 403, 403, 200)),
    "labeling:export-list": Row(all_members()),
    "labeling:export-figures": Row(members(200, 403, 403, 200), members(IN, 403, 403, IN)),
    # A package nobody has made yet; who did not ask for it learns of nothing.
    "labeling:export-job": Row(everybody(404)),
    "labeling:export-file": Row(members(200, 403, 403, 200)),
    "labeling:agreement-units": Row(
        all_members(200, **APART_KNOWN), query="?dimension=symptom&first=crash&second=crash"
    ),
    "api:agreement": Row(all_members(200, **APART_KNOWN)),
    "api:study-agreement": Row(all_members(200, **APART_KNOWN)),
    "api:disagreement-list": Row(all_members()),
    "api:decision-bulk": acts(members(IN, 403, IN, 403, **dict.fromkeys(APART, IN)), body=CELL),
    "api:decision-detail": Row(
        all_members(200, **APART), members(IN, 403, IN, 403, **APART), method="put", body=DECIDE
    ),
    "api:decision-proposals": acts(
        members(403, 403, 403, 403, **APART, **PAIR), body={"categories": ["crash"]}
    ),
    "api:decision-reopen": acts(members(IN, 403, IN, 403, **APART), body={"reason": "why"}),
    "labeling:unit-split": LEADS_PAGE,
    "api:unit-split": LEADS_ACT,
    "api:comment-list": Row(
        all_members(200, **APART), members(IN, IN, IN, 403, **APART), body={"text": "See."}
    ),
    "api:export-file": Row(members(200, 403, 403, 200)),
    "api:export-figures": acts(members(IN, 403, 403, IN)),
    "api:export-job": Row(everybody(404)),
}

TABLE: dict[str, Row] = {
    **ACCOUNTS,
    **STUDIES,
    **CORPUS,
    **CODEBOOK,
    **ROUNDS,
    **CODING,
    **RECONCILIATION,
}


# What the table is asked ------------------------------------------------------------------------------------


def test_every_address_stands_in_the_table_and_every_row_has_an_address():
    patterns = named_patterns()
    assert not [name for name in patterns if name.endswith("?")], "an address has no name"
    assert not patterns.keys() - TABLE.keys()
    assert not TABLE.keys() - patterns.keys()


def test_every_place_of_the_navigation_exists(world):
    for place in PLACES:
        assert reverse(place.url_name, args=[world.study.slug])


@pytest.mark.parametrize("role", list(Role))
def test_every_place_that_the_navigation_shows_lets_its_reader_in(world, role):
    for place in PLACES:
        if role in place.roles:
            expected = TABLE[place.url_name].get
            told = {expected[persona] for persona, held in MEMBERS.items() if held == role}
            assert told <= {200, 302}, place


@pytest.mark.parametrize("persona", SWEPT)
def test_everybody_gets_everywhere_what_the_table_says_and_reads_what_they_may(world, persona):
    asked = {name: TABLE[name].address(world, name, pattern) for name, pattern in named_patterns().items()}
    sweep = Sweep(world, persona, asked)
    wrong = [
        f"{sweep.statuses[address]}, not {TABLE[name].get[persona]}: {address}"
        for name, address in asked.items()
        if sweep.statuses[address] != TABLE[name].get[persona]
    ]
    found = [*wrong, *sweep.faults, *sweep.leaks]
    assert not found, "\n".join(found)
    if persona not in ENOUGH:
        # Nothing of this could fail if nothing were shown at all: what they may read stands somewhere.
        wanted = {mark for mark in world.said if may_read(persona, mark) and has_a_place(persona, mark)}
        assert wanted or persona == "newcomer"
        assert not {str(mark) for mark in wanted - sweep.marks}


#: On PostgreSQL one of each kind: its queries run, and who may do what is decided before them.
ACTING = ("lead", "ada", "adjudicator", "outsider") if connection.vendor == "postgresql" else PERSONAS


@pytest.mark.parametrize("name", [name for name, row in TABLE.items() if row.act is not None])
def test_everybody_may_do_what_the_table_says(world, name):
    row, pattern = TABLE[name], named_patterns()[name]
    assert row.act is not None
    address = row.address(world, name, pattern)
    told: dict[str, Status] = {}
    for persona in ACTING:
        response = request(world, persona, row.method, address, row.body)
        told[persona] = said(response, row.act[persona])
    assert told == {persona: row.act[persona] for persona in ACTING}, address


def request(
    world: World, persona: str, method: str, address: str, body: Mapping[str, Any] | None = None
) -> Any:
    """Ask, undo what was done, and look through the answer for what this reader may not know."""
    is_json = address.startswith("/api/") and method != "get"
    options = {"content_type": "application/json"} if is_json else {}
    with transaction.atomic():
        response = getattr(world.client(persona), method)(address, dict(body or {}), **options)
        marks = marks_in(body_of(response)) - marks_in(address)
        transaction.set_rollback(True)
    assert not {str(mark) for mark in marks if not may_read(persona, mark, address)}, address
    return response


def said(response: Any, expected: Status) -> Status:
    """Put a status in the words of the table."""
    status = status_of(response)
    is_in = isinstance(status, int) and (status < 400 or status in (409, 415, 422))
    return IN if expected == IN and is_in else status


# The admin --------------------------------------------------------------------------------------------------


def pattern_of(pattern: URLPattern) -> set[str]:
    """Names of the parameters of an address."""
    return set(pattern.pattern.converters) | set(pattern.pattern.regex.groupindex)


OPEN_TO_ALL = {"admin:login", "admin:logout", "admin:jsi18n"}


@pytest.mark.parametrize("persona", PERSONAS)
def test_the_admin_is_for_operators_alone(world, persona):
    for name, pattern in url_patterns():
        if not name.startswith("admin:") or name in OPEN_TO_ALL or pattern_of(pattern):
            continue
        response = request(world, persona, "get", reverse(name))
        # What is read-only cannot be added to, by anybody.
        allowed = {200, 302, 403, 404} if persona == "superuser" else {302}
        assert response.status_code in allowed, name
        if persona != "superuser":
            assert "sign-in" in response["Location"] or "login" in response["Location"], name
