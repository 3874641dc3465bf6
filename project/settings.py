"""Every setting of Turnstone, each from the environment with a default that is right at home.

Nothing else reads the environment, but for the launcher that fills it. `.env.example` lists what
can be set. Without DATABASE_URL and REDIS_URL the private servers of `project.local.embedded`
are used.
"""

import os
from pathlib import Path

import environ

from agents.providers.named.file import SETTING as PROVIDERS_SETTING
from agents.providers.vendors import VENDORS
from project import addresses, build, logging, providers, safe
from project.celery import app as celery_app  # noqa: F401 (who has settings may wake a worker)
from project.local import embedded

SERVERS = ("daphne", "uvicorn")

BASE_DIR = Path(__file__).resolve().parent.parent
LOCAL_DIR = BASE_DIR / ".local"

env = environ.Env()
environ.Env.read_env(BASE_DIR / ".env")

HOST = env.str("HOST", default="127.0.0.1")
with safe.ended_in_words():
    DEBUG = safe.for_developers(env.bool("TURNSTONE_DEBUG", default=False), HOST)
    SECRET_KEY = safe.long_enough(
        env.str("SECRET_KEY", default="") or embedded.secret_key(LOCAL_DIR)
    )
    DATABASE = addresses.postgres(
        env.str("DATABASE_URL", default="") or embedded.database_url(LOCAL_DIR)
    )
    REDIS_URL = addresses.redis(env.str("REDIS_URL", default="") or embedded.redis_url(LOCAL_DIR))
    # Where pictures and long observations are kept, beside the database.
    ARTIFACTS = addresses.artifacts(
        env.str("TURNSTONE_ARTIFACTS", default="") or str(LOCAL_DIR / "artifacts"), BASE_DIR
    )
    # Providers with names of their own, beside those of the variables below.
    PROVIDERS = providers.named(env.str(PROVIDERS_SETTING, default=""), BASE_DIR)
    # What serves pages and the live protocol, of `project.web`.
    SERVER = safe.one_of("TURNSTONE_SERVER", env.str("TURNSTONE_SERVER", default="daphne"), SERVERS)
# Which code this is, as runs and transcripts name it.
BUILD = env.str("TURNSTONE_BUILD", default="") or build.of_checkout(BASE_DIR)
PORT = env.int("PORT", default=8000)
ALLOWED_HOSTS = [*env.list("ALLOWED_HOSTS", default=[HOST]), "localhost", "127.0.0.1", "[::1]"]
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "channels",
    "csp",
    "django_htmx",
    "chat",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "project.ops.private.PrivatePages",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

LOGGING = logging.configuration(
    env.str("TURNSTONE_LOG", default="text"),
    env.str("TURNSTONE_LOG_LEVEL", default="INFO"),
    {**os.environ, "SECRET_KEY": SECRET_KEY},
)

ROOT_URLCONF = "project.urls"
ASGI_APPLICATION = "project.asgi.application"

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
            ],
        },
    },
]

# The pool holds the connections, so Django must not: 64 worker threads share a few of them.
DATABASES = {
    "default": {
        **DATABASE,
        # After a restart of the database no one is given a connection that died with it: 30 us.
        "ENGINE": "project.database",
        "CONN_MAX_AGE": 0,
        "OPTIONS": {
            # A server that is gone without a word is noticed within half a minute.
            "connect_timeout": 5,
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "tcp_user_timeout": 20_000,
            **DATABASE.get("OPTIONS", {}),  # such as ?sslmode=require
            "pool": {
                "min_size": 1,
                "max_size": env.int("DATABASE_POOL", default=16),
                "timeout": 5,
                # The pool's own patience doubles up to minutes: too long for a server that is back.
                "reconnect_timeout": 3,
            },
        },
    },
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL},
}

# Without a mail server there is no page that would send mail (project/urls.py).
EMAIL_URL = env.str("EMAIL_URL", default="")
SENDS_MAIL = bool(EMAIL_URL)
if SENDS_MAIL:
    vars().update(env.email_url_config(EMAIL_URL))
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="turnstone@localhost")

AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "chat.passwords.OfItsOwn"},
]
ACCOUNT_ADAPTER = "chat.accounts.Adapter"
ACCOUNT_EMAIL_VERIFICATION = "optional" if SENDS_MAIL else "none"
ACCOUNT_EMAIL_NOTIFICATIONS = SENDS_MAIL  # of a changed password, say
ACCOUNT_EMAIL_SUBJECT_PREFIX = "[Turnstone] "
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*", "password2*"]
ACCOUNT_RATE_LIMITS = {
    # Of one address; and of one address for one name, so that who guesses at it from elsewhere does
    # not lock its owner out.
    "login_failed": "10/m/ip,5/5m/key",
    # For one name, by however many addresses: four at once must guess to reach it.
    "login_failed_anywhere": "200/h/key",
}
SIGNUP_OPEN = env.bool("TURNSTONE_SIGNUP", default=False)
AUTH_USER_MODEL = "chat.User"
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "conversation_list"
SESSION_ENGINE = "chat.sessions"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"

