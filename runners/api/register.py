"""Puts the lists of hosts and jobs beside those of `results`."""

from __future__ import annotations

from rest_framework.routers import BaseRouter

from results import hooks


def register() -> None:
    """Called once, when the apps are ready."""
    hooks.api_lists.add(add_lists)


def add_lists(router: BaseRouter) -> None:
    """Called when the addresses are first read; until then no view is loaded."""
    from runners.api import views

    router.register("hosts", views.HostViewSet, "api-host")
    router.register("jobs", views.JobViewSet, "api-job")
