"""What is not public changes nothing that strangers are answered, by not one sign (S-08, S-09)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import caches
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from results import artefacts
from results.intake import standing
from results.intake.questions import NEW
from results.models import Run, System, Upload
from runners.models import Attempt, Host, Job
from tests.results import sent
from tests.results.api_data import signed_in
from tests.results.asking import make_token, with_token
from tests.results.bundles import as_bytes, bundle, measurement, run
from tests.results.permission_world import SOON, World, hidden_machine, with_log

pytestmark = pytest.mark.django_db
VERA, EPYC = "nvidia-mgx-vera-c2", sent.EPYC
# What differs between two answers to the same question anyhow.
TOKENS = re.compile(r'name="csrfmiddlewaretoken" value="\w+"')
NEWCOMER = sent.lscpu("Novacorp Nova 1", {"Core(s) per socket": 64})

PUBLIC = (
    "/",
    "/?lang=ja",
    "/compare/",
    f"/compare/?system={VERA}&system={EPYC}&benchmark=stream",
    f"/compare/?system={VERA}&benchmark=stream&factor=smt",
    f"/compare/?system={VERA}&per=core",
    "/compare/?system=nova-x1",
    "/compare/?system=nova-x",
    "/compare/?find=nova",
    "/systems/",
    "/systems/?q=nova",
    "/systems/?q=epyc",
    "/systems/?vendor=Novacorp",
    "/systems/?lab=acme",
    "/systems/?isa=nova64",
    f"/systems/?system=nova-x1&system={VERA}",
    f"/systems/{VERA}/",
    "/systems/nova-x1/",
    "/benchmarks/",
    "/benchmarks/stream/",
    "/benchmarks/stream/?metric=triad.bandwidth&value=99",
    "/benchmarks/gromacs/",
    "/uploads/?lab=acme",
    "/upload/",
    "/review/",
    "/sitemap.xml",
    "/feed/",
    "/api/v1/",
    "/api/v1/schema/",
    "/api/v1/labs/?search=acme",
    "/api/v1/systems/",
    "/api/v1/systems/?search=nova",
    "/api/v1/systems/?lab=acme",
    "/api/v1/systems/?processor=cpu-nova-x1",
    "/api/v1/systems/nova-x1/",
    f"/api/v1/systems/{VERA}/",
    "/api/v1/processors/",
    "/api/v1/processors/?search=nova",
    "/api/v1/processors/?isa=nova64",
    "/api/v1/processors/cpu-nova-x1/",
    "/api/v1/runs/",
    "/api/v1/runs/?lab=acme",
    "/api/v1/runs/?system=nova-x1",
    f"/api/v1/runs/?system={VERA}&benchmark=stream",
    "/api/v1/runs/?state=draft",
    "/api/v1/runs/?state=scheduled",
    "/api/v1/runs/?state=withdrawn",
    "/api/v1/runs/?param.threads=64",
    "/api/v1/measurements/",
    "/api/v1/measurements/?lab=acme",
    "/api/v1/measurements/?system=nova-x1",
    f"/api/v1/measurements/?system={VERA}&metric=triad.bandwidth",
    "/api/v1/benchmarks/",
    "/api/v1/metrics/?benchmark=stream",
    "/api/v1/comparisons/",
    "/api/v1/lists/",
    "/api/v1/uploads/",
    "/api/v1/uploads/?lab=acme",
    "/api/v1/uploads/?state=published",
    "/jobs/",
    "/hosts/",
    "/api/v1/jobs/",
    "/api/v1/hosts/",
    f"/api/v1/compare/?system={VERA}&system={EPYC}",
    "/api/v1/compare/?system=nova-x1",
    "/api/v1/compare/?system=nova-x",
    f"/api/v1/compare.csv?system={VERA}&system={EPYC}",
    "/api/v1/compare.csv?system=nova-x1",
)
TOLD = ("ETag", "Last-Modified", "Content-Length", "Location", "Link", "Vary")


@pytest.fixture(autouse=True)
def kept_pages(settings: Any) -> Iterator[None]:
    """Pages are kept between readers, as they are outside tests."""
    backend = "django.core.cache.backends.locmem.LocMemCache"
    settings.CACHES = {**settings.CACHES, "pages": {"BACKEND": backend, "LOCATION": "leaks"}}
    yield
    caches["pages"].clear()


def answered(client: Client, address: str) -> tuple[Any, ...]:
    """All of an answer: status, body, and the headers that tell of content."""
    answer: Any = client.get(address)
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    text, differing = TOKENS.subn("", body.decode())
    headers = {name: answer.get(name) for name in TOLD if not (differing and name == "ETag")}
    return answer.status_code, headers, text


def hide_things(world_lab: Any) -> list[Run]:
    """A run in each state that is not public, on machines old and new."""
    chief = sent.publisher(world_lab, "pia")

    def send(name: str, **changes: Any) -> Upload:
        return sent.sent(with_log(name, "acme", **changes), lab=world_lab, actor=chief)

    send("draft", **hidden_machine())
    send("draft-of-the-known")
    standing.send(upload=send("review", system=EPYC), actor=chief)
    later = timezone.now() + SOON
    standing.schedule_upload(upload=send("dated"), actor=chief, publish_at=later)
    due = send("due")
    standing.schedule_upload(upload=due, actor=chief, publish_at=later)
    # Its moment has come, and no sweep yet.
    past = timezone.now() - timedelta(hours=1)
    Run.objects.filter(uploads=due).update(publish_at=past)
    Upload.objects.filter(pk=due.pk).update(publish_at=past)
    withdrawn = send("withdrawn")
    standing.withdraw_upload(upload=withdrawn, actor=chief, reason="fan")
    described = {"lscpu.json": NEWCOMER, "stream.log": sent.stream_with_threads(128)}
    assert sent.sent(described, lab=world_lab, system=NEW).runs.count() == 1
    sent.sent({"broken.json": b"{"}, lab=world_lab)
    return list(Run.objects.filter(lab=world_lab))


def strangers() -> dict[str, Client]:
    umbra = sent.lab_of("umbra")
    token = make_token("publish", lab=umbra)[1]
    return {
        "anonymous": Client(),
        "of another lab": signed_in(sent.publisher(umbra, "otto")),
        "another lab's token": with_token(token),
    }


def test_no_answer_to_a_stranger_tells_of_what_is_hidden() -> None:
    acme, clients = sent.lab_of("acme"), strangers()
    own = sent.sent(with_log("own", "umbra"), lab=sent.lab_of("umbra"), actor=None or otto())
    addresses = (*PUBLIC, own.get_absolute_url(), f"/api/v1/uploads/{own.pk}/")
    before = {(who, a): answered(c, a) for who, c in clients.items() for a in addresses}
    hidden = hide_things(acme)
    assert len(hidden) > 5
    assert System.objects.filter(slug="nova-x1", is_public=False).exists()
    after = {(who, a): answered(c, a) for who, c in clients.items() for a in addresses}
    assert [key for key in before if before[key] != after[key]] == []


def a_finished_job() -> Job:
    """Of the hub's own, on a host of which no system is known."""
    host = Host.objects.create(slug="bench-1", name="B1", key="1")
    about = {"benchmark": "stream", "preset": "standard", "actor_name": "the hub"}
    now = timezone.now()
    job = Job.objects.create(host=host, state="finished", finished_at=now, **about)
    Attempt.objects.create(job=job, host=host, state="finished", started_at=now, finished_at=now)
    return job


