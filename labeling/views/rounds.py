"""Rounds: the list, a new one, one round in each of its states, and the steps between them."""

from collections.abc import Callable
from typing import Any, cast, get_args
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import HttpResponseClientRefresh

from annotator.http import CoderRequest, render_page
from labeling.access import get_round_or_404, get_study_or_404
from labeling.errors import InvalidInputError, StudyRuleError
from labeling.forms.coding import coding_form
from labeling.forms.errors import add_errors
from labeling.forms.rounds import (
    CloseForm,
    MoreCodersForm,
    MoreUnitsForm,
    OpenForm,
    RedealForm,
    ReopenForm,
    RoundCreateForm,
    RoundSettingsForm,
)
from labeling.models import (
    Assignment,
    Category,
    CategoryProposal,
    Membership,
    Role,
    Round,
    RoundUnit,
    Study,
)
from labeling.selectors.coding import own_assignments
from labeling.selectors.dashboard import round_rows
from labeling.selectors.frozen import frozen_round
from labeling.selectors.known_answers import Matches, given_count, matches_in
from labeling.selectors.masks import Masks
from labeling.selectors.planning import preview_units
from labeling.selectors.progress import round_progress
from labeling.selectors.proposals import readable_proposals
from labeling.selectors.round_units import known_units, listed_round_units, next_units
from labeling.selectors.settled import settled_shares
from labeling.services import codebooks, rounds
from labeling.services.agreement import mark_read
from labeling.services.dealing import plan_units
from labeling.services.proposals import Act, resolve_proposal

UNITS_PER_PAGE = 50
NOTHING_SAID: dict[str, Any] = {
    "stage": 0,
    "annotations": {},
    "memo": "",
    "confidence": "",
    "exclude": None,
}


def round_list(request: CoderRequest, slug: str) -> HttpResponse:
    study, member = get_study_or_404(request.user, slug)
    context = _frame(study, member) | {
        "rows": round_rows(member),
        "has_source": member.is_lead and study.samples.exists(),
    }
    return render_page(request, "labeling/round_list.html", context)


def _frame(study: Study, member: Membership) -> dict[str, Any]:
    return {"study": study, "membership": member, "nav": "rounds"}


def round_create(request: CoderRequest, slug: str) -> HttpResponse:
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    form = RoundCreateForm(
        request.POST or None,
        study=study,
        codebook=codebooks.draft_or_current(study),
        samples=study.samples.defer("frame").order_by("-pk"),
        closed=study.rounds.filter(state__in=Round.UNBLINDED, discarded_at__isnull=True)
        .exclude(kind=Round.Kind.TRAINING)
        .order_by("-number"),
    )
    if form.is_valid():
        try:
            made = rounds.create_round(
                study=study, by=lead, kind=form.cleaned_data["kind"], **_units_of(form), **form.settings()
            )
        except InvalidInputError as error:
            add_errors(form, error)
        else:
            return redirect(made)
    context = _frame(study, lead) | {"form": form}
    return render_page(request, "labeling/round_create.html", context, status=422 if form.errors else 200)


def _units_of(form: RoundCreateForm) -> dict[str, Any]:
    """What the round codes, as arguments of ``create_round``."""
    sample, based_on, size = form.sample, form.based_on, form.cleaned_data["size"]
    if sample is not None and size:
        return {"sample": sample, "units": next_units(sample, size, form.cleaned_data["kind"])}
    if sample is not None:
        return {"sample": sample}
    if based_on is not None and size:
        count = based_on.round_units.filter(left_out=False).count()
        # Half a unit less: the service rounds the share of the units up.
        return {"based_on": based_on, "share": min(1.0, (size - 0.5) / max(count, 1))}
    return {"based_on": based_on}


