"""One study with everything in it, to ask every address of it as everybody.

Whatever somebody says here is a mark that names its round, its unit, who said it and what it is, so that a
leak is found by looking for marks in the bytes of a response, and ``may_read`` can say whose they are.
"""

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

from django.conf import settings
from django.core.management import call_command
from django.db import transaction
from django.test.client import Client, ClientHandler
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from ingest.models import ImportRun, Upload
from labeling.export.rows import FILES
from labeling.frames import pack_frame
from labeling.models import (
    UNIT,
    AgreementReport,
    AnnotationCategory,
    Assignment,
    Codebook,
    Decision,
    Evidence,
    ExportJob,
    Job,
    Membership,
    Role,
    Round,
    RoundUnit,
    Study,
    Submission,
    Unit,
    User,
)
from labeling.services import codebooks, coding, corpus, rounds
from labeling.services.agreement import mark_read, report_of
from labeling.services.answers import Answer
from labeling.services.members import invite
from labeling.services.proposals import propose_category, resolve_proposal
from labeling.services.reconciliation import add_comment, propose_decision, record_decision
from labeling.services.tokens import store_token
from labeling.services.training import set_reference
from tests.factories import (
    make_codebook,
    make_dimension,
    make_issue,
    make_member,
    make_round,
    make_sample,
    make_study,
    make_submission,
    make_unit,
    make_user,
)

MEMBERS: Mapping[str, str] = {
    "lead": Role.LEAD,
    "coding_lead": Role.LEAD,
    "ada": Role.CODER,
    "ben": Role.CODER,
    "ada_again": Role.CODER,
    "retester": Role.CODER,
    "newcomer": Role.CODER,
    "adjudicator": Role.ADJUDICATOR,
    "observer": Role.OBSERVER,
}
#: Who may know nothing: the account of an operator, somebody else's lead, who left, who is not signed in.
STRANGERS = ("superuser", "outsider", "leaver", "anonymous")
PERSONAS = (*MEMBERS, *STRANGERS)

#: Units of which nothing is hidden by a mask.
PLAIN = ("p1", "p2", "p3", "m1", "m2", "m3", "o1", "o2", "t1", "t2", "t3")
#: Who coded in which closed round.
CODED = {"pilot": {"ada", "ben", "ada_again", "retester"}, "main": {"ada", "ben"}}
CLOSED = frozenset(CODED)
#: Units of closed rounds whose issue somebody codes again in an open one.
SEALED = {"ada_again": {"p1"}, "retester": {"p1", "p2"}, "coding_lead": {"p3"}}
#: Rounds whose masks hide fields of k1 and k2, for those who code them there.
MASKED_FOR = {"ada", "coding_lead"}

MARK = re.compile(r"zq\.(\w+)\.(\w+)\.(\w+)\.(\w+)\.qz")


class Mark(NamedTuple):
    """Something that was said: in which round, about which unit, by whom, and what kind of thing it is."""

    where: str
    unit: str
    by: str
    kind: str

    def __str__(self) -> str:
        return f"zq.{self.where}.{self.unit}.{self.by}.{self.kind}.qz"


def marks_in(text: str) -> set[Mark]:
    return {Mark(*found) for found in MARK.findall(text)}


@dataclass
class World:
    """The study, its rows by the names that marks use, and a session for every persona."""

    study: Study
    members: dict[str, Membership]
    users: dict[str, User]
    codebook: Codebook
    units: dict[str, Unit] = field(default_factory=dict)
    rounds: dict[str, Round] = field(default_factory=dict)
    sessions: dict[str, str] = field(default_factory=dict)
    ids: dict[str, Any] = field(default_factory=dict)
    said: set[Mark] = field(default_factory=set)
    #: One for all clients: its middleware is loaded once, not for every reader of every address.
    handler: ClientHandler = field(default_factory=lambda: ClientHandler(enforce_csrf_checks=False))

    def mark(self, where: str, unit: str, by: str, kind: str) -> str:
        """Give the text of a mark that is now said."""
        mark = Mark(where, unit, by, kind)
        self.said.add(mark)
        return str(mark)

    def assignment(self, where: str, unit: str, by: str) -> Assignment:
        return Assignment.objects.select_related("coder", "round_unit__unit__issue").get(
            round_unit__round=self.rounds[where],
            round_unit__unit=self.units[unit],
            coder=self.members[by],
        )

    def round_unit(self, where: str, unit: str) -> RoundUnit:
        return RoundUnit.objects.select_related("round__study", "unit").get(
            round=self.rounds[where], unit=self.units[unit]
        )

    def client(self, persona: str) -> Client:
        client = Client(raise_request_exception=False)
        client.handler = self.handler
        if persona in self.sessions:
            client.cookies[settings.SESSION_COOKIE_NAME] = self.sessions[persona]
        return client


