from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.sampling import coder_order, deal_units, overlap_units, redeal

seeds = st.integers(min_value=0, max_value=2**63 - 1)
refs = st.sets(st.integers(1, 999), max_size=60).map(lambda numbers: [f"o/r#{n}" for n in sorted(numbers)])


def spread(dealt: Mapping[int, list[str]], among: set[str]) -> int:
    loads = [len(set(units) & among) for units in dealt.values()]
    return max(loads) - min(loads)


@pytest.mark.parametrize(
    ("overlap", "count"), [(0.2, 3), (0.21, 4), (0.0, 0), (1.0, 15), (Decimal("0.6"), 9)]
)
def test_the_overlap_is_rounded_up_from_the_decimal_number(overlap, count) -> None:
    assert len(overlap_units({"all": [f"o/r#{n}" for n in range(15)]}, overlap, 1)) == count


def test_every_stratum_has_its_own_overlap() -> None:
    strata = {"a": [f"o/a#{n}" for n in range(9)], "b": [f"o/b#{n}" for n in range(4)], "c": []}
    picked = Counter(ref[2] for ref in overlap_units(strata, 0.5, 3))
    assert picked == {"a": 5, "b": 2}


@given(refs, st.integers(0, 100), st.integers(0, 100), seeds)
def test_a_larger_overlap_contains_the_smaller_one(refs, first, second, seed) -> None:
    smaller, larger = sorted((first, second))
    strata = {"odd": refs[::2], "even": refs[1::2]}
    assert overlap_units(strata, smaller / 100, seed) <= overlap_units(strata, larger / 100, seed)


@given(refs, st.integers(1, 7), st.integers(1, 7), st.integers(0, 60), seeds)
def test_dealing_is_balanced_and_complete(refs, coders, per_unit, overlapping, seed) -> None:
    per_unit = min(per_unit, coders)
    overlap = set(refs[:overlapping])
    dealt = deal_units(refs, list(range(1, coders + 1)), per_unit, overlap, seed)
    times = Counter(ref for units in dealt.values() for ref in units)
    assert times == {ref: per_unit if ref in overlap else 1 for ref in refs}
    assert all(len(units) == len(set(units)) for units in dealt.values())
    assert spread(dealt, set(refs)) <= 1
    assert spread(dealt, overlap) <= 1


@pytest.mark.parametrize("coders", [2, 3, 4, 5, 6, 8, 11])
@pytest.mark.parametrize("per_unit", [2, 3])
def test_pairs_of_coders_meet_about_equally_often(coders, per_unit) -> None:
    per_unit = min(per_unit, coders)
    refs = [f"o/r#{n}" for n in range(300)]
    dealt = deal_units(refs, list(range(coders)), per_unit, set(refs), 42)
    meetings = [len(set(dealt[a]) & set(dealt[b])) for a, b in combinations(dealt, 2)]
    assert max(meetings) - min(meetings) <= 3


@given(refs, seeds, st.randoms())
def test_dealing_depends_on_the_seed_and_not_on_the_order_of_units_and_coders(refs, seed, random) -> None:
    shuffled = list(refs)
    random.shuffle(shuffled)
    overlap = set(refs[:10])
    assert deal_units(refs, [1, 2, 3], 2, overlap, seed) == deal_units(shuffled, [3, 1, 2], 2, overlap, seed)


def test_another_seed_deals_otherwise() -> None:
    refs = [f"o/r#{n}" for n in range(40)]
    assert deal_units(refs, [1, 2, 3], 1, set(), 1) != deal_units(refs, [1, 2, 3], 1, set(), 2)


def test_the_order_of_a_coder_does_not_show_which_units_overlap() -> None:
    refs = [f"o/r#{n}" for n in range(100)]
    overlap = overlap_units({"all": refs}, 0.3, 9)
    first_half = Counter[bool]()
    for seed in range(40):
        for order in deal_units(refs, [1, 2], 2, overlap, seed).values():
            first_half.update(ref in overlap for ref in order[: len(order) // 2])
    # 30 of the 65 units of each coder overlap; 80 orders of 32 units, a limit of four deviations.
    assert abs(first_half[True] / first_half.total() - 30 / 65) < 0.04


def test_coders_meet_the_same_units_in_different_orders() -> None:
    refs = [f"o/r#{n}" for n in range(20)]
    assert sorted(coder_order(refs, 5, 1)) == sorted(coder_order(refs, 5, 2)) == sorted(refs)
    assert coder_order(refs, 5, 1) != coder_order(refs, 5, 2)


@given(refs, st.integers(3, 6), seeds, st.data())
def test_the_units_of_a_leaving_coder_go_to_others_who_do_not_have_them(refs, coders, seed, data) -> None:
    dealt = deal_units(refs, list(range(1, coders + 1)), 2, set(refs), seed)
    movable = data.draw(st.sets(st.sampled_from(dealt[1]))) if dealt[1] else set()
    redealt = redeal(dealt, 1, movable, seed)
    assert redealt.stuck == []
    assert redealt.moves.keys() == movable
    assert all(ref not in dealt[coder] and coder != 1 for ref, coder in redealt.moves.items())


def test_moved_units_are_shared_out_evenly() -> None:
    refs = [f"o/r#{n}" for n in range(90)]
    dealt = deal_units(refs, [1, 2, 3, 4], 2, set(refs), 8)
    loads = Counter({coder: len(dealt[coder]) for coder in (2, 3, 4)})
    loads.update(redeal(dealt, 1, dealt[1], 8).moves.values())
    assert max(loads.values()) - min(loads.values()) <= 1


def test_a_newcomer_takes_over_what_nobody_else_could() -> None:
    dealt = {1: ["o/r#1", "o/r#2"], 2: ["o/r#1", "o/r#2"]}
    assert redeal(dealt, 1, dealt[1], 3).stuck == ["o/r#1", "o/r#2"]
    assert redeal({**dealt, 3: []}, 1, dealt[1], 3).moves == {"o/r#1": 3, "o/r#2": 3}


def test_impossible_deals_are_refused() -> None:
    with pytest.raises(ValueError, match="2 of 1 coders"):
        deal_units(["a"], [1], 2, {"a"}, 1)
    with pytest.raises(ValueError, match="named twice"):
        deal_units(["a"], [1, 1], 1, set(), 1)
    with pytest.raises(ValueError, match="not dealt"):
        deal_units(["a"], [1, 2], 2, {"b"}, 1)
    with pytest.raises(ValueError, match="from 0 to 1"):
        overlap_units({"all": ["a"]}, 1.5, 1)
    with pytest.raises(ValueError, match="was not dealt b"):
        redeal({1: ["a"], 2: []}, 1, ["b"], 1)
