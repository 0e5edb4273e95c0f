"""What hosts and jobs add to the pages, the admin and the API of `results`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from results import actors, hooks
from results.hooks import Link, Panel
from results.models import Run


def add() -> None:
    """Called once, when the apps are ready."""
    from runners.admin.rerun import rerun
    from runners.api.register import register
    from runners.sweep import sweep_everywhere

    hooks.head_links.add(head_links)
    hooks.run_links.add(run_links)
    hooks.cell_links.add(cell_link)
    hooks.home_panels.add(home_panel)
    hooks.run_actions.add(rerun)
    hooks.sweeps.add(sweep_everywhere)
    register()


def head_links(_reader: Any) -> Iterable[Link]:
    """Jobs and hosts may be looked at by all."""
    yield Link(_("Jobs"), reverse("jobs"), mark="jobs job job-new")
    yield Link(_("Hosts"), reverse("hosts"), mark="hosts")


def run_links(run: Run, reader: Any) -> Iterable[Link]:
    """The staff may repeat a run on a host."""
    if actors.is_staff(reader):
        yield Link(_("Re-run"), f"{reverse('job-new')}?run={run.pk}")


def cell_link(reader: Any) -> Link | None:
    """The same, by a value of a comparison."""
    return Link(_("re-run"), f"{reverse('job-new')}?run=") if actors.is_staff(reader) else None


def home_panel(reader: Any) -> Panel:
    """The machine in front of the reader, measured and set beside the rest."""
    from runners.pages.measuring import panel_of

    return Panel("runners/_measure_panel.html", panel_of(reader))