def round_edit(request: CoderRequest, slug: str, number: int) -> HttpResponse:
    coding_round, lead = get_round_or_404(request.user, slug, number, role=Role.LEAD)
    codebook = coding_round.codebook or codebooks.draft_or_current(coding_round.study)
    form = RoundSettingsForm.of_round(coding_round, request.POST or None, codebook=codebook)
    if form.is_valid():
        try:
            rounds.update_round(coding_round=coding_round, by=lead, **form.settings())
        except InvalidInputError as error:
            add_errors(form, error)
        except StudyRuleError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, f"The settings of {coding_round} were saved.")
            return redirect(coding_round)
    context = _frame(coding_round.study, lead) | {"coding_round": coding_round, "form": form}
    return render_page(request, "labeling/round_edit.html", context, status=422 if form.errors else 200)


# One round ----------------------------------------------------------------------------------------


def round_detail(request: CoderRequest, slug: str, number: int) -> HttpResponse:
    coding_round, member = get_round_or_404(request.user, slug, number)
    if request.htmx and coding_round.state != Round.State.OPEN:
        # The progress that asks again belongs to a round that is not open any more: show what it became.
        return HttpResponseClientRefresh()
    return _round_page(request, coding_round, member)


def _round_page(
    request: CoderRequest,
    coding_round: Round,
    member: Membership,
    *,
    status: int = 200,
    **extra: Any,
) -> HttpResponse:
    context = _frame(coding_round.study, member) | {
        "coding_round": coding_round,
        "coders": coding_round.coders.select_related("user"),
        "own_units": own_assignments(member, coding_round).count(),
        "unit_count": coding_round.round_units.filter(left_out=False).count(),
        **_of_state(coding_round, member),
        **_unit_table(request, coding_round, member),
        **extra,
    }
    return render_page(
        request,
        "labeling/round_detail.html",
        context,
        partial="labeling/_round_progress.html" if coding_round.state == Round.State.OPEN else None,
        status=status,
    )


def _of_state(coding_round: Round, member: Membership) -> dict[str, Any]:
    """What the page shows of a round in this state, and to a lead the forms that lead out of it."""
    if coding_round.state == Round.State.DRAFT:
        return {
            "workload": rounds.workload(coding_round, member),
            "open_form": _open_form(coding_round),
            "known_answers": _known_answers(coding_round),
            "units_form": MoreUnitsForm(coding_round=coding_round),
        }
    if coding_round.state == Round.State.OPEN:
        return {
            "shown": round_progress(coding_round, member),
            "barred": rounds.barred(coding_round) if member.is_lead else None,
            "close_form": CloseForm(),
            "redeal_form": RedealForm(coders=list(coding_round.coders.select_related("user"))),
            "units_form": MoreUnitsForm(coding_round=coding_round),
            "coders_form": MoreCodersForm(coding_round=coding_round),
        }
    return {
        "reopen_form": ReopenForm(),
        "undecided_proposals": _undecided_proposals(coding_round, member),
        "shares": settled_shares(coding_round),
        "matches": _matches(coding_round),
    }


def _open_form(coding_round: Round, data: Any = None) -> OpenForm:
    """Offer the draft and the newest frozen version; known answers have tied the round to theirs."""
    if coding_round.codebook is not None:
        return OpenForm(data, draft=None, frozen=coding_round.codebook)
    newest = codebooks.draft_or_current(coding_round.study)
    draft = newest if newest is not None and newest.frozen_at is None else None
    return OpenForm(data, draft=draft, frozen=codebooks.current(coding_round.study))


def _known_answers(coding_round: Round) -> int | None:
    """Of a training round: how many of its units have a known answer."""
    if coding_round.kind != Round.Kind.TRAINING:
        return None
    return given_count(coding_round)


def _matches(coding_round: Round) -> list[Matches] | None:
    """Of a training, which is not reconciled: how many answers were the known ones."""
    if coding_round.kind != Round.Kind.TRAINING:
        return None
    return matches_in(frozen_round(coding_round))


def _undecided_proposals(coding_round: Round, member: Membership) -> int:
    if not member.is_lead:
        return 0
    return coding_round.proposals.filter(state=CategoryProposal.State.PROPOSED).count()


