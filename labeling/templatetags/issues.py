"""A row of the corpus. A list has fifty of them, and a template takes ten times as long for each."""

from collections.abc import Container, Iterable
from html import escape

from django import template
from django.utils.safestring import SafeString, mark_safe

from labeling.selectors.corpus import ListedIssue
from labeling.templatetags.components import icon, local_date

register = template.Library()

_GONE = ' <span class="pill">gone</span>'


@register.simple_tag
def issue_row(
    issue: ListedIssue, corpus_url: str, may_choose: bool, ticked: Container[str] = ()
) -> SafeString:
    """Write one issue of the list; what a round hides has a lock in its place."""
    name, state = escape(issue.ref), _hidden() if issue.state is None else escape(issue.state)
    fix = _hidden() if issue.has_fix is None else "merged" if issue.has_fix else ""
    labels = _hidden() if issue.github_labels is None else _labels(issue.github_labels)
    use = "coded" if issue.coded else "sampled" if issue.sampled else ""
    return mark_safe(  # noqa: S308 - what comes from an issue is escaped, here and below
        f"<tr>{_choice(issue.id, name, ticked) if may_choose else ''}"
        f'<th scope="row" class="nowrap"><a href="{escape(corpus_url)}{issue.id}/">{name}</a>'
        f"{_GONE if issue.gone else ''}</th>"
        f'<td class="issue-title">{escape(issue.title) or "Without title"}</td><td>{state}</td>'
        f'<td>{labels}</td><td>{fix}</td><td class="nowrap">{local_date(issue.created_at)}</td>'
        f"<td>{_eligible(issue)}</td><td>{use}</td></tr>"
    )


def _choice(issue_id: int, name: str, ticked: Container[str]) -> str:
    checked = " checked" if str(issue_id) in ticked else ""
    box = f'<input type="checkbox" name="issues" value="{issue_id}" aria-label="Choose {name}"{checked}>'
    return f"<td>{box}</td>"


def _hidden() -> str:
    return f'{icon("lock")}<span class="visually-hidden">hidden</span>'


def _labels(labels: Iterable[str]) -> str:
    return " ".join(f'<span class="gh-label">{escape(label)}</span>' for label in labels)


def _eligible(issue: ListedIssue) -> str:
    if not issue.eligible:
        return f'<span class="pill">no</span> <span class="muted">{escape(issue.because)}</span>'
    by_hand = ' <span class="muted">by hand</span>' if issue.override else ""
    return f'<span class="pill pill--good">yes</span>{by_hand}'
