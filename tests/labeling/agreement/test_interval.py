"""Bootstrap intervals: the right distribution, the same for every later version."""

import numpy as np
import pytest
from scipy.stats import bootstrap as scipy_bootstrap
from sklearn.metrics import cohen_kappa_score

from labeling.agreement import interval
from labeling.agreement.coefficients import AnyCoders, Ordinal, TwoCoders
from labeling.agreement.interval import (
    bca_interval,
    bootstrap,
    jackknife,
    percentile_interval,
    resampled_sizes,
)
from labeling.agreement.ratings import NOT_CODED, IntArray, Ratings

FLEISS_1969 = [[106, 10, 4], [22, 28, 10], [2, 12, 6]]
# Percentile limits of its kappa, 10,000 draws, seed 2024.
LOW, HIGH = 0.32275109152293896, 0.5355014486132111


def test_a_seed_gives_the_same_interval_in_every_version() -> None:
    ratings = Ratings.from_table(FLEISS_1969)
    found = percentile_interval(bootstrap(ratings, [TwoCoders(ratings)], seed=2024)["cohen_kappa"])
    assert (found.low, found.high) == pytest.approx((LOW, HIGH), abs=1e-12)


def test_a_pattern_is_drawn_in_proportion_to_its_size_whether_rare_or_not() -> None:
    ratings = Ratings.from_table([[60, 1, 2], [3, 40, 4], [5, 1, 30]])
    sizes = np.concatenate(list(resampled_sizes(ratings, 40_000, seed=6)))
    shares = ratings.sizes / 146
    expected = 146 * (np.diag(shares) - np.outer(shares, shares))
    assert (sizes.sum(axis=1) == 146).all()
    np.testing.assert_allclose(sizes.mean(axis=0), ratings.sizes, rtol=0, atol=0.15)
    np.testing.assert_allclose(np.cov(sizes.T), expected, rtol=0.04, atol=0.25)


def test_drawing_tables_is_resampling_units() -> None:
    table = np.array([[12, 3], [4, 11]])
    units = np.repeat(np.argwhere(table), table[table > 0], axis=0)
    random = np.random.RandomState(3)
    naive = []
    for _ in range(1500):
        sample = units[random.randint(len(units), size=len(units))]
        naive.append(cohen_kappa_score(sample[:, 0], sample[:, 1]))
    ratings = Ratings.from_table(table)
    drawn = bootstrap(ratings, [TwoCoders(ratings)], seed=4)["cohen_kappa"]
    assert np.mean(drawn) == pytest.approx(np.mean(naive), abs=0.012)
    assert np.std(drawn) == pytest.approx(np.std(naive), rel=0.06)
    for share in (0.025, 0.25, 0.5, 0.75, 0.975):
        assert np.quantile(drawn, share) == pytest.approx(np.quantile(naive, share), abs=0.04)


def test_a_block_size_does_not_change_the_draws(monkeypatch) -> None:
    ratings = Ratings.from_table(FLEISS_1969)
    whole = bootstrap(ratings, [TwoCoders(ratings)], draws=500, seed=1)["cohen_kappa"]
    monkeypatch.setattr(interval, "BLOCK", 70)
    pieces = bootstrap(ratings, [TwoCoders(ratings)], draws=500, seed=1)["cohen_kappa"]
    np.testing.assert_allclose(whole, pieces, rtol=0, atol=1e-12)


def test_every_resample_has_as_many_units_and_keeps_those_one_coder_saw() -> None:
    ratings = Ratings.from_codes([[0, 1], [1, 1], [0, 0], [0, NOT_CODED]], 2)
    sizes = np.concatenate(list(resampled_sizes(ratings, 200, seed=9)))
    assert sizes.shape == (200, 4)
    assert (sizes.sum(axis=1) == 4).all()
    assert (sizes[:, ratings.answers == 1] == 1).all()


def test_undefined_resamples_are_dropped_and_counted() -> None:
    ratings = Ratings.from_table([[18, 1], [0, 1]])
    found = percentile_interval(bootstrap(ratings, [TwoCoders(ratings)], seed=5)["cohen_kappa"])
    assert found.undefined_share == pytest.approx(0.9**20, abs=0.012)
    assert found.low == pytest.approx(0)
    assert found.high == pytest.approx(1)


def test_without_a_defined_resample_there_are_no_limits() -> None:
    found = percentile_interval(np.full(10, np.nan))
    assert (found.low, found.high, found.undefined_share) == (None, None, 1.0)


def test_seeds_beyond_32_bits_are_streams_of_their_own() -> None:
    ratings = Ratings.from_table(FLEISS_1969)
    seeds = (1, 1 + 2**32, 2**63 - 1)
    lows = {
        percentile_interval(bootstrap(ratings, [TwoCoders(ratings)], seed=seed)["cohen_kappa"]).low
        for seed in seeds
    }
    assert len(lows) == 3


@pytest.mark.parametrize("family", [TwoCoders, AnyCoders, Ordinal])
def test_a_block_of_sizes_gives_what_each_of_them_gives(family) -> None:
    ratings = Ratings.from_codes(np.random.RandomState(0).randint(NOT_CODED, 4, size=(40, 2)), 4)
    computed = family(ratings)
    sizes = np.concatenate(list(resampled_sizes(ratings, 20, seed=1)))
    together = computed(sizes)
    for place, one in enumerate(sizes):
        for name, value in computed(one).items():
            np.testing.assert_allclose(together[name][place], value, rtol=0, atol=1e-12, err_msg=name)


def test_leaving_out_one_unit_is_computing_without_it() -> None:
    table = np.array([[5, 2], [1, 4]])
    ratings = Ratings.from_table(table)
    left_out = jackknife(ratings, TwoCoders(ratings))["cohen_kappa"]
    for place, (row, column) in enumerate(ratings.patterns):
        fewer = table.copy()
        fewer[row, column] -= 1
        one = Ratings.from_table(fewer)
        expected = TwoCoders(one)(one.sizes.astype(float))["cohen_kappa"]
        assert left_out[place] == pytest.approx(float(expected), abs=1e-12)


def test_bca_agrees_with_scipy() -> None:
    table = np.array([[40, 3], [2, 5]])
    units = np.repeat(np.argwhere(table), table[table > 0], axis=0)

    def kappa(first: IntArray, second: IntArray) -> float:
        return float(cohen_kappa_score(first, second))

    expected = scipy_bootstrap(
        (units[:, 0], units[:, 1]),
        kappa,
        paired=True,
        vectorized=False,
        n_resamples=1000,
        method="BCa",
        random_state=np.random.RandomState(1),
    ).confidence_interval
    ratings = Ratings.from_table(table)
    family, sizes = TwoCoders(ratings), ratings.sizes.astype(float)
    values = bootstrap(ratings, [family], seed=1)["cohen_kappa"]
    found = bca_interval(
        values, float(family(sizes)["cohen_kappa"]), jackknife(ratings, family)["cohen_kappa"], sizes
    )
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.05)
    plain = percentile_interval(values)
    assert plain.low is not None
    assert found.low is not None
    assert found.low < plain.low  # a small skewed sample: the percentile interval lies too high


def test_bca_of_a_coefficient_at_its_bound_is_the_percentile_interval() -> None:
    values = np.array([0.5, 0.6, 0.7])
    sizes = np.ones(3)
    assert bca_interval(values, 0.9, values, sizes) == percentile_interval(values)
    assert bca_interval(values, 0.6, np.full(3, np.nan), sizes) == percentile_interval(values)
