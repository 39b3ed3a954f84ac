"""LaTeX of tables and numbers: every character prints as it is, and the file is one a paper can include."""

import pytest

from labeling.charts.categories import category_rows
from labeling.charts.confusion import confusion
from labeling.charts.dimensions import dimension_row
from labeling.export.agreement_tables import (
    agreement_numbers,
    categories_table,
    confusion_table,
    dimensions_table,
    two,
)
from labeling.export.latex import Column, Table, escape, label, macro, macros_text, table_text, tables_text
from tests.labeling.charts.test_dimensions import FOUR, NAMES, payload


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("50% & more_of #1", r"50\% \& more\_of \#1"),
        (r"C:\x {a} ~^", r"C:\textbackslash{}x \{a\} \textasciitilde{}\textasciicircum{}"),
        ("$a < b|c > d$", r"\$a \textless{} b\textbar{}c \textgreater{} d\$"),
        ("\N{MINUS SIGN}0.05", "$-$0.05"),
        ("Cohen's κ", r"Cohen's $\kappa$"),
        ("“Naïve”\n…", r"``Naïve'' \ldots{}"),
    ],
)
def test_every_character_prints_as_it_is(text, written):
    assert escape(text) == written


def test_a_backslash_is_escaped_once():
    assert escape("\\textbf{x}") == r"\textbackslash{}textbf\{x\}"


def test_a_table_has_the_rules_of_booktabs_and_its_cells_in_order():
    table = Table("A & B", "A b", (Column("Name"), Column("n", "r")), ((("x_1", "3"),), (("All", "3"),)))
    assert table_text(table) == (
        "\\begin{table}\n"
        "  \\centering\n"
        "  \\caption{A \\& B}\n"
        "  \\label{tab:a-b}\n"
        "  \\begin{tabular}{lr}\n"
        "    \\toprule\n"
        "    Name & n \\\\\n"
        "    \\midrule\n"
        "    x\\_1 & 3 \\\\\n"
        "    \\midrule\n"
        "    All & 3 \\\\\n"
        "    \\bottomrule\n"
        "  \\end{tabular}\n"
        "\\end{table}\n"
    )
    assert tables_text([table]).startswith("% \\usepackage{booktabs}")


def test_a_row_that_begins_with_a_bracket_is_no_option_of_the_line_above():
    table = Table("c", "l", (Column("Name"),), ((("a",), ("[b]",)),))
    assert "{}[b]" in table_text(table)


def test_macros_have_letters_alone_in_their_names():
    assert macro("round 12", "root_cause", "value") == r"\RoundOneTwoRootCauseValue"
    assert macros_text([(macro("n"), "\N{MINUS SIGN}0.10")]) == "\\newcommand{\\N}{$-$0.10}\n"
    assert label("By stratum: a/b") == "by-stratum-a-b"


def test_the_table_by_dimension_holds_the_numbers_of_the_report():
    data = payload({coder: answers * 5 for coder, answers in FOUR.items()})
    row = dimension_row(data)
    text = table_text(dimensions_table([row], {"symptom": "Symptom & co"}, 3))
    kappa = data["kappa"]
    limits = f"{two(kappa['ci_low'])} to {two(kappa['ci_high'])}"
    assert rf"Symptom \& co & 20 & 75.00\% & Cohen's $\kappa$ & 0.50 & {limits} &" in text
    assert r"\label{tab:agreement-round-3}" in text
    numbers = dict(agreement_numbers([row], 3))
    assert numbers[r"\RoundThreeSymptomValue"] == "0.50"
    assert numbers[r"\RoundThreeSymptomLow"] == two(kappa["ci_low"])
    assert len(numbers) == 5


def test_a_constant_dimension_says_why_it_has_no_coefficient():
    row = dimension_row(payload({"ada": ["crash"] * 3, "ben": ["crash"] * 3}))
    text = table_text(dimensions_table([row], {}, 1))
    assert "undefined" in text
    assert "one single category occurred" in text


def test_categories_and_confusion_are_tables_of_their_own():
    data = payload(FOUR)
    text = table_text(categories_table("Symptom", category_rows(data, NAMES), 1, ("ada", "ben")))
    assert "Crash & 2 & 3 & 2 & 80.00\\% & 0.50 &" in text
    assert "Unclear & 0 & 0 & 0 & -- & never used & --" in text
    figure = confusion(data["matrix"][0], NAMES)
    text = table_text(confusion_table("Symptom", figure, 1))
    assert "Hang (h) & 1 & 1 & -- & 2" in text
    assert "Total & 3 & 1 & 0 & 4" in text
