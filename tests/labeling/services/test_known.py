import re
from collections.abc import Sequence
from typing import Any

import pytest
from django.db import connection

from labeling.records import IssueRecord
from labeling.services.issues import add_issues
from labeling.services.known import HAS_NODE, KnownIssues
from tests.factories import make_study


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL reads small tables as a whole")
@pytest.mark.django_db
def test_issues_are_found_by_node_id_without_reading_all_of_them():
    found = make_study().issues.filter(HAS_NODE, node_id__in=[f"I_{number}" for number in range(300)])
    assert "issue_study_node" in found.explain()


@pytest.mark.django_db
def test_a_page_is_found_among_issues_just_stored_without_reading_all_of_them():
    study = make_study()
    records = [
        IssueRecord(title="It fails", repository="acme/train", number=number, node_id=f"I_{number}")
        for number in range(1, 1001)
    ]
    add_issues(study=study, records=records)
    asked = []
    with connection.execute_wrapper(lambda run, *query: asked.append(query[:2]) or run(*query)):
        known = KnownIssues(study, records[:100])
    assert all(known.find(record) for record in records[:100])
    assert known.find(records[500]) is None
    assert len(asked) == 1
    plan = _plan(*asked[0])
    by_key = r"INDEX \w+ \(study_id=\? AND key=\?\)|Index Scan using issue_study_key on labeling_issue"
    assert re.search(by_key, plan)


@pytest.mark.django_db
def test_an_issue_is_found_by_each_of_its_ids_in_its_study_alone():
    study, other = make_study(), make_study()
    record = IssueRecord(title="A", repository="acme/train", number=1, node_id="I_1", rest_id=7)
    add_issues(study=study, records=[record])
    for name in ({"node_id": "I_1"}, {"rest_id": 7}):
        moved = IssueRecord(title="A", repository="acme/moved", number=2, **name)
        found = KnownIssues(study, [moved]).find(moved)
        assert found is not None
        assert (found.key, found.former_keys, found.gone) == (record.key, [], False)
        assert KnownIssues(other, [moved]).find(moved) is None


def _plan(statement: str, values: Sequence[Any]) -> str:
    with connection.cursor() as cursor:
        word = "EXPLAIN" if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN"
        cursor.execute(f"{word} {statement}", values)
        return "\n".join(str(row[-1]) for row in cursor.fetchall())
