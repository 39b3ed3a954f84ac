"""How a file of a study is asked for, and how it goes out: the same on the page and over the API."""

import mimetypes
from collections.abc import Mapping
from typing import TypedDict

from django.core.exceptions import PermissionDenied
from django.http import FileResponse, Http404, StreamingHttpResponse

from labeling.errors import InvalidInputError
from labeling.models import ExportJob, Membership, Role
from labeling.selectors.export_jobs import reachable_jobs
from labeling.services.export_jobs import export_folder
from labeling.services.exports import Export

HIDDEN = "Intercoder-Hidden-Units"
YES_OR_NO = {"1": True, "0": False, "": False}
SAFE_OR_NOT = {"safe": True, "": False}


class ExportOptions(TypedDict):
    """Arguments of ``services.exports.stream``."""

    all_rounds: bool
    spreadsheet_safe: bool
    bom: bool
    pseudonyms: bool


def export_options(query: Mapping[str, str]) -> ExportOptions:
    """Read ``all_rounds``, ``spreadsheet``, ``bom`` and ``pseudonyms``; what is misspelt is never ignored."""
    return ExportOptions(
        all_rounds=_choice(query, "all_rounds", YES_OR_NO),
        spreadsheet_safe=_choice(query, "spreadsheet", SAFE_OR_NOT),
        bom=_choice(query, "bom", YES_OR_NO),
        pseudonyms=_choice(query, "pseudonyms", YES_OR_NO),
    )


def _choice(query: Mapping[str, str], name: str, choices: Mapping[str, bool]) -> bool:
    given = query.get(name, "")
    if given not in choices:
        known = " or ".join(each for each in choices if each)
        raise InvalidInputError({name: [f"{name} is {known}, or left out."]})
    return choices[given]


def file_response(export: Export) -> StreamingHttpResponse:
    """Stream a file as a download; closing the response closes its state of the database."""
    kind = mimetypes.guess_type(export.name)[0] or "application/octet-stream"
    response = StreamingHttpResponse(
        export.chunks,
        content_type=f"{kind}; charset=utf-8" if kind.startswith("text/") else kind,
        headers={"Content-Disposition": f'attachment; filename="{export.name.rpartition("/")[2]}"'},
    )
    if export.hidden_units:
        response[HIDDEN] = str(export.hidden_units)
    return response


def job_file_response(member: Membership, export_id: int) -> FileResponse:
    """Give what a worker made; 404 until it is made, and for whoever did not ask for it."""
    job = reachable_jobs(member).filter(pk=export_id).first()
    if job is None:
        raise Http404("There is no such file.")
    if member.role not in (Role.LEAD, Role.OBSERVER):
        raise PermissionDenied("These files are for leads and observers.")
    found = export_folder() / job.file
    if job.state != ExportJob.State.DONE or not job.file or not found.is_file():
        raise Http404("The file is not made yet, or was taken away. Ask for it again.")
    return FileResponse(found.open("rb"), as_attachment=True, filename=found.name)
