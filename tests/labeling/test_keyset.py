import pytest

from labeling.errors import InvalidInputError
from labeling.keyset import keyset_page
from labeling.models import Issue
from tests.factories import make_issue, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def issues():
    study = make_study()
    # Equal repositories: the order among them is that of their ids.
    return [
        make_issue(study, repository=name).pk for name in ("b/b", "a/a", "b/b", "a/a", "c/c", "b/b", "a/a")
    ]


def walk(by, size=2):
    """All pages forwards, and back again from the last one."""
    forwards, cursor, last = [], "", None
    while True:
        last = keyset_page(Issue.objects.all(), by=by, cursor=cursor, size=size)
        forwards.append([row.pk for row in last.rows])
        if last.next is None:
            break
        cursor = last.next
    backwards = [forwards[-1]]
    while last.previous is not None:
        last = keyset_page(Issue.objects.all(), by=by, cursor=last.previous, size=size)
        backwards.insert(0, [row.pk for row in last.rows])
    return forwards, backwards


@pytest.mark.parametrize("by", ["repository", "-repository", "key", "-key"])
def test_every_row_is_on_exactly_one_page_in_either_direction(issues, by):
    descending = by.startswith("-")
    field = by.removeprefix("-")
    rows = sorted(Issue.objects.all(), key=lambda row: (getattr(row, field), row.pk), reverse=descending)
    forwards, backwards = walk(by)
    assert [pk for page in forwards for pk in page] == [row.pk for row in rows]
    assert backwards == forwards


def test_a_row_that_arrives_before_the_place_shifts_nothing(issues):
    first = keyset_page(Issue.objects.all(), by="key", size=3)
    make_issue(Issue.objects.get(pk=issues[0]).study, repository="a/0")
    rest = keyset_page(Issue.objects.all(), by="key", cursor=first.next, size=10)
    assert {row.pk for row in first.rows} | {row.pk for row in rest.rows} == set(issues)


@pytest.mark.parametrize("cursor", ["nonsense", "WzEsMl0", "W2ZhbHNlLCJhIiwgIngiXQ", "é"])
def test_a_bent_cursor_is_refused_with_a_sentence(issues, cursor):
    with pytest.raises(InvalidInputError, match="Start at its first page"):
        keyset_page(Issue.objects.all(), by="key", cursor=cursor)
