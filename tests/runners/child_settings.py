"""Settings of a process that a test starts beside itself, on the test's own database."""

import os

os.environ["VAR"] = os.environ["TEST_VAR"]
if os.environ.get("TEST_DATABASE_URL"):
    os.environ["DATABASE_URL"] = os.environ["TEST_DATABASE_URL"]

from benchhub.settings import *  # noqa: F403
from benchhub.settings import DATABASES

DATABASES["default"]["NAME"] = os.environ["TEST_DATABASE"]
