"""Categories that a coder misses: proposed while coding, settled by a lead before reconciliation opens."""

from django.db import transaction
from django.utils.text import slugify

from labeling.errors import InvalidInputError, RoundStateError
from labeling.models import (
    RESERVED_STATES,
    Assignment,
    Category,
    CategoryProposal,
    Dimension,
    Membership,
    Round,
)
from labeling.services.events import record


def propose_category(
    *,
    coding_round: Round,
    by: Membership,
    dimension: str,
    name: str,
    code: str = "",
    definition: str = "",
    parent: str | None = None,
) -> CategoryProposal:
    """Make a category that its coder alone can see and choose until the round closes."""
    name, code = name.strip(), code.strip() or slugify(name)[:80]
    with transaction.atomic():
        locked = Round.objects.select_for_update(of=("self",)).select_related("study").get(pk=coding_round.pk)
        if locked.state != Round.State.OPEN:
            raise RoundStateError("Categories are proposed while the round is open.")
        _refuse_who_does_not_code(locked, by)
        asked = _dimension(locked, dimension)
        above = _parent(asked, parent)
        _refuse_invalid(locked, asked, by, name, code)
        proposal = CategoryProposal.objects.create(
            round=locked,
            dimension=asked,
            by=by.group or by,
            code=code,
            name=name,
            definition=definition.strip(),
            parent=above,
        )
        record(
            study=locked.study,
            round=locked,
            by=by,
            verb="category.proposed",
            object=f"round:{locked.number}",
            proposal=str(proposal.pk),
        )
    return proposal


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
