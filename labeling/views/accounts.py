"""The pages of an account: who one is, the colour scheme, tokens, notices, and joining by invitation."""

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from annotator.http import CoderRequest, render_page
from labeling.errors import InvalidInputError, MembershipError
from labeling.forms.accounts import AccountForm, JoinForm, SourceTokenForm
from labeling.forms.errors import add_errors
from labeling.forms.keys import KeyMapForm
from labeling.models import Membership, SourceToken, User
from labeling.selectors.studies import notices_with_shown_names, own_notices
from labeling.services.members import accept_invitation, find_invitation
from labeling.services.tokens import store_token

YEAR = 365 * 24 * 3600


def account(request: CoderRequest) -> HttpResponse:
    form = AccountForm(request.POST or None, instance=request.user)
    if form.is_valid():
        form.save()
        messages.success(request, "Your account was saved.")
        return redirect("labeling:account")
    return _account_page(request, form, SourceTokenForm())


def _account_page(
    request: CoderRequest,
    form: AccountForm,
    token_form: SourceTokenForm,
    key_form: KeyMapForm | None = None,
) -> HttpResponse:
    key_form = key_form or KeyMapForm(None, request.user.key_map)
    context = {
        "form": form,
        "token_form": token_form,
        "key_form": key_form,
        "tokens": SourceToken.objects.filter(user=request.user).order_by("api_base"),
    }
    has_errors = bool(form.errors or token_form.errors or key_form.errors)
    return render_page(request, "labeling/account.html", context, status=422 if has_errors else 200)


@require_POST
def key_map(request: CoderRequest) -> HttpResponse:
    """Keep one's own keys; without any in the form all are the defaults again."""
    key_form = KeyMapForm(request.POST, request.user.key_map)
    if not key_form.is_valid():
        return _account_page(request, AccountForm(instance=request.user), SourceTokenForm(), key_form)
    request.user.key_map = key_form.key_map()
    request.user.save(update_fields=["key_map"])
    messages.success(request, "Your keys were saved.")
    return redirect("labeling:account")


@require_POST
def source_token_create(request: CoderRequest) -> HttpResponse:
    token_form = SourceTokenForm(request.POST)
    if token_form.is_valid():
        try:
            store_token(user=request.user, **token_form.cleaned_data)
        except InvalidInputError as error:
            add_errors(token_form, error)
        else:
            messages.success(request, "The token was stored. It is used for imports you start.")
            return redirect("labeling:account")
    return _account_page(request, AccountForm(instance=request.user), token_form)


@require_POST
def source_token_delete(request: CoderRequest, token_id: int) -> HttpResponse:
    get_object_or_404(SourceToken, user=request.user, pk=token_id).delete()
    messages.success(
        request, "The token was removed from this installation. Revoke it on GitHub too if it leaked."
    )
    return redirect("labeling:account")


@login_not_required
@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Keep the colour scheme: with the account, or in a cookie on the sign-in page."""
    chosen = request.POST.get("theme", "")
    response = redirect(_own_address(request))
    if chosen in User.Theme.values:
        if isinstance(request.user, User):
            User.objects.filter(pk=request.user.pk).update(theme=chosen)
        else:
            response.set_cookie("theme", chosen, max_age=YEAR, samesite="Lax", secure=request.is_secure())
    return response


def _own_address(request: HttpRequest) -> str:
    address = request.POST.get("next", "")
    is_own = url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure())
    # What does not begin with a slash would be taken for the name of a page.
    return address if is_own and address.startswith("/") else "/"


def inbox(request: CoderRequest) -> HttpResponse:
    notices = own_notices(request.user)
    if request.method == "POST":
        notices.filter(read_at__isnull=True).update(read_at=timezone.now())
        return redirect("labeling:inbox")
    page = Paginator(notices, 50).get_page(request.GET.get("page"))
    page.object_list = notices_with_shown_names(page)
    return render_page(request, "labeling/inbox.html", {"page": page})


@login_not_required
def invitation_accept(request: HttpRequest, token: str) -> HttpResponse:
    """Join a study: with the account one is signed in with, or with a new one made here."""
    invitation = find_invitation(token)
    if invitation is None:
        return render_page(request, "labeling/invitation_used.html", status=404)
    is_known = isinstance(request.user, User)
    form = None if is_known else JoinForm(request.POST or None)
    error = ""
    if request.method == "POST" and (form is None or form.is_valid()):
        try:
            return redirect(_join(request, token, form).study)
        except (MembershipError, InvalidInputError) as refused:
            error = str(refused)
    context = {"invitation": invitation, "form": form, "error": error}
    return render_page(
        request, "labeling/invitation_accept.html", context, status=422 if request.method == "POST" else 200
    )


def _join(request: HttpRequest, token: str, form: JoinForm | None) -> Membership:
    if form is None:
        assert isinstance(request.user, User)  # noqa: S101 - the caller made a form for everybody else
        return accept_invitation(token=token, user=request.user)
    user = form.save()
    try:
        member = accept_invitation(token=token, user=user)
    except MembershipError:
        # Somebody else used the address meanwhile: an account nobody asked for must not stay behind.
        user.delete()
        raise
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return member


urlpatterns: list[URLPattern] = [
    path("account/", account, name="account"),
    path("account/keys/", key_map, name="key-map"),
    path("account/tokens/", source_token_create, name="source-token-create"),
    path("account/tokens/<int:token_id>/delete/", source_token_delete, name="source-token-delete"),
    path("account/theme/", theme, name="theme"),
    path("inbox/", inbox, name="inbox"),
    path("invitations/<str:token>/", invitation_accept, name="invitation-accept"),
]
