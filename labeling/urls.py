"""Addresses of the pages; each module of views lists its own."""

from labeling.views import (
    accounts,
    agreement,
    codebooks,
    coding,
    corpus,
    exports,
    figures,
    members,
    methods,
    reconciliation,
    rounds,
    samples,
    studies,
    training,
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
    *training.urlpatterns,
    *coding.urlpatterns,
    *agreement.urlpatterns,
    *reconciliation.urlpatterns,
    *figures.urlpatterns,  # before the files, whose names may hold anything
    *exports.urlpatterns,
    *methods.urlpatterns,
]
