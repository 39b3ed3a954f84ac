"""What a member can do next to bring the study forward: one thing first, then what comes after it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from django.urls import reverse
from django.utils.formats import date_format

from labeling.models import Assignment, CategoryProposal, Membership, Round, Study
from labeling.selectors.dashboard import RoundRow

SHOWN = 3
BLIND = "You see your own answers only until the round closes."


@dataclass(frozen=True, slots=True)
class NextStep:
    title: str
    text: str
    url: str
    action: str


def next_steps(study: Study, member: Membership, rounds: Sequence[RoundRow]) -> list[NextStep]:
    """The first one matters most; none: the member waits for others."""
    # Rounds that count come before trainings and pilots, of each the newest first.
    rounds = sorted(rounds, key=lambda each: not each.round.counts_in_results)
    steps = list(_own_coding(study, member))
    if not member.is_lead:
        return [*steps, *_open_decisions(rounds)][:SHOWN]
    set_up = _set_up_step(study, rounds)
    if set_up is not None:
        return [*steps, set_up]
    steps += [*_proposals(rounds), *_open_decisions(rounds), *_turns(rounds)]
    return steps[:SHOWN] or [
        NextStep(
            "Export the results",
            "Labels, annotations and agreement as CSV.",
            reverse("labeling:export-list", args=[study.slug]),
            "Export",
        )
    ]


def _own_coding(study: Study, member: Membership) -> Iterator[NextStep]:
    waiting = (
        Assignment.objects.of_member(member)
        .filter(round_unit__round__study=study, round_unit__round__state=Round.State.OPEN)
        .exclude(status__in=(Assignment.Status.SUBMITTED, Assignment.Status.WITHDRAWN))
    )
    told = (f"round_unit__round__{field}" for field in ("number", "kind", "due_on"))
    units = Counter(waiting.values_list(*told))
    home = reverse("labeling:coding-home", args=[study.slug])
    for place, ((number, kind, due), count) in enumerate(sorted(units.items(), key=itemgetter(0))):
        until = f"Due on {date_format(due, 'j M Y')}. " if due is not None else ""
        yield NextStep(
            f"Code your {count} unit{'' if count == 1 else 's'} of Round {number}",
            until + ("After each answer you see the known one." if kind == Round.Kind.TRAINING else BLIND),
            reverse("labeling:coding-queue", args=[study.slug, number]) if place else home,
            "Go on coding",
        )


def _proposals(rounds: Sequence[RoundRow]) -> Iterator[NextStep]:
    """Reconciliation of a round opens when the categories its coders proposed are settled."""
    closed = [row.round for row in rounds if row.round.state == Round.State.CLOSED]
    waiting = [each for each in closed if each.reconciliation_opened_at is None]
    for coding_round in waiting:
        left = coding_round.proposals.filter(state=CategoryProposal.State.PROPOSED).count()
        if left:
            yield NextStep(
                f"Settle the {left} proposed categor{'y' if left == 1 else 'ies'} of {coding_round}",
                "Reconciliation opens when each is accepted, mapped or rejected.",
                reverse("labeling:round-proposals", args=[coding_round.study.slug, coding_round.number]),
                "Settle them",
            )


def _open_decisions(rounds: Sequence[RoundRow]) -> Iterator[NextStep]:
    for row in rounds:
        left = row.queued - row.decided
        plural = "" if left == 1 else "s"
        if row.round.state == Round.State.CLOSED and left:
            yield NextStep(
                f"Reconcile the {left} open disagreement{plural} of {row.round}",
                f"{_lowest(row)}Settling them shows where the codebook is unclear.",
                reverse("labeling:disagreement-list", args=[row.round.study.slug, row.round.number]),
                "Open reconciliation",
            )


def _lowest(row: RoundRow) -> str:
    known = [(each.value, each.mark.name) for each in row.coefficients if each.value is not None]
    if len(known) < 2:
        return ""
    value, name = min(known)
    return f"{name} has the lowest agreement ({value:.2f}). "


def _set_up_step(study: Study, rounds: Sequence[RoundRow]) -> NextStep | None:
    slug = study.slug
    if not study.issues.exists():
        return NextStep(
            "Bring issues into the corpus",
            "From GitHub repositories, a search, or a file.",
            reverse("ingest:import-create", args=[slug]),
            "Import issues",
        )
    if not study.codebooks.filter(dimensions__isnull=False).exists():
        return NextStep(
            "Write the codebook",
            "Dimensions and categories with definitions. A template is a good start.",
            reverse("labeling:codebook-edit", args=[slug]),
            "Write the codebook",
        )
    if not study.samples.exists():
        return NextStep(
            "Draw a sample",
            "Seeded, so that it can be drawn again by anybody.",
            reverse("labeling:sample-create", args=[slug]),
            "Draw a sample",
        )
    if not rounds:
        return NextStep(
            "Make the first round",
            "A pilot on a few units shows whether the codebook holds.",
            reverse("labeling:round-create", args=[slug]),
            "New round",
        )
    return None


def _turns(rounds: Sequence[RoundRow]) -> Iterator[NextStep]:
    """What moves each round on."""
    for row in rounds:
        url = row.round.get_absolute_url()
        if row.round.state == Round.State.DRAFT:
            yield NextStep(f"Open {row.round}", "Coders get their units then.", url, "Look it over")
        elif row.round.state == Round.State.OPEN:
            yield NextStep(
                f"Close {row.round} when its coders are done",
                "Closing freezes the answers and computes agreement from them.",
                url,
                "See its progress",
            )
        elif _is_settled(row):
            yield NextStep(f"Finish {row.round}", "Nothing in it is open any more.", url, "Finish the round")


def _is_settled(row: RoundRow) -> bool:
    """Whether a round can be finished; a training is over when it is closed, for its answers are known."""
    is_open = row.queued > row.decided or row.round.reconciliation_opened_at is None
    is_over = row.round.kind == Round.Kind.TRAINING
    return row.round.state == Round.State.CLOSED and not is_open and not is_over
