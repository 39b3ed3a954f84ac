"""What Django alone takes: a page of 12 kB with one query, and one inserted row."""

import os
from typing import Any

from django.conf import settings

from annotator.env import env_database

settings.configure(
    ROOT_URLCONF="benchmarks.bare",
    ALLOWED_HOSTS=["127.0.0.1"],
    SECRET_KEY="only-for-measurements",  # noqa: S106 - it protects nothing
    DATABASES={
        "default": env_database(
            "DATABASE_URL", f"sqlite:///{os.environ['INTERCODER_DATA']}/intercoder.sqlite3"
        )
    },
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates"}],
)

import django  # noqa: E402 - the settings come first

django.setup()

from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.db import models  # noqa: E402
from django.http import HttpRequest, HttpResponse  # noqa: E402
from django.template import engines  # noqa: E402
from django.urls import path  # noqa: E402

PAGE = engines["django"].from_string("<p>{{ row.text }}</p>" + "<p>Nothing else is here.</p>" * 420)


class BareRow(models.Model):
    text = models.TextField()

    class Meta:
        app_label = "bare"
        db_table = "benchmark_bare"

    def __str__(self) -> str:
        return self.text


def bare(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        BareRow._default_manager.create(text="one row")
        return HttpResponse(status=204)
    return HttpResponse(PAGE.render({"row": BareRow._default_manager.order_by("pk").first()}))


urlpatterns: list[Any] = [path("", bare)]
application = get_wsgi_application()
