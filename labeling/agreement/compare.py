"""Two rounds compared: the difference of a coefficient, with its interval."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from labeling.agreement.dimension import DimensionData, pattern_of_units
from labeling.agreement.interval import BLOCK, percentile_interval, random_stream
from labeling.agreement.kappa import standard_errors
from labeling.agreement.plan import ALPHAS, Part, Plan, plan_for
from labeling.agreement.probability import two_sided
from labeling.agreement.ratings import FloatArray, IntArray
from labeling.agreement.statistic import Statistic
from labeling.agreement.table import cross_table

STREAM = 4
ABSENT = -1
NARROWEST = 1e-12
NOT_ALIKE = "The rounds ask this in two ways, so their coefficients cannot be compared."
NO_NUMBER = "One of the rounds has no coefficient here."


@dataclass(frozen=True, slots=True)
class Difference:
    """A coefficient in two rounds. ``difference`` is the second less the first.

    ``shared`` units stand in both rounds and are resampled together. ``z`` is given for kappas of rounds that
    share no unit; ``p`` belongs to it where there is one, else to the resamples.
    """

    key: str
    statistic: str | None
    first: float | None
    second: float | None
    n_first: int
    n_second: int
    shared: int
    difference: Statistic
    z: float | None
    p: float | None


def compare(first: DimensionData, second: DimensionData) -> Difference:
    """Compare one dimension of two rounds, by the headline both have, else by the alpha both have."""
    if first.kind != second.kind or first.kind == "text":
        return _nothing(first, NOT_ALIKE)
    one, two = _side(first), _side(second)
    if one is None or two is None:
        return _without(first.key, one, two)
    same = one.plan.headline == two.plan.headline
    name = one.plan.headline if same else ALPHAS[first.kind]
    before, after = one.number(name), two.number(name)
    shared = len(one.units.keys() & two.units.keys())
    if before is None or after is None:
        difference, p = Statistic.none(NO_NUMBER), None
    else:
        draws = _differences(one, two, name, draws=second.draws, seed=second.seed)
        difference, p = _interval(after - before, draws, second)
    z = _z(one, two) if name == "cohen_kappa" and not shared else None
    return Difference(
        key=first.key,
        statistic=name,
        first=before,
        second=after,
        n_first=len(one.units),
        n_second=len(two.units),
        shared=shared,
        difference=difference,
        z=z,
        p=p if z is None else two_sided(z),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """One round: its coefficients, and the pattern of each unit that is compared."""

    plan: Plan
    units: dict[str, int]

    @property
    def sizes(self) -> FloatArray:
        return self.plan.ratings.sizes.astype(float)

    def value(self, name: str, sizes: FloatArray) -> FloatArray:
        """Give a coefficient for sizes of shape (..., U)."""
        return _part_of(self.plan, name)(sizes)[name]

    def number(self, name: str) -> float | None:
        """Give a coefficient of the units as they are; None where it is undefined."""
        value = self.value(name, self.sizes)
        return None if np.isnan(value) else float(value)


def _side(data: DimensionData) -> _Side | None:
    if len(data.coders) < 2 or not data.categories:
        return None
    plan = plan_for(data)
    compared = plan.ratings.answers >= 2
    places = pattern_of_units(data, plan.ratings).tolist()
    units = {unit: place for unit, place in zip(data.units, places, strict=True) if compared[place]}
    return _Side(plan, units) if units else None


def _part_of(plan: Plan, name: str) -> Part:
    nothing = np.zeros(len(plan.ratings.sizes))
    return next(part for part in plan.parts if name in part(nothing))


def _differences(one: _Side, two: _Side, name: str, *, draws: int, seed: int) -> FloatArray:
    """Resample the units, those of both rounds together, and give the difference for each resample."""
    found = []
    for first, second in _resampled(one, two, draws=draws, seed=seed):
        found.append(two.value(name, second) - one.value(name, first))
    return np.concatenate(found)


def _resampled(one: _Side, two: _Side, *, draws: int, seed: int) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield sizes for both rounds. How many units stand in one or in both stays as it is."""
    random = random_stream(seed, STREAM)
    kinds, counts = _joint_patterns(one, two)
    block = max(1, BLOCK // max(len(kinds), 1))
    strata = [
        np.flatnonzero((kinds[:, 0] == ABSENT) * 2 + (kinds[:, 1] == ABSENT) == stratum)
        for stratum in range(3)
    ]
    for start in range(0, draws, block):
        rows = min(block, draws - start)
        drawn = np.zeros((rows, len(kinds)))
        for members in strata:
            n = int(counts[members].sum())
            if n:
                drawn[:, members] = random.multinomial(n, counts[members] / n, size=rows)
        yield drawn @ _indicator(kinds[:, 0], one), drawn @ _indicator(kinds[:, 1], two)


def _joint_patterns(one: _Side, two: _Side) -> tuple[IntArray, IntArray]:
    """Count the units by what they are in the first and in the second round."""
    names = sorted({*one.units, *two.units})
    rows = [(one.units.get(unit, ABSENT), two.units.get(unit, ABSENT)) for unit in names]
    kinds, counts = np.unique(np.array(rows, dtype=np.int64), axis=0, return_counts=True)
    return kinds, counts


def _indicator(places: IntArray, side: _Side) -> FloatArray:
    table = np.zeros((len(places), len(side.plan.ratings.sizes)))
    present = places != ABSENT
    table[np.flatnonzero(present), places[present]] = 1
    return table


def _interval(value: float, draws: FloatArray, data: DimensionData) -> tuple[Statistic, float | None]:
    difference = Statistic.of(value, NO_NUMBER)
    interval = percentile_interval(draws)
    if interval.low is None or interval.high is None or interval.high - interval.low < NARROWEST:
        return difference, None
    method = f"percentile bootstrap over units, {data.draws} draws, seed {data.seed}"
    defined = draws[~np.isnan(draws)]
    tails = [int((defined <= 0).sum()), int((defined >= 0).sum())]
    p = min(1.0, 2 * (min(tails) + 1) / (len(defined) + 1))
    return difference.between(interval.low, interval.high, method), p


def _z(one: _Side, two: _Side) -> float | None:
    """Difference over its standard error, of kappas that share no unit."""
    first, second = (standard_errors(cross_table(side.plan.ratings)) for side in (one, two))
    if not first.ase > 0 or not second.ase > 0:
        return None
    return float((second.kappa - first.kappa) / np.hypot(first.ase, second.ase))


def _without(key: str, one: _Side | None, two: _Side | None) -> Difference:
    """Where a round compares no unit, the other keeps its numbers, by its own headline."""
    held = one or two
    name = held.plan.headline if held is not None else None
    return Difference(
        key=key,
        statistic=name,
        first=one.number(name) if one is not None and name is not None else None,
        second=two.number(name) if two is not None and name is not None else None,
        n_first=len(one.units) if one is not None else 0,
        n_second=len(two.units) if two is not None else 0,
        shared=0,
        difference=Statistic.none(NO_NUMBER),
        z=None,
        p=None,
    )


def _nothing(data: DimensionData, reason: str) -> Difference:
    return Difference(data.key, None, None, None, 0, 0, 0, Statistic.none(reason), None, None)