HTTPS = env.bool("TURNSTONE_HTTPS", default=False)
ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https" if HTTPS else "http"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
# Failed sign-ins are counted by address; behind proxies it is what the outermost of them saw.
ALLAUTH_TRUSTED_PROXY_COUNT = env.int("TURNSTONE_PROXIES", default=0)
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:", "blob:"],
        "connect-src": ["'self'"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
        "form-action": ["'self'"],
    },
}

LANGUAGE_CODE = "en-gb"
TIME_ZONE = env.str("TZ", default="UTC") or "UTC"
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = env.str("STATIC_ROOT", default="") or None
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
STORAGES = {
    "artifacts": ARTIFACTS,
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}

# The message is only a wake-up; the Run row is the queue. So it need not outlive the broker. It is
# acknowledged late, so that no busy worker keeps what an idle one could have; if it is delivered
# once more after the visibility timeout, who gets it takes whatever run comes next, or none.
CELERY_BROKER_URL = addresses.celery(REDIS_URL)
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_POOL = "threads"
CELERY_WORKER_CONCURRENCY = env.int("WORKER_THREADS", default=64)
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_ACKS_LATE = True
VISIBILITY_SECONDS = env.float("TURNSTONE_VISIBILITY_SECONDS", default=3600)
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": VISIBILITY_SECONDS,
    "unacked_restore_interval": min(10.0, VISIBILITY_SECONDS),
    "unacked_restore_throttle": 1,
    "socket_connect_timeout": 2,
    "socket_timeout": 5,
}
CELERY_WORKER_REDIRECT_STDOUTS = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = (
    None  # Celery's 100 are over in an hour, and so is the worker
)

# How many runs of a space and lane are worked on at once, by all workers together; 0 is no limit.
RUNS_PER_USER = env.int("TURNSTONE_RUNS_PER_USER", default=4)

# How long a run is held by a worker that is not heard of any more.
LEASE_SECONDS = env.float("TURNSTONE_LEASE_SECONDS", default=30)
# How long a worker that is told to stop lets its runs end the steps they are in; then they are cut
# off. Another worker goes on with them, in either case.
GRACE_SECONDS = env.float("TURNSTONE_GRACE_SECONDS", default=10)

# Who may read /metrics without signing in, and where each worker answers the same (see there).
METRICS_TOKEN = env.str("TURNSTONE_METRICS_TOKEN", default="")
WORKER_METRICS = env.str("TURNSTONE_WORKER_METRICS", default="")

# How long a run waits for a person's yes to a risky action; after that silence is a no.
APPROVAL_SECONDS = env.float("TURNSTONE_APPROVAL_SECONDS", default=3600)

# Calls to models at once, of all workers together; 0 is no limit. Of the models that run on this
# machine one works at a time, and calls for another one wait.
PROVIDER_LIMIT = env.int("TURNSTONE_PROVIDER_LIMIT", default=256)
LOCAL_LIMIT = env.int("TURNSTONE_LOCAL_LIMIT", default=256)

# Each worker keeps its threads to one core of its own choice, while one is free
# (project/ops/core.py).
ONE_CORE = env.bool("TURNSTONE_ONE_CORE", default=True)

# What models cost, for policies that limit the money of a run (see agents.providers.price).
PRICES = env.str("TURNSTONE_PRICES", default="")

# What one person may ask: questions a minute, and those that have no answer yet; 0 is no limit.
QUESTIONS_PER_MINUTE = env.int("TURNSTONE_QUESTIONS_PER_MINUTE", default=30)
WAITING_PER_USER = env.int("TURNSTONE_WAITING_PER_USER", default=100)

# Modules of extensions, beside those that are installed, and what only they read.
EXTENSIONS = env.str("TURNSTONE_EXTENSIONS", default="")
OF_EXTENSIONS = {
    name: value for name, value in os.environ.items() if name.startswith("TURNSTONE_EXTENSION_")
}

# What the engine may use; all of it is optional (see agents.providers.discovery).
MODEL_ENVIRONMENT = {
    name: env.str(name, default="")
    for name in (
        *(name for vendor in VENDORS.values() for name in (*vendor.keys, vendor.address)),
        *("TURNSTONE_MODEL", "TURNSTONE_LOCAL_SERVERS"),
        *PROVIDERS.keys,
    )
} | OF_EXTENSIONS

# Where the tools may go and what they use there (see agents.tools.setup).
TOOL_ENVIRONMENT = {
    name: env.str(name, default="")
    for name in (
        *("TURNSTONE_HTTP_ALLOW", "TURNSTONE_SEARXNG_URL", "TURNSTONE_SEARCH_PROXY"),
        *("TURNSTONE_WIKIPEDIA_URL", "TURNSTONE_ARXIV_URL"),
        *("TURNSTONE_CHROMIUM", "TURNSTONE_MCP"),
    )
} | OF_EXTENSIONS
NETWORK_TOOLS = env.bool("TURNSTONE_NETWORK_TOOLS", default=False)
