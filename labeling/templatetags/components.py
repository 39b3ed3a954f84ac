"""Components that compute: what a template cannot work out from its context."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Any

from django import forms, template
from django.core.paginator import Page
from django.forms import BaseForm, BoundField
from django.template import RequestContext
from django.template.defaultfilters import date as format_date
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from labeling import marks
from labeling.charts.interval import Interval
from labeling.models import Membership, Study
from labeling.models.study import CODING_ROLES, Role

register = template.Library()

DAY = "j M Y"
MINUTE = "j M Y, H:i"


@register.simple_tag
def icon(name: str) -> SafeString:
    """Draw one symbol of icons.svg; it is decoration, so the text beside it must say the same."""
    return format_html(
        '<svg class="icon" aria-hidden="true"><use href="{}#{}"/></svg>', static("icons.svg"), name
    )


# Numbers ------------------------------------------------------------------------------------------


@register.filter
def two_decimals(value: float | Decimal | None) -> str:
    """Two decimals with a typographic minus; a missing value is said to be undefined, never 0."""
    if value is None:
        return "undefined"
    rounded = Decimal(str(value)).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
    sign = "\N{MINUS SIGN}" if rounded < 0 else ""
    return f"{sign}{abs(rounded):,}"


@register.filter
def signed_two(value: float | Decimal | None) -> str:
    """Two decimals of a difference: what is above 0 has a plus."""
    text = two_decimals(value)
    return f"+{text}" if value is not None and text != "0.00" and value > 0 else text


@register.filter
def limits(interval: Interval) -> str:
    """The limits of a coefficient; none where every resample gives the same value."""
    if interval.low is None or interval.high is None:
        return "none"
    return f"{two_decimals(interval.low)} to {two_decimals(interval.high)}"


@register.filter
def p_value(value: float | None) -> str:
    """Three decimals, because two cannot tell .05 from .046; what is smaller is said to be."""
    if value is None:
        return "undefined"
    return "<\N{NO-BREAK SPACE}0.001" if value < 0.001 else f"{value:.3f}"


@register.filter
def percent_two(count: float | None, total: int) -> str:
    """``count`` of ``total`` as a percentage; of nothing, or of what is missing, there is no share."""
    if count is None or not total:
        return "undefined"
    return f"{two_decimals(Decimal(count) * 100 / Decimal(total))}%"


@register.filter
def grouped(value: int) -> str:
    """12480 as 12,480."""
    return f"{value:,}"


# Names and dates ----------------------------------------------------------------------------------


@register.filter
def initials(name: object) -> str:
    """Two letters for the avatar: of two words their first letters, of one its first two."""
    words = str(name).split()
    if not words:
        return "?"
    letters = words[0][0] + words[-1][0] if len(words) > 1 else words[0][:2]
    return letters.upper()


@register.simple_tag
def local_time(value: datetime | date | None, pattern: str = "") -> str:
    """Print a moment in the reader's zone, with UTC in ``datetime`` and title; a bare date is a UTC day."""
    if value is None:
        return ""
    if not isinstance(value, datetime):
        return format_html(
            '<time datetime="{}">{}</time>', value.isoformat(), format_date(value, pattern or DAY)
        )
    utc = value.astimezone(UTC).replace(tzinfo=None)
    local = timezone.localtime(value)
    is_day = pattern == DAY
    text = _day(local.date()) if is_day else format_date(local, pattern or MINUTE)
    return mark_safe(  # noqa: S308 - numbers and names of months; lists have one in every row
        f'<time datetime="{utc.isoformat(timespec="seconds")}Z" title="{utc.isoformat(" ", "minutes")} UTC"'
        f' data-local="{"day" if is_day else "minute"}">{text}</time>'
    )


@lru_cache(maxsize=4096)
def _day(day: date) -> str:
    """Write a day in words; a list has one in every row, and there are few days."""
    return format_date(day, DAY)


@register.simple_tag
def local_date(value: datetime | date | None) -> str:
    """As ``local_time``, the day alone."""
    return local_time(value, DAY)


# Dimensions ---------------------------------------------------------------------------------------


register.filter(marks.dimension_index)
register.simple_tag(marks.mark_dimensions)


@register.filter
def of_key(mapping: dict[str, Any], key: str) -> Any:  # a template cannot look up a variable key
    """Look ``key`` up, e.g. ``marks|of_key:dimension.key``; None where it is unknown."""
    return mapping.get(key)


# Issues -------------------------------------------------------------------------------------------

ISSUE_FIELDS = {"github_labels": "GitHub labels", "maintainer_comments": "comments of maintainers"}


@register.filter
def issue_field(name: str) -> str:
    """Name a field of an issue in words, as where a round hides it."""
    return ISSUE_FIELDS.get(name, name.replace("_", " "))


@register.filter
def has_images(issue: Mapping[str, Any]) -> bool:
    """Whether a text of the issue holds images, which are loaded only when asked for."""
    comments = issue.get("every_comment", issue["comments"])
    texts = [issue["body"]["html"], *(comment["html"] for comment in comments)]
    return any("image-placeholder" in text for text in texts)


# Kappa --------------------------------------------------------------------------------------------

KAPPA_HEIGHT = 28


@register.inclusion_tag("components/kappa_interval.html")
def kappa_interval(
    name: str,
    value: float | None,
    low: float | None = None,
    high: float | None = None,
    target: float | None = None,
) -> dict[str, Any]:
    """Draw a coefficient with its 95% interval on a scale from 0 to 1; what is below 0 ends in an arrow."""
    has_interval = low is not None and high is not None
    parts = [f"{name}: {two_decimals(value)}"]
    if has_interval:
        parts.append(f"95% interval {two_decimals(low)} to {two_decimals(high)}")
    return {
        "label": ", ".join(parts),
        "value": _on_scale(value),
        "low": _on_scale(low) if has_interval else None,
        "high": _on_scale(high) if has_interval else None,
        "goes_below": low is not None and low < 0,
        "is_below": value is not None and value < 0,
        "target": _on_scale(target),
        "height": KAPPA_HEIGHT,
    }


