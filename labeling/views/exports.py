"""Files of a study: what there is for this member, and each file as a download."""

from dataclasses import dataclass

from django.contrib import messages
from django.db import DEFAULT_DB_ALIAS
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.views.decorators.http import require_GET

from annotator.http import CoderRequest, render_page
from labeling.access import get_study_or_404
from labeling.downloads import export_options, file_response
from labeling.errors import InvalidInputError
from labeling.models import Membership, Round, Study
from labeling.selectors.export.reader import Reader, hidden_units
from labeling.services.exports import EVENTS, OWN, TABLES, UNBLINDING, file_names, stream


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file as the page lists it."""

    name: str
    holds: str
    readers: str
    hides: bool


#: By heading, what each file holds.
FILES: dict[str, dict[str, str]] = {
    "Results": {
        "labels.csv": "Final categories: one row per unit, dimension and category, with how it was decided.",
        "labels_wide.csv": "Final categories side by side: one row per unit, with what each coder said.",
    },
    "Independent coding": {
        "annotations.csv": "What each coder said about each unit, before anybody reconciled.",
        "evidence.csv": "The quotes coders marked, with their place in the text.",
        OWN: "Your own answers, of open rounds too.",
    },
    "Agreement": {
        "agreement.csv": "Every stored number with its interval, in full precision.",
        "left_out.csv": "Units that take no part in a number, with the reason.",
    },
    "LaTeX": {
        "tables/agreement.tex": "Each closed round by dimension, as a table for a paper.",
        "tables/categories.tex": "Each dimension, category by category.",
        "tables/confusion.tex": "Who chose what, for each pair of coders.",
        "tables/numbers.tex": "One command per number, for sentences that quote them.",
    },
    "Design of the study": {
        "methods.md": "How the study was done, in paragraphs whose numbers name where they come from.",
        "codebook.csv": "Every version of the codebook: dimensions, categories, definitions.",
        "codebook.yaml": "The newest frozen version, whole; it can be uploaded to another study.",
        "codebook.qdc": "The newest frozen version for other programs of qualitative analysis (REFI-QDA).",
        "mappings.csv": "Where categories of one version went in a later one.",
        "funnel.csv": "From all issues to the eligible ones, step by step.",
        "frame.csv": "Every issue each sample was drawn from, in the order of its draw.",
        "sample.csv": "The units of each sample, in the order in which they were drawn.",
        EVENTS: "Who did what, and when.",
        "columns.csv": "What every column of every file means.",
    },
}


def export_list(request: CoderRequest, slug: str) -> HttpResponseBase:
    study, member = get_study_or_404(request.user, slug)
    groups = _listed(member)
    unblinds = any(
        each.name in UNBLINDING or each.name in TABLES for files in groups.values() for each in files
    )
    context = {
        "study": study,
        "membership": member,
        "nav": "results",
        "groups": groups,
        "hidden": hidden_units(Reader(study, member, DEFAULT_DB_ALIAS)),
        "unread": _unread(study) if unblinds else [],
        "has_options": unblinds,
    }
    return render_page(request, "labeling/export_list.html", context)


def _listed(member: Membership) -> dict[str, list[ListedFile]]:
    names = set(file_names(member))
    groups = {
        heading: [
            ListedFile(name, holds, _readers(name), name in UNBLINDING or name == OWN)
            for name, holds in files.items()
            if name in names
        ]
        for heading, files in FILES.items()
    }
    return {heading: files for heading, files in groups.items() if files}


def _readers(name: str) -> str:
    if name == OWN:
        return "Every coder, their own"
    return "Leads" if name == EVENTS else "Leads and observers"


def _unread(study: Study) -> list[Round]:
    """Closed rounds of which nobody has seen an answer or a number yet."""
    rounds = study.rounds.filter(state__in=Round.UNBLINDED, discarded_at__isnull=True)
    return list(rounds.filter(first_unblinded_read_at__isnull=True))


@require_GET
def export_file(request: CoderRequest, slug: str, name: str) -> HttpResponseBase:
    study, member = get_study_or_404(request.user, slug)
    try:
        options = export_options(request.GET.dict())
    except InvalidInputError as error:
        messages.error(request, str(error))
        return redirect("labeling:export-list", slug)
    return file_response(stream(study=study, name=name, member=member, **options))


urlpatterns: list[URLPattern] = [
    path("studies/<slug:slug>/exports/", export_list, name="export-list"),
    path("studies/<slug:slug>/exports/<path:name>", export_file, name="export-file"),
]
