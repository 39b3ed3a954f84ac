from datetime import timedelta
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.utils import timezone

from ingest.models import ImportRun
from labeling.demo.load import load_demo_study
from labeling.models import ExportJob, Job, Study
from labeling.services.export_jobs import keep_file
from labeling.services.purging import purge
from labeling.services.studies import delete_study, restore_study
from tests.factories import lead_of, make_study

pytestmark = pytest.mark.django_db


def delete(study):
    delete_study(study=study, confirm=study.slug, by=lead_of(study))
    return Job.objects.get(kind=Job.Kind.PURGE)


def thirty_days_later(job):
    past = timezone.now() - timedelta(seconds=1)
    Job.objects.filter(pk=job.pk).update(waiting_until=past)
    Study.objects.filter(purge_at__isnull=False).update(purge_at=past)
    purge(job.pk)
    job.refresh_from_db()


def test_a_full_study_goes_with_every_row_and_file():
    study = load_demo_study()
    other = make_study()
    uploads = Path(settings.INTERCODER_DATA) / "uploads"
    uploads.mkdir(exist_ok=True)
    upload = uploads / "issues.jsonl"
    upload.write_text("{}")
    ImportRun.objects.create(study=study, source="file", query={"file": upload.name})
    export = ExportJob.objects.create(study=study, by=lead_of(study), kind="figures")
    keep_file(export, "figures.zip", b"zip")
    thirty_days_later(delete(study))
    assert list(Study.objects.all()) == [other]
    kept = {"Study": 1, "Membership": 1, "User": 5, "Job": 1}
    left = {
        model.__name__: model._default_manager.count()
        for app in ("labeling", "ingest")
        for model in apps.get_app_config(app).get_models()
    }
    assert {name: count for name, count in left.items() if count} == kept
    assert not upload.exists()
    assert not (Path(settings.INTERCODER_DATA) / "exports" / str(export.pk)).exists()


def test_nothing_goes_before_its_time():
    study = make_study()
    job = delete(study)
    purge(job.pk)
    assert Study.objects.filter(pk=study.pk).exists()
    job.refresh_from_db()
    assert job.state == Job.State.WAITING


def test_a_study_that_was_brought_back_stays():
    study = make_study()
    job = delete(study)
    restore_study(study=study, by=lead_of(study).user)
    thirty_days_later(job)
    assert Study.objects.filter(pk=study.pk).exists()
    assert job.state == Job.State.DONE
