"""The corpus: its issues, what is eligible and why, and the rules that say so."""

from typing import Any

from django.contrib import messages
from django.forms import BaseForm
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_POST

from annotator.http import CoderRequest, render_page
from labeling.access import get_study_or_404
from labeling.errors import CorpusError, InvalidInputError
from labeling.forms.corpus import DuplicateForm, EligibilityForm, IssueFilterForm, RuleList, criteria
from labeling.models import Issue, Membership, Role, Study
from labeling.selectors.changes import changed_fields, changed_texts
from labeling.selectors.corpus import (
    MOST_COUNTED,
    ORDERINGS,
    Corpus,
    named_issues,
    pin_of,
    refuse_browsing,
)
from labeling.selectors.facets import Facet, FacetValue, facets
from labeling.selectors.near_duplicates import candidates
from labeling.selectors.studies import study_progress
from labeling.services import corpus
from labeling.services.fetching import can_fetch_fix, fetch_fix, fix_jobs
from labeling.services.near_duplicates import AT_WORK, keep_apart, last_look, look_for_duplicates
from labeling.services.redaction import redact_issue

ISSUES_PER_PAGE = 50


def issue_list(request: CoderRequest, slug: str) -> HttpResponse:
    _, member = get_study_or_404(request.user, slug)
    refuse_browsing(member)
    return _list_page(request, member, request.GET, EligibilityForm())


def issue_facets(request: CoderRequest, slug: str) -> HttpResponse:
    """How many issues each value of a filter has: asked for behind the list, or with it, without a script."""
    _, member = get_study_or_404(request.user, slug)
    refuse_browsing(member)
    if not request.htmx:
        return _list_page(request, member, request.GET, EligibilityForm(), with_facets=True)
    seen = Corpus(member)
    form = IssueFilterForm(request.GET or None, repositories=seen.repositories())
    context = _frame(member) | _facets(seen, form, request.GET)
    return render(request, "labeling/_facets.html", context)


def _facets(seen: Corpus, form: IssueFilterForm, asked: QueryDict) -> dict[str, Any]:
    counted, issues = facets(seen, form.filters())
    return {
        "facets": [(facet, _links(facet, asked)) for facet in counted],
        "count": issues,
        "hidden": seen.hidden_count(),
        "progress": study_progress(seen.member.study),
    }


def _links(facet: Facet, asked: QueryDict) -> list[tuple[FacetValue, str]]:
    """Each value with the query that chooses it beside the other filters."""
    links = []
    for value in facet.values:
        query = asked.copy()
        query.pop("cursor", None)
        for name, told in value.filters.items():
            query[name] = told
        links.append((value, query.urlencode()))
    return links


def _list_page(
    request: CoderRequest,
    member: Membership,
    asked: QueryDict,
    bulk: EligibilityForm,
    *,
    with_facets: bool = False,
) -> HttpResponse:
    seen = Corpus(member)
    form = IssueFilterForm(asked or None, repositories=seen.repositories())
    rows = seen.matching(form.filters())
    cursor, ordering = asked.get("cursor", ""), _ordering(asked)
    try:
        page = seen.page(rows, ordering=ordering, cursor=cursor, size=ISSUES_PER_PAGE)
    except InvalidInputError:  # a cursor of another order, or half of one: begin again
        page = seen.page(rows, ordering=ordering, size=ISSUES_PER_PAGE)
    is_whole = not (page.next or page.previous)
    counted = len(page.issues) if is_whole else rows.order_by()[: MOST_COUNTED + 1].count()
    context = _frame(member) | {
        "form": form,
        "bulk": bulk,
        "page": page,
        "count": min(counted, MOST_COUNTED),
        "is_more": counted > MOST_COUNTED,
        "is_empty": not page.issues and not member.study.issues.exists(),
        "query": _query(asked),
        "next_query": _query(asked, page.next),
        "previous_query": _query(asked, page.previous),
        "page_size": ISSUES_PER_PAGE,
    }
    if with_facets:
        context |= _facets(seen, form, asked) | {"is_more": False}
    status = 422 if form.errors or bulk.errors else 200
    return render_page(
        request, "labeling/issue_list.html", context, partial="labeling/_issues.html", status=status
    )


def _frame(member: Membership) -> dict[str, Any]:
    return {"study": member.study, "membership": member, "nav": "corpus"}


def _ordering(asked: QueryDict) -> str:
    ordering = asked.get("ordering", "")
    return ordering if ordering.removeprefix("-") in ORDERINGS else "key"


def _query(asked: QueryDict, cursor: str | None = None) -> str:
    """Give the filters as a query, at another page."""
    query = asked.copy()
    query.pop("cursor", None)
    if cursor:
        query["cursor"] = cursor
    return query.urlencode()


