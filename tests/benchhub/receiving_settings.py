"""The settings that are served by default, with addresses that take files."""

from benchhub.settings import *  # noqa: F403

ROOT_URLCONF = "tests.results.receiving_urls"
