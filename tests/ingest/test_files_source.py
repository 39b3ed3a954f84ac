"""Issues from files: formats, encodings, mappings, broken rows and limits."""

import io
import json
import tracemalloc
import zipfile
from datetime import UTC, datetime

import openpyxl
import pytest

from ingest.sources import files
from ingest.sources.base import SourceError
from ingest.sources.files import Rejected, guess_format, guess_mapping, read_issues, read_pages
from ingest.sources.files.preview import preview
from ingest.sources.files.surrogates import WholeCharacters
from labeling.records import IssueRecord

CSV = (
    "id,title,description,url,state,labels,created_at,author\n"
    '1,"Crash, on start","line one\nline ""two""",https://github.com/acme/train/issues/7,CLOSED,bug;gpu,'
    "2024-01-31,mara\n"
    "2,Slow,,,open,,2024-01-31T10:00:00+02:00,renovate[bot]\n"
)
GH = [
    {
        "author": {"id": "U_1", "is_bot": False, "login": "mara", "name": "Mara"},
        "body": "It crashes.",
        "closedAt": "2024-02-01T00:00:00Z",
        "comments": [
            {
                "id": "IC_1",
                "author": {"login": "ines"},
                "authorAssociation": "MEMBER",
                "body": "Confirmed.",
                "createdAt": "2024-01-31T11:00:00Z",
                "reactionGroups": [{"content": "THUMBS_UP", "users": {"totalCount": 2}}],
            }
        ],
        "createdAt": "2024-01-31T10:00:00Z",
        "id": "I_7",
        "labels": [{"name": "bug"}],
        "milestone": None,
        "number": 7,
        "state": "CLOSED",
        "stateReason": "COMPLETED",
        "title": "Crash",
        "updatedAt": "2024-02-02T00:00:00Z",
        "url": "https://github.com/acme/train/issues/7",
    }
]
REST = {
    "id": 5_700_000_007,
    "node_id": "I_7",
    "number": 7,
    "title": "Crash",
    "body": None,
    "user": {"login": "mara", "type": "User"},
    "state": "closed",
    "state_reason": "completed",
    "labels": [{"name": "bug"}],
    "comments": 3,
    "created_at": "2024-01-31T10:00:00Z",
    "closed_at": None,
    "updated_at": "2024-01-31T10:00:00Z",
    "html_url": "https://github.com/acme/train/issues/7",
    "repository_url": "https://api.github.com/repos/acme/train",
}
PERCEVAL = {
    "backend_name": "GitHub",
    "category": "issue",
    "updated_on": 1706695200.0,
    "data": {
        **REST,
        "comments_data": [
            {"id": 1, "body": "Confirmed.", "user": {"login": "ines"}, "created_at": "2024-01-31T11:00:00Z"}
        ],
    },
}


@pytest.fixture
def write(tmp_path):
    def write(content, encoding="utf-8", name="issues"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return write


def records(path, mapping=None):
    return [row.told for row in read_issues(path, mapping)]


def test_a_csv_of_issues_is_read_without_being_told_its_columns(write):
    first, second = records(write(CSV))

    assert first.key == "github.com/acme/train#7"
    assert (first.title, first.body) == ("Crash, on start", 'line one\nline "two"')
    assert (first.state, first.github_labels) == ("closed", ("bug", "gpu"))
    assert first.opened_at == datetime(2024, 1, 31, tzinfo=UTC)
    assert second.key.startswith("file:")
    assert second.source_id == "2"
    assert second.opened_at == datetime(2024, 1, 31, 8, tzinfo=UTC)
    assert second.author_kind == "bot"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be", "cp1252"]
)
def test_delimiters_and_encodings_are_found_out(write, delimiter, encoding):
    path = write(f"id{delimiter}title\r\n1{delimiter}Größe falsch\r\n", encoding)

    assert [record.title for record in records(path)] == ["Größe falsch"]


TAKEN = ", and all to line {} was taken for its text"
UNCLOSED = "the quote opened in line {} is never closed"
INSIDE = "the quote opened in line {} is closed in the middle of a text"


