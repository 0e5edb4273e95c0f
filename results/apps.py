"""The app of everything that was measured."""

from django.apps import AppConfig


class ResultsConfig(AppConfig):
    """Labs, systems, benchmarks, runs and what is compared."""

    name = "results"
    label = "results"
