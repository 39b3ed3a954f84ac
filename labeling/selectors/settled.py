"""How the disagreements of a round were settled, for the dashboard, the round and the paper."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from labeling.models import UNIT, Decision, Dimension, DisagreementReason, Round
from labeling.selectors.frozen import round_dimensions
from labeling.selectors.reconciliation import QUEUED

How = Decision.How

#: Ways of settling in the order in which they are told; the last one is not settled yet.
WAYS = {
    How.DISCUSSED: ("discussed", "Discussed", "in discussion"),
    How.ADJUDICATED: ("adjudicated", "Adjudicated", "by adjudication"),
    How.MAJORITY: ("majority", "Majority", "by the majority of the coders"),
    How.DERIVED: ("followed", "Followed from another decision", "by another decision on the same unit"),
    How.EXCLUDED: ("followed", "Followed from another decision", "by another decision on the same unit"),
    "": ("open", "Open", ""),
}


@dataclass(frozen=True, slots=True)
class Way:
    key: str
    label: str
    words: str
    count: int


@dataclass(frozen=True, slots=True)
class SettledShares:
    """``agreed`` are answers the coders gave alike by themselves; ``ways`` says what became of the others.

    Only what two or more answered is compared; ``undecided`` is everything left to decide in the round.
    """

    agreed: int
    ways: Sequence[Way]
    reasons: Sequence[tuple[str, int]]
    undecided: int = 0

    @property
    def disagreements(self) -> int:
        return sum(each.count for each in self.ways)

    @property
    def answers(self) -> int:
        return self.agreed + self.disagreements

    @property
    def open(self) -> int:
        return sum(each.count for each in self.ways if each.key == "open")

    @property
    def sentence(self) -> str:
        """What a paper says of it; empty where no unit was coded by two."""
        if not self.answers:
            return ""
        share = _share(self.agreed, self.answers)
        told = f"The coders agreed on {self.agreed:,} of {self.answers:,} answers ({share})."
        settled = [each for each in self.ways if each.key != "open"]
        if not settled:
            return told
        total = self.disagreements
        parts = [f"{each.count:,} {each.words} ({_share(each.count, total)})" for each in settled]
        verb = "was" if settled[0].count == 1 else "were"
        parts[0] = parts[0].replace(" ", f" {verb} settled ", 1)
        listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
        left = f"; {self.open:,} are open" if self.open else ""
        return f"{told} Of the other {total:,}, {listed}{left}."


def _share(count: int, total: int) -> str:
    return f"{100 * count / total:.2f}%"


def settled_shares(coding_round: Round) -> SettledShares:
    """Count the answers of units that several coders answered, by how each became final.

    Totals only: they are shown to whoever may know of the round, sealed units included.
    """
    texts = [each.key for each in round_dimensions(coding_round) if each.kind == Dimension.Kind.TEXT]
    rows = Decision.objects.filter(round_unit__round=coding_round).exclude(dimension__in=texts)
    # The cell joins the answers that met: one alone met none.
    queued = rows.filter(type__in=QUEUED, cell__contains="|")
    counts: Counter[tuple[str, str, str]] = Counter(WAYS[how] for how in queued.values_list("how", flat=True))
    reasons = Counter(queued.exclude(disagreement_reason="").values_list("disagreement_reason", flat=True))
    agreed = rows.filter(type=Decision.Type.AGREED).exclude(dimension=UNIT)
    return SettledShares(
        agreed=agreed.exclude(how__in=(How.DERIVED, How.EXCLUDED)).count(),
        ways=[Way(*way, counts[way]) for way in dict.fromkeys(WAYS.values()) if counts[way]],
        reasons=[(str(DisagreementReason(key).label), count) for key, count in reasons.most_common()],
        undecided=rows.filter(how="").count(),
    )
