"""This machine's row: found or made, looked at anew, and heard of.

A machine is told from others by a digest of its id and name: from the row nothing of it can be
read. What it is, as far as comparisons go, is a System: a stored one where it surely is that,
else a new one that stays hidden until something measured on it is published.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _

from results import sync
from results.intake import systems
from results.intake.machine import Machine, Told, merge
from results.models import Lab, Run, System
from results.passing import retried
from runners import benchmarks, detect
from runners.benchmarks.base import Runner
from runners.engine import processes
from runners.machine import Facts
from runners.models import Attempt, Host

LONGEST_SLUG = 60
# Names that a cloud makes of an address say where the machine is, not what it is.
ADDRESS = re.compile(r"(?i)ip[-_]?\d{1,3}([-_.]\d{1,3}){3}|\d{1,3}(\.\d{1,3}){3}")
IDS = (
    "/etc/machine-id",
    "/var/lib/dbus/machine-id",
    "/sys/class/dmi/id/product_uuid",
)
# Of what is known of the machine, beside its facts: what its System is held against.
MACHINE = "machine"
HELD_AGAINST = ("processor", "sockets", "cores_per_socket", "memory_gb", "memory_total_gb")


def this_host(*, refresh: bool = False) -> Host:
    """This machine's row, made if it is new. One query where it is known.

    `refresh`: look at the machine anew, unless something is being measured on it.
    """
    key = machine_key()
    host = Host.objects.select_related("system__processor").filter(key=key).first()
    if host is None:
        host = _make(key)
    if host.detected_at is None or (refresh and not _is_measuring(host)):
        _look(host)
    return host


def beat(host: Host) -> None:
    """Write that the host's worker is there, by the database's clock."""
    Host.objects.filter(pk=host.pk).update(seen_at=Now(), place=processes.place())


def machine_key() -> str:
    """Tells this machine from others, 64 signs, under the name that it goes by."""
    text = f"host\0{_machine_id()}\0{settings.HOST_NAME or socket.gethostname()}"
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _machine_id() -> str:
    for path in IDS:
        with suppress(OSError, UnicodeDecodeError):
            text = Path(path).read_text(encoding="ascii").strip()
            if len(text) >= 16:
                return text
    return _made_id(Path(settings.VAR) / "host-id")


def _made_id(path: Path) -> str:
    """A random one, kept; of several processes that make one at once, the first one's."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    if not path.exists():
        beside.write_text(secrets.token_hex(32), encoding="ascii")
        beside.chmod(0o600)
        with suppress(FileExistsError):
            os.link(beside, path)
        beside.unlink()
    return path.read_text(encoding="ascii").strip()


# --- the row -----------------------------------------------------------------------------------


def host_name() -> str:
    """The name that this machine goes by here."""
    own = socket.gethostname()
    if not settings.HOST_NAME and ADDRESS.match(own):
        return "host"
    return str(settings.HOST_NAME or own.partition(".")[0] or "host")[:120]


def _make(key: str) -> Host:
    """A row for this machine under a free name; another process may make the same one."""
    for slug in _slugs(host_name()):
        with suppress(IntegrityError), transaction.atomic():
            Host.objects.create(slug=slug, name=host_name(), key=key)
        host = Host.objects.select_related("system__processor").filter(key=key).first()
        if host is not None:
            return host
    raise AssertionError("not reached")


def _slugs(name: str) -> Iterator[str]:
    slug = slugify(name.replace(".", "-"))[:LONGEST_SLUG].strip("-_") or "host"
    yield slug
    yield from (f"{slug}-{number}" for number in count(2))


def _is_measuring(host: Host) -> bool:
    return Attempt.objects.filter(host=host, state=Attempt.State.RUNNING).exists()


# --- what it is --------------------------------------------------------------------------------


def _look(host: Host) -> None:
    """Detect, and write what was found; the system stays what it is, if it is any."""
    looked = detect.gather()
    facts, machine = detect.facts_of(looked), merge(detect.drafts_of(looked))
    host.facts = {**facts.as_json(), MACHINE: _plain(machine)}
    host.runners = {slug: checked(one, facts) for slug, one in benchmarks.runners().items()}
    host.detected_at = timezone.now()
    host.save(update_fields=["facts", "runners", "detected_at"])
    if host.system_id is None:
        _give_system(host.pk, machine)
        host.refresh_from_db()


