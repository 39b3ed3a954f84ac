"""Addresses of the pages; each module of views lists its own."""

from labeling.views import (
    accounts,
    agreement,
    codebooks,
    coding,
    corpus,
    exports,
    members,
    methods,
    reconciliation,
    rounds,
    samples,
    studies,
)

app_name = "labeling"
urlpatterns = [
    *accounts.urlpatterns,
    *studies.urlpatterns,
    *members.urlpatterns,
    *corpus.urlpatterns,
    *codebooks.urlpatterns,
    *samples.urlpatterns,
    *rounds.urlpatterns,
    *coding.urlpatterns,
    *agreement.urlpatterns,
    *reconciliation.urlpatterns,
    *exports.urlpatterns,
    *methods.urlpatterns,
]
