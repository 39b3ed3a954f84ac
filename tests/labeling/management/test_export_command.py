"""``python manage.py export``."""

import io

import pytest
from django.core.management import CommandError, call_command

from labeling.models import Round
from labeling.services.exports import NAMES, stream
from tests.factories import lead_of, make_round, make_study
from tests.labeling.closing import close, coded_round

pytestmark = pytest.mark.django_db

TWO = {"ada": ["crash", "hang"], "ben": ["crash", "crash"]}


@pytest.fixture
def closed():
    return close(coded_round(TWO, study=make_study(slug="spoons")))


def export(*arguments) -> str:
    out = io.StringIO()
    call_command("export", *map(str, arguments), stdout=out)
    return out.getvalue()


def test_a_folder_gets_every_file_but_own_annotations(closed, tmp_path):
    printed = export("spoons", "--output", tmp_path / "files")
    folder = tmp_path / "files"
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*.*")}
    assert names == NAMES - {"own_annotations.csv"}
    assert len(printed.splitlines()) == len(names)
    lead = lead_of(closed.study)
    for name in names:
        content = b"".join(stream(study=closed.study, name=name, member=lead).chunks)
        assert (tmp_path / "files" / name).read_bytes() == content, name


def test_the_shell_reads_what_is_sealed_for_members(closed, tmp_path):
    study, unit = closed.study, closed.round_units.first().unit
    make_round(study, coders=[lead_of(study)], units=[unit], kind=Round.Kind.RETEST, based_on=closed)
    export("spoons", "--output", tmp_path)
    assert unit.ref in (tmp_path / "annotations.csv").read_text()


def test_pseudonyms_replace_names(closed, tmp_path):
    export("spoons", "--output", tmp_path, "--pseudonyms")
    assert ",ada," not in (tmp_path / "annotations.csv").read_text()


def test_an_unknown_study_and_a_file_as_folder_are_refused(closed, tmp_path):
    with pytest.raises(CommandError, match="no study"):
        export("forks", "--output", tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(CommandError, match="folder"):
        export("spoons", "--output", tmp_path / "file")
