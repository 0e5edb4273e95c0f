"""Settings of a process that a test starts beside itself, on the test's own database."""

import os

os.environ["VAR"] = os.environ["TEST_VAR"]

from benchhub.settings import *  # noqa: F403
from benchhub.settings import DATABASES

DATABASES["default"]["NAME"] = os.environ["TEST_DATABASE"]