def body_of(response: Any) -> str:
    """All that a response says: its headers and every byte of its body."""
    chunks = response.streaming_content if response.streaming else [response.content]
    headers = "\n".join(f"{name}: {value}" for name, value in response.items())
    return headers + "\n" + b"".join(chunks).decode(errors="replace")


# Who may read what: the rule once more, in the words of the study and not in those of the code --------------


#: What tells from which repositories a study takes its issues, and of no unit from which it is.
OF_THE_STUDY = ("/methods/",)


def may_read(persona: str, mark: Mark, address: str = "") -> bool:
    """Whether blinding leaves what was said to this reader."""
    if mark.kind == "repository" and address.endswith(OF_THE_STUDY):
        return persona in MEMBERS
    if mark.where == "mask":
        return persona in MEMBERS and persona not in MASKED_FOR
    if persona not in MEMBERS:
        return False
    if mark.kind == "draft":
        return mark.by == persona
    if mark.kind == "proposed":
        return mark.by == persona or (mark.where in CLOSED and _reaches(persona, mark.where))
    if mark.where in CLOSED:
        return _is_settled(persona, mark)
    if mark.by == "reference":
        # After one's own submission; at once for a lead who does not code in the round.
        return persona == "lead" or mark.unit in HANDED_IN.get(persona, ())
    return mark.by == persona


#: Units of the training that somebody handed in.
HANDED_IN = {"ada": {"t1"}}


def _reaches(persona: str, where: str) -> bool:
    return MEMBERS[persona] != Role.CODER or persona in CODED[where]


def _is_settled(persona: str, mark: Mark) -> bool:
    if not _reaches(persona, mark.where) or mark.unit in SEALED.get(persona, ()):
        return False
    # In the main round an adjudicator answers first; of m1 they did.
    return not (persona == "adjudicator" and mark.where == "main" and mark.unit != "m1")


# Every address ----------------------------------------------------------------------------------------------


def url_patterns(
    resolver: URLResolver | None = None, namespace: str = ""
) -> Iterator[tuple[str, URLPattern]]:
    """Walk the URLconf: the full name of every address, and its pattern."""
    for each in (resolver or get_resolver()).url_patterns:
        if isinstance(each, URLResolver):
            yield from url_patterns(each, ":".join(filter(None, (namespace, each.namespace))))
        else:
            yield ":".join(filter(None, (namespace, each.name or "?"))), each


def named_patterns() -> dict[str, URLPattern]:
    """Every address but those of the admin."""
    return {name: pattern for name, pattern in url_patterns() if not name.startswith("admin:")}


def addresses(world: World, name: str, pattern: URLPattern, *, where: str = "") -> Iterator[str]:
    """Give the address of a name for every round, unit, dimension and so on that its parameters may name.

    ``where`` leaves it at one round.
    """
    wanted = set(pattern.pattern.converters)
    found = (
        reverse(name, kwargs={each: row[each] for each in wanted}) for row in _arguments(world, wanted, where)
    )
    yield from dict.fromkeys(found)


def _arguments(world: World, wanted: set[str], where: str) -> Iterator[dict[str, Any]]:
    rounds_meant = [world.rounds[where]] if where else list(world.rounds.values())
    one = {
        "slug": [world.study.slug],
        "issue_id": [
            *(unit.issue_id for unit in world.units.values()),
            world.ids["issue"],
            world.ids["duplicate"],
        ],
        "assignment_id": list(Assignment.objects.order_by("pk").values_list("pk", flat=True)),
        "member_id": [member.pk for member in world.members.values()],
        "name": sorted(FILES),
        "export_id": [world.ids["export"]],
        "job_id": [world.ids["job"], f"export-{world.ids['export']}"],
        "key": ["symptom"],
        "proposal_id": [value for key, value in world.ids.items() if key.startswith("proposal ")],
        "unit_id": [unit.pk for unit in world.units.values()],
        "dimension": [*DIMENSIONS, UNIT],
        "number": [each.number for each in rounds_meant],
        "round_id": [each.pk for each in rounds_meant],
        **{key: [world.ids[name]] for key, name in SINGLE.items()},
    }
    in_round = {"number", "round_id"} & wanted
    if in_round and "unit_id" in wanted:
        yield from _unit_arguments(world, one, rounds_meant)
        return
    for values in product(*(one[key] for key in sorted(wanted))):
        yield dict(zip(sorted(wanted), values, strict=True))


