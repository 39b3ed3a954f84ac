import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.sampling import margin_of, sample_size, stratum_margins, units_for_kappa_halfwidth


@pytest.mark.parametrize(("population", "size"), [(1, 1), (300, 169), (500, 218), (1000, 278), (5000, 357)])
def test_sizes_at_95_percent_and_5_points_match_the_published_tables(population, size) -> None:
    assert sample_size(population, 0.95, 0.05) == size


@given(st.integers(1, 10**7), st.floats(0.5, 0.999), st.floats(0.005, 0.4), st.floats(0.01, 0.99))
def test_the_size_is_the_smallest_that_keeps_the_margin(population, confidence, margin, proportion) -> None:
    size = sample_size(population, confidence, margin, proportion)
    assert 1 <= size <= population
    assert margin_of(size, population, confidence, proportion) <= margin * (1 + 1e-6)
    if size > 1:
        assert margin_of(size - 1, population, confidence, proportion) >= margin * (1 - 1e-6)


def test_a_whole_population_has_no_margin() -> None:
    assert margin_of(12, 12) == 0.0


def test_every_stratum_has_its_own_margin_and_an_empty_one_has_none() -> None:
    margins = stratum_margins({"a": 100, "b": 10, "c": 0, "d": 4}, {"a": 500, "b": 50, "c": 3, "d": 4})
    assert margins["a"] == pytest.approx(0.0877, abs=5e-5)
    assert margins["b"] == pytest.approx(0.2800, abs=5e-5)
    assert margins["c"] is None
    assert margins["d"] == 0.0


@pytest.mark.parametrize(("half_width", "units"), [(0.20, 49), (0.10, 196), (0.05, 784), (0.03, 2177)])
def test_units_for_kappa_with_two_even_categories(half_width, units) -> None:
    # Two even categories: variance = (1 - kappa^2) / n, so 1.959964^2 * 0.51 / half_width^2.
    assert units_for_kappa_halfwidth(0.7, 2, half_width) == units


def test_rare_categories_need_more_units_than_even_ones() -> None:
    # Variance of statsmodels' cohens_kappa on the expected table: 2.837684 / n.
    assert units_for_kappa_halfwidth(0.7, 2, shares=[0.95, 0.05]) == 1091
    assert units_for_kappa_halfwidth(0.7, 2, shares=[0.5, 0.5]) == units_for_kappa_halfwidth(0.7, 2)


@given(st.floats(0, 0.98), st.integers(2, 30))
def test_a_narrower_interval_needs_more_units(kappa, k) -> None:
    assert units_for_kappa_halfwidth(kappa, k, 0.05) >= units_for_kappa_halfwidth(kappa, k, 0.10) >= 2


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: sample_size(0), "no issue"),
        (lambda: sample_size(10, margin=5), "Write 5 % as 0.05"),
        (lambda: sample_size(10, confidence=95), "Write 95 % as 0.95"),
        (lambda: sample_size(10, proportion=1), "Use 0.5"),
        (lambda: margin_of(0, 10), "Give 1 to 10"),
        (lambda: margin_of(11, 10), "Give 1 to 10"),
        (lambda: units_for_kappa_halfwidth(1.0, 3), "below 1"),
        (lambda: units_for_kappa_halfwidth(0.7, 1), "two categories"),
        (lambda: units_for_kappa_halfwidth(0.7, 3, half_width=10), "Write it like 0.10"),
        (lambda: units_for_kappa_halfwidth(0.7, 2, shares=[0.5, 0.4]), "add up to 1"),
    ],
)
def test_impossible_inputs_are_refused_with_what_to_give_instead(call, says) -> None:
    with pytest.raises(ValueError, match=says):
        call()
