"""Addresses: the apps' own, the API, the admin, and what operators ask."""

from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.urls import include, path
from sesame.views import LoginView

from annotator.health import healthz

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("sign-in-link/", login_not_required(LoginView.as_view()), name="sign-in-link"),
    path("admin/", admin.site.urls),
    path("api/v1/", include("labeling.api.urls")),
    path("", include("ingest.urls")),
    path("", include("labeling.urls")),
]
