"""A version of the codebook as a download: the same on the page and over the API."""

from django.http import HttpResponse

from labeling.codebook_files import FORMATS
from labeling.models import Codebook
from labeling.services.codebooks import codebook_data


def codebook_response(codebook: Codebook, file_format: str) -> HttpResponse:
    """Give the whole file: a codebook is small."""
    written = FORMATS[file_format]
    name = f"codebook-v{codebook.version}.{file_format}"
    return HttpResponse(
        written.write(codebook_data(codebook)),
        content_type=written.content_type,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
