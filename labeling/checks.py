"""Checks of this installation: each names the setting that is wrong and what to write instead."""

import os
from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import DatabaseError, connection

from labeling.models import Heartbeat
from labeling.services.jobs import worker_alive

Apps = Sequence[AppConfig] | None


@register(Tags.security)
def check_public_url(app_configs: Apps, **_: Any) -> list[CheckMessage]:
    """Passwords travel in the clear when others reach the site over plain HTTP."""
    if settings.HTTPS or settings.LOOPBACK:
        return []
    secure = settings.PUBLIC_URL.replace("http://", "https://", 1)
    return [
        checks.Warning(
            f"PUBLIC_URL={settings.PUBLIC_URL} is not encrypted: others can read passwords on the way.",
            hint=f"Put a proxy that speaks TLS in front and write PUBLIC_URL={secure}",
            id="intercoder.W001",
        )
    ]


@register(Tags.security)
def check_proxy(app_configs: Apps, **_: Any) -> list[CheckMessage]:
    """TLS ends at a proxy; one that is not trusted makes every request look unencrypted."""
    if not settings.HTTPS or settings.TRUSTED_PROXIES:
        return []
    return [
        Error(
            f"PUBLIC_URL={settings.PUBLIC_URL} needs a proxy, but TRUSTED_PROXIES=0 believes none: "
            "every page would redirect to itself for ever.",
            hint="Write TRUSTED_PROXIES=1 and let the proxy set X-Forwarded-Proto and X-Forwarded-For.",
            id="intercoder.E001",
        )
    ]


@register(Tags.security)
def check_debug(app_configs: Apps, **_: Any) -> list[CheckMessage]:
    """Error pages of DEBUG show settings and answers to whoever causes one."""
    if not settings.DEBUG or settings.LOOPBACK:
        return []
    return [
        Error(
            f"DEBUG=1 shows coders' answers on error pages to whoever reaches {settings.PUBLIC_URL}.",
            hint="Write DEBUG=0",
            id="intercoder.E002",
        )
    ]


@register(Tags.files)
def check_data_folder(app_configs: Apps, **_: Any) -> list[CheckMessage]:
    """Everything that is kept there must be ours to change, as after an unpacked backup of another user."""
    names = ["intercoder.sqlite3", "files", "uploads", "queue"]
    paths = [path for name in names if (path := settings.INTERCODER_DATA / name).exists()]
    folder, user = settings.INTERCODER_DATA, os.getuid()
    return [
        Error(
            f"INTERCODER_DATA={folder} holds {path.name}, which user {user} cannot write.",
            hint=f"Run chown -R {user} {folder}, or write INTERCODER_DATA= another folder.",
            id="intercoder.E003",
        )
        for path in paths
        if not os.access(path, os.W_OK)
    ]


@register(Tags.database)
def check_worker(app_configs: Apps, databases: Sequence[str] | None, **_: Any) -> list[CheckMessage]:
    """Without a worker imports, samples and packages wait for ever."""
    if not databases:
        return []
    try:
        if Heartbeat._meta.db_table not in connection.introspection.table_names() or worker_alive():
            return []
    except DatabaseError as error:
        return [
            Error(
                f"DATABASE_URL names a database that does not answer: {error}".strip(),
                hint="Start it, or write DATABASE_URL=postgres://user:password@host:5432/name",
                id="intercoder.E004",
            )
        ]
    return [
        checks.Warning(
            "No worker is running: imports, samples and packages wait until one does.",
            hint="Run python manage.py start without --no-worker; elsewhere celery -A annotator worker "
            "with the same DATABASE_URL and REDIS_URL.",
            id="intercoder.W002",
        )
    ]
