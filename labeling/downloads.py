"""How a file of a study is asked for, and how it goes out: the same on the page and over the API."""

import mimetypes
from collections.abc import Mapping
from typing import TypedDict

from django.http import StreamingHttpResponse

from labeling.errors import InvalidInputError
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