#: Parameters of which the world holds one.
SINGLE = {
    "sample_id": "sample",
    "import_id": "import",
    "upload_id": "upload",
    "invitation_id": "invitation",
    "token": "token",
    "token_id": "source_token",
    "concept": "concept",
}
DIMENSIONS = ("symptom",)


def _unit_arguments(
    world: World, one: Mapping[str, list[Any]], rounds_meant: list[Round]
) -> Iterator[dict[str, Any]]:
    """Units go with the rounds they are in; a dimension of a running round is as good as another."""
    found = RoundUnit.objects.filter(round__in=rounds_meant).select_related("round")
    for round_unit in found.order_by("pk"):
        coding_round = round_unit.round
        for dimension in one["dimension"] if coding_round.is_unblinded else ("symptom",):
            yield {
                "slug": world.study.slug,
                "number": coding_round.number,
                "round_id": coding_round.pk,
                "unit_id": round_unit.unit_id,
                "dimension": dimension,
            }


# The study --------------------------------------------------------------------------------------------------


@contextmanager
def stored_world(blocker: Any) -> Iterator[World]:
    """Commit the world for the tests of one module, which undo what they change, and take it away again."""
    # What is refused is what the tests ask for.
    logging.getLogger("django.request").setLevel(logging.CRITICAL)
    with blocker.unblock():
        world = make_world()
    try:
        yield world
    finally:
        with blocker.unblock():
            call_command("flush", interactive=False, verbosity=0)


@transaction.atomic
def make_world() -> World:
    world = _people()
    _issues(world)
    _pilot(world)
    _main_round(world)
    _open_round(world)
    _retest(world)
    _masked_round(world)
    _trainings(world)
    _records(world)
    for where in CLOSED:
        # Somebody chose to look at the numbers: until then their pages ask first.
        mark_read(world.rounds[where])
        report_of(world.rounds[where], count_states=Study.CountStates.LEAVE_OUT)
        for scope in AgreementReport.Scope.values:
            report_of(world.rounds[where], scope=scope)
    for persona, user in world.users.items():
        client = Client()
        client.force_login(user)
        world.sessions[persona] = client.cookies[settings.SESSION_COOKIE_NAME].value
    return world


def _people() -> World:
    users = {name: make_user(name) for name in (*MEMBERS, "outsider", "leaver")}
    users["superuser"] = User.objects.create_superuser("superuser", password="secret-password")
    make_study(lead=users["outsider"], slug="elsewhere")
    study = make_study(lead=users["lead"], slug="bugs", title="Bugs in compilers")
    members = {"lead": study.memberships.get()}
    for name, role in list(MEMBERS.items())[1:]:
        members[name] = make_member(study, user=users[name], role=role)
    members["leaver"] = make_member(study, user=users["leaver"], left_at=timezone.now())
    codebook = make_codebook(study)
    make_dimension(codebook, "note", kind="text", required=False)
    return World(study, members, users, codebook)


def _issues(world: World) -> None:
    for number, name in enumerate(PLAIN, start=1):
        issue = make_issue(world.study, number=number, title=f"Crash {name}", comments=["Same here."])
        world.units[name] = make_unit(world.study, issue)
    for number, name in enumerate(("k1", "k2"), start=1):
        world.units[name] = make_unit(world.study, _masked_issue(world, name, number))
    extra = make_issue(world.study, number=90, title="Not sampled")
    duplicate = make_issue(world.study, number=91, title="The same as k1")
    corpus.mark_duplicates(
        study=world.study,
        issues=[duplicate],
        duplicate_of=world.units["k1"].issue,
        reason="the same",
        by=world.members["lead"],
    )
    world.ids |= {"issue": extra.pk, "duplicate": duplicate.pk}


