"""The app of everything that was measured."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class ResultsConfig(AppConfig):
    """Labs, systems, benchmarks, runs and what is compared."""

    name = "results"
    label = "results"

    def ready(self) -> None:
        """Keep the catalogue's rows as its files say, and notice what pages must show anew."""
        from results import freshness, sync

        freshness.watch(self)
        post_migrate.connect(sync.after_migrate, sender=self, dispatch_uid="results.sync")
