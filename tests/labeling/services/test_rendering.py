"""Texts of a snapshot are rendered once."""

import pytest

from labeling.markdown import RENDERER
from labeling.models import SnapshotDocument
from labeling.services.rendering import document_view, render_documents
from tests.factories import make_issue, make_study

pytestmark = pytest.mark.django_db

PATCH = "@@ -1 +1 @@\n-a <b>\n+c"
FIXES = [
    {"key": "octo/spoon#7", "message": "**Fix** #3", "files": [{"path": "a.c", "patch": PATCH}]},
    {"key": "octo/spoon@abc", "kind": "commit", "message": "*not* markdown\n\nFixes #3"},
]


@pytest.fixture
def snapshot():
    return make_issue(
        make_study(),
        title="A <b> `title`",
        body="**body** #1",
        comments=["*hi*"],
        fixes=FIXES,
        rendered=False,
    ).latest


def test_each_kind_of_text_is_rendered_its_own_way(snapshot):
    shown = {each["key"]: each for each in document_view(snapshot)}
    assert shown["title"] == {"key": "title", "html": "A &lt;b&gt; `title`", "text": "A <b> `title`"}
    assert "<strong>body</strong>" in shown["body"]["html"]
    assert "octo/spoon/issues/1" in shown["body"]["html"]
    assert shown["comment:1"]["text"] == "hi\n"
    assert "<strong>Fix</strong>" in shown["fix:octo/spoon#7:message"]["html"]
    assert shown["fix:octo/spoon@abc:message"]["text"] == "*not* markdown\n\nFixes #3"
    assert shown["fix:octo/spoon#7:file:a.c"]["text"] == PATCH
    assert "&lt;b&gt;" in shown["fix:octo/spoon#7:file:a.c"]["html"]


def test_what_was_rendered_is_never_rendered_again(snapshot):
    render_documents(snapshot)
    SnapshotDocument.objects.filter(snapshot=snapshot, key="body").update(source="another text")
    render_documents(snapshot)
    body = snapshot.documents.get(key="body")
    assert body.text == "body #1\n"
    assert body.renderer == RENDERER


def test_a_second_look_asks_the_database_once(snapshot, django_assert_num_queries):
    render_documents(snapshot)
    with django_assert_num_queries(1):
        document_view(snapshot)
