"""The command that imports in the foreground."""

from threading import Barrier

import pytest
from django.core.management import CommandError, call_command

from ingest.management.commands import import_issues
from ingest.models import ImportRun
from ingest.pipeline import run_import
from labeling.services.corpus import current_rules
from tests.factories import make_study
from tests.fake_github import GOOD_TOKEN, FakeGithub, running
from tests.fakes import small_repository

pytestmark = pytest.mark.django_db


@pytest.fixture
def github(settings):
    with running(FakeGithub(small_repository())) as github:
        settings.GITHUB_API_URLS = [github.url]
        settings.GITHUB_TOKEN = GOOD_TOKEN
        yield github


def test_it_imports_and_says_how_many(github, capsys):
    study = make_study()

    call_command("import_issues", study.slug, "--github", "acme/train", "--with-fix", "--since", "2024-01-01")

    count = len(github.repositories["acme/train"].issues)
    assert study.issues.count() == count
    assert f"Imported {count} issues: {count} new" in capsys.readouterr().out
    assert [rule.field for rule in current_rules(study)] == ["has_fix", "opened_at"]


def test_it_imports_a_file(settings, tmp_path, capsys):
    settings.INTERCODER_DATA = tmp_path
    study = make_study()
    path = tmp_path / "issues.csv"
    path.write_text("id,title\n1,Crash\n")

    call_command("import_issues", study.slug, "--file", str(path))

    assert study.issues.get().latest.title == "Crash"


@pytest.mark.django_db(transaction=True)
def test_it_reads_several_repositories_side_by_side(github, monkeypatch, capsys):
    github.repositories["acme/kernels"] = small_repository("acme/kernels")
    study, both = make_study(), Barrier(2, timeout=20)

    def run(*args, **kwargs):
        both.wait()
        return run_import(*args, **kwargs)

    monkeypatch.setattr(import_issues, "run_import", run)

    call_command("import_issues", study.slug, "--github", "acme/train", "acme/kernels")

    told = capsys.readouterr().out
    assert all(f"{name}: Imported" in told for name in ("acme/train", "acme/kernels"))
    assert set(study.issues.values_list("repository", flat=True)) == {"acme/train", "acme/kernels"}


def test_what_somebody_stops_is_paused_and_the_same_command_goes_on(github, monkeypatch):
    study, command = make_study(), ("--github", "acme/train")

    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(import_issues, "run_import", stop)
        with pytest.raises(CommandError, match="run the command again") as error:
            call_command("import_issues", study.slug, *command)
    assert error.value.returncode == 3
    assert ImportRun.objects.get().state == ImportRun.State.PAUSED

    call_command("import_issues", study.slug, *command)

    assert ImportRun.objects.get().state == ImportRun.State.DONE


def test_a_file_is_tried_with_its_columns_and_then_imported(settings, tmp_path, capsys):
    settings.INTERCODER_DATA = tmp_path
    study, path = make_study(), tmp_path / "issues.csv"
    path.write_text("nr,what\n1,Crash\n2,\n")
    arguments = ("--file", str(path), "--map", "nr=number", "--map", "what=title")

    call_command("import_issues", study.slug, *arguments, "--dry-run")

    told = capsys.readouterr()
    assert "Rows read: 2. They would bring 1 new, 0 changed, 0 unchanged, 1 rejected" in told.out
    assert "Row 3: it has no title" in told.err
    assert not list((tmp_path / "uploads").iterdir())
    call_command("import_issues", study.slug, *arguments)
    assert study.issues.get().latest.title == "Crash"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--github", "train"],
        ["--github", "acme/train", "--created-from", "yesterday"],
        ["--github", "acme/train", "--since", "yesterday"],
        ["--file", "/nowhere.csv"],
        ["--file", __file__, "--map", "name=colour"],
        ["--file", __file__, "--github", "acme/train"],
        ["--github", "acme/train", "--dry-run"],
        ["--issue", "acme/train"],
        [],
    ],
)
def test_bad_input_ends_with_2(github, arguments):
    study = make_study()

    with pytest.raises(CommandError) as error:
        call_command("import_issues", study.slug, *arguments)

    assert error.value.returncode == 2
    assert not ImportRun.objects.exists()


def test_a_study_that_does_not_exist_ends_with_2(github):
    with pytest.raises(CommandError) as error:
        call_command("import_issues", "nowhere", "--github", "acme/train")
    assert error.value.returncode == 2


def test_a_source_that_refuses_ends_with_3(github):
    with pytest.raises(CommandError, match="acme/missing was not found") as error:
        call_command("import_issues", make_study().slug, "--github", "acme/missing")
    assert error.value.returncode == 3
    assert ImportRun.objects.get().requests == 1  # asked in vain, and counted


def test_a_limit_ends_with_3_and_says_when_it_goes_on(github):
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "4102444800"}
    github.fail("/issues?", status=403, headers=headers, body={"message": "API rate limit exceeded"})

    with pytest.raises(CommandError, match="A worker goes on at 2100-01-01") as error:
        call_command("import_issues", make_study().slug, "--github", "acme/train")
    assert error.value.returncode == 3
    assert ImportRun.objects.get().state == ImportRun.State.WAITING