def test_a_job_tells_strangers_nothing_of_its_hidden_result_and_log() -> None:
    """Nor of a hidden run that it repeats, nor of the hidden system that its host is."""
    acme, clients, job = sent.lab_of("acme"), strangers(), a_finished_job()
    clients["another lab's program"] = with_token(make_token("run", lab=sent.lab_of("umbra"))[1])
    ways = (f"/jobs/{job.pk}/", "/jobs/", "/hosts/", f"/api/v1/jobs/{job.pk}/", "/api/v1/jobs/")
    addresses = (*ways, "/api/v1/hosts/", "/api/v1/hosts/bench-1/", "/api/v1/jobs/?state=finished")
    hidden = hide_things(acme)
    before = {(who, a): answered(c, a) for who, c in clients.items() for a in addresses}
    machine = System.objects.get(slug="nova-x1")
    Host.objects.update(system=machine)
    told = {"tail": "Triad: 12345.6", "record": {"argv": ["novacc"]}}
    job.attempts.update(**told, flags=[{"word": "load", "text": "Novacorp's daemon ran"}])
    job.runs.set([run for run in hidden if run.system_id == machine.pk])
    assert job.runs.exists()
    Job.objects.update(reruns=hidden[-1])
    after = {(who, a): answered(c, a) for who, c in clients.items() for a in addresses}
    assert [key for key in before if before[key] != after[key]] == []
    staff = signed_in(sent.staff())
    for address in (f"/jobs/{job.pk}/", f"/api/v1/jobs/{job.pk}/"):
        assert "Triad: 12345.6" in answered(staff, address)[2]


def otto() -> Any:
    return sent.publisher(sent.lab_of("umbra"), "otto")


def test_what_was_fetched_before_is_still_good() -> None:
    """`If-None-Match` is answered with 304: the entity tag has not changed."""
    acme, client = sent.lab_of("acme"), Client()
    addresses = [a for a in PUBLIC if a.startswith(("/api/v1/compare/?system=nv", "/api/v1/runs/"))]
    tags = {address: client.get(address).get("ETag") for address in addresses}
    hide_things(acme)
    for address, tag in tags.items():
        if tag and client.get(address).status_code == 200:
            again = client.get(address, headers={"if-none-match": tag})
            assert again.status_code == 304, address


