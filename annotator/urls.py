"""Addresses: the apps' own, the API, the admin, signing in, and what operators ask."""

from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import include, path

from annotator.health import healthz
from annotator.sign_in import sign_in_by_link

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("sign-in/", auth.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("sign-in/link/", sign_in_by_link, name="sign-in-link"),
    path("sign-out/", auth.LogoutView.as_view(), name="logout"),
    path("password/", auth.PasswordChangeView.as_view(), name="password_change"),
    path("password/changed/", auth.PasswordChangeDoneView.as_view(), name="password_change_done"),
    path("admin/", admin.site.urls),
    path("api/v1/", include("ingest.api_urls")),
    path("api/v1/", include("labeling.api.urls")),
    path("", include("ingest.urls")),
    path("", include("labeling.urls")),
]

handler400 = "annotator.failures.bad_request"
handler404 = "annotator.failures.not_found"
handler500 = "annotator.failures.server_error"