@pytest.mark.parametrize(
    ("told", "reason", "content", "titles"),
    [
        ('"a,b\nc,d\ne,f', UNCLOSED.format(2) + TAKEN.format(4), ("a,b\nc,d\ne,f",), []),
        ('"a\nb",c\nd,"e\nf,g', UNCLOSED.format(4) + TAKEN.format(5), ("d", "e\nf,g"), ["a\nb"]),
        ('"a,b\nc,"d"\ne,f\n', INSIDE.format(2) + TAKEN.format(3), ('a,b\nc,d"',), ["e"]),
        ('"a "b" c",d\ne,f\n', INSIDE.format(2), ('a b" c"', "d"), ["e"]),
    ],
)
def test_a_quote_that_does_not_match_rejects_its_row_and_names_its_line(write, told, reason, content, titles):
    rows = records(write(f"title,body\n{told}"))

    (rejected,) = (row for row in rows if isinstance(row, Rejected))
    assert rejected.reason == f"{reason}. Close it at the end of its cell, write quotes inside it twice."
    assert rejected.content == content
    assert [row.title for row in rows if isinstance(row, IssueRecord)] == titles


def test_the_first_line_for_excel_tells_the_delimiter_and_is_no_row(write):
    path = write("sep=;\r\ntitle;body\r\na,b,c;d\r\n")

    assert [(row.number, row.told.title) for row in read_issues(path)] == [(2, "a,b,c")]


def test_a_mapping_says_what_the_columns_hold(write):
    path = write("nr,what,where\n5,Crash,acme/train\n")

    (record,) = records(path, {"nr": "number", "what": "title", "where": "repository"})

    assert record.key == "github.com/acme/train#5"


def test_columns_are_guessed_from_the_names_people_give_them():
    header = ["Issue Key", "Summary", "Description", "Labels", "Reporter", "Whatever"]

    assert guess_mapping(header) == {
        "Issue Key": "id",
        "Summary": "title",
        "Description": "body",
        "Labels": "github_labels",
        "Reporter": "author",
    }


def test_a_row_with_too_many_cells_is_rejected_with_its_row_number(write):
    rows = list(read_issues(write("id,title\n1,a\n2,b,c,d\n\n3,e\n")))

    assert [row.number for row in rows] == [2, 3, 5]
    assert isinstance(rows[1].told, Rejected)
    assert "4 cells" in rows[1].told.reason


def test_a_row_that_says_nothing_is_rejected(write):
    (told,) = records(write("title,state\n,open\n"))

    assert isinstance(told, Rejected)


def test_a_time_that_is_not_understood_is_left_out_and_noted(write):
    (record,) = records(write("title,closed_at\nCrash,last week\n"))

    assert record.closed_at is None
    assert "last week" in record.notes[0]


def test_an_address_that_is_none_of_the_web_is_left_out(write):
    (record,) = records(write("title,url\nCrash,javascript:alert(1)\n"))

    assert record.url is None


def test_what_a_file_does_not_carry_is_not_shown_as_empty(write):
    (record,) = records(write("title,comments\nCrash,12\n"))

    assert record.carries == {"title"}


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("id,title,id\n", "Two columns are called"),
        ("id,,title\n", "no name"),
        ('id,"title\n', "line 1 is never"),
    ],
)
def test_a_header_that_is_ambiguous_is_refused(write, header, said):
    with pytest.raises(SourceError, match=said):
        records(write(header + "1,2,3\n"))


def test_an_excel_sheet_is_read_like_a_csv(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["number", "repository", "title", "created"])
    book.active.append([7, "acme/train", "Crash", datetime(2024, 1, 31)])  # noqa: DTZ001 (Excel knows no zones)
    path = tmp_path / "issues"
    book.save(path)

    (record,) = records(path)

    assert guess_format(path) == "xlsx"
    assert record.key == "github.com/acme/train#7"
    assert record.opened_at == datetime(2024, 1, 31, tzinfo=UTC)


def test_an_empty_workbook_is_called_empty(tmp_path):
    openpyxl.Workbook().save(tmp_path / "issues")

    with pytest.raises(SourceError, match="The first row is empty"):
        records(tmp_path / "issues")


