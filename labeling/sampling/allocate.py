"""Sharing a sample size out over strata, in whole numbers that add up exactly."""

from collections.abc import Mapping


def allocate_proportional(available: Mapping[str, int], size: int) -> dict[str, int]:
    """Give every stratum its share of ``size`` in proportion to the issues it has."""
    return _allocate(available, available, size)


def allocate_equal(available: Mapping[str, int], size: int) -> dict[str, int]:
    """Give every stratum the same number, as far as its issues reach."""
    return _allocate(dict.fromkeys(available, 1), available, size)


def allocate_numbers(available: Mapping[str, int], numbers: Mapping[str, int]) -> dict[str, int]:
    """Give every stratum the number named for it, as far as its issues reach.

    What a stratum lacks goes to the others in proportion to their own numbers. A stratum with the
    number 0, or without one, gets nothing.
    """
    unknown = numbers.keys() - available.keys()
    if unknown:
        raise ValueError(f"No issue belongs to {', '.join(sorted(unknown))}. Name only strata of the frame.")
    if any(number < 0 for number in numbers.values()):
        raise ValueError("A stratum was given a negative number. Give 0 or more.")
    weights = {stratum: numbers.get(stratum, 0) for stratum in available}
    return _allocate(weights, available, sum(weights.values()))


def allocate_top_up(
    weights: Mapping[str, int], room: Mapping[str, int], have: Mapping[str, int], count: int
) -> dict[str, int]:
    """Size of every stratum once ``count`` are added: what a draw of the larger number gives it.

    ``have`` is what the strata have in the sample, ``room`` that and what can still be drawn. Nothing is
    given back: a stratum that has more than its new share keeps it, and the others share what is left.
    A stratum of weight 0 gets nothing more.
    """
    kept = {stratum for stratum in room if not weights.get(stratum)}
    while True:
        others = {stratum: weights[stratum] for stratum in sorted(room) if stratum not in kept}
        size = count + sum(have.get(stratum, 0) for stratum in others)
        sizes = _allocate(others, room, size) | {stratum: have.get(stratum, 0) for stratum in kept}
        over = {stratum for stratum in others if sizes[stratum] < have.get(stratum, 0)}
        if not over:
            return sizes
        kept |= over


def _allocate(weights: Mapping[str, int], available: Mapping[str, int], size: int) -> dict[str, int]:
    """Apportion by weight; fill strata that would get more than they have, apportion the rest anew."""
    open_weights = {stratum: weights[stratum] for stratum in sorted(weights) if weights[stratum] > 0}
    reachable = sum(available[stratum] for stratum in open_weights)
    if not 0 <= size <= reachable:
        raise ValueError(
            f"{size} issues were asked for, these strata have {reachable}. Ask for 0 to {reachable}."
        )
    allocated = dict.fromkeys(sorted(available), 0)
    while size:
        shares = _largest_remainder(open_weights, size)
        full = [stratum for stratum, share in shares.items() if share > available[stratum]]
        if not full:
            return allocated | shares
        for stratum in full:
            allocated[stratum] = available[stratum]
            size -= available[stratum]
            del open_weights[stratum]
    return allocated


def _largest_remainder(weights: Mapping[str, int], size: int) -> dict[str, int]:
    """Round shares down, then add one each by descending remainder, equal remainders by name."""
    total = sum(weights.values())
    shares = {stratum: size * weight // total for stratum, weight in weights.items()}
    by_remainder = sorted(weights, key=lambda stratum: (-(size * weights[stratum] % total), stratum))
    for stratum in by_remainder[: size - sum(shares.values())]:
        shares[stratum] += 1
    return shares
