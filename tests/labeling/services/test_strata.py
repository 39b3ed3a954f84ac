"""What strata are made of: fields of an issue and conditions on them."""

import pytest

from labeling.services.strata import FIELDS, read_strata, stratum_of
from tests.factories import make_issue, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def told():
    issue = make_issue(
        make_study(),
        repository="octo/spoon",
        comments=["First.", "Second."],
        snapshot={"github_labels": ["c++", "bug"], "state": "closed"},
    )
    return issue, issue.latest


@pytest.mark.parametrize(
    ("expression", "stratum"),
    [
        ("", ""),
        ("repository", "octo/spoon"),
        ("owner + state", "octo / closed"),
        ("github_label", "bug, c++"),
        ("milestone", "none"),
        ("comments", "2"),
        ("comments >= 2", "comments >= 2"),
        ("comments>2", "not comments > 2"),
        ('github_label = "c++"', 'github_label = "c++"'),
        ("github_label = BUG|docs", "github_label = BUG|docs"),
        ("github_label != bug + kind", "not github_label != bug / issue"),
        ("repository = octo/fork", "not repository = octo/fork"),
    ],
)
def test_an_issue_falls_into_the_stratum_of_its_values(told, expression, stratum):
    assert stratum_of(told, expression) == stratum


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("weather", "is no field or condition"),
        ("", "is no field or condition"),
        ("state +", "after the last"),
        ("comments >= many", "one whole number"),
        ("state > 3", "is no number"),
        ("comments > 1|2", "one whole number"),
        ("state = ", "a value after"),
        ("state closed", "is no field or condition"),
    ],
)
def test_what_makes_no_sense_is_refused_with_what_to_write(expression, says):
    with pytest.raises(ValueError, match=says):
        read_strata(expression)


def test_what_was_read_is_written_so_that_it_reads_the_same():
    expression = 'year >= 2024 + github_label = "c++"|bug + comments'
    parts = read_strata(expression)
    assert read_strata(" + ".join(part.text for part in parts)) == parts


def test_every_field_can_be_told_of_an_issue_without_a_text():
    issue = make_issue(make_study())
    assert all(stratum_of((issue, None), name) for name in FIELDS)
