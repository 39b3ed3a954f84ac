import json
from importlib.resources import files
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from labeling import codebooks
from labeling.codebooks import UnknownTemplateError

FOLDER = files("labeling.codebooks")
NAMES = ["dl-compilers", "dl-frameworks", "gpu-kernel-libraries", "ieee-1044", "llm-training-systems", "odc"]
STUDIES = ["gpu-kernel-libraries", "llm-training-systems"]
CATCH_ALL = {"other", "not-stated"}
every_template = pytest.mark.parametrize("name", NAMES)


def template(name: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(FOLDER.joinpath(f"{name}.yaml").read_text(encoding="utf-8"))
    return content


def selectable(dimension: dict[str, Any]) -> list[dict[str, Any]]:
    headings = {category["parent"] for category in dimension["categories"]}
    return [category for category in dimension["categories"] if category["code"] not in headings]


def hotkey_problems(keys: list[str | None]) -> list[str]:
    """Say what breaks the rule: unique letters, from the 27th on pairs with a common prefix."""
    used = [key for key in keys if key]
    pairs = [key for key in used if len(key) == 2]
    problems = [f"{key} is used twice" for key in set(used) if used.count(key) > 1]
    problems += ["a category has no hotkey"] if len(used) < len(keys) else []
    problems += ["pairs are for more than 26 categories"] if pairs and len(keys) <= 26 else []
    problems += [f"{key} begins with a hotkey" for key in pairs if key[0] in used]
    problems += ["pairs have different prefixes"] if len({key[0] for key in pairs}) > 1 else []
    return problems


def test_the_templates_are_listed_with_title_source_and_size() -> None:
    listed = codebooks.available()
    assert sorted(one.name for one in listed) == NAMES
    assert [one.title for one in listed] == sorted(one.title for one in listed)
    training = next(one for one in listed if one.name == "llm-training-systems")
    assert training.source.doi == "10.1145/3696630.3728538"
    assert (training.dimensions, training.categories) == (5, 45)
    assert any(told.startswith("Root cause: ") and "API Misuse" not in told for told in training.added)


def test_a_citation_says_what_is_known_and_nothing_else() -> None:
    cited = {one.name: one.source for one in codebooks.available()}
    assert cited["gpu-kernel-libraries"].citation == "Gao et al. (2026)."
    assert "look them up before you cite it" in cited["gpu-kernel-libraries"].note
    assert cited["dl-compilers"].citation.endswith(
        "Xiang Chen (2021). A Comprehensive Study of Deep Learning Compiler Bugs. ESEC/FSE 2021."
    )


@every_template
def test_a_template_keeps_to_the_schema(name) -> None:
    schema = json.loads(FOLDER.joinpath("schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    errors = Draft202012Validator(schema).iter_errors(template(name))
    assert [f"{error.json_path}: {error.message}" for error in errors] == []


@pytest.mark.parametrize(
    "code", ["not_asked", "unclear", "not-applicable", "a/b", "a|b", "Crash", "a--b", ""]
)
def test_the_schema_refuses_codes_that_a_codebook_could_not_hold(code) -> None:
    schema = json.loads(FOLDER.joinpath("schema.json").read_text(encoding="utf-8"))
    assert not Draft202012Validator({**schema, **schema["$defs"]["code"], "type": "string"}).is_valid(code)


@every_template
def test_codes_are_unique_and_parents_are_headings_that_come_before(name) -> None:
    dimensions = codebooks.load(name)["dimensions"]
    keys = [dimension["key"] for dimension in dimensions]
    assert len(set(keys)) == len(keys)
    for dimension in dimensions:
        seen: list[str] = []
        for category in dimension["categories"]:
            assert category["code"] not in seen
            assert category["parent"] is None or category["parent"] in seen
            seen.append(category["code"])


@every_template
def test_a_condition_names_an_earlier_dimension_and_its_categories(name) -> None:
    codes: dict[str, set[str]] = {}
    for dimension in codebooks.load(name)["dimensions"]:
        if dimension["asked_if"]:
            assert set(dimension["asked_if"]["any_of"]) <= codes[dimension["asked_if"]["dimension"]]
        codes[dimension["key"]] = {category["code"] for category in dimension["categories"]}


@every_template
def test_every_category_that_can_be_chosen_has_its_hotkey(name) -> None:
    for dimension in codebooks.load(name)["dimensions"]:
        assert hotkey_problems([category["hotkey"] for category in selectable(dimension)]) == []
        assert all(c["hotkey"] is None for c in dimension["categories"] if c not in selectable(dimension))


def test_the_hotkey_rule_notices_what_breaks_it() -> None:
    letters = [chr(ord("a") + i) for i in range(25)]
    assert hotkey_problems([*letters, "za", "zb"]) == []
    assert hotkey_problems(["a", "a"]) == ["a is used twice"]
    assert hotkey_problems(["a", None]) == ["a category has no hotkey"]
    assert hotkey_problems(["a", "zb"]) == ["pairs are for more than 26 categories"]
    assert hotkey_problems([*letters, "za", "ab"]) == [
        "ab begins with a hotkey",
        "pairs have different prefixes",
    ]


@every_template
def test_when_not_to_use_a_category_points_at_its_neighbour_or_a_state(name) -> None:
    for dimension in template(name)["dimensions"]:
        names = {category["name"] for category in dimension["categories"]}
        for category in dimension["categories"]:
            others = names - {category["name"]}
            points = (
                any(other in category["exclude"] for other in others)
                or "state unclear" in category["exclude"]
            )
            heading = category["code"] in {c.get("parent") for c in dimension["categories"]}
            assert points or heading or category["code"] in CATCH_ALL, (dimension["key"], category["code"])


@pytest.mark.parametrize("name", STUDIES)
def test_the_two_studies_ask_for_symptom_cause_fix_and_practice(name) -> None:
    dimensions = {dimension["key"]: dimension for dimension in codebooks.load(name)["dimensions"]}
    assert {"symptom", "root-cause", "fix", "debugging-practice"} <= dimensions.keys()
    assert dimensions["symptom"]["kind"] == dimensions["root-cause"]["kind"] == "single"
    assert dimensions["fix"]["kind"] == "multiple"
    assert dimensions["root-cause"]["allow_unclear"]


def test_names_known_from_the_studies_are_not_marked_as_added() -> None:
    causes = template("llm-training-systems")["dimensions"][1]["categories"]
    assert {category["name"] for category in causes if not category.get("added")} == {
        "API Misuse",
        "Configuration Error",
        "General Code Error",
        "Concurrency Error",
        "Tensor Management Error",
    }
    origins = template("gpu-kernel-libraries")["dimensions"][1]["categories"]
    headings = [category["name"] for category in origins if "parent" not in category]
    assert headings == ["Kernel Library", "Compiler", "Build System", "Runtime Environment"]


@every_template
def test_a_loaded_codebook_has_the_shape_the_api_takes(name) -> None:
    for at, dimension in enumerate(codebooks.load(name)["dimensions"], start=1):
        assert list(dimension) == [
            *("key", "name", "question", "help", "kind", "required", "order", "asked_if"),
            *("allow_unclear", "allow_not_applicable", "parents_selectable", "categories"),
        ]
        assert dimension["order"] == at
        for place, category in enumerate(dimension["categories"], start=1):
            assert list(category) == [
                *("code", "name", "parent", "definition", "include", "exclude", "precedence"),
                *("order", "examples", "hotkey", "archived"),
            ]
            assert (category["order"], category["archived"]) == (place, False)


def test_a_loaded_codebook_belongs_to_its_caller() -> None:
    first = codebooks.load("odc")
    first["dimensions"][1]["asked_if"]["any_of"].clear()
    first["dimensions"][0]["categories"][0]["examples"].append("changed")
    second = codebooks.load("odc")
    assert second["dimensions"][1]["asked_if"]["any_of"] == ["design-review", "code-inspection"]
    assert second["dimensions"][0]["categories"][0]["examples"] == []


@pytest.mark.parametrize("name", ["missing", "../codebooks/odc", ""])
def test_an_unknown_template_is_refused_with_the_names_there_are(name) -> None:
    with pytest.raises(UnknownTemplateError, match="Choose one of dl-compilers, dl-frameworks"):
        codebooks.load(name)
