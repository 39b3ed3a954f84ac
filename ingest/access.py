"""From a URL to an import, or to a file before its import, and the lead who asks for it."""

from django.contrib.auth.models import AnonymousUser
from django.http import Http404

from ingest.models import ImportRun, Upload
from ingest.services import file_of
from labeling.access import get_study_or_404
from labeling.models import Membership, Role, Study, User

GONE = "This upload is no longer here. Choose the file again."


def get_import_or_404(user: User | AnonymousUser, slug: str, import_id: int) -> tuple[ImportRun, Membership]:
    """An import of a study the user leads."""
    study, lead = get_study_or_404(user, slug, role=Role.LEAD)
    run = ImportRun.objects.select_related("study", "by__user").filter(study=study, pk=import_id).first()
    if run is None:
        raise Http404("There is no such import.")
    return run, lead


def get_upload_or_404(user: User | AnonymousUser, slug: str, upload_id: int) -> tuple[Upload, Membership]:
    """An uploaded file of a study the user leads, as long as it is kept."""
    study, lead = get_study_or_404(user, slug, role=Role.LEAD)
    upload = kept_upload(study, upload_id)
    if upload is None:
        raise Http404(GONE)
    return upload, lead


def kept_upload(study: Study, upload_id: int) -> Upload | None:
    """An uploaded file of a study, None if it is no longer kept."""
    upload = study.uploads.select_related("study", "run").filter(pk=upload_id).first()
    return upload if upload and file_of(upload.query).is_file() else None