def _unit_table(request: CoderRequest, coding_round: Round, member: Membership) -> dict[str, Any]:
    """A page of the units. While a round is open its coders have their queue, and others know of no unit."""
    if coding_round.state == Round.State.OPEN and not member.is_lead:
        return {}
    order = Masks(member).unit_order
    rows = known_units(coding_round, member).select_related("unit").order_by(f"unit__{order}")
    page = Paginator(rows, UNITS_PER_PAGE).get_page(request.GET.get("page"))
    units = listed_round_units(coding_round, member, list(page))
    has_strata = any(unit.stratum != "" for unit in units)
    return {"page": page, "units": units, "has_strata": has_strata}


@require_GET
def round_preview(request: CoderRequest, slug: str, number: int) -> HttpResponse:
    """One of three units as a coder would see it; nothing is stored."""
    coding_round, lead = get_round_or_404(request.user, slug, number, role=Role.LEAD)
    shown = preview_units(coding_round, lead)
    if not shown:
        messages.info(request, "The round has no units to preview yet.")
        return redirect(coding_round)
    asked = request.GET.get("unit", "1")
    place = min(max(int(asked), 1), len(shown)) if asked.isdecimal() else 1
    if coding_round.codebook is None:
        coding_round.codebook = codebooks.draft_or_current(coding_round.study)
    unsaved = Assignment(coder=lead, round_unit=RoundUnit(round=coding_round))
    context = _frame(coding_round.study, lead) | {
        "coding_round": coding_round,
        "issue": shown[place - 1],
        "form": coding_form(unsaved, NOTHING_SAID),
        "place": place,
        "total": len(shown),
    }
    return render_page(request, "labeling/round_preview.html", context)


def round_proposals(request: CoderRequest, slug: str, number: int) -> HttpResponse:
    """Categories that coders proposed, for a lead to settle; reconciliation opens with the last one."""
    coding_round, lead = get_round_or_404(request.user, slug, number, role=Role.LEAD)
    if not coding_round.is_unblinded:
        messages.info(request, "Proposed categories are shown when the round is closed.")
        return redirect(coding_round)
    return _proposals_page(request, coding_round, lead)


def _proposals_page(
    request: CoderRequest, coding_round: Round, lead: Membership, *, status: int = 200, **extra: Any
) -> HttpResponse:
    proposed = list(readable_proposals(coding_round, lead).order_by("dimension__order", "name"))
    if proposed:
        # A proposal is an answer of its coder.
        mark_read(coding_round, lead)
    context = _frame(coding_round.study, lead) | {
        "coding_round": coding_round,
        "rows": [(each, _mappable(each)) for each in proposed],
        **extra,
    }
    return render_page(request, "labeling/round_proposals.html", context, status=status)


def _mappable(proposal: CategoryProposal) -> list[Category]:
    """Categories of the round's version that a proposal may count as: headings are no answer."""
    if proposal.state != CategoryProposal.State.PROPOSED:
        return []
    categories = proposal.dimension.categories.filter(archived=False)
    return list(
        categories if proposal.dimension.parents_selectable else categories.filter(children__isnull=True)
    )


@require_POST
def round_proposal(request: CoderRequest, slug: str, number: int, proposal_id: UUID) -> HttpResponse:
    coding_round, lead = get_round_or_404(request.user, slug, number, role=Role.LEAD)
    proposal = readable_proposals(coding_round, lead).filter(pk=proposal_id).first()
    act = request.POST.get("act", "")
    if proposal is None or act not in get_args(Act):
        raise Http404("There is no such proposal.")
    try:
        settled = resolve_proposal(
            proposal=proposal, act=cast("Act", act), by=lead, map_to=request.POST.get("map_to", "")
        )
    except (StudyRuleError, InvalidInputError) as error:
        status = 409 if isinstance(error, StudyRuleError) else 422
        return _proposals_page(request, coding_round, lead, status=status, refusal=error)
    messages.success(request, f"{settled.name} was {settled.get_state_display().lower()}.")
    return redirect("labeling:round-proposals", slug, number)


