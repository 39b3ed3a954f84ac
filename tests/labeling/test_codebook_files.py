"""Files of a codebook: what is written can be read again, and what cannot be read is told by its line."""

import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
import yaml
from lxml import etree

from labeling import codebooks as templates
from labeling.codebook_files import FORMATS, completed, read_file
from labeling.errors import InvalidInputError

XSD = Path(__file__).parent.parent / "data" / "refi" / "Codebook.xsd"
EMPTY: dict[str, list[object]] = {"dimensions": []}


def concept(n):
    return f"00000000-0000-4000-8000-{n:012}"


def codebook(name="gpu-kernel-libraries"):
    """Load a template as a version that was stored: every category has its concept."""
    data = completed(templates.load(name), EMPTY)
    n = 0
    for dimension in data["dimensions"]:
        for category in dimension["categories"]:
            n += 1
            category["concept"] = concept(n)
    return data | {"version": 3, "frozen_at": None}


def write(name, data):
    return FORMATS[name].write(data)


TEMPLATES = [each.name for each in templates.available()]


@pytest.mark.parametrize("name", TEMPLATES)
def test_yaml_comes_back_as_it_was(name):
    data = codebook(name)
    read, lost = read_file("codebook.yaml", write("yaml", data), EMPTY)
    assert read["dimensions"] == data["dimensions"]
    assert lost == []


@pytest.mark.parametrize("name", TEMPLATES)
def test_yaml_follows_its_schema(name):
    schema = json.loads(files("labeling.codebooks").joinpath("file.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(yaml.safe_load(write("yaml", codebook(name))), schema)


@pytest.mark.parametrize("name", TEMPLATES)
def test_csv_over_the_same_draft_changes_nothing(name):
    data = codebook(name)
    read, lost = read_file("codebook.csv", write("csv", data), data)
    assert read["dimensions"] == data["dimensions"]
    assert "Questions" in lost[0]


@pytest.mark.parametrize("name", TEMPLATES)
def test_qdc_is_valid_and_over_the_same_draft_changes_nothing(name):
    data = codebook(name)
    written = write("qdc", data)
    etree.XMLSchema(etree.parse(XSD)).assertValid(etree.fromstring(written))
    read, lost = read_file("codebook.qdc", written, data)
    assert read["dimensions"] == data["dimensions"]
    assert "examples" in lost[0]


def test_qdc_without_a_draft_keeps_names_tree_concepts_and_definitions():
    data = codebook()
    read, _ = read_file("codebook.qdc", write("qdc", data), EMPTY)

    def carried(book):
        dimensions = [(each["name"], each["question"], each["help"]) for each in book["dimensions"]]
        fields = ("concept", "name", "definition", "include", "exclude")
        categories = [
            tuple(row[field] for field in fields) for each in book["dimensions"] for row in each["categories"]
        ]
        return dimensions, categories

    assert carried(read) == carried(data)


def test_an_archived_category_and_odd_texts_survive_in_every_file():
    data = codebook()
    category = data["dimensions"][0]["categories"][1]
    category |= {
        "archived": True,
        "hotkey": "",
        "name": 'Ends, "early" & <late>; 50%',
        "definition": "First.\n\nSecond: with a colon.",
        "include": "=SUM(A1)",
    }
    for name in ("yaml", "csv", "qdc"):
        read, _ = read_file(f"codebook.{name}", write(name, data), data)
        assert read["dimensions"][0]["categories"][1] == category


def test_a_sign_that_xml_cannot_hold_is_replaced():
    data = codebook()
    data["dimensions"][0]["name"] = "Bell \x07"
    etree.fromstring(write("qdc", data))


def test_the_same_version_gives_the_same_bytes():
    for name in FORMATS:
        assert write(name, codebook()) == write(name, codebook())


def test_markdown_and_latex_say_everything_and_run_nothing():
    data = codebook()
    category = data["dimensions"][0]["categories"][1]
    category |= {"definition": r"100% of \input{x} & a_b", "name": "*Star* [x](y)"}
    markdown, latex = write("md", data).decode(), write("tex", data).decode()
    assert r"\*Star\* \[x\](y)" in markdown
    assert r"100\% of \textbackslash{}input\{x\} \& a\_b" in latex
    for dimension in data["dimensions"]:
        for row in dimension["categories"]:
            assert f"`{row['code']}`" in markdown


# What is wrong is named by its line

YAML = """\
dimensions:
  - key: cause
    categories:
      - code: api
      - code: {}
"""
CSV = "dimension,category,archived\ncause,api,false\n{}\n"
QDC = """\
<?xml version="1.0"?>
<CodeBook xmlns="urn:QDA-XML:codebook:1.0"><Codes>
<Code guid="00000000-0000-4000-8000-000000000001" name="Cause" isCodable="false">
{}
</Code></Codes></CodeBook>
"""


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.yaml", YAML.format("api"), "Line 5: The code api stands twice"),
        ("a.yaml", YAML.format("unclear"), "Line 5: unclear is a reserved state"),
        ("a.yaml", YAML.format("[1"), "Line 6: This is no YAML"),
        ("a.yaml", YAML.format("7"), "Line 5: Write a text"),
        ("a.yaml", YAML.format("&a x\n      - code: *a"), "Line 6: This is no YAML: references"),
        ("a.yaml", "just text", "Line 1: The file has no list of dimensions"),
        ("a.yaml", "", "Line 1: The file has no list"),
        ("a.yaml", "[" * 5000, "Line 1: This cannot be read"),
        ("a.csv", CSV.format("cause,api,false"), "Line 3: The code api stands twice"),
        ("a.csv", CSV.format("cause,config,perhaps"), "Line 3: archived is true or false"),
        ("a.csv", CSV.format("cause,config"), "Line 3: This row has 2 cells; the header has 3"),
        ("a.csv", "key,code\n", "Line 1: The column dimension is missing"),
        ("a.csv", CSV.format('cause,"config'), "This is no CSV"),
        ("a.qdc", QDC.format('<Code guid="1" name="Api" isCodable="true"/>'), "Line 4: The guid 1 is none"),
        (
            "a.qdc",
            QDC.format(f'<Code guid="{concept(2)}" isCodable="true"/>'),
            "Line 4: This code has no name",
        ),
        (
            "a.qdc",
            QDC.format(f'<Code guid="{concept(2)}" name="A"/>'),
            "Line 4: A does not say with isCodable",
        ),
        ("a.qdc", QDC.format("<Code"), "Line 5: This is no XML"),
        ("a.qdc", "<Project/>", "Line 1: The file begins with Project"),
        (
            "a.qdc",
            QDC.replace("?>", '?><!DOCTYPE x [<!ENTITY e "e">]>', 1).format(""),
            "which are not read",
        ),
        ("a.docx", "", "ends in .yaml, .csv or .qdc"),
    ],
)
def test_a_bad_file_names_line_and_reason(name, content, told):
    with pytest.raises(InvalidInputError) as refused:
        read_file(name, content.encode(), EMPTY)
    assert told in " ".join(refused.value.errors["file"])


