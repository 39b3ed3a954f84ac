import pytest
from django.db import connection

from labeling.services.known import HAS_NODE
from tests.factories import make_study


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL reads small tables as a whole")
@pytest.mark.django_db
def test_issues_are_found_by_node_id_without_reading_all_of_them():
    found = make_study().issues.filter(HAS_NODE, node_id__in=[f"I_{number}" for number in range(300)])
    assert "issue_study_node" in found.explain()
