"""Put the demo study into the database, through the services that people use."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction

from labeling.demo.content import (
    AnswerContent,
    DemoContent,
    DimensionAnswer,
    DisagreementContent,
    EvidenceContent,
    KnownContent,
    ProposalContent,
    RoundContent,
    load_content,
)
from labeling.models import Assignment, Membership, Role, Round, RoundUnit, Sample, Study, Unit, User
from labeling.services import coding, corpus, rounds, samples
from labeling.services.agreement import mark_read
from labeling.services.answers import Answer
from labeling.services.codebooks import freeze
from labeling.services.discussion import add_comment
from labeling.services.issues import add_issues
from labeling.services.members import add_member, update_member
from labeling.services.reconciliation import propose_decision, record_decision
from labeling.services.studies import create_study, update_study
from labeling.services.training import set_reference


def load_demo_study() -> Study | None:
    """Load it once; None if a study of its name is there already, whatever became of it."""
    content = load_content()
    # All or nothing: a first start that was interrupted begins anew.
    with transaction.atomic():
        return _load(content)


def _load(content: DemoContent) -> Study | None:
    if Study.objects.filter(slug=content.study.slug).exists():
        return None
    study, members = _make_study(content)
    lead = members["lead"]
    add_issues(study=study, records=content.issues)
    corpus.set_rules(
        study=study,
        rules=[
            {"field": each.field, "op": each.op, "value": each.value, "text": each.text}
            for each in content.study.rules
        ],
        by=lead,
    )
    freeze(study=study, by=lead, note="After a pilot on paper")
    drawn = content.study.sample
    sample = samples.draw(
        study=study, method=drawn.method, size=drawn.size, pilot=drawn.pilot, seed=drawn.seed, by=lead
    )
    for each in content.rounds:
        _play_round(_make_round(sample, each, members), each, members)
    return study


def _make_study(content: DemoContent) -> tuple[Study, dict[str, Membership]]:
    users = {each.username: _account(each.username, each.name) for each in content.study.members}
    lead = next(each for each in content.study.members if each.role == Role.LEAD)
    study = create_study(
        title=content.study.title,
        slug=content.study.slug,
        by=users[lead.username],
        codebook=content.codebook,
    )
    members = {lead.username: study.memberships.get(user=users[lead.username])}
    reasons = list(content.study.exclusion_reasons)
    study = update_study(
        study=study, by=members[lead.username], zone=content.study.zone, exclusion_reasons=reasons
    )
    for each in content.study.members:
        if each.username != lead.username:
            members[each.username] = add_member(
                study=study, user=users[each.username], role=each.role, by=members[lead.username]
            )
        update_member(member=members[each.username], by=members[lead.username], experience=each.experience)
    return study, members


def _account(username: str, name: str) -> User:
    """Make an account without a password: it is entered by sign-in links alone."""
    user, _ = User.objects.get_or_create(username=username, defaults={"display_name": name, "password": "!"})
    return user


def _make_round(sample: Sample, content: RoundContent, members: Mapping[str, Membership]) -> Round:
    first, last = content.ranks
    drawn = sample.sample_units.filter(rank__range=(first, last)).order_by("rank").select_related("unit")
    coding_round = rounds.create_round(
        study=sample.study,
        by=members["lead"],
        kind=content.kind,
        sample=sample,
        units=[each.unit for each in drawn],
        coders=[members[name] for name in content.coders],
        seed=content.seed,
        decide=content.decide,
        goal=content.goal,
        instructions=content.instructions,
    )
    if content.known:
        known = {each.unit: _known(each) for each in content.known}
        set_reference(coding_round=coding_round, answers=known, by=members["lead"])
    # Round 1 left notes on unclear definitions in a draft; the others still use what was frozen.
    return rounds.open_round(coding_round=coding_round, by=members["lead"], codebook_version=1)


def _play_round(coding_round: Round, content: RoundContent, members: Mapping[str, Membership]) -> None:
    for answer in content.answers:
        _give_answer(coding_round, answer, members[answer.coder])
    if content.state == Round.State.OPEN:
        return
    closed = rounds.close_round(coding_round=coding_round, missing=Round.Missing.REFUSE, by=members["lead"])
    mark_read(closed, members["lead"])
    units = {each.unit.ref: each for each in closed.round_units.select_related("unit")}
    for disagreement in content.disagreements:
        _discuss(units[disagreement.unit], disagreement, members)


def _give_answer(coding_round: Round, content: AnswerContent, coder: Membership) -> None:
    assignment = Assignment.objects.select_related(
        "coder", "round_unit__round", "round_unit__unit__snapshot"
    ).get(round_unit__round=coding_round, round_unit__unit__ref=content.unit, coder=coder)
    changes: dict[str, Any] = {
        "annotations": {key: _said(answer) for key, answer in content.annotations.items()},
        "memo": content.memo,
        "confidence": content.confidence,
        "evidence": list(_quotes(assignment.round_unit.unit, content.evidence)),
    }
    if content.exclude is not None:
        changes["exclude"] = {"reason": content.exclude.reason, "note": content.exclude.note}
    coding.save_draft(assignment=assignment, changes=changes, version=0, by=coder)
    if content.status == "submitted":
        coding.submit(assignment=assignment, by=coder)
    elif content.status == "skipped":
        coding.skip(assignment=assignment, by=coder)
    # Everything was handed in within a second; a median per unit should show what coding takes.
    seconds = 90 + assignment.position * 37 % 150 + coder.number * 15
    Assignment.objects.filter(pk=assignment.pk).update(active_seconds=seconds)


def _known(content: KnownContent) -> dict[str, Any]:
    said = {key: _said(answer) for key, answer in content.annotations.items()}
    return {"annotations": said, "memo": content.memo}


def _said(answer: DimensionAnswer) -> dict[str, Any]:
    return {"categories": list(answer.categories), "state": answer.state}


def _quotes(unit: Unit, evidence: Sequence[EvidenceContent]) -> Iterable[dict[str, Any]]:
    if not evidence or unit.snapshot is None:
        return
    texts = dict(unit.snapshot.documents.values_list("key", "text"))
    for each in evidence:
        start = (texts[each.document] or "").index(each.quote)
        yield {
            "dimension": each.dimension,
            "category": each.category,
            "document": each.document,
            "start": start,
            "end": start + len(each.quote),
            "quote": each.quote,
        }


def _discuss(round_unit: RoundUnit, content: DisagreementContent, members: Mapping[str, Membership]) -> None:
    for comment in content.comments:
        add_comment(
            round_unit=round_unit, by=members[comment.by], text=comment.text, dimension=content.dimension
        )
    for proposal in content.proposals:
        propose_decision(
            round_unit=round_unit,
            dimension=content.dimension,
            by=members[proposal.by],
            answer=_answer(proposal),
            rationale=proposal.rationale,
            disagreement_reason=proposal.disagreement_reason,
            escalate=proposal.escalate,
        )
    if content.decision is not None:
        record_decision(
            round_unit=round_unit,
            dimension=content.dimension,
            by=members[content.decision.by],
            answer=_answer(content.decision),
            rationale=content.decision.rationale,
            disagreement_reason=content.decision.disagreement_reason,
            version=0,
        )


def _answer(proposal: ProposalContent) -> Answer:
    if proposal.answer is None:
        return Answer(excluded=proposal.excluded)
    return Answer(categories=proposal.answer.categories, state=proposal.answer.state)