def _masked_issue(world: World, name: str, number: int) -> Any:
    def hidden(field_name: str) -> str:
        return world.mark("mask", name, "github", field_name)

    fixes = []
    if name == "k1":
        patch = f"@@ -1 +1 @@\n-a\n+{hidden('fix_patch')}"
        files = [{"path": "src/" + hidden("fix_path"), "patch": patch}]
        fixes = [
            {"key": "pr1", "title": hidden("fix_title"), "message": hidden("fix_message"), "files": files}
        ]
    told_at = "2024-03-02T10:00:00Z"
    return make_issue(
        world.study,
        number=number,
        repository=f"acme/{hidden('repository')}",
        title=f"Crash {name}",
        comments=[
            {"body": "Me too.", "author": hidden("commenter")},
            {"body": hidden("maintainer"), "association": "MEMBER", "author": "boss"},
        ],
        fixes=fixes,
        snapshot={
            "author": hidden("author"),
            "github_labels": [hidden("label")],
            "timeline": [
                {
                    "kind": "labeled",
                    "at": told_at,
                    "actor": hidden("actor"),
                    "data": {"label": hidden("labeled")},
                }
            ],
        },
    )


def _round(world: World, name: str, units: str, coders: str, **fields: Any) -> Round:
    coding_round = make_round(
        world.study,
        coders=[world.members[each] for each in coders.split()],
        units=[world.units[each] for each in units.split()],
        **fields,
    )
    world.rounds[name] = coding_round
    return coding_round


def _say(
    world: World, where: str, unit: str, by: str, symptom: str | None, *, exclude: str = "", extra: str = ""
) -> Submission:
    """Hand in an answer of which every part is a mark."""

    def mark(kind: str) -> str:
        return world.mark(where, unit, by, kind + extra)

    assignment = world.assignment(where, unit, by)
    if exclude:
        return make_submission(
            assignment, memo=mark("memo"), exclude_reason=exclude, exclude_note=mark("exclusion")
        )
    submission = make_submission(
        assignment,
        {"symptom": symptom, "note": mark("text")},
        memo=mark("memo"),
        confidence="low" if by == "ben" else "high",
    )
    dimension = world.codebook.dimensions.get(key="symptom")
    Evidence.objects.create(
        submission=submission, dimension=dimension, document="body", start=0, end=4, quote=mark("evidence")
    )
    return submission


def _propose(world: World, where: str, by: str, unit: str = "") -> None:
    """Propose a category and, with a unit, choose it there beside what was said."""
    name = world.mark(where, unit or "none", by, "proposed")
    proposal = propose_category(
        coding_round=world.rounds[where],
        by=world.members[by],
        dimension="fix",
        name=name,
        code=name,
        definition=name,
    )
    world.ids[f"proposal {where} {by}"] = proposal.pk
    if unit:
        submission = world.assignment(where, unit, by).submissions.order_by("n").first()
        assert submission is not None
        annotation = submission.annotations.get(dimension__key="fix")
        AnnotationCategory.objects.create(annotation=annotation, proposal=proposal, exclusive=False)


def _talk(world: World, where: str, unit: str, dimension: str, by: str = "ada") -> None:
    """Propose a decision and write a comment on it."""
    round_unit = world.round_unit(where, unit)
    propose_decision(
        round_unit=round_unit,
        dimension=dimension,
        by=world.members[by],
        answer=Answer(categories=("crash",)) if dimension != UNIT else Answer(excluded=False),
        rationale=world.mark(where, unit, by, "reason"),
    )
    add_comment(
        round_unit=round_unit,
        by=world.members[by],
        text=world.mark(where, unit, by, "comment") + " @ben @retester @newcomer",
        dimension=dimension,
    )


def _decide(world: World, where: str, unit: str, dimension: str, **fields: Any) -> None:
    codes = {"symptom": "hang", "cause": "config", "fix": "call"}
    answer = Answer(excluded=False) if dimension == UNIT else Answer(categories=(codes[dimension],))
    record_decision(
        round_unit=world.round_unit(where, unit),
        dimension=dimension,
        by=world.members["lead"],
        answer=answer,
        rationale=world.mark(where, unit, "lead", f"rationale_{dimension.strip('_')}"),
        version=0,
        **fields,
    )