def test_the_output_of_gh_issue_list_is_read(write):
    (record,) = records(write(json.dumps(GH)))

    assert record.key == "github.com/acme/train#7"
    assert record.node_id == "I_7"
    assert (record.state, record.state_reason) == ("closed", "completed")
    assert (record.author, record.author_kind) == ("mara", "user")
    assert record.github_labels == ("bug",)
    assert record.comments[0].body == "Confirmed."
    assert record.comments[0].reactions == {"+1": 2}
    assert "comments" in record.carries
    assert "timeline" not in record.carries


def test_gh_output_without_an_address_has_no_key_of_github(write):
    told = {key: value for key, value in GH[0].items() if key != "url"}

    (record,) = records(write(json.dumps([told])))

    assert record.key.startswith("file:")


@pytest.mark.parametrize(
    "shape", ["array", "object", "wrapped", "wrapped in a line", "lines", "objects in a row"]
)
def test_rest_dumps_come_in_many_shapes(write, shape):
    other = {**REST, "number": 8, "html_url": "https://github.com/acme/train/issues/8"}
    text = {
        "array": json.dumps([REST, other], indent=1),
        "object": json.dumps(REST, indent=1),
        "wrapped": json.dumps({"total_count": 2, "items": [REST, other]}, indent=1),
        "wrapped in a line": json.dumps({"items": [REST, other]}),
        "lines": f"{json.dumps(REST)}\n{json.dumps(other)}\n",
        "objects in a row": json.dumps(REST, indent=4) + "\n" + json.dumps(other, indent=4),
    }[shape]

    found = records(write(text))

    assert [record.number for record in found] == ([7] if shape == "object" else [7, 8])
    assert found[0].rest_id == 5_700_000_007
    assert found[0].body == ""
    assert found[0].repository == "acme/train"
    assert "comments" not in found[0].carries


def test_comments_and_timeline_that_a_dump_joined_are_read(write):
    pull = {
        **REST,
        "number": 9,
        "body": "Fixes #7",
        "html_url": "https://github.com/acme/train/pull/9",
        "pull_request": {"merged_at": "2024-02-01T00:00:00Z"},
    }
    told = {
        **REST,
        "timeline": [
            {"event": "commented", "id": 1, "body": "Yes.", "user": {"login": "ines"}},
            {"event": "cross-referenced", "source": {"issue": pull}, "created_at": "2024-02-01T00:00:00Z"},
            {"event": "subscribed"},
        ],
    }

    (record,) = records(write(json.dumps([told])))

    assert [comment.body for comment in record.comments] == ["Yes."]
    assert [event.kind for event in record.timeline] == ["cross-referenced"]
    assert [(fix.key, fix.evidence) for fix in record.fixes] == [("acme/train#9", "will_close")]


def test_pull_requests_in_a_dump_are_told_from_issues(write):
    told = {**REST, "pull_request": {"merged_at": None}}

    assert [record.kind for record in records(write(json.dumps([told])))] == ["pull_request"]


@pytest.mark.parametrize("indent", [None, 4])
def test_perceval_items_bring_their_comments(write, indent):
    (record,) = records(write(json.dumps(PERCEVAL, indent=indent)))

    assert record.key == "github.com/acme/train#7"
    assert [comment.body for comment in record.comments] == ["Confirmed."]


def test_a_zip_of_dumps_is_read_where_it_lies(tmp_path):
    path = tmp_path / "dump.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../evil.json", json.dumps({**REST, "number": 1}))
        archive.writestr("a/2.json", json.dumps([{**REST, "number": 2}]))
        archive.writestr("README.txt", "no issue")

    assert [record.number for record in records(path)] == [1, 2]
    assert [each.name for each in tmp_path.iterdir()] == ["dump.zip"]


def test_a_table_in_a_zip_is_named_as_not_read(tmp_path):
    path = tmp_path / "dump.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", "title\nCrash\n")
        archive.writestr("b.json", json.dumps(REST))
    rows = read_issues(path)

    assert next(rows).told.number == 7
    with pytest.raises(SourceError, match=r"not read inside one: a\.csv"):
        next(rows)


