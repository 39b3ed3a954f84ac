"""Two rounds compared: on the same units, on others, and on some of both."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from labeling.agreement.compare import compare
from labeling.agreement.kappa import cohen_kappa, standard_errors
from labeling.agreement.ratings import Ratings
from labeling.agreement.report import summarise
from labeling.agreement.table import PairMargins
from tests.labeling.agreement.test_report import ADA, BEN, CYD, from_table, make_data

TWO = ("crash", "hang")
WEAK, STRONG = [[20, 9], [8, 23]], [[26, 3], [4, 27]]


def data_of(table, first_unit=0, **changes):
    """Make a round of units numbered from ``first_unit`` on."""
    data = from_table(table, TWO, draws=4000, **changes)
    names = {unit: f"n{first_unit + place}" for place, unit in enumerate(data.units)}
    values = {(names[unit], coder): said for (unit, coder), said in data.values.items()}
    return replace(data, units=tuple(names.values()), values=values)


def test_rounds_without_a_common_unit_are_compared_by_z():
    found = compare(data_of(WEAK), data_of(STRONG, first_unit=100))
    first, second = (standard_errors(np.array(table)) for table in (WEAK, STRONG))
    z = (second.kappa - first.kappa) / np.hypot(first.ase, second.ase)
    assert found.shared == 0
    assert found.difference.value == pytest.approx(second.kappa - first.kappa)
    assert found.z == pytest.approx(z)
    assert found.p == pytest.approx(2 * stats.norm.sf(abs(z)))
    half = 1.96 * np.hypot(first.ase, second.ase)
    assert found.difference.ci_low == pytest.approx(found.difference.value - half, abs=0.04)
    assert found.difference.ci_high == pytest.approx(found.difference.value + half, abs=0.04)


def test_the_same_units_are_resampled_together():
    """The loop draws units and computes both kappas on the same draw."""
    first, second = data_of(WEAK), data_of(STRONG)
    found = compare(first, second)
    codes = [
        np.array([[TWO.index(data.values[unit, coder]) for coder in (ADA, BEN)] for unit in data.units])
        for data in (first, second)
    ]
    random = np.random.default_rng(3)

    def kappa_of(rows):
        ratings = Ratings.from_codes(rows, 2)
        return float(cohen_kappa(PairMargins(ratings, 0, 1)(ratings.sizes.astype(float))))

    loop = []
    for _ in range(3000):
        picked = random.integers(60, size=60)
        loop.append(kappa_of(codes[1][picked]) - kappa_of(codes[0][picked]))
    assert (found.shared, found.z) == (60, None)
    limits = (found.difference.ci_low, found.difference.ci_high)
    assert limits == pytest.approx(np.quantile(loop, [0.025, 0.975]), abs=0.03)


def test_the_same_answers_twice_do_not_differ_at_all():
    found = compare(data_of(WEAK), data_of(WEAK))
    assert found.difference.value == 0
    assert found.difference.ci_low is None
    assert found.p is None


def test_rounds_that_share_some_units_are_resampled_in_parts():
    found = compare(data_of(WEAK), data_of(STRONG, first_unit=30))
    assert (found.shared, found.n_first, found.n_second) == (30, 60, 60)
    assert found.z is None
    assert found.difference.ci_low < found.difference.value < found.difference.ci_high


def test_swapping_the_rounds_changes_the_sign_alone():
    there = compare(data_of(WEAK), data_of(STRONG, first_unit=100))
    back = compare(data_of(STRONG, first_unit=100), data_of(WEAK))
    assert back.difference.value == pytest.approx(-there.difference.value)
    assert back.z == pytest.approx(-there.z)


def test_two_and_three_coders_are_compared_by_the_alpha_both_have():
    three = make_data(*[("crash", "crash", "hang"), ("hang", "hang", "hang")] * 6, coders=(ADA, BEN, CYD))
    found = compare(data_of(WEAK), three)
    assert found.statistic == "krippendorff_alpha_nominal"
    assert found.second == pytest.approx(summarise(three).statistics[found.statistic].value)


def test_a_round_without_number_has_no_difference_and_says_why():
    constant = data_of([[10, 0], [0, 0]], first_unit=100)
    found = compare(data_of(WEAK), constant)
    assert (found.first is None, found.second) == (False, None)
    assert found.difference.undefined
    nobody = replace(constant, values={})
    assert compare(data_of(WEAK), nobody).difference.undefined
    assert compare(data_of(WEAK), replace(constant, kind="text")).difference.undefined


def test_the_round_that_has_answers_keeps_its_numbers_beside_one_without():
    nobody = replace(data_of(WEAK, first_unit=100), values={})
    found, back = compare(data_of(STRONG), nobody), compare(nobody, data_of(STRONG))
    alone = summarise(data_of(STRONG))
    kappa = pytest.approx(alone.statistics[alone.headline].value)
    assert (found.statistic, found.n_first, found.n_second) == (alone.headline, 60, 0)
    assert (found.first, found.second, back.first, back.second) == (kappa, None, None, kappa)
    assert found.difference.value is None
