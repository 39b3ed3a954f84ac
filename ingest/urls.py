"""Addresses of the import pages."""

app_name = "ingest"
from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
