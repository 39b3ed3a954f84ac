from math import ceil, floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.sampling import allocate_equal, allocate_numbers, allocate_proportional

strata = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=3), st.integers(0, 400), min_size=1, max_size=8
)


@given(strata, st.data())
def test_a_proportional_allocation_adds_up_and_is_a_rounded_share(available, data) -> None:
    total = sum(available.values())
    size = data.draw(st.integers(0, total))
    sizes = allocate_proportional(available, size)
    assert sum(sizes.values()) == size
    assert sizes.keys() == available.keys()
    for stratum, count in available.items():
        share = size * count / total if total else 0
        assert floor(share - 1e-9) <= sizes[stratum] <= min(count, ceil(share + 1e-9))


@given(strata, st.data())
def test_an_equal_allocation_adds_up_and_differs_only_where_a_stratum_is_exhausted(available, data) -> None:
    size = data.draw(st.integers(0, sum(available.values())))
    sizes = allocate_equal(available, size)
    assert sum(sizes.values()) == size
    assert all(sizes[stratum] <= available[stratum] for stratum in available)
    unexhausted = [sizes[stratum] for stratum in available if sizes[stratum] < available[stratum]]
    if unexhausted:
        assert max(unexhausted) - min(unexhausted) <= 1
        assert max(sizes.values()) <= max(unexhausted) + 1


@given(strata, st.data())
def test_own_numbers_add_up_and_hold_where_every_stratum_has_enough(available, data) -> None:
    numbers = {stratum: data.draw(st.integers(0, count)) for stratum, count in available.items()}
    assert allocate_numbers(available, numbers) == numbers


def test_what_a_stratum_lacks_goes_to_the_others_by_their_own_numbers() -> None:
    sizes = allocate_numbers({"a": 10, "b": 50, "c": 50, "d": 9}, {"a": 20, "b": 20, "c": 10})
    assert sizes == {"a": 10, "b": 27, "c": 13, "d": 0}


def test_equal_remainders_go_to_strata_by_name() -> None:
    assert allocate_equal({"c": 9, "a": 9, "b": 9}, 10) == {"a": 4, "b": 3, "c": 3}


def test_shares_are_exact_where_floating_point_would_not_be() -> None:
    huge = {"a": 10**17 + 1, "b": 10**17 - 1}
    assert allocate_proportional(huge, 2 * 10**17) == huge


def test_a_size_beyond_the_corpus_is_refused() -> None:
    with pytest.raises(ValueError, match="6 issues were asked for, these strata have 5"):
        allocate_equal({"a": 2, "b": 3}, 6)
    with pytest.raises(ValueError, match="9 issues were asked for, these strata have 2"):
        allocate_numbers({"a": 2, "b": 30}, {"a": 9})


def test_unknown_strata_and_negative_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="No issue belongs to z"):
        allocate_numbers({"a": 2}, {"z": 1})
    with pytest.raises(ValueError, match="0 or more"):
        allocate_numbers({"a": 2, "b": 2}, {"a": -1, "b": 2})
