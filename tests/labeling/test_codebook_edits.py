"""Edits of a codebook as data."""

import pytest

from labeling import codebook_edits as edits


def category(code, parent=None):
    return {"concept": f"c-{code}", "code": code, "name": code.capitalize(), "parent": parent}


@pytest.fixture
def data():
    symptom = [
        category("runtime"),
        category("crash", "runtime"),
        category("hang", "runtime"),
        category("output"),
    ]
    return {
        "dimensions": [
            {"key": "symptom", "asked_if": None, "categories": symptom},
            {
                "key": "detail",
                "asked_if": {"dimension": "symptom", "any_of": ["crash", "hang"]},
                "categories": [],
            },
        ]
    }


def codes(data):
    return [each["code"] for each in data["dimensions"][0]["categories"]]


def test_a_category_moves_with_what_stands_below_it(data):
    edits.move_category(data["dimensions"][0], "c-runtime", edits.DOWN)
    assert codes(data) == ["output", "runtime", "crash", "hang"]
    assert [each["order"] for each in data["dimensions"][0]["categories"]] == [0, 1, 2, 3]


def test_a_category_moves_among_those_below_the_same_parent(data):
    edits.move_category(data["dimensions"][0], "c-hang", edits.UP)
    assert codes(data) == ["runtime", "hang", "crash", "output"]
    edits.move_category(data["dimensions"][0], "c-hang", edits.UP)
    assert codes(data) == ["runtime", "hang", "crash", "output"]


def test_a_new_code_is_followed_by_children_and_conditions(data):
    edits.change_category(data, data["dimensions"][0], "c-crash", {"code": "abort"})
    edits.change_category(data, data["dimensions"][0], "c-runtime", {"code": "run"})
    assert codes(data) == ["run", "abort", "hang", "output"]
    assert data["dimensions"][0]["categories"][1]["parent"] == "run"
    assert data["dimensions"][1]["asked_if"]["any_of"] == ["abort", "hang"]


def test_what_stood_below_a_removed_category_moves_up(data):
    edits.remove_category(data["dimensions"][0], "c-runtime")
    assert [(each["code"], each["parent"]) for each in data["dimensions"][0]["categories"]] == [
        ("crash", None),
        ("hang", None),
        ("output", None),
    ]


def test_a_category_given_another_parent_stands_below_it(data):
    edits.change_category(data, data["dimensions"][0], "c-hang", {"parent": "output"})
    assert codes(data) == ["runtime", "crash", "output", "hang"]


def test_a_new_key_is_followed_by_conditions(data):
    edits.change_dimension(data, "symptom", {"key": "effect"})
    assert data["dimensions"][1]["asked_if"]["dimension"] == "effect"


def test_a_template_adds_what_is_not_there(data):
    template = {"dimensions": [{"key": "symptom", "name": "Other"}, {"key": "cause", "name": "Cause"}]}
    assert edits.add_template(data, template) == ["symptom"]
    assert [each["key"] for each in data["dimensions"]] == ["symptom", "detail", "cause"]
    assert "name" not in data["dimensions"][0]


def test_descendants_end_where_categories_stand_in_a_ring():
    ring = [category("a", "b"), category("b", "a")]
    assert edits.descendants(ring, "a") == {"a", "b"}


def test_categories_without_a_known_parent_are_kept(data):
    lost = category("lost", "nowhere")
    edits.add_category(data["dimensions"][0], lost)
    assert codes(data)[-1] == "lost"
