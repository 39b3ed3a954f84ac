"""Addresses of the imports below /api/v1/."""

from django.urls import URLPattern, path

from ingest import services
from ingest.api import ImportAct, ImportDetail, ImportFile, ImportFileStart, ImportList, ImportRejected

app_name = "api_ingest"

_one = "studies/<slug:slug>/imports/<int:import_id>/"
_file = "studies/<slug:slug>/imports/files/<int:upload_id>/"
urlpatterns: list[URLPattern] = [
    path("studies/<slug:slug>/imports/", ImportList.as_view(), name="import-list"),
    path(_file, ImportFile.as_view(), name="import-file"),
    path(f"{_file}start/", ImportFileStart.as_view(), name="import-file-start"),
    path(_one, ImportDetail.as_view(), name="import-detail"),
    path(f"{_one}rejected/", ImportRejected.as_view(), name="import-rejected"),
    path(f"{_one}pause/", ImportAct.as_view(act=services.pause), name="import-pause"),
    path(f"{_one}resume/", ImportAct.as_view(act=services.resume), name="import-resume"),
    path(f"{_one}cancel/", ImportAct.as_view(act=services.cancel), name="import-cancel"),
]
