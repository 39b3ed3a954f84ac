"""Published tables and worked examples; each case of the file names its source."""

import json
from pathlib import Path
from typing import Any

import pytest

from labeling.agreement.cases import CaseError, case_figures, compare_case, read_cases

CASES = Path(__file__).parents[2] / "data" / "agreement_cases.json"


@pytest.mark.parametrize("case", read_cases(CASES), ids=lambda case: case["id"])
def test_the_values_of_a_published_case_are_reproduced(case) -> None:
    comparisons = list(compare_case(case))
    assert comparisons
    assert [one for one in comparisons if one.difference is not None] == []


@pytest.mark.parametrize("case", read_cases(CASES), ids=lambda case: case["id"])
def test_every_case_names_its_source(case) -> None:
    assert len(case["source"]) > 20


def test_a_wrong_expectation_is_a_difference() -> None:
    case = {"id": "c", "table": [[4, 1], [1, 4]], "expected": {"cohen_kappa": {"v": 0.61}}}
    assert [one.difference for one in compare_case(case)] == ["expected 0.61, computed 0.6"]


def test_a_tolerance_is_the_largest_difference_allowed() -> None:
    case = {"id": "c", "table": [[4, 1], [1, 4]], "expected": {"cohen_kappa": {"v": 0.61, "tol": 0.011}}}
    assert [one.difference for one in compare_case(case)] == [None]


@pytest.mark.parametrize("value", [None, [0.6], {"a": 0.6}, "0.6", True])
def test_a_number_is_not_something_else(value) -> None:
    case = {"id": "c", "table": [[4, 1], [1, 4]], "expected": {"cohen_kappa": {"v": value}}}
    assert next(compare_case(case)).difference is not None


def test_a_list_or_mapping_differs_by_one_entry() -> None:
    table = [[4, 1], [1, 4]]
    expected = {"confusion": {"v": [[4, 1], [1, 5]]}, "specific_agreement": {"v": {"1": 0.8}}}
    differences = [one.difference for one in compare_case({"id": "c", "table": table, "expected": expected})]
    assert None not in differences


def test_an_unknown_name_is_a_difference() -> None:
    case = {"id": "c", "table": [[4, 1], [1, 4]], "expected": {"cohen_kapa": {"v": 0.6}}}
    assert next(compare_case(case)).difference == "is not computed for a case of this kind"


@pytest.mark.parametrize(
    ("case", "complaint"),
    [
        ({"table": [[1, 2]]}, "as many rows as columns"),
        ({"table": [[1, -2], [0, 1]]}, "negative"),
        ({"table": [[1, 2], [0, 1]], "categories": ["a"]}, "declares 1 categories, the numbers are for 2"),
        ({"table": [[1, 2], [0, 1]], "agreement_weights": [[1]]}, "a row and a column for every category"),
        ({"table": [[1, 2], [0, 1]], "coders": ["A"]}, "names 1 coders"),
        ({"units": [["a", "b"]], "categories": ["a"]}, "'b' is not among"),
        ({"units": [["a", "b"], ["a"]]}, "cannot be computed"),
        ({"units": [[["a"], ["b"]]], "multi": True, "categories": ["a"]}, "'b' is not among"),
        ({"counts": [[1, -1]]}, "negative"),
        ({}, "cannot be computed"),
        ({"table": [[1]], "expected": {"cohen_kappa": 1}}, 'needs a value "v"'),
        ({"table": [[1]], "expected": {"cohen_kappa": {"v": 1, "tol": None}}}, '"tol" is a number'),
    ],
)
def test_a_case_that_cannot_be_computed_is_named(case, complaint) -> None:
    with pytest.raises(CaseError, match=complaint) as caught:
        list(compare_case({"id": "odd one", **case}))
    assert "odd one" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [("{", "not JSON"), ("{}", 'no list "cases"'), ('{"cases": [1]}', 'no list "cases"')],
)
def test_a_file_of_another_format_is_refused(tmp_path, content, complaint) -> None:
    path = tmp_path / "cases.json"
    path.write_text(content)
    with pytest.raises(CaseError, match=complaint):
        read_cases(path)


def test_a_file_that_is_not_there_is_refused(tmp_path) -> None:
    with pytest.raises(CaseError, match="cannot be read"):
        read_cases(tmp_path / "none.json")


def test_a_plain_list_of_cases_is_read(tmp_path) -> None:
    path = tmp_path / "cases.json"
    path.write_text(json.dumps([{"id": "a"}]))
    assert read_cases(path) == [{"id": "a"}]


@pytest.mark.parametrize(
    ("answers", "n_units"),
    [
        ({"coders": ["A", "B"], "categories": ["a", "b"], "units": []}, 0),
        ({"coders": ["A", "B"], "categories": ["a", "b"], "units": [["a", None], ["b", None]]}, 2),
        ({"coders": ["A"], "units": [["a"], ["b"]]}, 2),
        ({"counts": [[1, 0], [0, 1], [0, 0]]}, 3),
    ],
)
def test_a_case_that_nobody_coded_twice_has_a_reason_and_no_coefficient(answers, n_units) -> None:
    names = ("cohen_kappa", "krippendorff_alpha_ordinal", "gwet_ac1", "light_kappa", "boot_ci95")
    expected = {name: {"v": None} for name in names} | {
        "n_units": {"v": n_units},
        "undefined": {"v": "any reason"},
    }
    case = {"id": "none", "expected": expected, **answers}
    assert [one for one in compare_case(case) if one.difference is not None] == []


@pytest.mark.parametrize(
    ("case", "name"),
    [
        ({"units": [["a", "a"], ["b", "b"], ["a", "b"], ["b", "b"]] * 9}, "cohen_kappa"),
        ({"units": [["a", "a", "b"], ["b", "b", None], ["a", "b", "b"]] * 9}, "krippendorff_alpha_nominal"),
        (
            {"units": [[["a"], ["a", "b"]], [["b"], ["b"]], [["a"], ["b"]]] * 9, "multi": True},
            "krippendorff_alpha_masi",
        ),
    ],
)
def test_a_bootstrap_interval_surrounds_its_coefficient(case, name) -> None:
    figures: Any = case_figures({**case, "expected": {"boot_ci95": {"v": [0, 1]}}})
    low, high = figures["boot_ci95"]
    assert low < figures[name] < high
    assert figures["boot_undefined_share"] < 0.01


def test_own_weights_apply_to_every_pair_of_coders() -> None:
    units = [["a", "a", "b"], ["b", "c", "b"], ["c", "c", "c"], ["a", "b", "a"]]
    linear = [[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]]
    figures: Any = case_figures({"units": units, "agreement_weights": linear})
    assert figures["light_weighted_kappa_custom"] == pytest.approx(figures["light_weighted_kappa_linear"])
