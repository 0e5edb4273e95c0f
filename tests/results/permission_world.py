"""One of each thing that permissions are about, and everybody who may ask for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.models import Permission, User
from django.core import signing
from django.test import Client
from django.urls import get_resolver, reverse
from django.urls.resolvers import URLPattern, URLResolver
from django.utils import timezone

from results import tokens
from results.intake import previews, standing
from results.intake.given import Given
from results.intake.uploads import submit
from results.intake.work import process
from results.models import Comparison, Lab, List, Metric, Run, System, Token, Upload
from runners.jobs import local_lab
from runners.models import Attempt, Host, Job
from tests.results import sent
from tests.results.api_data import signed_in
from tests.results.asking import make_token
from tests.results.bundles import as_bytes, bundle, measurement, run
from tests.runners.conftest import FACTS

SOON = timedelta(days=30)


def routes() -> dict[str, list[str]]:
    """Every address by its name (else its pattern), with the patterns it stands for."""
    found: dict[str, list[str]] = {}
    for name, pattern in _walk(get_resolver("benchhub.urls")):
        found.setdefault(name or pattern, []).append(pattern)
    return found


def _walk(resolver: URLResolver, before: str = "", space: str = "") -> Iterator[tuple[str, str]]:
    for one in resolver.url_patterns:
        pattern = before + str(one.pattern)
        if isinstance(one, URLResolver):
            inner = f"{space}{one.namespace}:" if one.namespace else space
            yield from _walk(one, pattern, inner)
        elif isinstance(one, URLPattern):
            yield (f"{space}{one.name}" if one.name else ""), pattern


def log_of(name: str) -> bytes:
    """A file of its own for each upload, in which its value stands in line 2."""
    return f"STREAM of {name}\nTriad: 100\n".encode()


def with_log(name: str, lab: str, **changes: Any) -> dict[str, bytes]:
    """A bundle of one run, told apart by its node, with the log that it was read from."""
    log = f"{name}.log"
    file = {"name": log, "sha256": sha256(log_of(name)).hexdigest(), "size": len(log_of(name))}
    read = measurement(evidence={"artefact": log, "lines": [2, 2]})
    parts = {key: changes.pop(key) for key in ("systems", "processors") if key in changes}
    told = bundle(run(read, node=name, **changes), lab=lab, artefacts=[file], **parts)
    return {"runs.json": as_bytes(told), log: log_of(name)}


def hidden_machine(slug: str = "nova-x1") -> dict[str, Any]:
    """A system and a processor that nobody has heard of, for `with_log`."""
    cpu = {"slug": f"cpu-{slug}", "name": "Nova 1", "vendor": "Novacorp", "isa": "nova64"}
    machine = {"slug": slug, "name": "Nova X1", "vendor": "Novacorp", "processor": cpu["slug"]}
    return {
        "system": slug,
        "systems": [{**machine, "sockets": 2}],
        "processors": [{**cpu, "cores": 64}],
    }


@dataclass
class World:
    """Uploads, runs and jobs of lab acme by their kind; who asks, by name."""

    acme: Lab = field(default_factory=lambda: sent.lab_of("acme"))
    umbra: Lab = field(default_factory=lambda: sent.lab_of("umbra"))
    uploads: dict[str, Upload] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)
    before: Any = None  # what was stored when it was made

    @classmethod
    def made(cls) -> World:
        """The whole of it, stored."""
        world = cls()
        assert len(world.sessions) == len(world.accounts)  # made before anything is asked
        assert world.headers
        world._make_uploads()
        world._make_runs()
        world._make_keys()
        world._make_jobs()
        return world

    # Who asks

    @cached_property
    def accounts(self) -> dict[str, User]:
        """By role. `closed` was a publisher, `dora` belongs to both labs."""
        closed = sent.publisher(self.acme, "carl")
        found = {
            "stranger": sent.publisher(self.umbra, "otto"),
            "member": sent.member(self.acme, "mia"),
            "publisher": sent.publisher(self.acme, "pia"),
            "staff": User.objects.create_user("sam", is_staff=True),
            "looker": User.objects.create_user("lou", is_staff=True),
            "root": User.objects.create_superuser("root"),
            "closed": closed,
            "dora": sent.member(self.umbra, "dora"),
        }
        sent.member(self.acme, "dora")
        looks = Permission.objects.filter(codename__startswith="view_")
        found["looker"].user_permissions.set(looks)
        return found

    @cached_property
    def headers(self) -> dict[str, str]:
        """Of the tokens, by their role."""
        secrets = {name: make_token(name, lab=self.acme)[1] for name in ("upload", "publish")}
        secrets["run"] = make_token("run", lab=self.acme)[1]
        secrets["foreign"] = make_token("publish", lab=self.umbra)[1]
        secrets["foreign-run"] = make_token("run", lab=self.umbra)[1]
        secrets["hub-run"] = make_token("run", lab=local_lab())[1]
        gone, secrets["revoked"] = make_token("publish", lab=self.acme)
        tokens.revoke(token=gone, actor=None, reason="leaked")
        past = timezone.now() - timedelta(days=1)
        gone, secrets["expired"] = make_token("publish", lab=self.acme)
        type(gone).objects.filter(pk=gone.pk).update(expires_at=past)
        return {name: f"Token {secret}" for name, secret in secrets.items()}

    @cached_property
    def sessions(self) -> dict[str, str]:
        found = {name: signed_in(user) for name, user in self.accounts.items()}
        User.objects.filter(pk=self.accounts["closed"].pk).update(is_active=False)
        return {name: client.cookies["sessionid"].value for name, client in found.items()}

    def client(self, who: str) -> Client:
        """A client that asks as `who`, with nothing left of what was asked before."""
        if who in self.headers:
            return Client(headers={"authorization": self.headers[who]})
        client = Client()
        if who != "anon":
            client.cookies["sessionid"] = self.sessions[who]
        return client

    # What there is

    def _send(self, name: str, **changes: Any) -> Upload:
        files = with_log(name, "acme", **changes)
        upload = sent.sent(files, lab=self.acme, actor=self.accounts["member"])
        self.uploads[name] = upload
        return upload

    def _make_uploads(self) -> None:
        chief = self.accounts["publisher"]
        for name in ("ready", "review", "published", "withdrawn", "closed-links", "dated"):
            assert self._send(name).state == "parsed"
        self._send("hidden", **hidden_machine())
        standing.send(upload=self.uploads["review"], actor=chief)
        standing.publish_upload(upload=self.uploads["published"], actor=chief)
        standing.withdraw_upload(upload=self.uploads["withdrawn"], actor=chief, reason="fan")
        later = timezone.now() + SOON
        standing.schedule_upload(upload=self.uploads["dated"], actor=chief, publish_at=later)
        log = {"stream.log": sent.stream_log()}
        member = self.accounts["member"]
        self.uploads["asked"] = sent.sent(log, lab=self.acme, actor=member)
        self.uploads["refused"] = sent.sent({"a.json": b"{"}, lab=self.acme, actor=member)
        self.uploads["failed"] = sent.sent({"b.json": b"{ "}, lab=self.acme, actor=member)
        broken = {"state": "failed", "problems": []}
        Upload.objects.filter(pk=self.uploads["failed"].pk).update(state="failed", report=broken)
        loose = sent.kept({"stream.log": sent.stream_log()})
        dora = self.accounts["dora"]
        upload, _new = submit(actor=dora, lab=None, files=loose, given=Given())
        process(upload.pk)
        self.uploads["loose"] = upload

    def _make_runs(self) -> None:
        once = self._send("once")
        standing.publish_upload(upload=once, actor=None)
        standing.withdraw_upload(upload=once, actor=self.accounts["publisher"], reason="fan")
        kinds = {"draft": "ready", "pending": "review", "never": "withdrawn"}
        kinds |= {"scheduled": "dated", "published": "published", "once": "once"}
        for kind, upload in {**kinds, "hidden": "hidden"}.items():
            self.runs[kind] = Run.objects.get(uploads=self.uploads[upload])

    def _make_keys(self) -> None:
        member = self.accounts["member"]
        for name in ("ready", "review", "closed-links"):
            address = previews.make_link(upload=self.uploads[name], actor=member, days=7)
            self.keys[name] = urlsplit(address).query.removeprefix("key=")
        previews.close_links(upload=self.uploads["closed-links"], actor=member)
        ready = Upload.objects.get(pk=self.uploads["ready"].pk)
        past = int(timezone.now().timestamp()) - 1
        told = [ready.pk, ready.preview_key, past]
        self.keys["expired"] = signing.dumps(told, salt=previews.SALT)

    def _make_jobs(self) -> None:
        """On a host whose system is hidden: each has one attempt, in the state of its job."""
        ready = {"stream": {"ready": True, "version": "5.10", "missing": ""}}
        shared = {"facts": FACTS.as_json(), "runners": ready}
        system = self.runs["hidden"].system
        host = Host.objects.create(slug="bench-1", name="B1", key="1", system=system, **shared)
        Host.objects.create(slug="bench-2", name="B2", key="2", is_open=False, **shared)
        key = Token.objects.get(lab=self.acme, scopes=["run"])
        kinds = {"done": "finished", "public": "finished", "running": "running"}
        for kind, state in {**kinds, "waiting": "queued", "hubs": "queued"}.items():
            mine = {} if kind == "hubs" else {"lab": self.acme, "token": key}
            over = {"finished_at": timezone.now()} if state == "finished" else {}
            about = {"benchmark": "stream", "preset": "standard", "actor_name": "x"}
            job = Job.objects.create(host=host, state=state, **about, **mine, **over)
            held = {"owner": "o", "lease_until": timezone.now() + SOON, "tail": "a log"}
            Attempt.objects.create(
                job=job, host=host, state=state, **(held if state == "running" else {}), **over
            )
            self.jobs[kind] = job
        self.jobs["done"].runs.add(self.runs["draft"])
        self.jobs["public"].runs.add(self.runs["published"])

    # Where it is

    def address(self, route: str, thing: str) -> str:
        """The address of a thing: its kind, and after a `?` the key or query that it comes with."""
        kind, _mark, query = thing.partition("?")
        if route == "api-nothing":
            return "/api/v1/nothing/"
        path = reverse(route, args=self._arguments(route, kind))
        if query == "corrects":
            return f"{path}?corrects={self.uploads['published'].pk}"
        if query in ("repeat", "draft"):
            return f"{path}?run={self.runs['published' if query == 'repeat' else query].pk}"
        return f"{path}?key={self.keys[query]}" if query else path

    def _arguments(self, route: str, kind: str) -> list[Any]:
        noun = route.removeprefix("api-").split("-")[0]
        if kind == "-":
            return []
        if noun in ("run", "artefact"):
            return self._of_run(route, kind)
        if noun == "upload":
            return self._of_upload(route, kind)
        if noun in ("measurement", "job"):
            return [self._number(noun, kind)]
        if noun == "metric":
            return [Metric.objects.order_by("pk").values_list("pk", flat=True)[0]]
        return [self._slug(noun, kind)]

    def _number(self, noun: str, kind: str) -> int:
        if kind == "missing":
            return 10**9
        if noun == "job":
            return self.jobs[kind].pk
        return self.runs[kind].measurements.get().pk

    def _of_run(self, route: str, kind: str) -> list[Any]:
        """`swapped`: the file of a draft at the address of a published run."""
        if kind == "missing":
            return [10**9, "0" * 64][: 2 if route == "artefact" else 1]
        at = self.runs["published" if kind == "swapped" else kind]
        file = self.runs["draft" if kind == "swapped" else kind].artefacts.get()
        return [at.pk, file.sha256] if route == "artefact" else [at.pk]

    def _of_upload(self, route: str, kind: str) -> list[Any]:
        """`swapped`: the file of another upload."""
        if kind == "missing":
            return [10**9, "0" * 64][: 2 if route == "upload-file" else 1]
        at = self.uploads["ready" if kind == "swapped" else kind]
        if route != "upload-file":
            return [at.pk]
        owner = self.uploads["review" if kind == "swapped" else kind]
        file = owner.files.select_related("artefact").order_by("-position")[0]
        return [at.pk, file.artefact.sha256]

    def _slug(self, noun: str, kind: str) -> str:
        if kind == "missing":
            return "no-such-thing"
        hidden = {"system": "nova-x1", "processor": "cpu-nova-x1"}
        if kind == "hidden":
            return hidden[noun]
        machine = System.objects.select_related("processor").get(slug=sent.EPYC)
        first: dict[str, Any] = {"comparison": Comparison, "list": List}
        if noun in first:
            return str(first[noun].objects.values_list("slug", flat=True)[0])
        assert machine.processor is not None
        known = {"system": machine.slug, "processor": machine.processor.slug, "lab": "acme"}
        known["host"] = "bench-1"
        return known.get(noun, "stream")