def test_a_broken_line_spoils_only_itself(write):
    first, broken, last = records(
        write(f"{json.dumps(REST)}\n{{oops}}\n{json.dumps(REST | {'number': 8})}\n")
    )

    assert isinstance(first, IssueRecord)
    assert isinstance(broken, Rejected)
    assert isinstance(last, IssueRecord)


def test_a_json_that_breaks_off_gives_what_came_before_and_says_so(write):
    rows = read_issues(write(json.dumps([REST, REST])[:-20]))

    assert next(rows).told.number == 7
    with pytest.raises(SourceError, match=r"breaks off after 1 issue\."):
        next(rows)


@pytest.mark.parametrize("text", ['[1, "a", null]', '[{"x": 1}]', '[{"node_id": []}]'])
def test_json_that_holds_no_issues_is_rejected_row_by_row(write, text):
    assert all(isinstance(told, Rejected) for told in records(write(text)))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b"%PDF-1.7", "cannot be read"),
        (b"PK\x03\x04 broken", "damaged"),
        (b"title\x00\x01\x02", "no text file"),
    ],
)
def test_a_file_that_is_none_of_the_formats_is_refused_with_advice(write, content, said):
    with pytest.raises(SourceError, match=said):
        guess_format(write(content))


def test_a_preview_shows_the_columns_before_anything_is_stored(write):
    shown = preview(write(CSV), rows=1)

    assert shown.format == "csv"
    assert shown.header[:2] == ("id", "title")
    assert shown.mapping["description"] == "body"
    assert len(shown.rows) == 1


def test_pages_go_on_behind_the_row_of_the_checkpoint(write, monkeypatch):
    monkeypatch.setattr(files, "BATCH", 50)
    path = write("id,title\n" + "".join(f"{n},title {n}\n" for n in range(120)) + "x,y,z\n")
    pages = list(read_pages(path))

    again = list(read_pages(path, None, pages[0].checkpoint))

    assert [len(page.records) for page in pages] == [50, 50, 20]
    assert pages[-1].rejected == 1
    assert pages[-1].problems[0].startswith("Row 122: ")
    assert again == pages[1:]


