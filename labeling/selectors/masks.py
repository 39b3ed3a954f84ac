"""What open rounds hide from a member, wherever the issue is shown."""

from collections.abc import Collection
from functools import cached_property

from django.db.models import Exists, OuterRef, Q, QuerySet

from labeling.blinding import sealing_assignments
from labeling.models import Issue, Membership, Round, Unit


class Masks:
    """Fields of issues that are hidden from one member while they code them."""

    def __init__(self, member: Membership) -> None:
        self.member = member

    @cached_property
    def _rounds(self) -> dict[int, frozenset[str]]:
        """Open rounds that hide something, and what."""
        rounds = Round.objects.filter(study=self.member.study_id, state=Round.State.OPEN)
        told = rounds.values_list("pk", "masked_fields", "stages")
        # What a later stage reveals is hidden outside of the coding page for as long as the round is open.
        hidden = {
            pk: frozenset([*masked, *(field for stage in stages for field in stage.get("reveals", ()))])
            for pk, masked, stages in told
        }
        return {pk: fields for pk, fields in hidden.items() if fields}

    def hiding(self, *names: str) -> Q:
        """Condition on issues: one of the fields is hidden from the member; without names, any field."""
        rounds = self._hiding(names)
        if not rounds:
            return Q(pk__in=())
        mine = sealing_assignments(self.member).filter(round_unit__round__in=rounds)
        return Q(Exists(mine.filter(round_unit__unit__issue=OuterRef("pk"))))

    def without(self, issues: "QuerySet[Issue]", *names: str) -> "QuerySet[Issue]":
        """Leave out the issues of which one of the fields is hidden; without names, any field."""
        return issues.exclude(self.hiding(*names)) if self._hiding(names) else issues

    def hides(self, *names: str) -> bool:
        """Whether an open round hides one of these fields of its units, whoever codes them."""
        return bool(self._hiding(names))

    def _hiding(self, names: Collection[str]) -> list[int]:
        """Open rounds that hide one of the fields; without names, any field."""
        return [pk for pk, fields in self._rounds.items() if not names or fields & set(names)]

    @cached_property
    def names(self) -> dict[str, str]:
        """What the units whose very name is hidden are called instead, by the name."""
        rounds = [pk for pk, fields in self._rounds.items() if "repository" in fields]
        if not rounds:
            return {}
        mine = sealing_assignments(self.member).filter(round_unit__round__in=rounds)
        units = Unit.objects.filter(issue__in=mine.values("round_unit__unit__issue"))
        return {ref: f"unit {pk}" for ref, pk in units.values_list("ref", "pk")}

    @property
    def unit_order(self) -> str:
        """What lists of units are sorted by: a hidden name would be told by its place."""
        return "pk" if self.names else "ref"

    def all_issues(self) -> dict[int, frozenset[str]]:
        """``of_issues`` of every issue that the member codes now."""
        mine = sealing_assignments(self.member).filter(round_unit__round__in=self._rounds)
        return self.of_issues(set(mine.values_list("round_unit__unit__issue", flat=True)))

    def of_issues(self, issues: Collection[int]) -> dict[int, frozenset[str]]:
        """Give the hidden fields of those of the issues that have any."""
        if not self._rounds or not issues:
            return {}
        mine = sealing_assignments(self.member).filter(
            round_unit__round__in=self._rounds, round_unit__unit__issue__in=issues
        )
        hidden: dict[int, frozenset[str]] = {}
        for issue, coding_round in mine.values_list("round_unit__unit__issue", "round_unit__round"):
            hidden[issue] = hidden.get(issue, frozenset()) | self._rounds[coding_round]
        return hidden
