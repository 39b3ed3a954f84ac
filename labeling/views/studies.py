"""Studies: the list of one's own, a new one, the dashboard, settings, and the two steps of deleting."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.views.decorators.http import require_POST

from annotator.http import CoderRequest, render_page
from labeling.access import get_study_or_404
from labeling.errors import InvalidInputError, StudyRuleError
from labeling.forms.errors import add_errors
from labeling.forms.studies import StudyCreateForm, StudySettingsForm
from labeling.models import Role, Study
from labeling.selectors.dashboard import dashboard
from labeling.selectors.next_steps import next_steps
from labeling.selectors.studies import deleted_studies, own_memberships
from labeling.services.studies import create_study, delete_study, restore_study, update_study


def study_list(request: CoderRequest) -> HttpResponse:
    context = {"memberships": own_memberships(request.user), "deleted": deleted_studies(request.user)}
    return render_page(request, "labeling/study_list.html", context)


def study_create(request: CoderRequest) -> HttpResponse:
    form = StudyCreateForm(request.POST or None, user=request.user)
    if form.is_valid():
        template, copy_of = form.start_from()
        try:
            study = create_study(
                title=form.cleaned_data["title"],
                slug=form.cleaned_data["slug"] or None,
                by=request.user,
                template=template,
                copy_of=get_study_or_404(request.user, copy_of, role=Role.LEAD)[0] if copy_of else None,
            )
        except InvalidInputError as error:
            add_errors(form, error)
        else:
            return redirect(study)
    return render_page(
        request, "labeling/study_create.html", {"form": form}, status=422 if form.errors else 200
    )


def study_detail(request: CoderRequest, slug: str) -> HttpResponse:
    study, member = get_study_or_404(request.user, slug)
    told = dashboard(study, member)
    context = {"study": study, "membership": member, "nav": "dashboard", **told}
    context["next_steps"] = next_steps(study, member, told["rounds"])
    return render_page(request, "labeling/study_detail.html", context)


def study_settings(request: CoderRequest, slug: str) -> HttpResponse:
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    form = StudySettingsForm.of_study(study, request.POST or None)
    if form.is_valid():
        try:
            update_study(study=study, by=lead, **form.cleaned_data)
        except InvalidInputError as error:
            add_errors(form, error)
        except StudyRuleError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, "The settings were saved.")
            return redirect("labeling:study-settings", slug)
    context = {"study": study, "membership": lead, "nav": "dashboard", "form": form}
    return render_page(request, "labeling/study_settings.html", context, status=422 if form.errors else 200)


@require_POST
def study_delete(request: CoderRequest, slug: str) -> HttpResponse:
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    try:
        deleted = delete_study(study=study, confirm=request.POST.get("confirm", ""), by=lead)
    except InvalidInputError as error:
        messages.error(request, str(error))
        return redirect("labeling:study-settings", slug)
    messages.success(
        request,
        f"{deleted.title} was deleted. Until {deleted.purge_at:%d %b %Y} you can bring it back here.",
    )
    return redirect("labeling:study-list")


@require_POST
def study_restore(request: CoderRequest, slug: str) -> HttpResponse:
    study = Study.objects.filter(slug=slug, deleted_by=request.user, deleted_at__isnull=False).first()
    if study is None:
        raise Http404("You have deleted no study of this name.")
    return redirect(restore_study(study=study, by=request.user))


urlpatterns: list[URLPattern] = [
    path("", study_list, name="study-list"),
    path("studies/new/", study_create, name="study-create"),
    path("studies/<slug:slug>/", study_detail, name="study-detail"),
    path("studies/<slug:slug>/settings/", study_settings, name="study-settings"),
    path("studies/<slug:slug>/delete/", study_delete, name="study-delete"),
    path("studies/<slug:slug>/restore/", study_restore, name="study-restore"),
]
