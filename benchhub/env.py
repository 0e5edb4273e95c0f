"""Settings read from the environment; a bad value names its variable and what was expected."""

import os
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

TRUE = frozenset({"1", "true", "yes", "on"})
FALSE = frozenset({"0", "false", "no", "off", ""})


def env_str(name: str, default: str = "") -> str:
    """The variable without surrounding blanks, or `default` if it is unset or empty."""
    return os.environ.get(name, "").strip() or default


def env_bool(name: str, default: bool = False) -> bool:
    """A yes or no; ImproperlyConfigured for anything else."""
    raw = os.environ.get(name)
    if raw is None:
        return default
    if raw.strip().lower() in TRUE:
        return True
    if raw.strip().lower() in FALSE:
        return False
    raise ImproperlyConfigured(f"{name}={raw!r} is neither yes nor no: use 1 or 0.")


def env_int(name: str, default: int, *, minimum: int = 0, maximum: int = 2**31 - 1) -> int:
    """A whole number within [minimum, maximum]; ImproperlyConfigured otherwise."""
    raw = env_str(name)
    if not raw:
        return default
    try:
        value = int(raw)
    except ValueError:
        raise ImproperlyConfigured(f"{name}={raw!r} is not a whole number.") from None
    if not minimum <= value <= maximum:
        raise ImproperlyConfigured(f"{name}={raw} is not between {minimum} and {maximum}.")
    return value


def web_threads() -> int:
    """Threads of a web worker (`WEB_THREADS`); they are made when they are needed."""
    return env_int("WEB_THREADS", 32, minimum=1, maximum=256)


def env_list(name: str, default: tuple[str, ...] = ()) -> list[str]:
    """Comma-separated values, blanks dropped."""
    return [part.strip() for part in env_str(name).split(",") if part.strip()] or list(default)


def var_folder(base: Path) -> Path:
    """The folder of everything that is kept: `VAR`, else `var` beside manage.py.

    Made if it is missing, private to its owner. ImproperlyConfigured if it cannot be used.
    """
    folder = Path(env_str("VAR", "var")).expanduser()
    folder = folder if folder.is_absolute() else base / folder
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(f"VAR={folder}: {error.strerror}.") from None
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise ImproperlyConfigured(f"VAR={folder} may not be read and written by this account.")
    return folder


def secret_key(folder: Path) -> str:
    """`SECRET_KEY`, else the key kept in `folder`/secret-key, made on first use (mode 600)."""
    given = env_str("SECRET_KEY")
    if given:
        return given
    path = folder / "secret-key"
    try:
        if not path.exists():
            _write_once(path, secrets.token_urlsafe(50))
        key = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(f"{path} cannot be read or written: {error}.") from None
    if len(key) < 32:
        raise ImproperlyConfigured(f"{path} holds no key of 32 characters or more: remove it.")
    return key


def _write_once(path: Path, text: str) -> None:
    """Write `text` to a private file; if two processes race, the first one's text stays."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink(missing_ok=True)


# WAL lets pages be read while a run is stored; IMMEDIATE takes the write lock at BEGIN, so that
# a transaction that reads first cannot fail half way with 'database is locked'. synchronous
# stays FULL: what was acknowledged survives a power cut.
SQLITE_OPTIONS = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": (
        "PRAGMA journal_mode=WAL;PRAGMA synchronous=FULL;PRAGMA cache_size=-4000;"
        "PRAGMA temp_store=MEMORY;PRAGMA journal_size_limit=67108864"
    ),
}

# A server that is gone is noticed within seconds, in the midst of an answer too: a page then
# says so instead of waiting for minutes.
POSTGRESQL_OPTIONS = {
    "connect_timeout": 5,
    "application_name": "benchhub",
    "keepalives_idle": 30,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}


def database(folder: Path) -> dict[str, Any]:
    """Django's database entry: `DATABASE_URL`, else SQLite in `folder`."""
    raw = env_str("DATABASE_URL")
    if not raw:
        config: dict[str, Any] = {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": str(folder / "benchhub.sqlite3"),
        }
    else:
        config = _parsed_url(raw)
    if config["ENGINE"] == "django.db.backends.sqlite3":
        config["OPTIONS"] = {**SQLITE_OPTIONS, **config.get("OPTIONS", {})}
    else:
        # Each thread keeps its connection for a minute; one that broke is made anew.
        config.setdefault("CONN_MAX_AGE", 60)
        config["CONN_HEALTH_CHECKS"] = True
        config["OPTIONS"] = {**POSTGRESQL_OPTIONS, **config.get("OPTIONS", {})}
    return config


def _parsed_url(raw: str) -> dict[str, Any]:
    """The entry of a database URL. Its password never enters the message."""
    scheme = urlsplit(raw).scheme
    if scheme not in {"sqlite", "postgres", "postgresql"}:
        raise ImproperlyConfigured(
            f"DATABASE_URL begins with {scheme!r}: expected sqlite:// or postgres://."
        )
    try:
        parsed: dict[str, Any] = environ.Env.db_url_config(raw)
    except ValueError as error:
        raise ImproperlyConfigured(f"DATABASE_URL cannot be read ({error}).") from None
    if not parsed.get("NAME"):
        raise ImproperlyConfigured("DATABASE_URL names no database.")
    return parsed


# How long a broker waits before it hands out a message again; longer than any job.
VISIBILITY_S = 12 * 3600
BROKERS = frozenset({"benchhub", "redis", "rediss", "valkey", "valkeys", "amqp", "amqps"})


def broker_url() -> str:
    """`BROKER_URL`, else the transport over files. Its password never enters the message."""
    raw = env_str("BROKER_URL", "benchhub://")
    scheme = urlsplit(raw).scheme
    if scheme not in BROKERS:
        raise ImproperlyConfigured(
            f"BROKER_URL begins with {scheme!r}: expected redis:// or amqp://."
        )
    return raw.replace("valkey", "redis", 1) if scheme.startswith("valkey") else raw


def broker_options(url: str, folder: Path) -> dict[str, Any]:
    """Options of the broker's transport; those over files are private to this account."""
    scheme = urlsplit(url).scheme
    if scheme == "benchhub":
        return {"folder": str(folder / "queue"), "polling_interval": 0.1}
    if scheme.startswith("redis"):
        return {
            "visibility_timeout": VISIBILITY_S,
            "socket_connect_timeout": 1,
            # Longer than the second for which a consumer's read blocks while nothing comes.
            "socket_timeout": 5,
            "socket_keepalive": True,
            "health_check_interval": 25,
        }
    return {"confirm_publish": True}
