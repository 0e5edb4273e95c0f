"""`runbench BENCHMARK`: measure on this machine, and say where the result stands."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser
from django.db import connection
from django.utils.translation import gettext as _

from results.api.documents import Document
from results.hints import hint
from results.models import Run
from runners import benchmarks
from runners.api.asking import default_preset, misnamed
from runners.benchmarks.base import ParameterError, Runner
from runners.hosts import this_host
from runners.jobs import JobError, request_job
from runners.management import documents
from runners.management.following import Signals, follow
from runners.management.progress import Bar
from runners.management.standings import standings_of
from runners.models import Host, Job

INTERRUPTED = 128  # and the signal's number, as a shell tells it
LAST_LINES = 8


class Refused(Exception):  # noqa: N818 - a refusal, no failure
    """Nothing was started; each problem as the document tells it."""

    def __init__(self, problems: Sequence[Document]) -> None:
        super().__init__()
        self.problems = problems


class Command(BaseCommand):
    help = "Measure on this machine, and print the values and where they stand."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("benchmark", nargs="?", default="", metavar="BENCHMARK")
        parser.add_argument("--preset", default="", help="standard, if the benchmark has it")
        parser.add_argument(
            "-p",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            dest="parameters",
            help="a parameter, instead of the preset's; repeatable",
        )
        parser.add_argument("--host", default="", metavar="SLUG", help="this machine")
        parser.add_argument("--publish", action="store_true", help="publish the result")
        parser.add_argument("--json", action="store_true", help="print one JSON document")
        parser.add_argument("--list", action="store_true", help="what can be measured here")

    def handle(self, *args: Any, **options: Any) -> None:
        self._prepare()
        if options["list"]:
            self._list(this_host(refresh=True))
            return
        # From the moment that there is a job, whoever ends this process ends the job.
        with Signals() as signals:
            try:
                here = this_host(refresh=True)
                host = _host(options["host"], here)
                job = _request(host, options)
            except Refused as refused:
                self._refuse(refused, as_json=options["json"])
            stream: Any = self.stderr
            # What it wraps: a line that is redrawn is neither coloured nor ended.
            bar = Bar(stream._out, quiet=options["json"])
            try:
                number = follow(job, signals, is_here=host.pk == here.pk, show=bar.show)
            finally:
                bar.done()
        job.refresh_from_db()
        self._conclude(job, as_json=options["json"])
        if number:
            raise SystemExit(INTERRUPTED + number)
        if job.state != Job.State.FINISHED:
            raise SystemExit(1)

    def _prepare(self) -> None:
        """Make the database where there is none yet: one command measures a machine."""
        if Host._meta.db_table in connection.introspection.table_names():
            return
        self.stderr.write(_("There is no database in VAR yet: it is made first."))
        call_command("migrate", interactive=False, verbosity=0)
        call_command("load_reference", verbosity=0)

    # Telling

    def _conclude(self, job: Job, *, as_json: bool) -> None:
        """What came of it, or why nothing did."""
        related = ("system", "benchmark", "lab", "setup")
        runs = list(job.runs.select_related(*related).order_by("pk"))
        if as_json:
            self._print(documents.of_job(job, runs))
        elif runs:
            self._tell(runs)
        else:
            self._tell_failure(job)

    def _print(self, document: Mapping[str, Any]) -> None:
        self.stdout.write(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False))

    def _refuse(self, refused: Refused, *, as_json: bool) -> NoReturn:
        if as_json:
            self._print(documents.refused(refused.problems))
        else:
            for problem in refused.problems:
                self.stderr.write(problem["message"], self.style.ERROR)
        raise SystemExit(1)

    def _tell(self, runs: Sequence[Run]) -> None:
        """The values, each with its place, and where all of it can be read."""
        standings = standings_of(runs)
        width = max((len(one.title) for one in standings), default=0)
        values = max((len(one.value) for one in standings), default=0)
        for one in standings:
            line = f"{one.title:<{width}}  {one.value:>{values}}"
            self.stdout.write(f"{line}   {one.words}".rstrip())
        for text in dict.fromkeys(run.note for run in runs):
            if text:
                self.stderr.write(_("Note: %(text)s") % {"text": text}, lambda line: line)
        for run in runs:
            words = {"address": run.get_absolute_url(), "state": run.get_state_display()}
            self.stdout.write(_("The run: %(address)s (%(state)s)") % words)

    def _tell_failure(self, job: Job) -> None:
        """Why there is no result, and the end of what the program printed."""
        state = {"job": job.pk, "state": job.get_state_display(), "message": job.message}
        text = _("Job %(job)d: %(state)s. %(message)s") % state
        self.stderr.write(text.strip(), self.style.ERROR)
        newest = job.attempts.order_by("-number").first()
        for line in (newest.tail.splitlines() if newest else [])[-LAST_LINES:]:
            self.stderr.write(f"  {line}", lambda text: text)

    def _list(self, host: Host) -> None:
        """Every runner, whether it can run here, and its presets."""
        for slug, runner in benchmarks.runners().items():
            check = host.runners.get(slug, {})
            if check.get("ready"):
                standing = _("ready") + (f", {check['version']}" if check.get("version") else "")
            else:
                standing = _("not ready: %(missing)s") % {"missing": check.get("missing", "")}
            self.stdout.write(f"{slug}: {standing}")
            for preset in runner.presets:
                self.stdout.write(f"  {preset.name}: {preset.label}. {preset.note}")


# Asking


def _host(slug: str, here: Host) -> Host:
    """The host that is to measure: this machine, or one whose worker is alive."""
    if slug in ("", here.slug):
        return here
    hosts = {host.slug: host for host in Host.objects.all()}
    if slug not in hosts:
        words = {"found": slug, "hint": hint(slug, hosts)}
        text = _("--host: found %(found)r; %(hint)s") % words
        raise Refused([documents.problem(text, field="host", found=slug)])
    if not hosts[slug].is_alive:
        text = _("%(host)s is away: its worker is not running, and this machine is %(here)s.")
        words = {"host": slug, "here": here.slug}
        raise Refused([documents.problem(text % words, field="host", found=slug)])
    return hosts[slug]


def _request(host: Host, options: Mapping[str, Any]) -> Job:
    """The job in the host's queue. Raises Refused."""
    runner = _runner(options["benchmark"])
    chosen = _chosen(options["parameters"], runner)
    try:
        return request_job(
            host=host,
            benchmark=runner.benchmark,
            preset=options["preset"] or default_preset(runner),
            parameters=chosen,
            actor=None,
            publish=options["publish"],
        )
    except ParameterError as error:
        raise Refused(_problems(error, chosen)) from None
    except JobError as error:
        raise Refused([documents.problem(str(error))]) from None


