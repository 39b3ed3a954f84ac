import pytest
from django.core.management import CommandError, call_command

from tests.factories import make_user

pytestmark = pytest.mark.django_db


def test_the_link_signs_in_once(client, capsys):
    make_user("ada")
    call_command("sign_in_link", "ada")
    path = capsys.readouterr().out.strip().split("://", 1)[1].partition("/")[2]
    assert client.get(f"/{path}").status_code == 302
    assert client.get("/").status_code == 200


def test_an_unknown_name_is_told(client):
    with pytest.raises(CommandError, match="create_user bob"):
        call_command("sign_in_link", "bob")
