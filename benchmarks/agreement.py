"""Agreement of two coders: how long it takes, beside resampling units in a loop.

``python -m benchmarks.agreement`` prints the figures; nothing is asserted. Each is the best of several
runs, on one thread.
"""

import os
import platform
import sys
import time
from collections.abc import Callable, Iterator

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is loaded

import numpy as np
from sklearn.metrics import cohen_kappa_score

from labeling.agreement.coefficients import Values
from labeling.agreement.interval import DRAWS, Interval, bootstrap, percentile_interval, resampled_sizes
from labeling.agreement.kappa import cohen_kappa
from labeling.agreement.ratings import FloatArray, IntArray, Ratings
from labeling.agreement.report import DimensionData, summarise
from labeling.agreement.table import PairMargins

CATEGORIES = 12
UNITS = 300
MANY_UNITS = 1_000_000
NAIVE_DRAWS = 300
SEED = 20_260


def answers(units: int) -> IntArray:
    """Draw the answers of two coders who agree on about 70 % of the units; some categories are rarer."""
    random = np.random.RandomState(SEED)
    shares = np.linspace(2, 1, CATEGORIES)
    truth = random.choice(CATEGORIES, size=(units, 1), p=shares / shares.sum())
    return np.where(random.rand(units, 2) < 0.83, truth, random.randint(CATEGORIES, size=(units, 2)))


def best(action: Callable[[], object], runs: int = 7) -> float:
    """Give the shortest of some runs in seconds."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def kappa_interval(ratings: Ratings) -> Interval:
    margins = PairMargins(ratings, 0, 1)

    def kappa_alone(sizes: FloatArray) -> Values:
        return {"cohen_kappa": cohen_kappa(margins(sizes))}

    return percentile_interval(bootstrap(ratings, [kappa_alone], seed=SEED)["cohen_kappa"])


def draw_only(ratings: Ratings) -> int:
    """Draw the tables without computing anything from them."""
    return sum(len(block) for block in resampled_sizes(ratings, DRAWS, SEED))


def naive_draws(codes: IntArray, draws: int) -> list[float]:
    """Resample units one by one and ask scikit-learn for each kappa."""
    random = np.random.RandomState(SEED)
    values = []
    for _ in range(draws):
        sample = codes[random.randint(len(codes), size=len(codes))]
        values.append(float(cohen_kappa_score(sample[:, 0], sample[:, 1])))
    return values


def dimension(codes: IntArray) -> DimensionData:
    """Write the answers as the application would hand them over."""
    units = tuple(map(str, range(len(codes))))
    values: dict[tuple[str, str], str | frozenset[str]] = {}
    for unit, row in zip(units, codes.tolist(), strict=True):
        values[unit, "A"], values[unit, "B"] = str(row[0]), str(row[1])
    categories = tuple(map(str, range(CATEGORIES)))
    return DimensionData("d", "single", categories, (), ("A", "B"), units, values, {}, {}, False, SEED)


def measure() -> Iterator[str]:
    """Yield one line per figure."""
    codes = answers(UNITS)
    ratings, data = Ratings.from_codes(codes, CATEGORIES), dimension(codes)
    yield f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}"
    yield f"{UNITS} units, {CATEGORIES} categories, {len(ratings.sizes)} cells used, {DRAWS:,} draws"
    draws, interval, report = (
        best(lambda: draw_only(ratings)),
        best(lambda: kappa_interval(ratings)),
        best(lambda: summarise(data)),
    )
    yield f"drawing the tables: {1000 * draws:.1f} ms"
    yield f"kappa with its interval: {1000 * interval:.1f} ms"
    yield f"the whole report: {1000 * report:.1f} ms, {report / draws:.2f} times the draws"
    naive = best(lambda: naive_draws(codes, NAIVE_DRAWS), runs=3) * DRAWS / NAIVE_DRAWS
    yield (
        f"resampling units in a loop, kappa by scikit-learn: {naive:.1f} s "
        f"(extrapolated from {NAIVE_DRAWS} draws), {naive / interval:.0f} times kappa with its interval"
    )
    grid = answers(MANY_UNITS)
    many = Ratings.from_codes(grid, CATEGORIES)
    grouping = best(lambda: Ratings.from_codes(grid, CATEGORIES))
    interval_many = best(lambda: kappa_interval(many))
    yield f"{MANY_UNITS:,} units, {len(many.sizes)} cells used"
    yield f"grouping the answers: {1000 * grouping:.1f} ms"
    yield (
        f"kappa with its interval: {1000 * interval_many:.1f} ms, "
        f"{interval_many / interval:.2f} times that of {UNITS} units"
    )


if __name__ == "__main__":
    for line in measure():
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
