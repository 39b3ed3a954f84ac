"""Addresses of the import pages."""

from django.urls import path

from ingest import views

app_name = "ingest"
urlpatterns = [
    path("studies/<slug:slug>/imports/", views.import_list, name="import-list"),
    path("studies/<slug:slug>/imports/new/", views.import_create, name="import-create"),
    path("studies/<slug:slug>/imports/upload/", views.import_upload, name="import-upload"),
    path("studies/<slug:slug>/imports/files/<int:upload_id>/", views.import_file, name="import-file"),
    path("studies/<slug:slug>/imports/<int:import_id>/", views.import_detail, name="import-detail"),
    path(
        "studies/<slug:slug>/imports/<int:import_id>/rejected/", views.import_rejected, name="import-rejected"
    ),
    path("studies/<slug:slug>/imports/<int:import_id>/pause/", views.import_pause, name="import-pause"),
    path("studies/<slug:slug>/imports/<int:import_id>/resume/", views.import_resume, name="import-resume"),
    path("studies/<slug:slug>/imports/<int:import_id>/cancel/", views.import_cancel, name="import-cancel"),
    path("studies/<slug:slug>/imports/<int:import_id>/retry/", views.import_retry, name="import-retry"),
]
