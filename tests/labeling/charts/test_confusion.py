"""Who chose what."""

from itertools import chain

from labeling.charts.confusion import confused_pairs, confusion, differing
from labeling.charts.names import CategoryName

NAMES = {
    "crash": CategoryName("crash", "Crash", "c", "Runtime"),
    "hang": CategoryName("hang", "Hang", "h", "Runtime"),
    "wrong": CategoryName("wrong", "Wrong output", "w", "Output"),
}
COUNTS = [[10, 2, 0, 1], [4, 8, 0, 0], [0, 3, 5, 0], [0, 0, 0, 0]]
MATRIX = {
    "coder_a": "Ada",
    "coder_b": "Ben",
    "categories": ["crash", "hang", "wrong", "unclear"],
    "counts": COUNTS,
}


def test_every_cell_holds_the_count_of_the_report():
    table = confusion(MATRIX, NAMES)
    lines = list(chain.from_iterable(table.groups))
    assert [[cell.count for cell in line.cells] for line in lines] == COUNTS
    assert [line.total for line in lines] == [13, 12, 8, 0]
    assert [head.total for head in table.heads] == [14, 13, 5, 1]
    assert table.total == 33


def test_categories_stand_in_their_groups():
    table = confusion(MATRIX, NAMES)
    assert [[line.category.name for line in group] for group in table.groups] == [
        ["Crash", "Hang"],
        ["Wrong output"],
        ["Unclear"],
    ]
    assert [line.rows for line in chain.from_iterable(table.groups)] == [2, 0, 1, 1]
    assert [head.starts_group for head in table.heads] == [True, False, True, True]


def test_a_cell_is_named_as_disagreements_are_filtered():
    first = confusion(MATRIX, NAMES).groups[0][0]
    assert [cell.name for cell in first.cells][1:] == ["crash|hang", "crash|wrong", "crash|unclear"]
    assert confusion(MATRIX, NAMES).groups[0][1].cells[0].name == "crash|hang"
    assert [cell.is_diagonal for cell in first.cells] == [True, False, False, False]


def test_heat_grows_with_the_count_and_leaves_nothing_at_zero():
    table = confusion(MATRIX, NAMES)
    heat = {cell.count: cell.heat for group in table.groups for line in group for cell in line.cells}
    assert heat == {0: 0, 1: 1, 2: 2, 3: 3, 4: 3, 5: 4, 8: 5, 10: 5}
    assert [step.words.replace("\N{EN DASH}", " to ") for step in table.steps] == [
        "1",
        "2",
        "3 to 4",
        "5 to 7",
        "8 to 11",
        "12+",
    ]


def test_heat_is_stretched_over_large_tables():
    large = MATRIX | {"counts": [[100 * count for count in row] for row in COUNTS]}
    cells = [cell for group in confusion(large, NAMES).groups for line in group for cell in line.cells]
    assert max(cell.heat for cell in cells) == 6
    assert {cell.heat for cell in cells if cell.count == 100} == {1}


def test_pairs_of_categories_count_both_ways_and_all_coders():
    pairs = confused_pairs([MATRIX, MATRIX], NAMES)
    assert [(each.name, each.count) for each in pairs] == [
        ("crash|hang", 12),
        ("hang|wrong", 6),
        ("crash|unclear", 2),
    ]
    assert len(confused_pairs([MATRIX], NAMES, most=1)) == 1
    assert differing([MATRIX]) == 10


def test_a_category_nobody_declared_goes_by_its_code():
    (line,) = confusion(
        {"coder_a": "A", "coder_b": "B", "categories": ["leak~2"], "counts": [[1]]}, NAMES
    ).groups[0]
    assert line.category.name == "leak~2"
