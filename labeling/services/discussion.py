"""What is said about a unit once its round is closed."""

import re

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.urls import reverse

from labeling.errors import InvalidInputError, RoundStateError
from labeling.models import UNIT, Comment, Membership, Role, RoundUnit
from labeling.selectors.reconciliation import coders_of
from labeling.services.events import notify, record

LONGEST = 10_000
MENTION = re.compile(r"@([\w.+-]+)")


def add_comment(*, round_unit: RoundUnit, by: Membership, text: str, dimension: str = "") -> Comment:
    """Say something about a unit of a closed round. Its coders are told, and whom ``@name`` mentions."""
    coding_round = round_unit.round
    if by.role == Role.OBSERVER:
        raise PermissionDenied("Observers read discussions but do not take part in them.")
    if not coding_round.is_unblinded:
        raise RoundStateError(
            f"Round {coding_round.number} is open: its units are discussed once it is closed, so that "
            f"coders stay independent."
        )
    if not text.strip():
        raise InvalidInputError({"text": ["Write a comment first."]})
    if len(text) > LONGEST:
        raise InvalidInputError({"text": [f"Write at most {LONGEST:,} characters, or two comments."]})
    with transaction.atomic():
        comment = Comment.objects.create(round_unit=round_unit, dimension=dimension, by=by, text=text)
        mentioned = _mentioned(round_unit, text)
        comment.mentions.set(mentioned)
        record(
            study=coding_round.study,
            round=coding_round,
            by=by,
            verb="comment.added",
            object=f"unit:{round_unit.unit.ref}",
            dimension=dimension,
        )
        _tell(comment, mentioned)
    return comment


def _mentioned(round_unit: RoundUnit, text: str) -> list[Membership]:
    names = {name.rstrip(".").casefold() for name in MENTION.findall(text)}
    members = round_unit.round.study.memberships.filter(left_at__isnull=True, user__isnull=False)
    return [
        member
        for member in members.select_related("user")
        if names & {str(member.user.username).casefold(), member.pseudonym.casefold()}  # type: ignore[union-attr]
    ]


def _tell(comment: Comment, mentioned: list[Membership]) -> None:
    round_unit = comment.round_unit
    where = [
        round_unit.round.study.slug,
        round_unit.round.number,
        round_unit.unit_id,
        comment.dimension or UNIT,
    ]
    url, told = reverse("labeling:reconciliation-detail", args=where), f"unit:{round_unit.unit.ref}"
    others = [each for each in mentioned if each != comment.by]
    notify(others, verb="comment.mentioned", object=told, url=url)
    coders = [each for each in coders_of(round_unit) if each != comment.by and each not in others]
    notify(coders, verb="comment.added", object=told, url=url)
