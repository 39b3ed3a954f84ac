"""What must hold for every table and every set of ratings."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.agreement import kappa
from labeling.agreement.figures import SingleChoice
from labeling.agreement.ratings import NOT_CODED, Ratings
from labeling.agreement.table import PairMargins

UNCHANGED = (
    "raw_agreement",
    "expected_agreement",
    "cohen_kappa",
    "cohen_kappa_se",
    "cohen_kappa_se0",
    "kappa_max",
    "pabak",
    "scott_pi",
    "gwet_ac1",
    "krippendorff_alpha_nominal",
    "fleiss_kappa",
    "light_kappa",
)
ORDERED = (
    "weighted_kappa_linear",
    "weighted_kappa_quadratic",
    "krippendorff_alpha_ordinal",
    "gwet_ac2_linear",
    "gwet_ac2_quadratic",
)


@st.composite
def tables(draw, smallest: int = 2, largest: int = 5):
    """Draw a table of two coders: mostly few units, often with categories nobody used."""
    k = draw(st.integers(smallest, largest))
    cells = draw(st.lists(st.one_of(st.just(0), st.integers(0, 40)), min_size=k * k, max_size=k * k))
    table = np.array(cells, dtype=np.int64).reshape(k, k)
    table[draw(st.integers(0, k - 1)), draw(st.integers(0, k - 1))] += 1
    return table


@st.composite
def codes(draw, k: int = 3):
    """Draw the answers of two to four coders on some units, with gaps."""
    coders = draw(st.integers(2, 4))
    unit = st.lists(st.integers(NOT_CODED, k - 1), min_size=coders, max_size=coders)
    return np.array(draw(st.lists(unit, min_size=1, max_size=12)), dtype=np.int64)


def of_table(table) -> dict[str, Any]:
    names = tuple(map(str, range(len(table))))
    return SingleChoice(Ratings.from_table(table), names, ("A", "B")).figures()


def of_codes(grid, k: int = 3) -> dict[str, Any]:
    coders = tuple(f"coder {place}" for place in range(grid.shape[1]))
    return SingleChoice(Ratings.from_codes(grid, k), tuple(map(str, range(k))), coders).figures()


def same(first: Any, second: Any) -> bool:
    if isinstance(first, float) and isinstance(second, float):
        return math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-9)
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(same(value, second[key]) for key, value in first.items())
    return bool(first == second)


def numbers(figure: Any) -> list[float]:
    if isinstance(figure, dict):
        return [number for one in figure.values() for number in numbers(one)]
    if isinstance(figure, list):
        return [number for one in figure for number in numbers(one)]
    return [figure] if isinstance(figure, float) else []


@given(tables())
def test_swapping_the_coders_changes_nothing_but_the_sign_of_the_bias(table) -> None:
    there, back = of_table(table), of_table(table.T)
    for name in (*UNCHANGED, *ORDERED, "specific_agreement", "category_kappa"):
        assert same(there[name], back[name]), name
    if len(table) == 2:
        assert there["bias_index"] == pytest.approx(-back["bias_index"])


@given(tables(), st.randoms())
def test_renaming_or_reordering_categories_changes_no_nominal_coefficient(table, random) -> None:
    order = list(range(len(table)))
    random.shuffle(order)
    before, after = of_table(table), of_table(table[np.ix_(order, order)])
    for name in UNCHANGED:
        assert same(before[name], after[name]), name


@given(tables())
def test_reversing_the_order_of_categories_changes_no_ordinal_coefficient(table) -> None:
    before, after = of_table(table), of_table(table[::-1, ::-1])
    for name in ORDERED:
        assert same(before[name], after[name]), name


@given(tables())
def test_a_category_nobody_used_changes_only_what_counts_categories(table) -> None:
    wider = np.pad(table, ((0, 1), (0, 1)))
    before, after = of_table(table), of_table(wider)
    for name in set(UNCHANGED) - {"pabak", "gwet_ac1"}:
        assert same(before[name], after[name]), name
    last = str(len(table))
    assert after["specific_agreement"][last] is None
    assert after["category_kappa"][last] is None


@given(codes(), st.randoms())
def test_the_order_of_units_and_coders_changes_nothing(grid, random) -> None:
    rows, columns = list(range(len(grid))), list(range(grid.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    before, after = of_codes(grid), of_codes(grid[rows][:, columns])
    for name in (
        "krippendorff_alpha_nominal",
        "krippendorff_alpha_ordinal",
        "gwet_ac1",
        "fleiss_kappa",
        "light_kappa",
    ):
        assert same(before[name], after[name]), name


@given(codes())
def test_no_figure_is_nan_infinite_or_a_negative_zero(grid) -> None:
    for name, figure in of_codes(grid).items():
        for number in numbers(figure):
            assert math.isfinite(number), name
            assert number != 0 or math.copysign(1, number) == 1, name


@given(tables())
def test_kappa_is_1_exactly_where_it_is_defined_and_no_unit_is_off_the_diagonal(table) -> None:
    value = of_table(table)["cohen_kappa"]
    perfect = bool(np.trace(table) == table.sum())
    if value is None:
        assert perfect
        assert np.count_nonzero(table) == 1
    else:
        assert (value == 1) == perfect


@given(tables())
def test_coefficients_lie_where_they_must(table) -> None:
    figures = of_table(table)
    for name in (*UNCHANGED, *ORDERED):
        value = figures[name]
        assert value is None or value <= 1 + 1e-12, name
    if figures["cohen_kappa"] is not None:
        assert -1 <= figures["cohen_kappa"] <= figures["kappa_max"] <= 1


@given(st.lists(st.integers(0, 30), min_size=2, max_size=5).filter(any), st.integers(0, 4))
def test_a_coder_who_used_one_category_gives_a_kappa_of_exactly_0(row, place) -> None:
    table = np.zeros((len(row), len(row)), dtype=np.int64)
    table[place % len(row)] = row
    figures = of_table(table)
    value = figures["cohen_kappa"]
    assert figures["cohen_kappa_ci95"] == (None if value is None else [0, 0])
    assert value == 0 or (value is None and np.count_nonzero(table) == 1)


@given(tables())
def test_equal_shares_allow_a_kappa_of_1(table) -> None:
    largest = of_table(table + table.T)["kappa_max"]
    assert largest is None or largest == 1


@given(tables())
def test_scott_pi_is_fleiss_kappa_of_two_coders(table) -> None:
    figures = of_table(table)
    assert same(figures["scott_pi"], figures["fleiss_kappa"])
    assert same(figures["scott_pi"], figures["fleiss_kappa_general"])


@given(tables())
def test_nominal_alpha_is_scott_pi_with_a_small_sample_correction(table) -> None:
    figures, n = of_table(table), 2 * int(table.sum())
    if figures["scott_pi"] is not None:
        corrected = 1 - (1 - 1 / n) * (1 - figures["scott_pi"])
        assert figures["krippendorff_alpha_nominal"] == pytest.approx(corrected, abs=1e-9)


@given(tables(2, 2))
def test_two_categories_have_one_kappa_however_weighted(table) -> None:
    figures = of_table(table)
    for name in ("weighted_kappa_linear", "weighted_kappa_quadratic"):
        assert same(figures[name], figures["cohen_kappa"])
    for name in ("gwet_ac2_linear", "gwet_ac2_quadratic"):
        assert same(figures[name], figures["gwet_ac1"])
    assert same(figures["krippendorff_alpha_ordinal"], figures["krippendorff_alpha_nominal"])


@given(tables())
def test_kappa_and_agreement_are_weighted_means_of_their_values_by_category(table) -> None:
    ratings = Ratings.from_table(table)
    margins = PairMargins(ratings, 0, 1)(ratings.sizes.astype(float))
    uses = margins.first + margins.second
    specific = np.nan_to_num(kappa.specific_agreement(margins))
    observed = kappa.observed_agreement(margins)
    assert (specific * uses).sum() / (2 * margins.n) == pytest.approx(float(observed), abs=1e-12)
    whole = float(kappa.cohen_kappa(margins))
    if not np.isnan(whole):
        n = margins.n
        room = (margins.first * (n - margins.second) + margins.second * (n - margins.first)) / n**2
        parts = np.nan_to_num(kappa.category_kappa(margins))
        assert (parts * room).sum() / room.sum() == pytest.approx(whole, abs=1e-9)


@given(tables())
def test_doubling_every_unit_keeps_kappa_and_divides_its_variance_by_two(table) -> None:
    once, twice = of_table(table), of_table(2 * table)
    assert same(once["cohen_kappa"], twice["cohen_kappa"])
    if once["cohen_kappa_se"] is not None:
        assert once["cohen_kappa_se"] == pytest.approx(twice["cohen_kappa_se"] * math.sqrt(2), abs=1e-7)


@given(codes())
def test_a_unit_one_coder_saw_changes_no_coefficient_of_pairs(grid) -> None:
    lonely = np.full((1, grid.shape[1]), NOT_CODED)
    lonely[0, 0] = 1
    before, after = of_codes(grid), of_codes(np.vstack([grid, lonely]))
    for name in ("krippendorff_alpha_nominal", "krippendorff_alpha_ordinal", "fleiss_kappa", "light_kappa"):
        assert same(before[name], after[name]), name
    assert same(before["gwet_ac1_complete"], after["gwet_ac1_complete"])


@given(codes())
def test_grouping_units_loses_none(grid) -> None:
    ratings = Ratings.from_codes(grid, 3)
    rebuilt = np.repeat(ratings.patterns, ratings.sizes, axis=0)
    assert sorted(map(tuple, rebuilt.tolist())) == sorted(map(tuple, grid.tolist()))


def test_grouping_many_coders_or_categories_loses_no_unit() -> None:
    for coders, k in ((2, 2000), (30, 40)):
        grid = np.random.RandomState(5).randint(NOT_CODED, k, size=(50, coders))
        grid = np.vstack([grid, grid[:20]])
        ratings = Ratings.from_codes(grid, k)
        rebuilt = np.repeat(ratings.patterns, ratings.sizes, axis=0)
        assert sorted(map(tuple, rebuilt.tolist())) == sorted(map(tuple, grid.tolist()))


def test_a_position_outside_the_categories_is_refused() -> None:
    with pytest.raises(ValueError, match="outside 0 to 1"):
        Ratings.from_codes([[0, 2]], 2)
