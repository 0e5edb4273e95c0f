"""Settings of a process that a test starts beside itself, on the test's own database."""

import os

os.environ["VAR"] = os.environ["TEST_VAR"]

from benchhub.settings import *  # noqa: E402, F403
from benchhub.settings import DATABASES  # noqa: E402

DATABASES["default"]["NAME"] = os.environ["TEST_DATABASE"]
