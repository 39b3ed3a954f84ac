"""Intervals and the axis above them."""

import pytest

from labeling.charts.interval import Interval, axis


def statistic(value, low=None, high=None, undefined=None):
    return {"value": value, "ci_low": low, "ci_high": high, "method": None, "undefined": undefined}


def test_a_statistic_keeps_its_numbers_and_gets_a_name():
    interval = Interval.of("cohen_kappa", statistic(0.75, 0.6, 0.9), 0.8)
    assert (interval.value, interval.low, interval.high, interval.goal) == (0.75, 0.6, 0.9, 0.8)
    assert interval.name == "Cohen's κ"


def test_limits_beyond_the_coefficient_are_cut():
    interval = Interval.of("cohen_kappa", statistic(0.9, -1.2, 1.07))
    assert (interval.low, interval.high) == (-1.0, 1.0)


def test_a_value_that_is_missing_says_why():
    interval = Interval.of("cohen_kappa", statistic(None, undefined="Undefined: nothing varies."))
    assert interval.value is None
    assert interval.reason == "nothing varies."
    assert Interval.of("gwet_ac1", None).undefined


@pytest.mark.parametrize(
    ("low", "high", "goal", "standing"),
    [
        (0.8, 0.9, 0.8, "above"),
        (0.7, 0.9, 0.8, "inside"),
        (0.5, 0.8, 0.8, "inside"),
        (0.5, 0.7, 0.8, "below"),
        (None, None, 0.8, ""),
        (0.7, 0.9, None, ""),
    ],
)
def test_the_whole_interval_is_held_against_the_goal(low, high, goal, standing):
    assert Interval.of("cohen_kappa", statistic(0.75, low, high), goal).standing == standing


def test_a_goal_takes_the_room_of_what_it_would_run_into():
    assert [words for _, words in axis().ticks] == [".2", ".4", ".6", ".8"]
    assert [words for _, words in axis(0.8).ticks] == [".2", ".4", ".6"]
    assert axis(0.8).goal_place == "80.0%"
