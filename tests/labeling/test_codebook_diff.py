"""What differs between two versions, in plain words."""

import copy

from labeling.codebook_diff import differences
from labeling.codebook_files import completed

BOOK = completed(
    {
        "dimensions": [
            {
                "key": "symptom",
                "categories": [
                    {"code": "runtime", "name": "Runtime"},
                    {"code": "crash", "name": "Crash", "parent": "runtime", "definition": "It stops."},
                    {"code": "hang", "name": "Hang", "parent": "runtime"},
                    {"code": "output", "name": "Output"},
                ],
            },
            {"key": "cause", "name": "Cause", "categories": [{"code": "logic", "name": "Logic"}]},
        ]
    },
    {"dimensions": []},
)
for _dimension in BOOK["dimensions"]:
    for _category in _dimension["categories"]:
        _category["concept"] = f"concept of {_category['code']}"


def told(change, went=None):
    """Say what differs after ``change``, as one list."""
    after = copy.deepcopy(BOOK)
    change(after)
    return [sentence for each in differences(BOOK, after, went) for sentence in each.sentences]


def category(book, code):
    return next(each for d in book["dimensions"] for each in d["categories"] if each["code"] == code)


def test_the_same_book_has_no_differences():
    assert told(lambda book: None) == []


def test_dimensions_come_go_and_change():
    def change(book):
        book["dimensions"][0] |= {"question": "What went wrong?", "kind": "multiple", "required": False}
        book["dimensions"].pop()
        book["dimensions"].append({**BOOK["dimensions"][1], "key": "fix", "name": "Fix"})

    assert told(change) == [
        "The answer is now choose any (before: choose one).",
        "The question is new: What went wrong?",
        "It now is optional.",
        "The dimension is new (choose one: Logic).",
        "The dimension was taken out.",
    ]


def test_a_condition_is_told_with_the_names_of_its_answers():
    def change(book):
        book["dimensions"][1]["asked_if"] = {"dimension": "symptom", "any_of": ["crash", "hang"]}

    assert told(change) == ["It is now asked only if symptom is Crash or Hang."]

    def rename(book):
        category(book, "hang").update(name="Freeze", code="freeze")
        book["dimensions"][1]["asked_if"] = {"dimension": "symptom", "any_of": ["freeze"]}

    assert told(rename)[-1] == "It is now asked only if symptom is Freeze."


def test_categories_come_go_move_and_are_renamed():
    def change(book):
        category(book, "hang").update(name="Freeze", code="freeze", parent="output")
        category(book, "crash").update(definition="It ends early.", archived=True)
        book["dimensions"][0]["categories"].append(
            category(BOOK, "crash") | {"concept": None, "code": "smoke", "name": "Smoke"}
        )

    assert told(change) == [
        "Crash was archived.",
        "The definition of Crash is now: It ends early. (before: It stops.)",
        "Hang is now called Freeze.",
        "The code of Freeze is now freeze (before: hang).",
        "Freeze now stands below Output.",
        "Smoke is new below Runtime.",
    ]


def test_a_merge_and_a_split_are_told_as_such():
    def archive(book):
        category(book, "hang")["archived"] = True
        category(book, "logic")["archived"] = True

    went = {"concept of hang": ("merge", "concept of crash"), "concept of logic": ("split", None)}
    assert told(archive, went) == ["Hang was merged into Crash.", "Logic was split."]


def test_another_order_is_told():
    assert told(lambda book: book["dimensions"].reverse()) == [
        "They are asked in another order: Cause, symptom."
    ]
    assert told(lambda book: book["dimensions"][0]["categories"].reverse()) == [
        "The categories stand in another order."
    ]
