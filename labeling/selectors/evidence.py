"""The quotes with which the coders of a unit back their answers."""

from dataclasses import dataclass

from labeling.models import Assignment, Evidence, Membership, RoundUnit, Submission


@dataclass(frozen=True, slots=True)
class CoderQuote:
    """Code points [start, end) of a document, quoted by one coder for one dimension."""

    coder: int
    dimension: str
    document: str
    start: int
    end: int
    text: str
    category: str


def unit_quotes(round_unit: RoundUnit, member: Membership) -> list[CoderQuote]:
    """What the last submissions quote, in every dimension, as far as the member may read it."""
    rows = (
        Evidence.objects.visible_to(member)
        .filter(
            submission__in=Submission.objects.last().filter(assignment__round_unit=round_unit),
            submission__assignment__purpose=Assignment.Purpose.CODING,
        )
        .exclude(submission__assignment__status=Assignment.Status.WITHDRAWN)
        .select_related("dimension", "category", "proposal", "submission__assignment")
        .order_by("document", "start", "pk")
    )
    return [
        CoderQuote(
            coder=each.submission.assignment.coder_id,
            dimension=each.dimension.key,
            document=each.document,
            start=each.start,
            end=each.end,
            text=each.quote,
            category=_name(each),
        )
        for each in rows
    ]


def _name(evidence: Evidence) -> str:
    chosen = evidence.category or evidence.proposal
    return chosen.name if chosen is not None else ""
