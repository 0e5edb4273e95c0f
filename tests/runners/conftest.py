"""A host to run on, and the runner whose programs do what a test asks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from results.models import Processor, System
from runners import benchmarks
from runners.machine import Cpu, Facts
from runners.models import Host, Job

FACTS = Facts(
    cpus=(Cpu(0, 0), Cpu(1, 1)),
    processor="Example 2",
    arch="x86_64",
    llc_mib=32.0,
    memory_gib=23.0,
    smt="off",
    setup={"os": "Debian GNU/Linux 12 (bookworm)", "kernel": "6.18.44"},
)


@pytest.fixture
def given_runner(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """`tests.runners.given` measures STREAM, in this process and those that it starts."""
    monkeypatch.setenv("EXTRA_RUNNERS", "tests.runners.given")
    benchmarks.runners.cache_clear()
    yield
    monkeypatch.undo()
    benchmarks.runners.cache_clear()


@pytest.fixture
def host(db: None, tmp_path: Path, settings: Any) -> Host:
    """A host that is a system of its own, with a folder of its own."""
    settings.VAR = tmp_path
    settings.ARTEFACT_ROOT = tmp_path / "artefacts"
    return make_host("given-host")


def make_host(slug: str) -> Host:
    """A host with two cores, free for jobs."""
    processor = Processor.objects.create(
        slug=f"{slug}-cpu", name="Example 2", short_name="Example 2", cores=2, is_public=False
    )
    system = System.objects.create(
        slug=f"{slug}-system",
        name="Host under test",
        processor=processor,
        sockets=1,
        is_public=False,
    )
    return Host.objects.create(
        slug=slug,
        name=slug,
        key=f"{slug}-key",
        system=system,
        facts=FACTS.as_json(),
        runners={"stream": {"ready": True, "version": "5.10", "missing": ""}},
    )


def asked(host: Host, **parameters: Any) -> Job:
    """A job that the hub itself asks for."""
    from runners.jobs import request_job

    return request_job(
        host=host, benchmark="stream", preset="standard", parameters=parameters, actor=None
    )