def _pilot(world: World) -> None:
    """Done: four coders, one of whom excluded p2; some of the reasons were an unclear definition."""
    coders = ("ada", "ben", "ada_again", "retester")
    _round(world, "pilot", "p1 p2 p3", " ".join(coders), kind=Round.Kind.PILOT, decide=Round.Decide.LEAD)
    for by in coders:
        symptom = "crash" if by == "ada" else "hang"
        _say(world, "pilot", "p1", by, symptom)
        _say(world, "pilot", "p2", by, symptom, exclude="duplicate" if by == "ada_again" else "")
        _say(world, "pilot", "p3", by, symptom)
    _propose(world, "pilot", "ada", "p1")
    pilot = rounds.close_round(coding_round=world.rounds["pilot"], by=world.members["lead"])
    proposal = pilot.proposals.get()
    resolve_proposal(proposal=proposal, act="map", map_to="rewrite", by=world.members["lead"])
    _talk(world, "pilot", "p1", "symptom")
    _talk(world, "pilot", "p2", UNIT)
    _talk(world, "pilot", "p3", "symptom", by="retester")
    _decide(world, "pilot", "p1", "symptom", disagreement_reason="definition_unclear")
    _decide(world, "pilot", "p2", UNIT)
    _decide(world, "pilot", "p3", "symptom", disagreement_reason="definition_unclear")
    for decision in Decision.objects.filter(round_unit__round=pilot, how="").order_by("pk"):
        unit = next(name for name, each in world.units.items() if each.pk == decision.round_unit.unit_id)
        _decide(world, "pilot", unit, decision.dimension)
    world.rounds["pilot"] = rounds.finish_round(coding_round=pilot, by=world.members["lead"])


def _main_round(world: World) -> None:
    """Being reconciled: an adjudicator decides after an answer of their own, which they gave for m1."""
    _round(
        world,
        "main",
        "m1 m2 m3",
        "ada ben",
        decide=Round.Decide.ADJUDICATOR,
        own_answer_first=True,
        codebook=world.codebook,
    )
    for unit in ("m1", "m2"):
        _say(world, "main", unit, "ada", "crash")
        _say(world, "main", unit, "ben", "hang")
    _say(world, "main", "m3", "ada", "crash")
    _say(world, "main", "m3", "ben", "crash")
    _propose(world, "main", "ben", "m2")
    main = rounds.close_round(coding_round=world.rounds["main"], by=world.members["lead"])
    resolve_proposal(proposal=main.proposals.get(), act="reject", by=world.members["lead"])
    world.rounds["main"] = Round.objects.select_related("study").get(pk=main.pk)
    _talk(world, "main", "m1", "symptom")
    _talk(world, "main", "m2", "symptom")
    _say(world, "main", "m1", "adjudicator", "hang")


def _deal(world: World, where: str, unit: str, by: str) -> None:
    coding_round = world.rounds[where]
    round_unit, _ = RoundUnit.objects.get_or_create(round=coding_round, unit=world.units[unit])
    coding_round.coders.add(world.members[by])
    position = coding_round.round_units.count()
    Assignment.objects.create(round_unit=round_unit, coder=world.members[by], position=position)


def _open_round(world: World) -> None:
    """Open: o1 is answered, o2 begun; two who know p1 and p3 from the pilot code them again."""
    _round(world, "open", "o1 o2", "ada ben coding_lead", codebook=world.codebook)
    _deal(world, "open", "p1", "ada_again")
    _deal(world, "open", "p3", "coding_lead")
    _say(world, "open", "o1", "ada", "crash")
    _say(world, "open", "o1", "ben", None, exclude="duplicate")
    _say(world, "open", "o1", "coding_lead", "hang")
    _say(world, "open", "p1", "ada_again", "crash")
    _propose(world, "open", "ada", "o1")
    _propose(world, "open", "ada_again")
    for by in ("ada", "ben"):
        text = world.mark("open", "o2", by, "draft")
        coding.save_draft(
            assignment=world.assignment("open", "o2", by),
            changes={"memo": text, "annotations": {"note": {"text": text}}},
            version=0,
            by=world.members[by],
        )
    coding.skip(assignment=world.assignment("open", "o2", "coding_lead"), by=world.members["coding_lead"])