def _runner(slug: str) -> Runner:
    runner = benchmarks.get(slug)
    if runner is not None:
        return runner
    known = benchmarks.runners()
    if not slug:
        text = _("Say which benchmark: %(known)s") % {"known": ", ".join(known)}
    else:
        words = {"found": slug, "hint": hint(slug, known)}
        text = _("No runner measures %(found)r; %(hint)s") % words
    raise Refused(
        [documents.problem(text, field="benchmark", found=slug, expected=", ".join(known))]
    )


def _chosen(texts: Sequence[str], runner: Runner) -> dict[str, str]:
    """The parameters that were given, by name. Raises Refused for all that is wrong with them."""
    chosen: dict[str, str] = {}
    problems = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            told = _("-p: found %(found)r, expected KEY=VALUE") % {"found": text[:80]}
            problems.append(documents.problem(told, found=text[:80], expected="KEY=VALUE"))
        elif name in chosen:
            told = _("%(name)s: is given more than once") % {"name": name[:60]}
            problems.append(documents.problem(told, field=name[:60]))
        chosen[name] = value.strip()
    if not problems:
        problems = [
            documents.problem(told, field=name[:60], found=name[:60])
            for name, told in misnamed(runner, chosen).items()
        ]
    if problems:
        raise Refused(problems)
    return chosen


def _problems(error: ParameterError, chosen: Mapping[str, str]) -> list[Document]:
    return [
        documents.problem(text, field=name, found=chosen.get(name, "")[:80])
        for name, text in error.messages.items()
    ]