def test_a_file_that_is_no_utf8_names_the_line():
    with pytest.raises(InvalidInputError, match="Line 2: This is no UTF-8"):
        read_file("a.yaml", b"dimensions:\n- key: caf\xe9", EMPTY)


def test_what_is_left_out_is_listed():
    _, lost = read_file(
        "a.yaml", b"author: me\ndimensions:\n- key: cause\n  colour: red\n  key: cause\n", EMPTY
    )
    assert lost == [
        "Line 5: key stands twice; the last one counts.",
        "Line 1: there is no field author; it is left out.",
        "Line 4: there is no field colour; it is left out.",
    ]
    _, lost = read_file("a.csv", b"dimension;category;weight\ncause;api;3\n", EMPTY)
    assert "The column weight is left out." in lost


def test_a_foreign_qdc_with_colours_sets_and_codes_at_the_top_is_read():
    content = f"""<CodeBook xmlns="urn:QDA-XML:codebook:1.0"><Codes>
    <Code guid="{{{concept(1)}}}" name="Crash" isCodable="true" color="#ff0000">
      <Description>It stops.</Description></Code>
    <Code guid="{concept(2)}" name="Cause" isCodable="true">
      <Code guid="{concept(3)}" name="Logic" isCodable="true">
        <Code guid="{concept(4)}" name="Off by one" isCodable="true"/></Code></Code></Codes>
    <Sets><Set guid="{concept(9)}" name="Mine"><MemberCode guid="{concept(1)}"/></Set></Sets></CodeBook>"""
    read, lost = read_file("a.qdc", content.encode(), EMPTY)
    cause, codes = read["dimensions"]
    assert (cause["key"], cause["kind"], cause["parents_selectable"]) == ("cause", "multiple", True)
    assert [(row["code"], row["parent"]) for row in cause["categories"]] == [
        ("logic", None),
        ("off-by-one", "logic"),
    ]
    (crash,) = codes["categories"]
    assert (codes["key"], crash["code"], crash["definition"]) == ("codes", "crash", "It stops.")
    assert crash["concept"] == concept(1)
    assert lost[1:] == ["Colours are left out.", "Line 7: the set Mine is left out."]


def test_of_a_csv_with_all_versions_the_newest_counts():
    content = "version,dimension,category\n1,cause,old\n2,cause,new\n"
    read, lost = read_file("a.csv", content.encode(), EMPTY)
    assert [row["code"] for row in read["dimensions"][0]["categories"]] == ["new"]
    assert "Only version 2 is read." in lost