# Steps --------------------------------------------------------------------------------------------

Step = Callable[[Round, Membership], HttpResponse]


def _step(request: CoderRequest, slug: str, number: int, step: Step) -> HttpResponse:
    """Take a step; if a rule forbids it, the page of the round says so and lists what is in the way."""
    coding_round, lead = get_round_or_404(request.user, slug, number, role=Role.LEAD)
    try:
        return step(coding_round, lead)
    except (StudyRuleError, InvalidInputError) as error:
        fresh, _ = get_round_or_404(request.user, slug, number)
        status = 409 if isinstance(error, StudyRuleError) else 422
        return _round_page(request, fresh, lead, status=status, refusal=error)


@require_POST
def round_open(request: CoderRequest, slug: str, number: int) -> HttpResponse:
    def step(coding_round: Round, lead: Membership) -> HttpResponse:
        form = _open_form(coding_round, request.POST)
        opened = rounds.open_round(
            coding_round=coding_round, by=lead, **(form.options() if form.is_valid() else {})
        )
        messages.success(request, f"{opened} is open. Its coders find their units under Coding.")
        return redirect(opened)

    return _step(request, slug, number, step)


@require_POST
def round_close(request: CoderRequest, slug: str, number: int) -> HttpResponse:
    def step(coding_round: Round, lead: Membership) -> HttpResponse:
        form = CloseForm(request.POST)
        missing = form.cleaned_data["missing"] if form.is_valid() else Round.Missing.REFUSE
        closed = rounds.close_round(coding_round=coding_round, by=lead, missing=missing)
        messages.success(request, f"{closed} is closed. Its agreement is computed from what was submitted.")
        return redirect(closed)

    return _step(request, slug, number, step)


@require_POST
def round_reopen(request: CoderRequest, slug: str, number: int) -> HttpResponse:
    def step(coding_round: Round, lead: Membership) -> HttpResponse:
        form = ReopenForm(request.POST)
        reason = form.cleaned_data["reason"] if form.is_valid() else ""
        result = rounds.reopen_round(coding_round=coding_round, reason=reason, by=lead)
        if result.pk == coding_round.pk:
            messages.success(request, f"{result} is open again.")
        else:
            messages.success(
                request,
                f"{coding_round} was read already, so it stays as it is. {result} asks its units again: look "
                "it over and open it.",
            )
        return redirect(result)

    return _step(request, slug, number, step)


@require_POST
def round_finish(request: CoderRequest, slug: str, number: int) -> HttpResponse:
    def step(coding_round: Round, lead: Membership) -> HttpResponse:
        finished = rounds.finish_round(coding_round=coding_round, by=lead)
        messages.success(request, f"{finished} is done. Its decisions are final.")
        return redirect(finished)

    return _step(request, slug, number, step)


@require_POST
def round_discard(request: CoderRequest, slug: str, number: int) -> HttpResponse:
    def step(coding_round: Round, lead: Membership) -> HttpResponse:
        discarded = rounds.discard(coding_round=coding_round, by=lead)
        messages.success(request, f"{discarded} was discarded.")
        return redirect("labeling:round-list", slug)

    return _step(request, slug, number, step)


@require_POST
def round_to_draft(request: CoderRequest, slug: str, number: int) -> HttpResponse:
    def step(coding_round: Round, lead: Membership) -> HttpResponse:
        drafted = rounds.to_draft(coding_round=coding_round, by=lead)
        messages.success(request, f"{drafted} is a draft again. Opening it deals its units anew.")
        return redirect(drafted)

    return _step(request, slug, number, step)


