"""A row of the corpus. A list has fifty of them, and a template takes ten times as long for each."""

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from labeling.selectors.corpus import ListedIssue
from labeling.templatetags.components import icon, local_date

register = template.Library()

_NOTHING = mark_safe("")
_GONE = mark_safe(' <span class="pill">gone</span>')
_BY_HAND = mark_safe(' <span class="muted">by hand</span>')
_ROW = (
    '<tr>{}<th scope="row" class="nowrap"><a href="{}{}/">{}</a>{}</th>'
    '<td class="issue-title">{}</td><td>{}</td><td>{}</td><td>{}</td><td class="nowrap">{}</td>'
    "<td>{}</td><td>{}</td></tr>"
)
_CHOICE = '<td><input type="checkbox" name="issues" value="{}" aria-label="Choose {}"></td>'


@register.simple_tag
def issue_row(issue: ListedIssue, corpus_url: str, may_choose: bool) -> SafeString:
    """Write one issue of the list; what a round hides has a lock in its place."""
    return format_html(
        _ROW,
        format_html(_CHOICE, issue.id, issue.ref) if may_choose else _NOTHING,
        corpus_url,
        issue.id,
        issue.ref,
        _GONE if issue.gone else _NOTHING,
        issue.title or "Without title",
        _hidden() if issue.state is None else issue.state,
        _labels(issue.github_labels),
        _hidden() if issue.has_fix is None else "merged" if issue.has_fix else "",
        local_date(issue.created_at),
        _eligible(issue),
        "coded" if issue.coded else "sampled" if issue.sampled else "",
    )


def _hidden() -> SafeString:
    return format_html('{}<span class="visually-hidden">hidden</span>', icon("lock"))


def _labels(labels: list[str] | None) -> SafeString:
    if labels is None:
        return _hidden()
    return format_html_join(" ", '<span class="gh-label">{}</span>', ((label,) for label in labels))


def _eligible(issue: ListedIssue) -> SafeString:
    if issue.eligible:
        by_hand = _BY_HAND if issue.override else _NOTHING
        return format_html('<span class="pill pill--good">yes</span>{}', by_hand)
    return format_html('<span class="pill">no</span> <span class="muted">{}</span>', issue.because)
