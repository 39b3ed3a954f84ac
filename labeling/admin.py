"""The admin, for operators: accounts, jobs, names of studies. No model that holds an answer is here."""

from typing import ClassVar

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group
from django.http import HttpRequest

from labeling.models import ExportJob, Heartbeat, Job, Study, User

admin.site.site_header = admin.site.site_title = "Intercoder"
admin.site.unregister(Group)


@admin.register(User)
class UserAdmin(DjangoUserAdmin[User]):
    list_display = ("username", "display_name", "email", "is_active", "is_superuser", "last_login")
    search_fields = ("username", "display_name", "email")
    fieldsets: ClassVar = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("display_name", "email", "zone")}),
        ("Rights", {"fields": ("is_active", "is_staff", "is_superuser")}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )
    filter_horizontal = ()
    list_filter = ("is_active", "is_superuser")


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg] # for several models
    """Operators look; what changes a study is its members' to do."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object | None = None) -> bool:
        return False


@admin.register(Study)
class StudyAdmin(ReadOnlyAdmin):
    list_display = ("title", "slug", "created_at", "deleted_at", "purge_at")
    search_fields = ("title", "slug")
    fields = ("title", "slug", "created_at", "deleted_at", "purge_at")


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    list_display = ("id", "kind", "study", "state", "attempts", "created_at", "finished_at")
    list_filter = ("kind", "state")
    list_select_related = ("study",)
    fields = (
        "kind",
        "study",
        "state",
        "attempts",
        "progress",
        "error",
        "lease_until",
        "waiting_until",
        "finished_at",
    )


@admin.register(ExportJob)
class ExportJobAdmin(ReadOnlyAdmin):
    list_display = ("id", "kind", "study", "state", "attempts", "created_at", "finished_at")
    list_filter = ("kind", "state")
    list_select_related = ("study",)
    fields = ("kind", "study", "state", "attempts", "progress", "error", "finished_at")


@admin.register(Heartbeat)
class HeartbeatAdmin(ReadOnlyAdmin):
    list_display = ("worker", "at")
    fields = ("worker", "at")
