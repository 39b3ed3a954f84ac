"""The command ``python -m labeling.agreement`` and the files it reads."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from labeling.agreement.__main__ import main
from labeling.agreement.files import Options, read_dimensions

HEADER = "unit,coder,category"
PLAIN = [
    *(f"{unit},ada,bug" for unit in range(6)),
    *(f"{unit},ada,docs" for unit in range(6, 10)),
    *(f"{unit},ben,bug" for unit in range(5)),
    *(f"{unit},ben,docs" for unit in range(5, 10)),
]


@pytest.fixture
def write(tmp_path: Path):
    """Write lines to a CSV file and give its path."""

    def write_lines(*lines: str, name: str = "answers.csv") -> str:
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return str(path)

    return write_lines


def run_json(capsys, *arguments: str):
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_file_gives_a_report_for_people(write, capsys) -> None:
    assert main([write(HEADER, *PLAIN)]) == 0
    out = capsys.readouterr().out
    assert "Units: 10, of which 10 coded by at least two coders" in out
    assert "cohen_kappa" in out
    assert "0.80" in out
    assert "seed 0" in out
    assert "nan" not in out.lower()


def test_json_uses_the_names_of_the_reference_cases(write, capsys) -> None:
    found = run_json(capsys, write(HEADER, *PLAIN), "--seed", "5")
    assert found["cohen_kappa"] == pytest.approx(0.8)
    assert found["raw_agreement"] == pytest.approx(0.9)
    assert found["confusion"] == [[5, 1], [0, 4]]
    assert found["n_both"] == 10
    assert found["category_kappa"]["bug"] == pytest.approx(0.8)
    assert found["specific_agreement"]["docs"] == pytest.approx(8 / 9)
    assert len(found["boot_ci95"]) == 2
    assert found["cohen_kappa_ci95"][0] == pytest.approx(0.8 - 1.959964 * found["cohen_kappa_se"])
    assert found["seed"] == 5
    assert found["reasons"] == {}


def test_what_is_undefined_is_null_with_a_reason(write, capsys) -> None:
    found = run_json(capsys, write(HEADER, "1,ada,bug", "1,ben,bug", "2,ada,bug", "2,ben,bug"))
    assert found["cohen_kappa"] is None
    assert "0 divided by 0" in found["reasons"]["cohen_kappa"]
    assert found["raw_agreement"] == 1


def test_a_column_of_dimensions_gives_a_report_each(write, capsys) -> None:
    lines = [f"{line},{dimension}" for dimension in ("cause", "fix") for line in PLAIN]
    path = write(HEADER + ",dimension", *lines)
    assert [one["dimension"] for one in run_json(capsys, path)["dimensions"]] == ["cause", "fix"]
    assert run_json(capsys, path, "--dimension", "fix")["dimension"] == "fix"
    assert main([path]) == 0
    assert capsys.readouterr().out.count("Coders: ada, ben") == 2


def test_declared_categories_count_also_when_nobody_used_them(write, capsys) -> None:
    path = write(HEADER, *PLAIN)
    assert run_json(capsys, path, "--categories", "bug,docs,question")["pabak"] == pytest.approx(0.85)
    assert run_json(capsys, path)["pabak"] == pytest.approx(0.8)


def test_an_ordinal_file_takes_the_order_that_is_given(write, capsys) -> None:
    answers = ["1,ada,low", "1,ben,mid", "2,ada,high", "2,ben,high", "3,ada,low", "3,ben,low", "4,ada,mid"]
    found = run_json(capsys, write(HEADER, *answers, "4,ben,unclear"), "--ordinal", "low,mid,high")
    assert found["kind"] == "ordinal"
    assert found["categories"] == ["low", "mid", "high", "unclear"]
    assert found["weighted_kappa_linear"] == pytest.approx(2 / 3)
    assert "states_left_out" in found["warnings"]


def test_several_rows_and_bars_are_sets(write, capsys) -> None:
    answers = ["1,ada,bug|crash", "1,ben,crash", "1,ben,bug", "2,ada,", "2,ben,", "3,ada,bug", "3,ben,crash"]
    found = run_json(capsys, write(HEADER, *answers), "--multiple")
    assert found["exact_match"] == pytest.approx(2 / 3)
    assert found["n_both"] == 3
    assert found["headline"] == "krippendorff_alpha_masi"
    assert set(found["label_kappa"]) == {"bug", "crash"}


def test_more_than_two_coders_are_reported_by_pairs(write, capsys) -> None:
    third = [line.replace("ben", "cyd") for line in PLAIN if "ben" in line]
    path = write(HEADER, *PLAIN, *third)
    found = run_json(capsys, path)
    assert found["pairwise_cohen_kappa"]["ben|cyd"] == 1
    assert found["pairwise_n"]["ada|ben"] == 10
    assert found["headline"] == "krippendorff_alpha_nominal"
    assert main([path]) == 0
    assert "ben | cyd" in capsys.readouterr().out


def test_an_empty_category_is_a_missing_answer(write, capsys) -> None:
    assert run_json(capsys, write(HEADER, *PLAIN, "10,ada,bug", "10,ben,"))["n_both"] == 10


def test_exported_annotations_are_read_by_their_status(write, capsys) -> None:
    lines = [
        *(f"{line},coded" for line in PLAIN),
        "10,ada,,unclear",
        "10,ben,,unclear",
        "11,ada,,skipped",
        "11,ben,bug,coded",
    ]
    found = run_json(capsys, write(HEADER + ",status", *lines))
    assert found["n_both"] == 11
    assert found["categories"] == ["bug", "docs", "unclear"]


def test_names_are_stripped_and_normalised_but_keep_their_case(write, capsys) -> None:
    path = write(HEADER, "1,ada,caf\u00e9", "1,ben, cafe\u0301 ", "2,ada,Bug", "2,ben,bug")
    assert main([path, "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["categories"] == ["Bug", "bug", "caf\u00e9"]
    assert '"Bug" and "bug" count as different categories' in captured.err


def test_a_byte_order_mark_windows_lines_and_more_columns_do_no_harm(tmp_path, capsys) -> None:
    path = tmp_path / "excel.csv"
    rows = "\r\n".join(f"{line},a note" for line in PLAIN)
    path.write_bytes(b"\xef\xbb\xbf" + f"Unit,Coder,Category,memo\r\n{rows}\r\n\r\n".encode())
    assert run_json(capsys, str(path))["cohen_kappa"] == pytest.approx(0.8)


def test_coders_who_share_no_unit_get_a_reason_not_a_number(write, capsys) -> None:
    path = write(HEADER, "1,ada,bug", "2,ben,bug")
    assert main([path]) == 0
    assert "No unit was coded by two coders." in capsys.readouterr().out
    assert run_json(capsys, path)["undefined"] == "No unit was coded by two coders."


@pytest.mark.parametrize(
    ("lines", "options", "complaint"),
    [
        ([""], [], "needs one column 'unit'"),
        (["unit;coder;category", "1;ada;bug"], [], "it has: unit;coder;category"),
        (["unit,coder,category,category", "1,ada,bug,bug"], [], "one column 'category'"),
        ([HEADER], [], "no rows"),
        ([HEADER, "1,ada"], [], "row 2: 2 cells where the header has 3"),
        ([HEADER, "1,,bug"], [], "row 2: the coder is empty"),
        ([HEADER, ",ada,bug"], [], "row 2: the unit is empty"),
        ([HEADER, '1,ada,"bug'], [], "is not a CSV file"),
        ([HEADER, "1,ada,bug", "1,ada,docs"], [], "Row 3: ada already has an answer for unit 1"),
        ([HEADER, "1,ada,bug|docs"], [], "looks like several categories"),
        ([HEADER, "1,ada,fire"], ["--categories", "bug,docs"], "'fire' occurs but is not one of"),
        ([HEADER, *PLAIN], ["--dimension", "cause"], "it has no column dimension"),
        ([HEADER + ",dimension", "1,ada,bug,fix"], ["--dimension", "cause"], "no dimension 'cause': fix"),
        (
            [HEADER + ",dimension", "1,ada,bug,fix", "1,ada,bug,cause"],
            ["--categories", "bug"],
            "has 2 dimensions",
        ),
        ([HEADER, *PLAIN], ["--ordinal", "bug,docs", "--multiple"], "not both"),
        ([HEADER, *PLAIN], ["--ordinal", "bug,docs", "--categories", "bug"], "name different categories"),
    ],
)
def test_a_bad_file_ends_with_one_sentence_and_exit_2(write, capsys, lines, options, complaint) -> None:
    assert main([write(*lines), *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert complaint in captured.err


def test_a_file_that_is_not_there_or_not_text_ends_with_exit_2(tmp_path, capsys) -> None:
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"unit,coder,category\n1,ada,\xff\n")
    for path, complaint in (
        (tmp_path / "none.csv", "cannot be read"),
        (tmp_path, "cannot be read"),
        (binary, "UTF-8"),
    ):
        assert main([str(path)]) == 2
        assert complaint in capsys.readouterr().err


@pytest.mark.parametrize("options", [[], ["--seed", "-1"], ["--seed", "x"], ["--categories", "a,a"]])
def test_options_that_make_no_sense_end_with_exit_2(write, capsys, options) -> None:
    arguments = [write(HEADER, *PLAIN), *options] if options else []
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "error:" in capsys.readouterr().err


def test_cases_are_compared_and_counted(tmp_path, capsys) -> None:
    cases = [
        {
            "id": "right",
            "table": [[4, 1], [1, 4]],
            "expected": {"cohen_kappa": {"v": 0.6}, "n_units": {"v": 10}},
        },
        {"id": "wrong", "table": [[4, 1], [1, 4]], "expected": {"raw_agreement": {"v": 0.9}}},
    ]
    path = tmp_path / "cases.json"
    path.write_text(json.dumps({"cases": cases[:1]}))
    assert main(["--cases", str(path)]) == 0
    assert capsys.readouterr().out == "2 values, 0 differ\n"
    path.write_text(json.dumps({"cases": cases}))
    assert main(["--cases", str(path)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "wrong raw_agreement: expected 0.9, computed 0.8",
        "3 values, 1 differ",
    ]


def test_a_bad_file_of_cases_ends_with_exit_2(tmp_path, capsys) -> None:
    path = tmp_path / "cases.json"
    path.write_text('{"cases": [{"id": "odd", "expected": {}}]}')
    assert main(["--cases", str(path)]) == 2
    assert "Case odd" in capsys.readouterr().err


def test_the_module_runs_without_settings_or_database(write) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "labeling.agreement", write(HEADER, *PLAIN), "--json"],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ".", "PATH": ""},
    )
    assert json.loads(result.stdout)["cohen_kappa"] == pytest.approx(0.8)


def test_the_answers_of_a_file_are_those_of_the_report(write) -> None:
    (data,) = read_dimensions(Path(write(HEADER, "1,ada,bug", "1,ben,docs")), Options(seed=3))
    assert data.values == {("1", "ada"): "bug", ("1", "ben"): "docs"}
    assert (data.coders, data.units, data.seed) == (("ada", "ben"), ("1",), 3)
