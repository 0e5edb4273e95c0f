"""Settings from the environment: what is wrong is named."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from benchhub import env


@pytest.mark.parametrize(
    ("raw", "value"), [("1", True), ("Yes", True), (" on ", True), ("0", False), ("off", False)]
)
def test_a_yes_or_no_is_read_in_its_usual_spellings(
    monkeypatch: pytest.MonkeyPatch, raw: str, value: bool
) -> None:
    monkeypatch.setenv("HTTPS", raw)
    assert env.env_bool("HTTPS") is value


def test_a_bad_yes_or_no_names_the_variable_and_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS", "maybe")
    with pytest.raises(ImproperlyConfigured, match=r"HTTPS='maybe'.*use 1 or 0"):
        env.env_bool("HTTPS")


@pytest.mark.parametrize("raw", ["eight", "8.5", "0x50", "1e3"])
def test_what_is_no_whole_number_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, raw: str
) -> None:
    monkeypatch.setenv("PORT", raw)
    with pytest.raises(ImproperlyConfigured, match=f"PORT='{raw}' is not a whole number"):
        env.env_int("PORT", 8000)


@pytest.mark.parametrize("raw", ["0", "70000", "-1"])
def test_a_number_out_of_bounds_names_the_bounds(monkeypatch: pytest.MonkeyPatch, raw: str) -> None:
    monkeypatch.setenv("PORT", raw)
    with pytest.raises(ImproperlyConfigured, match=f"PORT={raw} is not between 1 and 65535"):
        env.env_int("PORT", 8000, minimum=1, maximum=65535)


def test_an_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", " ")
    assert env.env_int("PORT", 8000) == 8000


def test_a_list_is_split_at_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOWED_HOSTS", "a.example, b.example,")
    assert env.env_list("ALLOWED_HOSTS") == ["a.example", "b.example"]


def test_the_folder_is_made_private_and_relative_to_the_project(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("VAR", "some/where")
    folder = env.var_folder(tmp_path)
    assert folder == tmp_path / "some/where"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_that_is_a_file_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("VAR", str(tmp_path / "file"))
    with pytest.raises(ImproperlyConfigured, match=r"VAR=.*file"):
        env.var_folder(tmp_path)


def test_the_secret_key_is_made_once_even_by_eight_at_a_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("SECRET_KEY", raising=False)
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: env.secret_key(tmp_path), range(8)))
    assert len(keys) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["secret-key"]
    assert stat.S_IMODE((tmp_path / "secret-key").stat().st_mode) == 0o600


def test_a_short_secret_key_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SECRET_KEY", raising=False)
    (tmp_path / "secret-key").write_text("short\n")
    with pytest.raises(ImproperlyConfigured, match="secret-key"):
        env.secret_key(tmp_path)


def test_sqlite_lies_in_the_folder_unless_a_database_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    config = env.database(tmp_path)
    assert config["NAME"] == str(tmp_path / "benchhub.sqlite3")
    assert config["OPTIONS"]["transaction_mode"] == "IMMEDIATE"


def test_a_postgresql_address_is_understood(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://lab:pw@db.example:5433/hub")
    config = env.database(tmp_path)
    assert config["ENGINE"] == "django.db.backends.postgresql"
    assert (config["NAME"], config["USER"], config["PORT"]) == ("hub", "lab", 5433)
    assert "transaction_mode" not in config["OPTIONS"]
    assert config["OPTIONS"]["connect_timeout"] == 5
    assert (config["CONN_MAX_AGE"], config["CONN_HEALTH_CHECKS"]) == (60, True)


def test_what_a_postgresql_address_says_itself_wins(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said = "postgres://lab:p%40w@db.example/hub?sslmode=require&connect_timeout=9&conn_max_age=0"
    monkeypatch.setenv("DATABASE_URL", said)
    config = env.database(tmp_path)
    assert (config["PASSWORD"], config["CONN_MAX_AGE"]) == ("p@w", 0)
    assert (config["OPTIONS"]["sslmode"], config["OPTIONS"]["connect_timeout"]) == ("require", 9)
    assert config["OPTIONS"]["application_name"] == "benchhub"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("", "benchhub://"),
        ("redis://:pw@queue.example:6380/2", "redis://:pw@queue.example:6380/2"),
        ("valkey://queue.example/0", "redis://queue.example/0"),
        ("valkeys://queue.example/0", "rediss://queue.example/0"),
        ("amqp://lab:pw@queue.example//", "amqp://lab:pw@queue.example//"),
    ],
)
def test_a_broker_address_is_understood(
    monkeypatch: pytest.MonkeyPatch, raw: str, expected: str
) -> None:
    monkeypatch.setenv("BROKER_URL", raw)
    assert env.broker_url() == expected


def test_a_broker_waits_longer_than_any_job_and_not_long_for_a_connection(tmp_path: Path) -> None:
    options = env.broker_options("redis://queue.example/0", tmp_path)
    assert options["visibility_timeout"] == 12 * 3600
    assert options["socket_connect_timeout"] == 1
    assert env.broker_options("benchhub://", tmp_path)["folder"] == str(tmp_path / "queue")


@pytest.mark.parametrize("raw", ["sqs://key:secret@", "memory://", "filesystem://", "secret"])
def test_another_broker_is_refused_without_its_password(
    monkeypatch: pytest.MonkeyPatch, raw: str
) -> None:
    monkeypatch.setenv("BROKER_URL", raw)
    with pytest.raises(ImproperlyConfigured, match="BROKER_URL begins with") as caught:
        env.broker_url()
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "raw", ["mongodb://x/y", "postgres://lab:secret@host:port/hub", "nonsense"]
)
def test_a_bad_database_address_is_refused_without_its_password(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, raw: str
) -> None:
    monkeypatch.setenv("DATABASE_URL", raw)
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL") as caught:
        env.database(tmp_path)
    assert "secret" not in str(caught.value)
