"""What a request for a job says, read field by field. Nothing of it is believed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException, PermissionDenied, ValidationError
from rest_framework.request import Request

from results.actors import Actor
from results.api.fields import Fields
from results.api.ordering import Conflict
from results.hints import hint
from results.models import Run
from results.queries import visible_runs
from results.receiving.refusals import ReceiveError, too_much_text
from runners import benchmarks
from runners.benchmarks.base import ParameterError, Runner
from runners.jobs import JobError, NotAllowed
from runners.machine import Facts
from runners.models import Host

ORDER = ("host", "benchmark", "preset", "parameters", "run", "publish")
PARAMETERS = "parameters"
STANDARD = "standard"
ID = re.compile(r"[0-9]{1,18}", re.ASCII)


@dataclass(frozen=True)
class Wanted:
    """A job as it is asked for; `remarks` say what of a repeated run the host cannot do."""

    host: Host
    benchmark: str
    preset: str
    parameters: Mapping[str, Any]
    reruns: Run | None = None
    publish: bool = False
    remarks: Sequence[str] = ()


def require_small(request: Request) -> None:
    """Refuse a body that no request for a job needs, before it is read. Raises ReceiveError."""
    plain: HttpRequest = request._request
    if plain.headers.get("Transfer-Encoding") and not plain.META.get("CONTENT_LENGTH"):
        raise ReceiveError(411, _("A body is sent with its Content-Length, not in chunks."))
    length = int(plain.META.get("CONTENT_LENGTH") or 0)
    most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    if most and length > most:
        raise ReceiveError(413, too_much_text())


def read_wanted(request: Request) -> Wanted:
    """What is asked for. Raises ValidationError; UnsupportedMediaType for no form and no JSON."""
    request.data  # noqa: B018 - asked for its effect: it refuses other kinds of bodies
    fields = Fields(request, ORDER, groups=(PARAMETERS,))
    for name in request.FILES:
        fields.refuse(name[:60], _("a file is not expected here"))
    words = {name: fields.word(name) for name in ("host", "benchmark", "preset", "run")}
    publish, chosen = fields.flag("publish"), fields.group(PARAMETERS)
    fields.check()
    run = _run(request.user, words["run"]) if words["run"] else None
    runner = _runner(words["benchmark"], run)
    for name, text in misnamed(runner, chosen).items():
        fields.refuse(_field(name), text)
    fields.check()
    wanted = Wanted(
        host=_host(words["host"]),
        benchmark=runner.benchmark,
        preset=_preset(runner, words["preset"]),
        parameters=chosen,
        reruns=run,
        publish=publish,
    )
    return wanted if run is None else _adapted(wanted, runner, run)


def default_preset(runner: Runner) -> str:
    """The published rules where the runner has them, else its last preset."""
    usual = runner.preset(STANDARD) or runner.presets[-1]
    return usual.name


def misnamed(runner: Runner, chosen: Iterable[str]) -> dict[str, str]:
    """What to say of names that are no parameters of the runner, with those that are near."""
    known = [parameter.name for parameter in runner.parameters]
    text = _("%(name)r is no parameter of %(benchmark)s; %(hint)s")
    words = {"benchmark": runner.benchmark}
    return {
        name: text % {**words, "name": name[:60], "hint": hint(name, known)}
        for name in chosen
        if name not in known
    }


def refused(error: JobError | ParameterError) -> APIException:
    """The answer to what `runners.jobs` refuses: by parameter, or in a sentence."""
    if isinstance(error, ParameterError):
        return ValidationError({_field(name): [text] for name, text in error.messages.items()})
    if isinstance(error, NotAllowed):
        return PermissionDenied(str(error))
    # Among them AlreadyOver: what was asked for is understood, and cannot be done now.
    return Conflict(str(error))


def _field(name: str) -> str:
    return name if name == "preset" else f"{PARAMETERS}.{name[:60]}"


def _run(actor: Actor, number: str) -> Run:
    """The run that is to be repeated; one that the asker may not see is not there."""
    seen = visible_runs(actor).select_related("benchmark")
    found = seen.filter(pk=int(number)).first() if ID.fullmatch(number) else None
    if found is None:
        raise ValidationError({"run": [_("there is no run %s that you may see") % number[:20]]})
    return found


def _runner(slug: str, run: Run | None) -> Runner:
    """The runner of the benchmark asked for, or of the run's."""
    if run is not None and slug not in ("", run.benchmark.slug):
        words = {"run": run.pk, "benchmark": run.benchmark.slug}
        text = _("run %(run)d is of %(benchmark)s; leave this out, or name that") % words
        raise ValidationError({"benchmark": [text]})
    slug = slug or (run.benchmark.slug if run else "")
    if not slug:
        known = ", ".join(benchmarks.runners())
        raise ValidationError({"benchmark": [_("is needed; there are: %s") % known]})
    found = benchmarks.get(slug)
    if found is None:
        words = {"value": slug, "hint": hint(slug, benchmarks.runners())}
        text = _("no runner measures %(value)r; %(hint)s") % words
        raise ValidationError({"benchmark": [text]})
    return found


def _host(slug: str) -> Host:
    """The host of that slug; where none is named, the only one that takes jobs."""
    # Compared here: a database need not know every text that a program may send.
    hosts = {host.slug: host for host in Host.objects.select_related("system")}
    if slug:
        if slug not in hosts:
            words = {"value": slug, "hint": hint(slug, hosts)}
            raise ValidationError({"host": [_("%(value)r is not known; %(hint)s") % words]})
        return hosts[slug]
    open_ones = [host for host in hosts.values() if host.is_open]
    if len(open_ones) == 1:
        return open_ones[0]
    if not open_ones:
        raise ValidationError({"host": [_("no host takes jobs")]})
    names = ", ".join(host.slug for host in open_ones)
    raise ValidationError({"host": [_("several take jobs: say which of %s") % names]})


def _preset(runner: Runner, name: str) -> str:
    if not name:
        return default_preset(runner)
    if runner.preset(name) is None:
        known = [preset.name for preset in runner.presets]
        words = {"value": name, "hint": hint(name, known)}
        raise ValidationError({"preset": [_("%(value)r is not known; %(hint)s") % words]})
    return name


def _adapted(wanted: Wanted, runner: Runner, run: Run) -> Wanted:
    """With the run's parameters as the host can do them, below what was chosen."""
    adapted = runner.adapt(run.parameters, run.scope, Facts.of(wanted.host.facts))
    together = {**adapted.values, **wanted.parameters}
    return replace(wanted, parameters=together, remarks=adapted.cannot)
