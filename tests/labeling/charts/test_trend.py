"""The headline of a dimension from round to round."""

from labeling.charts.interval import Interval
from labeling.charts.trend import BOTTOM, TOP, trend


def kappa(value, low=None, high=None, name="cohen_kappa"):
    return Interval(name, value, low, high, "" if value is not None else "Undefined: nothing varies.")


def test_points_stand_where_their_numbers_say():
    figure = trend("symptom", {1: kappa(0.7, 0.55, 0.85), 2: kappa(1.0)})
    first, second = figure.points
    height = BOTTOM - TOP
    # The scale runs from 0.4 to 1.
    assert float(first.y) == round(BOTTOM - height * (0.7 - 0.4) / 0.6, 1)
    assert float(first.y_low) == round(BOTTOM - height * (0.55 - 0.4) / 0.6, 1)
    assert float(first.y_high) == round(BOTTOM - height * (0.85 - 0.4) / 0.6, 1)
    assert float(second.y) == TOP
    assert float(first.x) < float(second.x)
    assert [tick.words for tick in figure.ticks] == ["0.4", "0.6", "0.8", "1.0"]


def test_the_scale_goes_down_to_the_lowest_limit():
    figure = trend("symptom", {1: kappa(0.3, -0.1, 0.6), 2: kappa(0.6)})
    assert [tick.words for tick in figure.ticks][:2] == ["\N{MINUS SIGN}0.2", "0.0"]
    assert trend("symptom", {1: kappa(0.6)}).ticks[0].words == "0.4"


def test_no_line_joins_different_coefficients():
    rounds = {1: kappa(0.6), 2: kappa(0.7), 3: kappa(0.8, name="krippendorff_alpha_nominal")}
    figure = trend("symptom", rounds)
    one, two, _ = figure.points
    assert figure.lines == (f"{one.x},{one.y} {two.x},{two.y}",)
    assert len(figure.coefficients) == 2


def test_an_open_round_keeps_its_place_without_a_number():
    figure = trend("symptom", {1: kappa(0.6), 2: kappa(0.7)}, hidden=[3], goal=0.8)
    (hidden,) = figure.hidden
    assert hidden.round == 3
    assert float(hidden.x) > float(figure.points[-1].x)
    assert figure.goal_y is not None
    assert float(figure.goal_y) < float(figure.points[-1].y)


def test_an_undefined_headline_has_no_place():
    figure = trend("symptom", {1: kappa(0.6), 2: kappa(None), 3: kappa(0.7)})
    assert figure.points[1].y == ""
    assert figure.lines == ()


def test_pilots_are_marked():
    figure = trend("symptom", {1: kappa(0.9), 2: kappa(0.7)}, pilots={1})
    assert [point.is_pilot for point in figure.points] == [True, False]
