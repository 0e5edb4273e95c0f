"""Settings under test: a folder of its own for each process, files unhashed, quick passwords."""

import atexit
import os
import shutil
import tempfile

_folder = tempfile.mkdtemp(prefix="benchhub-test-")
atexit.register(shutil.rmtree, _folder, ignore_errors=True)
os.environ["VAR"] = _folder
for _name in (
    *("DATABASE_URL", "BROKER_URL", "DEBUG", "HTTPS", "BIND", "ALLOWED_HOSTS", "SECRET_KEY"),
    *("PROXIES", "HOST_NAME"),
):
    os.environ.pop(_name, None)
# Never a database that somebody serves: another variable, which tests/postgres sets.
if os.environ.get("TEST_DATABASE_URL"):
    os.environ["DATABASE_URL"] = os.environ["TEST_DATABASE_URL"]

from benchhub.settings import *  # noqa: E402
from benchhub.settings import CACHES, DATABASES, STATIC_ROOT, STORAGES, VAR  # noqa: E402

if "DATABASE_URL" in os.environ:
    # Threads of a test, and the copies between tests, want no connection kept.
    DATABASES["default"]["CONN_MAX_AGE"] = 0
else:
    # A file, not SQLite's memory: threads and processes of a test then meet the real locks.
    DATABASES["default"]["TEST"] = {"NAME": str(VAR / "test.sqlite3")}
    DATABASES["default"]["OPTIONS"]["init_command"] += ";PRAGMA synchronous=OFF"
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
STATIC_ROOT.mkdir()  # WhiteNoise wants it; the test server finds files without it
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Each test sees what it has just stored by itself; the tests of kept pages turn this on.
CACHES["pages"] = {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}
# Uploads are read in the test's own transaction; the tests of the reader start a real one.
INTAKE = "here"