def checked(runner: Runner, facts: Facts) -> dict[str, Any]:
    """Whether a runner can run here; one whose look failed cannot."""
    try:
        found = runner.check(facts)
    except Exception as error:
        missing = _("looking for what it needs failed: %(error)s") % {"error": repr(error)[:200]}
        return {"ready": False, "version": "", "missing": missing}
    return {"ready": found.ready, "version": found.version, "missing": found.missing}


def _plain(machine: Machine) -> dict[str, Any]:
    return {name: machine.get(name) for name in HELD_AGAINST if machine.get(name) is not None}


def machine_of(kept: Mapping[str, Any]) -> Machine:
    """The machine as far as a Host's facts keep it."""
    known = kept.get(MACHINE, {})
    facts = {name: Told("", None, known[name]) for name in HELD_AGAINST if name in known}
    return Machine(facts=facts)


@retried
def _give_system(host_id: int, machine: Machine) -> None:
    """The stored system that this machine surely is, else a new, hidden one.

    In one transaction with the host, without which a sweep would take it for forgotten.
    """
    host = Host.objects.select_for_update(of=("self",)).get(pk=host_id)
    if host.system_id is None:
        host.system = _certain(machine) or _made(host, machine)
        host.save(update_fields=["system"])


def _known_systems() -> QuerySet[System]:
    """Those that all may know of, those of other hosts, and those measured here before."""
    lab = _local_lab().slug
    own = System.objects.filter(hosts__isnull=False) | System.objects.filter(runs__lab__slug=lab)
    public = System.objects.filter(is_public=True)
    return System.objects.filter(pk__in=(own | public).values("pk"))


def _certain(machine: Machine) -> System | None:
    """The one known system that the machine surely is. A group of systems is no machine; a
    virtual machine with some of a processor's cores is none with others."""
    found = systems.match(machine, _known_systems().filter(members=None)).certain
    if found is None or not machine.get("virtual") or found.processor is None:
        return found
    return found if found.processor.cores == machine.get("cores_per_socket") else None


def _local_lab() -> Lab:
    """The lab of the hub's own hosts, made again where it was removed."""
    sync.ensure()
    defaults = {"name": "This hub", "kind": Lab.Kind.LOCAL}
    return Lab.objects.get_or_create(slug=sync.LOCAL, defaults=defaults)[0]


def _made(host: Host, machine: Machine) -> System | None:
    """A new system; one that only has a name where what was detected cannot be stored. None
    where even that cannot: then the staff names one."""
    proposal = systems.propose(machine, _known_systems())
    if proposal is not None:
        made = _stored(proposal.system, proposal.processor)
        if made is not None:
            return made
    return _stored({"slug": f"host-{host.slug}", "name": host.name}, None)


def _stored(system: dict[str, Any], processor: dict[str, Any] | None) -> System | None:
    """By the same way in as the systems of uploads; hidden, as long as its runs are drafts."""
    from results import ingest
    from results.bundle import Bundle

    bundle: dict[str, Any] = {
        "bundle": 1,
        "lab": _local_lab().slug,
        "systems": [{**system, "slug": _free_slug(system["slug"])}],
        "processors": [processor] if processor else [],
    }
    try:
        prepared = ingest.prepare(Bundle.model_validate(bundle))
    except ValueError:
        return None
    ingest.store(prepared, state=Run.State.DRAFT)
    return System.objects.get(slug=prepared.document.bundle.systems[0].slug)


def _free_slug(wanted: str) -> str:
    """A slug that no system has: a hidden one without runs may be another host's."""
    taken = set(System.objects.filter(slug__startswith=wanted).values_list("slug", flat=True))
    numbers = (f"{wanted}-{number}" for number in count(2))
    return wanted if wanted not in taken else next(slug for slug in numbers if slug not in taken)
