"""The app of hosts and jobs; what it adds to the pages of `results` is in `runners.additions`."""

from django.apps import AppConfig


class RunnersConfig(AppConfig):
    name = "runners"
    verbose_name = "Hosts and jobs"

    def ready(self) -> None:
        from runners import additions

        additions.add()
