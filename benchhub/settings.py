"""Settings of BenchHub; what may change between machines comes from the environment.

VAR (folder of the database and files), DATABASE_URL, SECRET_KEY, BIND, ALLOWED_HOSTS,
CSRF_TRUSTED_ORIGINS, HTTPS, PROXIES, DEBUG. docs/decisions and README say more.
"""

import socket
import sys
from pathlib import Path
from typing import Any

from django.utils.translation import gettext_lazy as _

from benchhub import env
from benchhub.logs import without_traceback

BASE_DIR = Path(__file__).resolve().parent.parent
VAR = env.var_folder(BASE_DIR)
ARTEFACT_ROOT = VAR / "artefacts"
# Who reads uploads: the "service" that make serve runs, or the process at hand, "here".
INTAKE = "service"
DEBUG = env.env_bool("DEBUG")
SECRET_KEY = env.secret_key(VAR)

# Where the server listens. Open to other machines only when asked, and then under any name.
BIND = env.env_str("BIND", "127.0.0.1")
LOOPBACK = ("localhost", "127.0.0.1", "[::1]", ".localhost")
OPEN = BIND not in {"127.0.0.1", "::1", "localhost"}
ALLOWED_HOSTS = env.env_list("ALLOWED_HOSTS", ("*",) if OPEN else (*LOOPBACK, socket.gethostname()))
CSRF_TRUSTED_ORIGINS = env.env_list("CSRF_TRUSTED_ORIGINS")

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_filters",
    "rest_framework",
    "drf_spectacular",
    "django_htmx",
    "results",
    "runners",
]

MIDDLEWARE = [
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "benchhub.middleware.security_headers",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "benchhub.middleware.few_at_once",
    "django.middleware.gzip.GZipMiddleware",
    "django.middleware.http.ConditionalGetMiddleware",
    "benchhub.middleware.no_nul_in_the_admin",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "benchhub.middleware.language_of_address",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

# Rendered pages, kept until anything that they show changes; each worker has its own.
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    "pages": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "pages",
        "TIMEOUT": 3600,
        "OPTIONS": {"MAX_ENTRIES": 100},
    },
}

ROOT_URLCONF = "benchhub.urls"
WSGI_APPLICATION = "benchhub.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

DATABASES = {"default": env.database(VAR)}
if "postgresql" not in DATABASES["default"]["ENGINE"]:
    # REST framework asks for PostgreSQL's fields, which would load its driver: 21 MB a process.
    sys.modules.setdefault("django.contrib.postgres.fields", None)  # type: ignore[arg-type]

# Jobs. The rows are the truth; a message only says that there is something to look at.
CELERY_BROKER_URL = env.broker_url()
CELERY_BROKER_TRANSPORT_OPTIONS = env.broker_options(CELERY_BROKER_URL, VAR)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_SERIALIZER = "json"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # for ever: a broker may be away for a night
CELERY_TASK_PUBLISH_RETRY = False
# What is printed and logged goes where the settings below say.
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_REDIRECT_STDOUTS = False
# This machine among the hosts; empty: by the name that it gives itself.
HOST_NAME = env.env_str("HOST_NAME")
# A running attempt whose worker is silent for so long is lost.
JOB_LEASE_S = env.env_int("JOB_LEASE_S", 30, minimum=2, maximum=3600)
JOB_SWEEP_S = env.env_int("JOB_SWEEP_S", 5, minimum=1, maximum=600)

# Security. The policy itself (CSP and more) is in benchhub.middleware.
HTTPS = env.env_bool("HTTPS")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_AGE = 8 * 3600
SECURE_HSTS_SECONDS = 365 * 86400 if HTTPS else 0
SECURE_SSL_REDIRECT = HTTPS
# Whether other names under the domain speak HTTPS is not ours to promise.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_NUMBER_FILES = 20
# Pages that a web process makes at once; more would wait for each other all the same.
PAGES_AT_ONCE = env.env_int("WEB_PAGES", 3, minimum=1, maximum=256)
# Uploads that a web process reads at once: slow ones must leave threads to the pages.
UPLOADS_AT_ONCE = max(1, env.web_threads() * 3 // 4)
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "/accounts/login/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/"

# Languages
LANGUAGE_CODE = "en"
LANGUAGES = [
    ("en", _("English")),
    ("ja", _("Japanese")),
    ("ko", _("Korean")),
    ("zh-hans", _("Simplified Chinese")),
]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
TIME_ZONE = "UTC"
USE_TZ = True

# Static files: our own, the apps', and the chart library under vendor/plotly.min.js.
STATIC_URL = "/static/"
STATIC_ROOT = VAR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "benchhub.staticfiles.PlotlyFinder",
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "benchhub.staticfiles.HashedStorage"},
}
# Only the hashed names are kept and compressed: half the work, and every name is cacheable.
WHITENOISE_KEEP_ONLY_HASHED_FILES = True

REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "results.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticatedOrReadOnly"],
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_PAGINATION_CLASS": "results.api.pagination.Page",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "results.api.errors.exception_handler",
    "PAGE_SIZE": 50,
    "NUM_PROXIES": env.env_int("PROXIES", 0, maximum=10),
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "BenchHub",
    "DESCRIPTION": "Server benchmark results, side by side.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "ENUM_NAME_OVERRIDES": {
        "RunStateEnum": "results.models.Run.State",
        "UploadStateEnum": "results.models.Upload.State",
        "JobStateEnum": "runners.models.Job.State",
        "AttemptStateEnum": "runners.models.Attempt.State",
    },
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "filters": {
        "without_traceback": {
            "()": "django.utils.log.CallbackFilter",
            "callback": without_traceback,
        },
    },
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "line"},
        "brief": {
            "class": "logging.StreamHandler",
            "formatter": "line",
            "filters": ["without_traceback"],
        },
    },
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {
        "django": {"handlers": ["console"], "level": "WARNING", "propagate": False},
        # A strange host name or a body too large: anyone can send one, at any rate.
        "django.security": {"handlers": ["brief"], "level": "WARNING", "propagate": False},
        # A 404 is an answer, not an incident.
        "django.request": {"handlers": ["console"], "level": "ERROR", "propagate": False},
    },
}
