"""Categories that a coder misses: proposed while coding, settled by a lead before reconciliation opens."""

from typing import Literal

from django.db import transaction
from django.utils.text import slugify

from labeling.codebook_acts import similar_names
from labeling.errors import CodebookError, InvalidInputError, RoundStateError
from labeling.models import (
    RESERVED_STATES,
    Assignment,
    Category,
    CategoryProposal,
    Codebook,
    Dimension,
    Membership,
    Round,
)
from labeling.services import codebooks
from labeling.services.reconciliation import open_reconciliation
from labeling.services.round_lock import lock_round, record_round

State = CategoryProposal.State
Act = Literal["accept", "map", "reject"]


def propose_category(
    *,
    coding_round: Round,
    by: Membership,
    dimension: str,
    name: str,
    code: str = "",
    definition: str = "",
    parent: str | None = None,
    unless_similar: bool = False,
) -> CategoryProposal:
    """Make a category that its coder alone can see and choose until the round closes.

    ``unless_similar`` refuses a name that is easily taken for another one, for its coder to think twice.
    """
    name, code = name.strip(), code.strip() or slugify(name)[:80]
    with transaction.atomic():
        locked = lock_round(coding_round)
        if locked.state != Round.State.OPEN:
            raise RoundStateError("Categories are proposed while the round is open.")
        _refuse_who_does_not_code(locked, by)
        asked = _dimension(locked, dimension)
        above = _parent(asked, parent)
        _refuse_invalid(locked, asked, by, name, code)
        if unless_similar:
            _refuse_similar(locked, asked, by, name)
        proposal = CategoryProposal.objects.create(
            round=locked,
            dimension=asked,
            by=by.group or by,
            code=code,
            name=name,
            definition=definition.strip(),
            parent=above,
        )
        record_round(locked, "category.proposed", by, proposal=str(proposal.pk))
    return proposal


def resolve_proposal(
    *, proposal: CategoryProposal, act: Act, by: Membership, map_to: str = ""
) -> CategoryProposal:
    """Settle a proposed category of a closed round; reconciliation opens with the last one.

    Accepted, its concept enters the codebook draft. Mapped, it counts as the category ``map_to`` of the
    round's version. Rejected, what was coded with it has no value in mapped agreement.
    """
    with transaction.atomic():
        locked = lock_round(proposal.round)
        settled = (
            CategoryProposal.objects.select_for_update(of=("self",))
            .select_related("dimension", "parent")
            .get(pk=proposal.pk)
        )
        if locked.state != Round.State.CLOSED:
            raise RoundStateError(
                "Proposed categories are settled after the round closed, before it is done."
            )
        if settled.state != State.PROPOSED:
            raise RoundStateError(f"{settled.name} was {settled.get_state_display().lower()} before.")
        if act == "accept":
            _enter_draft(locked, settled, by)
            settled.state = State.ACCEPTED
        elif act == "map":
            settled.state, settled.target = State.MAPPED, _target(settled, map_to)
        else:
            settled.state = State.REJECTED
        settled.save(update_fields=["state", "target"])
        record_round(locked, f"category.{settled.state}", by, proposal=str(settled.pk))
    open_reconciliation(locked, by)
    return settled


def _target(proposal: CategoryProposal, code: str) -> Category:
    target = proposal.dimension.categories.filter(code=code, archived=False).first()
    if target is None:
        raise InvalidInputError({"map_to": [f"{proposal.dimension.name} has no category {code}."]})
    return target


def _enter_draft(coding_round: Round, proposal: CategoryProposal, by: Membership) -> Codebook:
    current = codebooks.draft_or_current(coding_round.study)
    data = codebooks.codebook_data(current) if current is not None else {"dimensions": []}
    dimension = next((each for each in data["dimensions"] if each["key"] == proposal.dimension.key), None)
    if dimension is None:
        raise CodebookError(
            f"The codebook has no dimension {proposal.dimension.key} any more. Map or reject the category."
        )
    codes = {each["code"] for each in dimension["categories"]}
    if proposal.code in codes:
        raise CodebookError(f"The codebook has a category {proposal.code} already. Map this one to it.")
    parent = proposal.parent.code if proposal.parent is not None else None
    dimension["categories"].append(
        {
            "concept": str(proposal.concept),
            "code": proposal.code,
            "name": proposal.name,
            "definition": proposal.definition,
            "parent": parent if parent in codes else None,
            "order": len(codes),
        }
    )
    return codebooks.save_draft(study=coding_round.study, data=data, by=by)


def _refuse_who_does_not_code(coding_round: Round, by: Membership) -> None:
    mine = Assignment.objects.of_member(by).active().filter(round_unit__round=coding_round)
    if not mine.exists():
        raise RoundStateError("Only a coder of the round proposes categories in it.")


def _dimension(coding_round: Round, key: str) -> Dimension:
    asked = Dimension.objects.filter(codebook=coding_round.codebook_id, key=key).exclude(
        kind=Dimension.Kind.TEXT
    )
    dimension = asked.first()
    if dimension is None or (coding_round.dimensions and key not in coding_round.dimensions):
        raise InvalidInputError({"dimension": ["Name a dimension of this round that has categories."]})
    return dimension


def _parent(dimension: Dimension, code: str | None) -> Category | None:
    if not code:
        return None
    parent = dimension.categories.filter(code=code, archived=False).first()
    if parent is None:
        raise InvalidInputError({"parent": [f"{dimension.name} has no category {code}."]})
    return parent


def _refuse_similar(coding_round: Round, dimension: Dimension, by: Membership, name: str) -> None:
    offered = dimension.categories.filter(archived=False).values("name")
    own = coding_round.proposals.filter(dimension=dimension, by__in=by.coder_ids).values("name")
    if similar := similar_names({"categories": [*offered, *own]}, name):
        raise InvalidInputError(
            {
                "name": [
                    f"{name} is easily taken for {' or '.join(similar)}, which is there already. "
                    "Choose that one, or propose yours once more."
                ]
            }
        )


def _refuse_invalid(coding_round: Round, dimension: Dimension, by: Membership, name: str, code: str) -> None:
    errors: dict[str, list[str]] = {}
    if not name or len(name) > 160:
        errors["name"] = ["Give the category a name of at most 160 characters."]
    if not code or len(code) > 80 or set("/|\n\r") & set(code) or code in RESERVED_STATES:
        errors["code"] = ["Give a code of at most 80 characters without / and |, for example null-check."]
    elif dimension.categories.filter(code=code).exists():
        errors["code"] = [f"{dimension.name} has a category {code} already. Choose that one."]
    elif coding_round.proposals.filter(dimension=dimension, by__in=by.coder_ids, code=code).exists():
        errors["code"] = [f"You proposed {code} before. Choose it, or give another code."]
    if errors:
        raise InvalidInputError(errors)
