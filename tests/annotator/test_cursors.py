import pytest
from django.db import connection

from labeling.models import User
from tests.factories import make_user


@pytest.mark.django_db
def test_a_statement_of_more_values_than_the_protocol_takes_is_written_out():
    coder = make_user("ada")
    if connection.vendor != "postgresql":
        pytest.skip("PostgreSQL binds 65,535 values at most")
    assert list(User.objects.filter(pk__in=[*range(-70_000, 0), coder.pk], username="ada")) == [coder]


@pytest.mark.django_db
def test_a_statement_that_comes_again_is_prepared():
    if connection.vendor != "postgresql":
        pytest.skip("SQLite plans in no time")
    for number in range(7):
        User.objects.filter(pk=number, username="nobody").exists()
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE %s", ["%username%"])
        assert cursor.fetchone() == (1,)
