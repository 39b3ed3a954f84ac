"""Settings of the project. What an installation may change is read from the environment or from ``.env``."""

from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import django_stubs_ext
from csp.constants import NONE, SELF

from annotator.env import (
    env_bool,
    env_database,
    env_email,
    env_folder,
    env_int,
    env_secret,
    env_str,
    env_url,
    env_urls,
    made_folder,
    read_env_file,
)

# Django's generic classes take their type at run time too: ``ModelForm[User]``.
django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent

# The tests say what they need themselves: a database named in somebody's .env is not theirs.
if env_bool("INTERCODER_READ_ENV_FILE", True):
    read_env_file(BASE_DIR / ".env")

DEBUG = env_bool("DEBUG", False)

# Where things are kept
INTERCODER_DATA = env_folder("INTERCODER_DATA", BASE_DIR / "data")
SECRET_KEY = env_secret("SECRET_KEY", INTERCODER_DATA / "secret_key")
REDIS_URL = env_url("REDIS_URL", schemes=("redis", "rediss", "unix"), example="redis://127.0.0.1:6379/0")
DATABASES = {"default": env_database("DATABASE_URL", f"sqlite:///{INTERCODER_DATA / 'intercoder.sqlite3'}")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CACHES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}
    if REDIS_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
}
MEDIA_ROOT = INTERCODER_DATA / "files"
FILE_UPLOAD_TEMP_DIR = str(made_folder(INTERCODER_DATA / "uploads"))
FILE_UPLOAD_PERMISSIONS = 0o600
# A round with thousands of units is one JSON body; files are streamed and not counted here.
DATA_UPLOAD_MAX_MEMORY_SIZE = 20 * 1024**2

# GitHub
GITHUB_TOKEN = env_str("GITHUB_TOKEN")
GITHUB_API_URLS = env_urls("GITHUB_API_URLS", "https://api.github.com", example="https://api.github.com")

# Where people find the site: hosts, cross-site checks and cookies all follow from this one address.
PUBLIC_URL = env_url(
    "PUBLIC_URL", "http://127.0.0.1:8000", schemes=("http", "https"), example="https://intercoder.example.org"
)
_public = urlsplit(PUBLIC_URL)
HTTPS = _public.scheme == "https"
LOOPBACK = _public.hostname in {"127.0.0.1", "localhost", "::1"}
ALLOWED_HOSTS = [_public.hostname or "", "127.0.0.1", "localhost", "[::1]"]
CSRF_TRUSTED_ORIGINS = [f"{_public.scheme}://{_public.netloc}"]
# Reverse proxies in front; only their headers are believed. TLS ends at one, so https means at least one.
TRUSTED_PROXIES = env_int("TRUSTED_PROXIES", 1 if HTTPS else 0)
if TRUSTED_PROXIES:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]  # asked by the container itself, behind the proxy
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_ENGINE = "annotator.sessions"
SESSION_COOKIE_AGE = 30 * 24 * 3600
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "annotator.failures.csrf_failure"
# Joining the browsers' preload list binds a whole domain for years: that is for its owner to decide.
SILENCED_SYSTEM_CHECKS = ["security.W021"]
if not HTTPS:
    # What TLS would bring (HSTS, redirect, secure cookies). Our own check says it off the loopback address.
    SILENCED_SYSTEM_CHECKS += ["security.W004", "security.W008", "security.W012", "security.W016"]

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "style-src": [SELF],
        "script-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

INSTALLED_APPS = [
    "labeling",
    "ingest",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "axes",
    "csp",
    "django_htmx",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "knox",
    "rest_framework",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "annotator.null_characters.null_character_middleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "annotator.failures.RuleMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "annotator.urls"
WSGI_APPLICATION = "annotator.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "labeling.context.page_frame",
            ],
        },
    },
]

# Signing in
AUTH_USER_MODEL = "labeling.User"
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
    "sesame.backends.ModelBackend",
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
SESAME_ONE_TIME = True
SESAME_MAX_AGE = timedelta(days=7)
# Ten wrong passwords for one name from one address: a stranger elsewhere cannot lock a coder out.
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_CALLABLE = "annotator.sign_in.locked"
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_CLIENT_IP_CALLABLE = "annotator.http.client_address"
AXES_ENABLE_ACCESS_FAILURE_LOG = False
AXES_DISABLE_ACCESS_LOG = True  # who coded when is study data, not a log
AXES_VERBOSE = False

# REST API
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "knox.auth.TokenAuthentication",  # first: its header makes the answer to a stranger a 401
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": [
        "labeling.api.parsers.StorableJSONParser",
        "rest_framework.parsers.MultiPartParser",
    ],
    "DEFAULT_PAGINATION_CLASS": "labeling.api.pagination.CursorPagination",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_THROTTLE_CLASSES": ["rest_framework.throttling.ScopedRateThrottle"],
    "DEFAULT_THROTTLE_RATES": {"expensive": "60/min"},
    "EXCEPTION_HANDLER": "labeling.api.problems.exception_handler",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
REST_KNOX = {"TOKEN_TTL": None, "AUTH_HEADER_PREFIX": "Token"}
SPECTACULAR_SETTINGS = {
    "TITLE": "Intercoder",
    "DESCRIPTION": "Issue-labelling studies: corpus, rounds, coding, agreement, reconciliation, export.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    # Several fields share these choices, or the name "state"; clients are generated with these names.
    "ENUM_NAME_OVERRIDES": {
        "AnswerStateEnum": ["coded", "unclear", "not_applicable"],
        "MaskableFieldEnum": "labeling.selectors.issues.MASKABLE",
        "ImportSourceEnum": "ingest.models.ImportRun.Source",
    },
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": None,
}

# Static files, compressed and named by their content, served by the web process itself
STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = DEBUG

# Language and time
LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"

# E-mail: without EMAIL_URL nothing is sent, and nothing needs it
globals().update(env_email("EMAIL_URL", "dummymail://"))
DEFAULT_FROM_EMAIL = SERVER_EMAIL = f"Intercoder <no-reply@{_public.hostname}>"

# Background work (annotator/celery.py): the broker is a doorbell, the database is the queue.
_queue = {name: str(made_folder(INTERCODER_DATA / "queue" / name)) for name in ("messages", "exchanges")}
CELERY_BROKER_URL = REDIS_URL or "filesystem://localhost"
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = (
    {}
    if REDIS_URL
    else {
        "data_folder_in": _queue["messages"],
        "data_folder_out": _queue["messages"],
        "control_folder": _queue["exchanges"],
        "polling_interval": 0.25,
    }
)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_RESULT_BACKEND = REDIS_URL or None
CELERY_TASK_IGNORE_RESULT = True  # what a job did stands in its row
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False  # its replies would litter the queue folder
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "filters": {"refusals": {"()": "annotator.logs.ShortRefusals"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["refusals"]}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {name: {"level": "INFO"} for name in ("annotator", "labeling", "ingest")},
}