def _on_scale(value: float | None) -> str | None:
    """Position in the drawing's 0 to 100 user space, in a notation that no locale changes."""
    return None if value is None else f"{min(max(value, 0.0), 1.0) * 100:.1f}"


# Forms --------------------------------------------------------------------------------------------

WIDGET_CLASSES = ((forms.Textarea, "textarea"), (forms.Select, "select"))


@register.inclusion_tag("components/field.html")
def field(bound: BoundField, look: str = "", extra_class: str = "") -> dict[str, Any]:
    """One form field with label, help and errors tied to it.

    ``look``: "segmented" for a short choice, "dropzone" for a file; otherwise the widget decides.
    """
    widget = bound.field.widget
    described_by = _described_by(bound)
    attrs: dict[str, Any] = {"aria-describedby": described_by} if described_by else {}
    if bound.errors:
        attrs["aria-invalid"] = "true"
    is_choice = isinstance(widget, forms.RadioSelect | forms.CheckboxSelectMultiple)
    is_check = isinstance(widget, forms.CheckboxInput)
    if not is_choice and not is_check and look != "dropzone":
        attrs["class"] = " ".join(filter(None, (_widget_class(widget), extra_class)))
    return {
        "field": bound,
        "look": look or ("options" if is_choice else "check" if is_check else "line"),
        "control": "" if is_choice else bound.as_widget(attrs=attrs),
        "options": list(bound) if is_choice else [],
        "described_by": described_by,
        "is_optional": not bound.field.required and not is_check,
    }


def _described_by(bound: BoundField) -> str:
    ids = []
    if bound.help_text:
        ids.append(f"{bound.auto_id}_hint")
    if bound.errors:
        ids.append(f"{bound.auto_id}_error")
    return " ".join(ids)


def _widget_class(widget: forms.Widget) -> str:
    return next((name for kind, name in WIDGET_CLASSES if isinstance(widget, kind)), "input")


@register.inclusion_tag("components/form_errors.html")
def form_errors(form: BaseForm) -> dict[str, Any]:
    """Say at the top of a form what was wrong with it as a whole, and link to the fields with errors."""
    return {
        "general": form.non_field_errors(),
        "fields": [bound for bound in form.visible_fields() if bound.errors],
        "hidden": [bound for bound in form.hidden_fields() if bound.errors],
    }


# Lists --------------------------------------------------------------------------------------------


@register.inclusion_tag("components/pagination.html", takes_context=True)
def pagination(context: RequestContext, page: Page[Any], noun: str = "rows") -> dict[str, Any]:
    """Where the reader stands in a list and the way on; the other query parameters stay."""
    return {
        "page": page,
        "noun": noun,
        "previous": _query(context, page=page.previous_page_number()) if page.has_previous() else None,
        "next": _query(context, page=page.next_page_number()) if page.has_next() else None,
    }


@register.inclusion_tag("components/sort_header.html", takes_context=True)
def sort_header(context: RequestContext, label: str, name: str, css_class: str = "") -> dict[str, Any]:
    """Head a column that sorts by ``name`` through ``?ordering=``, and turns round when chosen again."""
    current = _parameters(context).get("ordering", "")
    direction = {name: "ascending", f"-{name}": "descending"}.get(current, "")
    wanted = f"-{name}" if direction == "ascending" else name
    return {
        "label": label,
        "css_class": css_class,
        "direction": direction,
        "href": _query(context, ordering=wanted, page=None),
    }


@register.simple_tag(takes_context=True)
def query(context: RequestContext, **changes: str | None) -> str:
    """Change parameters of this address, or leave out those that are None: ``{% query raw="" %}``."""
    return _query(context, **changes)


def _parameters(context: RequestContext) -> Any:
    return context.request.GET


def _query(context: RequestContext, **changes: str | int | None) -> str:
    parameters = _parameters(context).copy()
    for name, value in changes.items():
        parameters.pop(name, None)
        if value is not None:
            parameters[name] = str(value)
    return f"?{parameters.urlencode()}"


# Navigation ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """One entry of the study navigation and the roles that may go there."""

    key: str
    label: str
    url_name: str
    roles: tuple[str, ...] = tuple(Role.values)


PLACES = (
    Place("dashboard", "Dashboard", "labeling:study-detail"),
    Place("corpus", "Corpus", "labeling:issue-list", (Role.LEAD,)),
    Place("codebook", "Codebook", "labeling:codebook-detail"),
    Place("sample", "Sample", "labeling:sample-list", (Role.LEAD,)),
    Place("rounds", "Rounds", "labeling:round-list"),
    Place("coding", "Coding", "labeling:coding-home", CODING_ROLES),
    Place("reconciliation", "Reconciliation", "labeling:reconciliation-home"),
    Place("agreement", "Agreement", "labeling:agreement-home"),
    Place("results", "Results", "labeling:export-list"),
)


@register.inclusion_tag("components/study_nav.html")
def study_nav(study: Study, membership: Membership | None, current: str = "") -> dict[str, Any]:
    """List the places of a study that the member's role reaches."""
    places = [place for place in PLACES if membership is not None and _reaches(study, membership, place)]
    return {"study": study, "places": places, "current": current}


def _reaches(study: Study, membership: Membership, place: Place) -> bool:
    sees_corpus = study.coders_see_corpus and membership.role in CODING_ROLES
    return membership.role in place.roles or (place.key == "corpus" and sees_corpus)
