"""Rows of the table and the table of categories, from the payload of a computed report."""

from dataclasses import replace

from labeling.agreement.payload import to_payload
from labeling.agreement.report import DimensionData, summarise
from labeling.charts.categories import category_rows
from labeling.charts.dimensions import dimension_row
from labeling.charts.names import CategoryName

NAMES = {"crash": CategoryName("crash", "Crash", "c"), "hang": CategoryName("hang", "Hang", "h")}


def payload(answers, left_out=None, **fields):
    coders = tuple(answers)
    units = tuple(f"u{place}" for place in range(len(next(iter(answers.values())))))
    values = {
        (unit, coder): answers[coder][place]
        for coder in coders
        for place, unit in enumerate(units)
        if answers[coder][place] is not None
    }
    data = DimensionData(
        key="symptom",
        kind="single",
        categories=("crash", "hang"),
        states=("unclear",),
        coders=coders,
        units=units,
        values=values,
        parents={},
        left_out=left_out or {},
        conditional=False,
        seed=1,
        draws=200,
    )
    row = to_payload(summarise(replace(data, **fields), scale="landis_koch"))
    return row | {"left_out_units": {reason: list(refs) for reason, refs in (left_out or {}).items()}}


FOUR = {"ada": ["crash", "crash", "hang", "hang"], "ben": ["crash", "crash", "hang", "crash"]}


def test_a_row_has_the_numbers_of_its_report():
    data = payload(FOUR)
    row = dimension_row(data, 0.7)
    assert row.headline.statistic == "cohen_kappa"
    assert row.headline.value == data["kappa"]["value"] == 0.5
    assert (row.headline.low, row.headline.high) == (data["kappa"]["ci_low"], data["kappa"]["ci_high"])
    assert (row.observed.value, row.ac1.value) == (0.75, data["ac1"]["value"])
    assert row.alpha.value == data["alpha"]["value"]
    assert row.reading.startswith("moderate")


def test_one_single_category_is_told_from_other_reasons():
    row = dimension_row(payload({"ada": ["crash"] * 3, "ben": ["crash"] * 3}))
    assert row.is_constant
    assert row.has_numbers
    nothing = dimension_row(payload({"ada": ["crash", None], "ben": [None, "crash"]}))
    assert not nothing.is_constant
    assert not nothing.has_numbers


def test_sealed_units_are_counted_and_not_named():
    (left,) = dimension_row(payload(FOUR, {"missing": ("u8", "u9")}), sealed={"u9"}).left_out
    assert (left.count, left.units, left.hidden) == (2, ("u8",), 1)
    assert left.words == "an answer is missing"


def test_three_coders_have_pairs_and_lights_kappa_beside():
    row = dimension_row(payload(FOUR | {"cleo": ["crash", "hang", "hang", "crash"]}))
    assert [(each.coder_a, each.coder_b) for each in row.pairs] == [
        ("ada", "ben"),
        ("ada", "cleo"),
        ("ben", "cleo"),
    ]
    assert [each.statistic for each in row.beside] == ["light_kappa"]


def test_multiple_choice_shows_the_mean_of_its_categories_beside_alpha():
    sets = {
        "ada": [frozenset({"crash"}), frozenset({"hang"}), frozenset({"crash", "hang"})],
        "ben": [frozenset({"crash"}), frozenset({"hang"}), frozenset({"crash"})],
    }
    row = dimension_row(payload(sets, kind="multiple"))
    assert row.headline.statistic == "krippendorff_alpha_masi"
    assert [each.statistic for each in row.beside] == ["macro_label_kappa"]
    assert row.ac1.value is None


def test_categories_come_lowest_kappa_first_and_undefined_ones_last():
    answers = {"ada": ["crash", "crash", "hang", "hang"], "ben": ["crash", "unclear", "hang", "hang"]}
    data = payload(answers)
    rows = category_rows(data, NAMES)
    assert [row.category.code for row in rows] == ["unclear", "crash", "hang"]
    stored = {each["category"]: each["kappa"]["value"] for each in data["categories"]}
    assert {row.category.code: row.kappa.value for row in rows} == stored
    rows = category_rows(payload({"ada": ["crash"] * 3, "ben": ["crash"] * 3}), NAMES)
    assert all(row.kappa.value is None for row in rows)
    assert rows[0].category.code == "crash"


def test_a_coder_with_one_answer_for_all_has_no_reading():
    row = dimension_row(payload({"ada": ["crash"] * 6, "ben": ["crash"] * 5 + ["hang"]}))
    assert row.headline.value == 0
    assert row.is_flat
    assert row.reading == ""
    assert not dimension_row(payload(FOUR)).is_flat


def test_a_category_of_few_uses_is_marked():
    often = {coder: answers * 5 for coder, answers in FOUR.items()}
    assert [row.is_rare for row in category_rows(payload(FOUR), NAMES)] == [True, True, True]
    assert {row.category.code: row.is_rare for row in category_rows(payload(often), NAMES)} == {
        "crash": False,
        "hang": False,
        "unclear": True,
    }
