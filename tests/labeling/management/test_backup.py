import json
from pathlib import Path
from zipfile import ZipFile

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection

from labeling.backup import backed_up_models
from labeling.demo.load import load_demo_study
from labeling.models import Membership, SourceToken, Study, User
from labeling.services.members import invite
from labeling.services.tokens import store_token
from tests.factories import lead_of, make_study

pytestmark = pytest.mark.django_db(transaction=True)


def everything():
    """Every row of every table that is backed up."""
    return {
        model._meta.db_table: [
            [repr(bytes(value) if isinstance(value, memoryview) else value) for value in row]
            for row in model._base_manager.order_by("pk").values_list(
                *(field.attname for field in model._meta.local_concrete_fields)
            )
        ]
        for model in backed_up_models()
    }


def empty():
    call_command("flush", interactive=False, verbosity=0)


def test_a_restored_copy_equals_the_original(tmp_path):
    study = load_demo_study()
    store_token(user=lead_of(study).user, api_base="https://api.github.com", value="ghp_secret")
    _, token = invite(study=study, role="coder", by=lead_of(study))
    upload = Path(settings.INTERCODER_DATA) / "uploads" / "issues.csv"
    upload.parent.mkdir(exist_ok=True)
    upload.write_text("title\nCrash\n")
    path = tmp_path / "backup.zip"
    call_command("backup", str(path), verbosity=0)
    before = everything()
    upload.unlink()
    empty()
    call_command("restore", str(path), verbosity=0)
    assert everything() == before
    assert upload.read_text() == "title\nCrash\n"
    assert not SourceToken.objects.exists()
    with ZipFile(path) as archive:
        content = b"".join(archive.read(name) for name in archive.namelist())
    assert b"ghp_secret" not in content
    assert token.encode() not in content
    # New rows get ids of their own.
    assert make_study().pk > Study.objects.get(slug="demo").pk


def test_a_full_installation_is_not_overwritten(tmp_path):
    make_study()
    path = tmp_path / "backup.zip"
    call_command("backup", str(path), verbosity=0)
    with pytest.raises(CommandError, match="empty one"):
        call_command("restore", str(path))
    assert Membership.objects.count() == 1


def test_a_damaged_file_and_another_version_are_told(tmp_path):
    damaged = tmp_path / "damaged.zip"
    damaged.write_bytes(b"PK\x03\x04 no")
    with pytest.raises(CommandError, match="damaged"):
        call_command("restore", str(damaged))
    other = tmp_path / "other.zip"
    with ZipFile(other, "w") as archive:
        archive.writestr("manifest.json", json.dumps({"migrations": [["labeling", "0001_initial"]]}))
    with pytest.raises(CommandError, match="another version"):
        call_command("restore", str(other))
    assert not User.objects.exists()


def test_a_restore_that_breaks_off_leaves_nothing(tmp_path):
    make_study()
    path, cut = tmp_path / "backup.zip", tmp_path / "cut.zip"
    call_command("backup", str(path), verbosity=0)
    with ZipFile(path) as whole, ZipFile(cut, "w") as part:
        for name in whole.namelist():
            if "labeling_user." not in name:
                part.writestr(name, whole.read(name))
    empty()
    with pytest.raises(CommandError, match="Nothing was restored"):
        call_command("restore", str(cut))
    assert not Study.objects.exists()
    assert connection.is_usable()