def looked_at(client: Client, files: dict[str, bytes], **more: str) -> Any:
    """What a dry run answers to files, without what names the moment."""
    sent_files = [SimpleUploadedFile(n.replace("_", "."), data) for n, data in files.items()]
    form = {"file": sent_files, "lab": "umbra", "dry_run": "true", **more}
    answer = client.post("/api/v1/uploads/", form)
    # Where a slug is taken by what is hidden, ingest puts the lab's own behind it.
    return answer.status_code, json.loads(answer.content.replace(b"-umbra", b""))


def of_umbra(*runs: dict[str, Any], **parts: Any) -> bytes:
    return as_bytes(bundle(*runs, lab="umbra", **parts))


LOOKS: dict[str, Callable[[], dict[str, bytes]]] = {
    "a value beside hidden ones": lambda: {"a_json": of_umbra(run(measurement(101.0)))},
    "a hidden system's name": lambda: {"a_json": of_umbra(run(system="nova-x1"))},
    "nearly a hidden system's name": lambda: {"a_json": of_umbra(run(system="nova-x"))},
    "nearly a hidden processor's name": lambda: {
        "a_json": of_umbra(
            run(system="box"),
            systems=[{"slug": "box", "name": "B", "processor": "cpu-nova-x", "sockets": 1}],
        )
    },
    "the facts of a hidden machine": lambda: {
        "lscpu_json": NEWCOMER,
        "stream_log": sent.stream_with_threads(128),
    },
    "a new machine that is a hidden one": lambda: {
        "lscpu_json": NEWCOMER,
        "stream_log": sent.stream_with_threads(128),
    },
    "the same file as a hidden one": lambda: {"stream_log": sent.stream_with_threads(128)},
}


@pytest.mark.parametrize("look", LOOKS)
def test_a_strangers_files_are_understood_as_if_nothing_were_hidden(look: str) -> None:
    acme, client = sent.lab_of("acme"), strangers()["another lab's token"]
    more = {"system": NEW} if "new" in look else {}
    before = looked_at(client, LOOKS[look](), **more)
    hide_things(acme)
    assert looked_at(client, LOOKS[look](), **more) == before


# Files


EVIL = {
    "page.html": b"<script>alert(1)</script>\n",
    "drawing.svg": b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>\n',
    "code.js": b"alert(1)\n",
    "a.pdf": b"%PDF-1.4\n",
}


def test_a_file_is_handed_out_so_that_no_browser_executes_it() -> None:
    lab = sent.lab_of("acme")
    member = sent.publisher(lab)
    named = [{"name": n, "sha256": artefacts.digest(d), "size": len(d)} for n, d in EVIL.items()]
    read = [
        measurement(metric=f"{kernel}.bandwidth", evidence={"artefact": name, "lines": [1, 1]})
        for kernel, name in zip(("copy", "scale", "add", "triad"), EVIL, strict=True)
    ]
    files = {"runs.json": sent.bundle_of(lab, run(*read), artefacts=named), **EVIL}
    upload = sent.sent(files, lab=lab, actor=member)
    assert upload.report["problems"] == []
    standing.publish_upload(upload=upload, actor=member)
    stored = Run.objects.get(uploads=upload)
    ways = {f"/uploads/{upload.pk}/files/": signed_in(member)}
    ways[f"/runs/{stored.pk}/artefacts/"] = Client()
    for place, client in ways.items():
        for name, data in EVIL.items():
            answer: Any = client.get(f"{place}{artefacts.digest(data)}/")
            assert b"".join(answer.streaming_content) == data
            assert answer["Content-Type"] == "application/octet-stream"
            assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
            assert answer["X-Content-Type-Options"] == "nosniff"
            assert answer["Content-Security-Policy"] == "sandbox; default-src 'none'"


STRANGE = (
    "..",
    "../../db.sqlite3",
    "..%2f..%2fdb.sqlite3",
    "%2e%2e%2f%2e%2e%2fsecret-key",
    "%00",
    "{digest}%00",
    "{upper}",
    "{short}",
    "{digest}%20",
    "{digest}%0a",
    "{digest}/../{digest}",
    "%F0%9F%92%A9",
    "0" * 64,
    "0" * 5000,
    "incoming",
    "1",
)
PLACES = ("/runs/{run}/artefacts/", "/uploads/{upload}/files/")
STRANGE_IDS = ("0", "-1", "1e3", "%31%00", "99999999999999999999999999", "１", "1%2f..%2f2", "+1")


def test_strange_addresses_of_files_are_not_found() -> None:
    world = World.made()
    digest = world.runs["published"].artefacts.get().sha256
    at = {"run": world.runs["published"].pk, "upload": world.uploads["published"].pk}
    words = {"digest": digest, "upper": digest.upper(), "short": digest[:63]}
    for who in ("anon", "member", "staff"):
        client = world.client(who)
        for name in STRANGE:
            for place in PLACES:
                address = f"{place.format(**at)}{name.format(**words)}/"
                assert client.get(address).status_code == 404, (who, address)
        for number in STRANGE_IDS:
            for address in (f"/runs/{number}/artefacts/{digest}/", f"/uploads/{number}/"):
                assert client.get(address).status_code == 404, (who, address)
