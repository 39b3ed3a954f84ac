"""From a URL to an import and the lead who asks for it."""

from django.contrib.auth.models import AnonymousUser
from django.http import Http404

from ingest.models import ImportRun
from labeling.access import get_study_or_404
from labeling.models import Membership, Role, User


def get_import_or_404(user: User | AnonymousUser, slug: str, import_id: int) -> tuple[ImportRun, Membership]:
    """An import of a study the user leads."""
    study, lead = get_study_or_404(user, slug, role=Role.LEAD)
    run = ImportRun.objects.select_related("study", "by__user").filter(study=study, pk=import_id).first()
    if run is None:
        raise Http404("There is no such import.")
    return run, lead
