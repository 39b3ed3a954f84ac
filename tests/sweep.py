"""What one reader is answered everywhere: the status of every address, and the marks that stand there."""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from itertools import islice
from typing import Any

from django.db import connection
from django.urls import reverse

from tests.world import (
    PERSONAS,
    STRANGERS,
    Mark,
    World,
    addresses,
    body_of,
    marks_in,
    may_read,
    named_patterns,
)

#: What can be asked of an address beside its parameters.
QUERIES: dict[str, tuple[str, ...]] = {
    "api:queue": (
        "status=submitted",
        "dimension=symptom",
        "category=crash",
        "category=hang",
        "category={ada}",
    ),
    "api:issue-list": (
        "coded=true",
        "coded=false",
        "search=zq",
        "search=github",
        "github_label=bug",
        "has_fix=true",
        "state=closed",
        "ordering=-closed",
    ),
    "labeling:issue-list": ("coded=true", "search=zq", "has_fix=true", "state=closed"),
    "labeling:issue-facets": ("coded=true", "search=zq", "has_fix=true", "state=closed"),
    "api:agreement": ("by=repository,stratum,category,pair,level", "count_states=leave_out"),
    "api:disagreement-list": (
        "type=excluded",
        "decided=true",
        "decided=false",
        "dimension=fix",
        "cell=crash|hang",
    ),
    "labeling:disagreement-list": ("decided=true", "dimension=fix"),
    "labeling:agreement-detail": ("dimension=fix",),
    "api:codebook-detail": ("version=1", "version=2"),
    "labeling:codebook-detail": ("version=2",),
    "labeling:coding-queue": ("status=submitted", "category=symptom:crash"),
    "labeling:coding-detail": ("ahead", "whole", "category=symptom:crash"),
    "labeling:coding-sections": ("comments=0",),
    "labeling:own-units": ("category=symptom:crash", "category=symptom:hang", "words=zq"),
    "labeling:round-preview": ("unit=2",),
}
ADA_PROPOSED = Mark("open", "o1", "ada", "proposed")
PARTIAL = {"HX-Request": "true"}

#: How many addresses of a name are enough: ben reads what ada does, in the same rounds, and who is let in
#: nowhere is kept out alike of every round.
ENOUGH: Mapping[str, int] = {"ben": 1} | dict.fromkeys(STRANGERS, 3)
#: On PostgreSQL those for whom rows decide: what is own, sealed, masked, answered first.
SWEPT = ("coding_lead", "ada", "retester", "adjudicator") if connection.vendor == "postgresql" else PERSONAS

Status = int | str
#: Pages send who is not signed in to the sign-in page, the API answers 401.
SIGN_IN = "sign in"


def status_of(response: Any) -> Status:
    """Status of a response, the ways to ask for a sign-in as one."""
    status: int = response.status_code
    if status == 401 or (status == 302 and response["Location"].startswith(reverse("login"))):
        return SIGN_IN
    return status


class Sweep:
    """What one persona is told at ``asked``, an address for each name, and at all others that a name has."""

    def __init__(self, world: World, persona: str, asked: Mapping[str, str]) -> None:
        self.persona = persona
        self.statuses: dict[str, Status] = {}
        self.shown: dict[str, set[Mark]] = {}
        self.faults: list[str] = []
        self.client = world.client(persona)
        for name, pattern in named_patterns().items():
            found = islice(addresses(world, name, pattern), ENOUGH.get(persona))
            self._ask_all(name, dict.fromkeys([asked[name], *found]))

    def _ask_all(self, name: str, found: Iterable[str]) -> None:
        wants_part = name.startswith(("labeling:", "ingest:"))
        for address in found:
            # A cell is not found without its answers.
            is_cell = name.endswith("disagreement-cell") and "?" not in address
            status = self._ask(f"{address}?cell=crash|hang" if is_cell else address)
            if status == HTTPStatus.METHOD_NOT_ALLOWED:
                return
            if status != HTTPStatus.OK:
                continue
            for query in QUERIES.get(name, ()):
                self._ask(f"{address}?{query.format(ada=ADA_PROPOSED)}")
            if wants_part:
                self._ask(address, headers=PARTIAL)
                wants_part = False

    def _ask(self, address: str, **extra: Any) -> Status:
        response = self.client.get(address, **extra)
        # What was asked for stands in addresses that the answer repeats.
        told = marks_in(body_of(response)) - marks_in(address)
        if told:
            self.shown.setdefault(address, set()).update(told)
        if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            self.faults.append(f"{response.status_code} {address}")
        return self.statuses.setdefault(address, status_of(response))

    @property
    def marks(self) -> set[Mark]:
        return {mark for marks in self.shown.values() for mark in marks}

    @property
    def leaks(self) -> list[str]:
        """What stands where this reader may not read it."""
        return sorted(
            f"{mark} at {address}"
            for address, marks in self.shown.items()
            for mark in marks
            if not may_read(self.persona, mark, address)
        )


def has_a_place(persona: str, mark: Mark) -> bool:
    """Whether some address shows this kind of thing to this reader, where they may read it."""
    if mark.by == persona:
        return True
    reads_files = persona in ("lead", "coding_lead", "observer")
    if mark.where == "mask":
        return persona == "lead" or (
            persona == "observer" and mark == Mark("mask", "k1", "github", "repository")
        )
    if mark.by == "adjudicator":
        return False
    if mark.by == "reference":
        return True
    if mark.kind == "text":
        return reads_files
    return mark.kind != "exclusion"
