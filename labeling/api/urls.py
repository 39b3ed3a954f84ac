"""Addresses of the API below /api/v1/; each module of views lists its own."""

from django.contrib.auth.decorators import login_not_required
from django.urls import path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from labeling.api.views import (
    accounts,
    agreement,
    codebooks,
    coding,
    corpus,
    exports,
    members,
    reconciliation,
    rounds,
    samples,
    studies,
    training,
)

app_name = "api"
urlpatterns = [
    path("schema/", login_not_required(SpectacularAPIView.as_view()), name="schema"),
    path(
        "docs/", login_not_required(SpectacularSwaggerSplitView.as_view(url_name="api:schema")), name="docs"
    ),
    *accounts.urlpatterns,
    *studies.urlpatterns,
    *members.urlpatterns,
    *codebooks.urlpatterns,
    *corpus.urlpatterns,
    *samples.urlpatterns,
    *rounds.urlpatterns,
    *training.urlpatterns,
    *coding.urlpatterns,
    *agreement.urlpatterns,
    *reconciliation.urlpatterns,
    *exports.urlpatterns,
]
