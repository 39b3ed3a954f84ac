"""Bytes of exported files."""

import csv
import io
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.export.columns import cells_of
from labeling.export.rows import ColumnRow, WideLayout, column_rows
from labeling.export.writer import Format, as_text, write_rows

PLAIN = Format()


def written(rows, form=PLAIN) -> bytes:
    return b"".join(write_rows(["a", "b"], rows, form))


def test_lines_end_with_a_line_feed_and_cells_are_quoted_where_they_must_be():
    assert written([["x", "y"], ['"', ","], ["\r", " z"]]) == b'a,b\nx,y\n"""",","\n"\r"," z"\n'


CELL = st.text(max_size=12)


@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=4))
def test_a_reader_of_csv_gets_every_cell_back(rows):
    text = written(rows).decode("utf-8", "surrogatepass")
    read = list(csv.reader(io.StringIO(text, newline="")))
    assert read == [["a", "b"], *map(list, rows)]


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@sum", "\tx", "\rx"])
def test_spreadsheet_safe_puts_an_apostrophe_before_a_formula(cell):
    assert f"'{cell}" in written([[cell, ""]], Format(spreadsheet_safe=True)).decode()
    assert f"'{cell}" not in written([[cell, ""]]).decode()


def test_numbers_are_no_formulas():
    assert written([[-1.5, -2]], Format(spreadsheet_safe=True)) == b"a,b\n-1.5,-2\n"


def test_the_mark_of_utf_8_comes_only_when_asked_for():
    assert written([], Format(bom=True)) == b"\xef\xbb\xbfa,b\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (True, "true"),
        (False, "false"),
        (0.1 + 0.2, "0.30000000000000004"),
        (datetime(2024, 1, 2, 3, 4, 5, 999, tzinfo=UTC), "2024-01-02T03:04:05Z"),
        (datetime(2024, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=2))), "2024-01-02T01:04:05Z"),
    ],
)
def test_values_are_printed_one_way(value, text):
    assert as_text(value) == text


def test_long_files_come_in_pieces():
    pieces = list(write_rows(["a"], ([["x" * 1000]] * 100), PLAIN))
    assert len(pieces) > 5
    assert max(map(len, pieces)) < 20_000


def test_every_column_is_described_once():
    rows = column_rows(WideLayout({"symptom": ("ada", "ben")}))
    assert len({(row.file, row.column) for row in rows}) == len(rows)
    assert all(row.meaning for row in rows)
    assert list(cells_of(ColumnRow("a", "b", "c"))) == ["a", "b", "c"]
    assert "symptom__ada" in {row.column for row in rows}
