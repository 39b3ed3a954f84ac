"""What a reader must know before believing a coefficient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from labeling.agreement.statistic import Statistic, format_two

SMALL_N = 30
FEW_USES = 5
UNRELIABLE_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class Caution:
    """A warning: ``key`` for programs, ``words`` for people."""

    key: str
    words: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What the cautions of one dimension look at. ``uses`` are mean answers per coder, by category.

    ``names`` is what the sentences call the categories.
    """

    n: int
    coders: int
    observed: float | None
    uses: Mapping[str, float]
    names: Mapping[str, str]
    constant: Sequence[str]
    statistics: Mapping[str, Statistic]
    undefined_share: float
    states_left_out: int
    undefined_pairs: int


def cautions(seen: Seen) -> tuple[Caution, ...]:
    """Give every caution that applies, the most important first."""
    found = [_one_category(seen), _constant(seen), _paradox(seen), _rates(seen), _agreed(seen), _small(seen)]
    found += [_rare(seen), _bootstrap(seen), _states(seen), _pairs(seen)]
    return tuple(caution for caution in found if caution is not None)


def _value(seen: Seen, name: str) -> float | None:
    statistic = seen.statistics.get(name)
    return None if statistic is None else statistic.value


def _used(seen: Seen) -> dict[str, float]:
    return {category: uses for category, uses in seen.uses.items() if uses > 0}


def _one_category(seen: Seen) -> Caution | None:
    used = _used(seen)
    if len(used) != 1:
        return None
    words = f"Only {seen.names[next(iter(used))]} was used, which leaves kappa, pi and alpha undefined."
    return Caution("one_category", words)


def _constant(seen: Seen) -> Caution | None:
    if not seen.constant or len(_used(seen)) < 2:
        return None
    who = " and ".join(seen.constant)
    whose = "kappa" if seen.coders == 2 else "the kappa of their pairs"
    words = (
        f"{who} used one category for every unit. That alone makes {whose} 0, however often the coders agree."
    )
    return Caution("constant_coder", words)


def _paradox(seen: Seen) -> Caution | None:
    kappa, total = _value(seen, "cohen_kappa"), sum(seen.uses.values())
    if kappa is None or seen.observed is None or not total:
        return None
    category, uses = max(seen.uses.items(), key=lambda item: item[1])
    if seen.constant or seen.observed < 0.8 or kappa >= 0.6 or uses / total < 0.75:
        return None
    words = (
        f"Agreement is high and kappa low because {seen.names[category]} is {100 * uses / total:.2f}% of all "
        "answers. Report the agreement on each category, PABAK and AC1 beside kappa, not in its place."
    )
    return Caution("prevalence_paradox", words)


def _rates(seen: Seen) -> Caution | None:
    largest = _value(seen, "kappa_max")
    if seen.constant or largest is None or largest >= 0.75:
        return None
    words = (
        f"The coders use the categories at different rates: kappa could not exceed {format_two(largest)}. "
        "Compare how often each of them used each category."
    )
    return Caution("different_rates", words)


def _agreed(seen: Seen) -> Caution | None:
    if seen.observed != 1:
        return None
    rate = f"fewer than {min(100.0, 300 / seen.n):.2f}%"
    words = f"The coders agree on all {seen.n} units: with 95% confidence they disagree on {rate} of all."
    return Caution("no_disagreement", words)


def _small(seen: Seen) -> Caution | None:
    if seen.n >= SMALL_N:
        return None
    few = "1 unit is" if seen.n == 1 else f"{seen.n} units are"
    words = f"{few} few: below {SMALL_N}, 95% intervals miss the true value more often than 5%."
    return Caution("small_n", words)


def _rare(seen: Seen) -> Caution | None:
    rare = [seen.names[category] for category, uses in _used(seen).items() if uses < FEW_USES]
    if not rare:
        return None
    names = ", ".join(rare)
    words = f"Used fewer than {FEW_USES} times by a coder on average, so little is known of them: {names}."
    return Caution("expected_below_5", words)


def _bootstrap(seen: Seen) -> Caution | None:
    if seen.undefined_share <= UNRELIABLE_SHARE:
        return None
    words = f"{100 * seen.undefined_share:.2f}% of the resamples had no value: the interval is not reliable."
    return Caution("unreliable_bootstrap", words)


def _states(seen: Seen) -> Caution | None:
    if not seen.states_left_out:
        return None
    words = (
        "Coefficients that use the order of the categories leave out the reserved states, which are not part "
        f"of it: {seen.states_left_out} units have one."
    )
    return Caution("states_left_out", words)


def _pairs(seen: Seen) -> Caution | None:
    number = seen.coders * (seen.coders - 1) // 2
    if number == 1 or not seen.undefined_pairs:
        return None
    words = (
        f"The mean over pairs leaves out {seen.undefined_pairs} of {number} pairs, whose kappa is undefined."
    )
    return Caution("undefined_pairs", words)