def _retest(world: World) -> None:
    _round(
        world,
        "retest",
        "p1 p2",
        "retester",
        kind=Round.Kind.RETEST,
        based_on=world.rounds["pilot"],
        codebook=world.codebook,
        counts_in_results=False,
    )
    _say(world, "retest", "p1", "retester", "hang")


def _masked_round(world: World) -> None:
    """Open: hides author, repository, GitHub labels and maintainers; the fix comes with the second stage."""
    _round(
        world,
        "masked",
        "k1 k2",
        "ada coding_lead",
        codebook=world.codebook,
        masked_fields=["author", "github_labels", "maintainer_comments", "repository"],
        stages=[
            {"dimensions": ["symptom"], "reveals": []},
            {"dimensions": ["cause", "fix", "note"], "reveals": ["fix"]},
        ],
    )
    text = world.mark("masked", "k2", "ada", "memo")
    answers = ({"symptom": ["crash"]}, {"cause": ["config"], "fix": ["call"]})
    for stage, annotations in enumerate(answers):
        assignment = world.assignment("masked", "k2", "ada")
        coding.submit(
            assignment=assignment,
            by=world.members["ada"],
            changes={"annotations": annotations} | ({"memo": text} if stage else {}),
            version=assignment.version,
        )


def _trainings(world: World) -> None:
    """One open, in which ada handed in t1; one planned, with a unit that the coding lead codes masked."""
    lead = world.members["lead"]
    for name, units in (("training", "t1 t2"), ("planned", "t3 k1")):
        _round(
            world,
            name,
            units,
            "ada ben" if name == "training" else "newcomer coding_lead",
            kind=Round.Kind.TRAINING,
            state=Round.State.DRAFT,
            counts_in_results=False,
        )
        known = {}
        for unit in units.split():
            text = world.mark(name, unit, "reference", "text")
            given = {"symptom": ["crash"], "cause": ["config"], "fix": ["call"], "note": {"text": text}}
            known[world.units[unit].ref] = {
                "annotations": given,
                "memo": world.mark(name, unit, "reference", "memo"),
            }
        world.rounds[name] = set_reference(coding_round=world.rounds[name], answers=known, by=lead)
    training = world.rounds["training"]
    _deal_training(training)
    _say(world, "training", "t1", "ada", "hang")
    _deal(world, "training", "t2", "coding_lead")


def _deal_training(training: Round) -> None:
    for coder in training.coders.all():
        for position, round_unit in enumerate(training.round_units.order_by("pk"), start=1):
            Assignment.objects.create(round_unit=round_unit, coder=coder, position=position)
    training.move_to(Round.State.OPEN)


def _records(world: World) -> None:
    """A sample, an import, a codebook draft, jobs, a token, an invitation: what else has an address."""
    lead = world.members["lead"]
    frame = pack_frame(dict.fromkeys(world.study.issues.values_list("key", flat=True), ""))
    drawn = [world.units[each] for each in ("m1", "m2", "k1")]
    sample = make_sample(world.study, units=drawn, frame=frame)
    query = {"repositories": ["octo/spoon"], "api_base": "https://api.github.com"}
    run = ImportRun.objects.create(study=world.study, by=lead, source="github", state="done", query=query)
    upload = Upload.objects.create(study=world.study, by=lead, state="paused", query={"file": "gone.csv"})
    data = codebooks.codebook_data(world.codebook)
    draft = world.study.codebooks.filter(frozen_at__isnull=True).first()
    assert draft is not None, "an unclear definition leaves a draft with a note"
    assert data["dimensions"]
    job = Job.objects.create(kind=Job.Kind.BREAKDOWNS, study=world.study, by=lead)
    export = ExportJob.objects.create(study=world.study, by=lead, kind="package")
    invitation, token = invite(study=world.study, role=Role.CODER, by=lead)
    source_token = store_token(
        user=world.users["lead"], api_base="https://api.github.com", value="ghp_madeup"
    )
    category = draft.dimensions.get(key="symptom").categories.get(code="crash")
    world.ids |= {
        "sample": sample.pk,
        "import": run.pk,
        "upload": upload.pk,
        "job": job.pk,
        "export": export.pk,
        "invitation": invitation.pk,
        "token": token,
        "source_token": source_token.pk,
        "concept": category.concept,
    }