@require_POST
def issue_eligibility(request: CoderRequest, slug: str) -> HttpResponse:
    """Include or leave out the ticked issues, or all that match the filters in the address."""
    study, member = get_study_or_404(request.user, slug, role=Role.LEAD)
    bulk = EligibilityForm(request.POST)
    if not bulk.is_valid():
        return _list_page(request, member, request.GET, bulk)
    issues = study.issues.filter(pk__in=bulk.cleaned_data["issues"])
    if bulk.cleaned_data["all_matching"]:
        seen = Corpus(member)
        form = IssueFilterForm(request.GET or None, repositories=seen.repositories())
        issues = seen.matching(form.filters())
    changed = corpus.override(
        study=study,
        issues=issues.only("pk"),
        eligible=bulk.cleaned_data["eligible"],
        reason=bulk.cleaned_data["reason"],
        by=member,
    )
    messages.success(request, f"{changed:,} issue{'s were' if changed != 1 else ' was'} changed.")
    address = reverse("labeling:issue-list", args=[study.slug])
    return redirect(f"{address}?{_query(request.GET)}")


def issue_detail(request: CoderRequest, slug: str, issue_id: int) -> HttpResponse:
    study, member = get_study_or_404(request.user, slug)
    refuse_browsing(member)
    return _issue_page(request, member, _issue(study, issue_id))


def _issue(study: Study, issue_id: int) -> Issue:
    return get_object_or_404(study.issues.select_related("latest", "duplicate_of"), pk=issue_id)


def _issue_page(
    request: CoderRequest,
    member: Membership,
    issue: Issue,
    eligibility_form: EligibilityForm | None = None,
    duplicate_form: DuplicateForm | None = None,
) -> HttpResponse:
    seen = Corpus(member)
    shown = seen.shown(issue)
    duplicate_of = next(iter(seen.listed(member.study.issues.filter(duplicates=issue))), None)
    context = _frame(member) | {
        "issue": shown,
        "row": issue,
        "because": "" if shown["masked"] else issue.because,
        "can_fetch_fix": member.is_lead and "fix" not in shown["masked"] and can_fetch_fix(issue),
        "fix_job": fix_jobs(issue).first() if member.is_lead else None,
        "duplicate_of": duplicate_of,
        "duplicate_form": duplicate_form
        or DuplicateForm(initial={"duplicate_of": duplicate_of.ref if duplicate_of else ""}),
    }
    status = 422 if duplicate_form is not None and duplicate_form.errors else 200
    return render_page(request, "labeling/issue_detail.html", context, status=status)


@require_POST
def issue_duplicate(request: CoderRequest, slug: str, issue_id: int) -> HttpResponse:
    study, member = get_study_or_404(request.user, slug, role=Role.LEAD)
    issue = _issue(study, issue_id)
    form = DuplicateForm(request.POST)
    if form.is_valid():
        try:
            _mark_duplicate(study, issue, form.cleaned_data, member)
        except (CorpusError, InvalidInputError) as error:
            _show_error(form, error)
        else:
            messages.success(request, "The corpus was changed.")
            return redirect("labeling:issue-detail", study.slug, issue.pk)
    return _issue_page(request, member, issue, duplicate_form=form)


def issue_changes(request: CoderRequest, slug: str, issue_id: int) -> HttpResponse:
    """What an issue says now and did not say when it was pinned."""
    study, member = get_study_or_404(request.user, slug)
    refuse_browsing(member)
    issue = _issue(study, issue_id)
    before, after = pin_of(issue), issue.latest
    # The old and the new text side by side would tell what a round hides.
    if before is None or after is None or before == after or Corpus(member).shown(issue)["masked"]:
        raise Http404("There is no change to show.")
    context = _frame(member) | {
        "issue": issue,
        "before": before,
        "after": after,
        "fields": changed_fields(before, after),
        "texts": changed_texts(before, after),
    }
    return render_page(request, "labeling/issue_changes.html", context)


@require_POST
def issue_redact(request: CoderRequest, slug: str, issue_id: int) -> HttpResponse:
    study, member = get_study_or_404(request.user, slug, role=Role.LEAD)
    issue = _issue(study, issue_id)
    try:
        redact_issue(issue=issue, reason=request.POST.get("reason", ""), by=member)
    except InvalidInputError as error:
        messages.error(request, " ".join(error.errors["reason"]))
    else:
        messages.success(request, "The texts, the authors and what was quoted are gone.")
    return redirect("labeling:issue-detail", study.slug, issue.pk)


def issue_duplicates(request: CoderRequest, slug: str) -> HttpResponse:
    """Pairs of issues that nearly say the same; the later one can be marked."""
    study, member = get_study_or_404(request.user, slug, role=Role.LEAD)
    if request.method == "POST":
        _settle_pair(request, member)
        return redirect("labeling:issue-duplicates", study.slug)
    look = last_look(study)
    context = _frame(member) | {
        "look": look,
        "is_looking": look is not None and look.state in AT_WORK,
        "candidates": candidates(Corpus(member)),
    }
    return render_page(request, "labeling/issue_duplicates.html", context)


