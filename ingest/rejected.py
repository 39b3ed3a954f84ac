"""The rejected rows of an import as a CSV file, read anew from what was uploaded."""

from django.http import Http404, StreamingHttpResponse

from ingest.models import ImportRun
from ingest.services import path_of
from ingest.sources.files.rejected import rejected_header, rejected_rows
from labeling.export.writer import Format, write_rows


def rejected_file(run: ImportRun) -> StreamingHttpResponse:
    """Stream the file; 404 where the import read none, or where it is no longer kept."""
    if run.source != ImportRun.Source.FILE or not path_of(run).is_file():
        raise Http404("This import has no file.")
    path = path_of(run)
    rows = rejected_rows(path, run.query.get("mapping") or None, run.study.unit_kinds)
    # People open it in a spreadsheet, and its cells come from anywhere.
    content = write_rows(rejected_header(path), rows, Format(spreadsheet_safe=True, bom=True))
    headers = {"Content-Disposition": f'attachment; filename="rejected-{run.pk}.csv"'}
    return StreamingHttpResponse(content, content_type="text/csv; charset=utf-8", headers=headers)
