"""The corpus: its rules and funnel, its issues, and what a lead decides by hand."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.urls import URLPattern, path
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from labeling.access import get_study_or_404
from labeling.api.base import ApiView
from labeling.api.pagination import CursorPagination
from labeling.api.serializers.corpus import (
    CandidateOutput,
    ChangedOutput,
    DuplicatesInput,
    EligibilityInput,
    IssueDetailOutput,
    IssueOutput,
    IssueQuery,
    RedactInput,
    RulesInput,
    RulesOutput,
)
from labeling.api.views.studies import job_data
from labeling.errors import StaleVersionError
from labeling.models import Issue, Membership, Role, Study
from labeling.selectors.corpus import Corpus, named_issues, refuse_browsing
from labeling.selectors.near_duplicates import candidates
from labeling.services import corpus
from labeling.services.fetching import fetch_fix
from labeling.services.near_duplicates import keep_apart, look_for_duplicates
from labeling.services.redaction import redact_issue


def rules_data(study: Study) -> dict[str, Any]:
    """The rules in order, each with what it takes away, and the funnel they are part of."""
    steps = corpus.funnel(study)
    counts = {step.text: step for step in steps if step.kind == "rule"}
    rules = [
        {**asdict(rule), "text": rule.text, "count": step.count, "removed": step.removed}
        for rule in corpus.current_rules(study)
        for step in (counts[rule.text],)
    ]
    return dict(RulesOutput({"version": corpus.current_version(study), "rules": rules, "funnel": steps}).data)


class RuleList(ApiView):
    @extend_schema(responses=RulesOutput)
    def get(self, request: Request, slug: str) -> Response:
        study, member = get_study_or_404(self.user, slug)
        refuse_browsing(member)
        return Response(rules_data(study))

    @extend_schema(request=RulesInput, responses=RulesOutput)
    def put(self, request: Request, slug: str) -> Response:
        study, lead = get_study_or_404(self.user, slug, role=Role.LEAD)
        body = self.read(RulesInput)
        current = corpus.current_version(study)
        if body.get("version", current) != current:
            raise StaleVersionError(
                f"The rules were changed meanwhile: version {current} is in force. Read it again."
            )
        corpus.set_rules(study=study, rules=body["rules"], by=lead)
        return Response(rules_data(study))


class IssueList(ApiView):
    @extend_schema(parameters=[IssueQuery], responses=IssueOutput(many=True))
    def get(self, request: Request, slug: str) -> Response:
        _, member = get_study_or_404(self.user, slug)
        refuse_browsing(member)
        query = IssueQuery(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        asked = query.validated_data
        seen = Corpus(member)
        page = seen.page(
            seen.matching(query.filters()),
            ordering=asked["ordering"],
            cursor=asked["cursor"],
            size=min(asked["page_size"], CursorPagination.max_page_size),
        )
        return Response(
            {
                "results": IssueOutput(page.issues, many=True).data,
                "next": self._address(page.next),
                "previous": self._address(page.previous),
            }
        )

    def _address(self, cursor: str | None) -> str | None:
        if cursor is None:
            return None
        return replace_query_param(self.request.build_absolute_uri(), "cursor", cursor)


class IssueDetail(ApiView):
    @extend_schema(responses=IssueDetailOutput)
    def get(self, request: Request, slug: str, issue_id: int) -> Response:
        study, member = get_study_or_404(self.user, slug)
        refuse_browsing(member)
        seen = Corpus(member)
        listed = seen.listed(study.issues.filter(pk=issue_id))
        if not listed:
            raise Http404("There is no such issue.")
        issue = study.issues.select_related("latest").get(pk=issue_id)
        return Response(asdict(listed[0]) | detail_data(seen, issue))


class IssueFix(ApiView):
    @extend_schema(request=None, responses={202: dict})
    def post(self, request: Request, slug: str, issue_id: int) -> Response:
        study, lead = get_study_or_404(self.user, slug, role=Role.LEAD)
        issue = study.issues.select_related("latest").filter(pk=issue_id).first()
        if issue is None:
            raise Http404("There is no such issue.")
        job = fetch_fix(issue=issue, by=lead)
        return Response(job_data(job), status=202, headers={"Location": f"/api/v1/jobs/{job.pk}/"})


class IssueRedact(ApiView):
    """Take texts, authors and quotes of an issue out for good."""

    @extend_schema(request=RedactInput, responses=IssueDetailOutput)
    def post(self, request: Request, slug: str, issue_id: int) -> Response:
        study, lead = get_study_or_404(self.user, slug, role=Role.LEAD)
        issue = study.issues.select_related("study").filter(pk=issue_id).first()
        if issue is None:
            raise Http404("There is no such issue.")
        redact_issue(issue=issue, reason=self.read(RedactInput)["reason"], by=lead)
        seen = Corpus(lead)
        issue = study.issues.select_related("latest").get(pk=issue_id)
        listed = seen.listed(study.issues.filter(pk=issue_id))
        return Response(asdict(listed[0]) | detail_data(seen, issue))


def detail_data(seen: Corpus, issue: Issue) -> dict[str, Any]:
    """Give the texts of an issue, those of the pin where there is one."""
    view = seen.shown(issue)
    documents = seen.documents(issue, view["masked"])
    texts = {document["key"]: document["text"] for document in documents}
    shown = (
        "title",
        "state",
        "state_reason",
        "timeline",
        "content_hash",
        "fetched_at",
        "changed_since",
    )
    return {name: view[name] for name in shown} | {
        "body": texts.get("body", ""),
        "comments": [_comment(told, texts) for told in view["comments"]],
        "fixes": [_fix(told, texts) for told in view["fixes"]],
        "documents": documents,
    }


def _comment(told: Mapping[str, Any], texts: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("document", "author", "association", "created_at", "is_bot")
    return {name: told[name] for name in kept} | {"body": texts.get(told["document"], "")}


def _fix(told: Mapping[str, Any], texts: Mapping[str, Any]) -> dict[str, Any]:
    kept = (
        "kind",
        "evidence",
        "title",
        "url",
        "number",
        "sha",
        "state",
        "merged_at",
        "additions",
        "deletions",
    )
    files = [
        {name: file[name] for name in ("path", "status", "additions", "deletions", "note")}
        | {"document": file["document"], "patch": texts.get(file["document"])}
        for file in told["files"]
    ]
    return {name: told[name] for name in kept} | {"message": texts.get(told["document"], ""), "files": files}


def changed_data(member: Membership, issues: "QuerySet[Issue]") -> dict[str, Any]:
    return {"issues": IssueOutput(Corpus(member).listed(issues), many=True).data}


class IssueEligibility(ApiView):
    @extend_schema(request=EligibilityInput, responses=ChangedOutput)
    def post(self, request: Request, slug: str) -> Response:
        study, lead = get_study_or_404(self.user, slug, role=Role.LEAD)
        body = self.read(EligibilityInput)
        issues = named_issues(study, body["issues"])
        corpus.override(study=study, issues=issues, eligible=body["eligible"], reason=body["reason"], by=lead)
        return Response(changed_data(lead, study.issues.filter(pk__in=[issue.pk for issue in issues])))


class IssueDuplicates(ApiView):
    @extend_schema(responses=CandidateOutput(many=True))
    def get(self, request: Request, slug: str) -> Response:
        _, lead = get_study_or_404(self.user, slug, role=Role.LEAD)
        return Response(CandidateOutput(candidates(Corpus(lead)), many=True).data)

    @extend_schema(request=DuplicatesInput, responses=ChangedOutput)
    def post(self, request: Request, slug: str) -> Response:
        study, lead = get_study_or_404(self.user, slug, role=Role.LEAD)
        body = self.read(DuplicatesInput)
        issues = named_issues(study, body["issues"])
        if body["distinct"]:
            keep_apart(study=study, issues=issues, by=lead)
        else:
            named = body["duplicate_of"]
            original = named_issues(study, [named], field="duplicate_of")[0] if named is not None else None
            corpus.mark_duplicates(
                study=study, issues=issues, duplicate_of=original, reason=body["reason"], by=lead
            )
        return Response(changed_data(lead, study.issues.filter(pk__in=[issue.pk for issue in issues])))


class IssueCompare(ApiView):
    """Let a worker look for near-duplicates."""

    @extend_schema(request=None, responses={202: dict})
    def post(self, request: Request, slug: str) -> Response:
        study, lead = get_study_or_404(self.user, slug, role=Role.LEAD)
        job = look_for_duplicates(study=study, by=lead)
        return Response(job_data(job), status=202, headers={"Location": f"/api/v1/jobs/{job.pk}/"})


urlpatterns: list[URLPattern] = [
    path("studies/<slug:slug>/rules/", RuleList.as_view(), name="rule-list"),
    path("studies/<slug:slug>/issues/", IssueList.as_view(), name="issue-list"),
    path("studies/<slug:slug>/issues/eligibility/", IssueEligibility.as_view(), name="issue-eligibility"),
    path("studies/<slug:slug>/issues/duplicates/", IssueDuplicates.as_view(), name="issue-duplicates"),
    path("studies/<slug:slug>/issues/duplicates/compare/", IssueCompare.as_view(), name="issue-compare"),
    path("studies/<slug:slug>/issues/<int:issue_id>/", IssueDetail.as_view(), name="issue-detail"),
    path("studies/<slug:slug>/issues/<int:issue_id>/redact/", IssueRedact.as_view(), name="issue-redact"),
    path("studies/<slug:slug>/issues/<int:issue_id>/fetch_fix/", IssueFix.as_view(), name="issue-fetch-fix"),
]