@require_POST
def round_redeal(request: CoderRequest, slug: str, number: int) -> HttpResponse:
    """Show what would move from a coder to the others; asked again with ``confirm``, move it."""

    def step(coding_round: Round, lead: Membership) -> HttpResponse:
        form = RedealForm(request.POST, coders=list(coding_round.coders.select_related("user")))
        if not form.is_valid():
            return _round_page(request, coding_round, lead, status=422, redeal_form=form)
        is_sure = bool(request.POST.get("confirm"))
        redealt = rounds.redeal(coding_round=coding_round, leaving=form.member, by=lead, dry_run=not is_sure)
        if is_sure:
            messages.success(request, f"{len(redealt.moves)} units of {form.member.name} were dealt anew.")
            return redirect(coding_round)
        names = {each.number: each.name for each in coding_round.coders.select_related("user")}
        taken: dict[str, int] = {}
        for coder in redealt.moves.values():
            taken[names[coder]] = taken.get(names[coder], 0) + 1
        plan = {"leaving": form.member, "taken": sorted(taken.items()), "stuck": redealt.stuck}
        return _round_page(request, coding_round, lead, redeal_form=form, plan=plan)

    return _step(request, slug, number, step)


@require_POST
def round_add_units(request: CoderRequest, slug: str, number: int) -> HttpResponse:
    """Show which units would come in and who would code them; asked again with ``confirm``, add them."""

    def step(coding_round: Round, lead: Membership) -> HttpResponse:
        form = MoreUnitsForm(request.POST, coding_round=coding_round)
        if not form.is_valid():
            return _round_page(request, coding_round, lead, status=422, units_form=form)
        more = plan_units(coding_round=coding_round, units=form.units, sample=form.drawn_from)
        if not request.POST.get("confirm") or not more.new:
            # Confirmed are these units by name: sent twice, they are added once.
            shown = MoreUnitsForm.naming(form.units, coding_round=coding_round, sample=form.drawn_from)
            return _round_page(request, coding_round, lead, units_form=shown, more=more)
        rounds.add_units(coding_round=coding_round, units=form.units, by=lead, sample=form.drawn_from)
        messages.success(request, f"{_counted(len(more.new), 'unit')} came into {coding_round}.")
        return redirect(coding_round)

    return _step(request, slug, number, step)


@require_POST
def round_add_coders(request: CoderRequest, slug: str, number: int) -> HttpResponse:
    def step(coding_round: Round, lead: Membership) -> HttpResponse:
        form = MoreCodersForm(request.POST, coding_round=coding_round)
        if not form.is_valid():
            return _round_page(request, coding_round, lead, status=422, coders_form=form)
        rounds.add_coders(coding_round=coding_round, coders=form.members, by=lead)
        names = ", ".join(each.name for each in form.members)
        messages.success(
            request,
            f"{names} can code in {coding_round} now. Give them work: add units, or deal some anew.",
        )
        return redirect(coding_round)

    return _step(request, slug, number, step)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


ROUND = "studies/<slug:slug>/rounds/<int:number>/"

urlpatterns: list[URLPattern] = [
    path("studies/<slug:slug>/rounds/", round_list, name="round-list"),
    path("studies/<slug:slug>/rounds/new/", round_create, name="round-create"),
    path(ROUND, round_detail, name="round-detail"),
    path(f"{ROUND}settings/", round_edit, name="round-edit"),
    path(f"{ROUND}preview/", round_preview, name="round-preview"),
    path(f"{ROUND}proposals/", round_proposals, name="round-proposals"),
    path(f"{ROUND}proposals/<uuid:proposal_id>/", round_proposal, name="round-proposal"),
    path(f"{ROUND}open/", round_open, name="round-open"),
    path(f"{ROUND}close/", round_close, name="round-close"),
    path(f"{ROUND}reopen/", round_reopen, name="round-reopen"),
    path(f"{ROUND}finish/", round_finish, name="round-finish"),
    path(f"{ROUND}discard/", round_discard, name="round-discard"),
    path(f"{ROUND}draft/", round_to_draft, name="round-to-draft"),
    path(f"{ROUND}redeal/", round_redeal, name="round-redeal"),
    path(f"{ROUND}units/add/", round_add_units, name="round-add-units"),
    path(f"{ROUND}coders/add/", round_add_coders, name="round-add-coders"),
]