@pytest.mark.parametrize("shape", ["csv", "array", "lines"])
def test_a_large_file_is_read_in_constant_memory(tmp_path, shape):
    path = tmp_path / "large"
    body = "x" * 20_000
    with path.open("w") as file:
        if shape == "csv":
            file.write("id,title,body\n")
            file.writelines(f"{n},title,{body}\n" for n in range(1500))
        else:
            row = json.dumps({**REST, "body": body})
            opening, between, closing = ("[", ",", "]") if shape == "array" else ("", "\n", "\n")
            file.write(opening)
            file.write(between.join([row] * 1500))
            file.write(closing)

    tracemalloc.start()
    count = sum(1 for _ in read_issues(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert count == 1500
    assert peak < 8 * 1024**2


@pytest.mark.parametrize("size", [1, 2, 5, 7, 13, 1000])
def test_halves_of_characters_are_replaced_wherever_the_stream_is_cut(size):
    texts = ["\ud83d", "\udfff x", "\U0001f600", "\\ud83d", "\\\ud83d", "\ud83d\ud83d\ude00", "plain"]
    told = json.dumps(texts).encode()
    stream = WholeCharacters(io.BytesIO(told))
    read = b"".join(iter(lambda: stream.read(size), b""))
    assert json.loads(read) == [
        "\ufffd",
        "\ufffd x",
        "\U0001f600",
        "\\ud83d",
        "\\\ufffd",
        "\ufffd\U0001f600",
        "plain",
    ]


def test_a_number_json_does_not_know_is_named_in_lines_and_in_arrays(write):
    good, bad = json.dumps(REST), json.dumps({"title": "B", "weight": float("nan")}, indent=None)

    assert records(write(f"{good}\n{bad}\n"))[1].reason.startswith("it holds NaN or Infinity, which JSON")
    with pytest.raises(SourceError, match="After 1 issue there is NaN or Infinity, which JSON"):
        records(write(f"[{good}, {bad}]"))


def test_a_flat_object_keeps_its_lists_and_no_list_becomes_a_text(write):
    lines = [
        {"title": ["x"]},
        {"title": "A", "comments": ["one", "two"], "labels": ["bug"], "author": {"login": "mara"}},
        {"title": "B", "milestone": ["x"], "number": 99999999999999999999},
    ]
    first, second, third = records(write("\n".join(map(json.dumps, lines))))

    assert first.reason == "its title is no text."
    assert [comment.body for comment in second.comments] == ["one", "two"]
    assert (second.github_labels, second.author, second.notes) == (("bug",), "mara", ())
    assert "Its milestone is no text" in third.notes[0]
    assert "Its number “99999999999999999999” was left out" in third.notes[1]


@pytest.mark.parametrize("cell", ["null", "true", "1.5", "[" * 50_000, "NaN"])
def test_a_comment_that_looks_like_json_is_a_text(write, cell):
    (record,) = records(write(f"title,comments\nA,{cell}\n"))

    assert [comment.body for comment in record.comments] == [cell]


def test_a_number_the_parser_cannot_hold_is_named(write):
    with pytest.raises(SourceError, match="After 1 issue there is a number that is too large"):
        records(write(json.dumps([{"title": "A"}, {"title": "B", "number": 10**30}])))


@pytest.mark.parametrize("shape", ["array", "lines"])
def test_a_lone_surrogate_in_json_does_not_stop_the_file(write, shape):
    broken = json.dumps({**REST, "title": "\udfff half", "body": "broken \ud83d emoji"})
    text = f"[{broken}, {json.dumps(REST)}]" if shape == "array" else f"{broken}\n{json.dumps(REST)}\n"

    assert len(records(write(text))) == 2


NO_ISSUES = {
    "a number beyond any column": {"number": 10**30},
    "an id that is a word": {"id": "abc"},
    "a number below zero": {"number": -5},
    "a title that is a list": {"title": ["a"]},
    "a description that is an object": {"body": {"a": 1}},
    "a state that is a list": {"state": ["open"]},
    "a milestone that is a number": {"milestone": {"title": 5}},
    "a comment that is a number": {"comments": [{"id": 1, "body": 5}]},
    "events that are words": {"timeline": ["x"]},
    "a day before all days": {"created_at": "0001-01-01T00:00:00+14:00"},
    "a day after all days": {"created_at": "9999-12-31T23:59:59-12:00"},
}


@pytest.mark.parametrize("change", NO_ISSUES.values(), ids=NO_ISSUES)
def test_a_row_no_database_could_hold_is_rejected_and_the_others_come(write, change):
    good = {"number": 1, "title": "A", "html_url": "https://github.com/acme/train/issues/1", "id": 5}
    path = write("\n".join(json.dumps(row) for row in (good, good | {"number": 2} | change)))

    first, second = (row.told for row in read_issues(path))

    assert isinstance(first, IssueRecord)
    assert isinstance(second, Rejected), second
    assert second.reason.startswith("its ")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"[" * 200_000, "nested more than 1,000 levels"),
        (b'[{"title": "a", "x": ' + b"[" * 70_000, "nested more than 1,000 levels"),
        (b"\x89PNG\r\n\x1a\n\x81\x8d\x00", "cannot be read"),
        (b'{"title": "cut off in the mid', "breaks off after 0 issues"),
        (b'{"issues": [{"title": "a"}, {"title": "b"}', "breaks off after 0 issues"),
        (b" null\n", "holds no issues. .* “null”"),
        (b'"a text"', "holds no issues"),
    ],
)
def test_what_would_exhaust_or_confuse_the_reader_is_refused(write, content, sentence):
    with pytest.raises(SourceError, match=sentence):
        list(read_issues(write(content)))


def test_brackets_in_a_text_and_old_line_ends_are_read(write):
    path = write(json.dumps([{"title": "[" * 5000, "body": "{" * 5000}]))
    assert [row.told.title for row in read_issues(path)] == ["[" * 5000]
    path = write(b"title,body\rA \x81,b\rC,d\r")  # a byte that cp1252 does not know
    assert [row.told.title for row in read_issues(path)] == ["A \N{REPLACEMENT CHARACTER}", "C"]
    deep = b'{"title": "A"}\n' + b"[" * 100_000 + b"]" * 100_000
    assert [type(row.told) for row in read_issues(write(deep))] == [IssueRecord, Rejected]