def _settle_pair(request: CoderRequest, member: Membership) -> None:
    """Mark one issue of a pair as a duplicate of the other, or say that it is none."""
    study = member.study
    named = [request.POST.get(name, "") for name in ("original", "copy")]
    found = {str(issue.pk): issue for issue in study.issues.filter(pk__in=filter(str.isdecimal, named))}
    if not all(name in found for name in named):
        messages.error(request, "One issue of this pair is no longer in the corpus.")
        return
    original, copy = (found[name] for name in named)
    try:
        if "distinct" in request.POST:
            keep_apart(study=study, issues=(original, copy), by=member)
            done = f"{original.ref} and {copy.ref} are not offered again."
        else:
            corpus.mark_duplicates(study=study, issues=[copy], duplicate_of=original, by=member)
            done = f"{copy.ref} is marked as a duplicate."
    except CorpusError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, done)


@require_POST
def issue_compare(request: CoderRequest, slug: str) -> HttpResponse:
    study, member = get_study_or_404(request.user, slug, role=Role.LEAD)
    look_for_duplicates(study=study, by=member)
    messages.success(request, "A worker compares the issues. Open this page again in a moment.")
    return redirect("labeling:issue-duplicates", study.slug)


@require_POST
def issue_fetch_fix(request: CoderRequest, slug: str, issue_id: int) -> HttpResponse:
    study, member = get_study_or_404(request.user, slug, role=Role.LEAD)
    issue = _issue(study, issue_id)
    try:
        fetch_fix(issue=issue, by=member)
    except CorpusError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "A worker fetches the diff. Open the issue again in a moment.")
    return redirect("labeling:issue-detail", study.slug, issue.pk)


def _mark_duplicate(study: Study, issue: Issue, told: dict[str, Any], member: Membership) -> None:
    named = told["duplicate_of"].strip()
    original = named_issues(study, [named], field="duplicate_of")[0] if named else None
    corpus.mark_duplicates(
        study=study, issues=[issue], duplicate_of=original, reason=told["reason"], by=member
    )


def _show_error(form: BaseForm, error: CorpusError | InvalidInputError) -> None:
    if isinstance(error, CorpusError):
        form.add_error(None, error.message)
        return
    for field, sentences in error.errors.items():
        form.add_error(field if field in form.fields else None, sentences)


def rule_edit(request: CoderRequest, slug: str) -> HttpResponse:
    """Show the list with what each line takes away; every button but Save only changes what is shown."""
    study, member = get_study_or_404(request.user, slug, role=Role.LEAD)
    action = request.POST.get("action", "")
    rules, problems = RuleList.of_rules(corpus.current_rules(study)), []
    if request.method == "POST":
        rules = RuleList.from_post(request.POST)
        rules.act(action)
    if action == "save":
        try:
            version = corpus.set_rules(study=study, rules=rules.as_rules(), by=member)
        except InvalidInputError as error:
            problems = rules.show_errors(error.errors)
        else:
            messages.success(request, f"Version {version} of the rules is in force.")
            return redirect("labeling:rule-edit", study.slug)
    steps = corpus.funnel(study)
    rules.count(steps)
    context = _frame(member) | {
        "rules": rules,
        "problems": problems,
        "criteria": criteria(),
        "steps": steps,
        "version": corpus.current_version(study),
        "is_changed": request.method == "POST",
    }
    status = 422 if problems or rules.has_errors else 200
    return render_page(
        request, "labeling/rule_edit.html", context, partial="labeling/_rules.html", status=status
    )


urlpatterns: list[URLPattern] = [
    path("studies/<slug:slug>/corpus/", issue_list, name="issue-list"),
    path("studies/<slug:slug>/corpus/facets/", issue_facets, name="issue-facets"),
    path("studies/<slug:slug>/corpus/eligibility/", issue_eligibility, name="issue-eligibility"),
    path("studies/<slug:slug>/corpus/duplicates/", issue_duplicates, name="issue-duplicates"),
    path("studies/<slug:slug>/corpus/duplicates/compare/", issue_compare, name="issue-compare"),
    path("studies/<slug:slug>/corpus/<int:issue_id>/", issue_detail, name="issue-detail"),
    path("studies/<slug:slug>/corpus/<int:issue_id>/duplicate/", issue_duplicate, name="issue-duplicate"),
    path("studies/<slug:slug>/corpus/<int:issue_id>/changes/", issue_changes, name="issue-changes"),
    path("studies/<slug:slug>/corpus/<int:issue_id>/redact/", issue_redact, name="issue-redact"),
    path("studies/<slug:slug>/corpus/<int:issue_id>/fix/", issue_fetch_fix, name="issue-fetch-fix"),
    path("studies/<slug:slug>/rules/", rule_edit, name="rule-edit"),
]
