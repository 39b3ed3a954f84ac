"""Settings of the tests: an installation of their own, in a folder that ends with the process."""

import atexit
import os
import shutil
import tempfile

from tests.servers import ServerMissingError, start_postgres

_folder = tempfile.mkdtemp(prefix="intercoder-tests-")
atexit.register(shutil.rmtree, _folder, ignore_errors=True)

_UNSET = "DEBUG EMAIL_URL GITHUB_API_URLS GITHUB_TOKEN PUBLIC_URL REDIS_URL TRUSTED_PROXIES"
for _name in _UNSET.split():
    os.environ.pop(_name, None)
os.environ["INTERCODER_READ_ENV_FILE"] = "no"
os.environ["INTERCODER_DATA"] = _folder
os.environ["SECRET_KEY"] = "only-for-tests-" * 4

# SQLite, or PostgreSQL with INTERCODER_TEST_DATABASE=postgres: one server for all processes of a run.
if os.environ.get("INTERCODER_TEST_DATABASE") != "postgres":
    os.environ.pop("DATABASE_URL", None)
elif "INTERCODER_TEST_POSTGRES_URL" not in os.environ:
    try:
        os.environ["INTERCODER_TEST_POSTGRES_URL"] = start_postgres()
    except ServerMissingError as error:
        os.environ["INTERCODER_TEST_POSTGRES_URL"] = ""
        os.environ["INTERCODER_TEST_POSTGRES_MISSING"] = str(error)
if url := os.environ.get("INTERCODER_TEST_POSTGRES_URL"):
    os.environ["DATABASE_URL"] = url

from annotator.settings import *  # noqa: E402, F403 - the environment comes first
from annotator.settings import (  # noqa: E402
    CELERY_BROKER_TRANSPORT_OPTIONS,
    DATABASES,
    INTERCODER_DATA,
    STORAGES,
)

if "sqlite3" in DATABASES["default"]["ENGINE"]:
    # A file, as in production: SQLite in memory locks tables where a file does not.
    DATABASES["default"]["TEST"] = {"NAME": str(INTERCODER_DATA / "test.sqlite3")}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
STATIC_ROOT = INTERCODER_DATA / "static"
STATIC_ROOT.mkdir()
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = True
CELERY_BROKER_URL = "memory://"
CELERY_BROKER_TRANSPORT_OPTIONS.clear()
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
