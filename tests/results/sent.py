"""What tests of uploads share: a lab with its people, files in the store, a machine's lscpu."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User

from results import artefacts
from results.intake.given import Given
from results.intake.uploads import Correction, Kept, submit
from results.intake.work import process
from results.models import Lab, Membership, Upload
from tests.results.bundles import as_bytes, bundle, run

DATA = Path(__file__).parents[1] / "data"
EPYC = "dell-r7725-epyc-9965"
VERA = "nvidia-mgx-vera-c2"


def lab_of(slug: str = "acme", **fields: Any) -> Lab:
    """A lab of that slug."""
    return Lab.objects.get_or_create(slug=slug, defaults={"name": slug.title(), **fields})[0]


def member(lab: Lab, name: str = "mia", role: str = "member") -> User:
    """An account that belongs to the lab."""
    user = User.objects.filter(username=name).first() or User.objects.create_user(name)
    Membership.objects.update_or_create(lab=lab, user=user, defaults={"role": role})
    return user


def publisher(lab: Lab, name: str = "pia") -> User:
    """An account that may publish what is the lab's own."""
    return member(lab, name, "publisher")


def staff(name: str = "sam") -> User:
    """An account of the hub's staff."""
    found = User.objects.filter(username=name).first()
    return found or User.objects.create_user(name, is_staff=True, is_superuser=True)


def kept(files: Mapping[str, bytes]) -> list[Kept]:
    """The files, stored as a request would have stored them."""
    return [Kept(name, artefacts.save(data), len(data)) for name, data in files.items()]


def sent(
    files: Mapping[str, bytes] | None = None,
    *,
    lab: Lab | None = None,
    actor: Any = None,
    correction: Correction | None = None,
    **given: Any,
) -> Upload:
    """An upload of these files (a small bundle without any), read."""
    lab = lab or lab_of()
    upload, _made = submit(
        actor=actor or publisher(lab),
        lab=lab,
        files=kept(files or {"runs.json": bundle_of(lab)}),
        given=Given(**given),
        correction=correction,
    )
    process(upload.pk)
    upload.refresh_from_db()
    return upload


def bundle_of(lab: Lab, *runs: dict[str, Any], **changes: Any) -> bytes:
    """A bundle of that lab."""
    return as_bytes(bundle(*(runs or (run(),)), lab=lab.slug, **changes))


def stream_log(name: str = "gcc_2t.txt") -> bytes:
    """What STREAM printed on a machine of ours."""
    return (DATA / "stream" / name).read_bytes()


def stream_with_threads(threads: int) -> bytes:
    """The same with another count of threads: what a larger machine would print."""
    return (
        stream_log()
        .replace(b"counted = 2", b"counted = %d" % threads)
        .replace(b"requested = 2", b"requested = %d" % threads)
    )


def lscpu(
    model: str = "AMD EPYC 9965 192-Core Processor", changes: Mapping[str, int] | None = None
) -> bytes:
    """`lscpu -J` of a machine of two EPYC 9965, with SMT off."""
    fields = {
        "Architecture": "x86_64",
        "CPU(s)": "384",
        "Vendor ID": "AuthenticAMD",
        "Model name": model,
        "Thread(s) per core": "1",
        "Core(s) per socket": "192",
        "Socket(s)": "2",
        **{name: str(value) for name, value in (changes or {}).items()},
    }
    rows = [{"field": f"{name}:", "data": data} for name, data in fields.items()]
    return json.dumps({"lscpu": rows}, indent=1).encode()


def meminfo(gb: float) -> bytes:
    """/proc/meminfo of a machine that sees so many GiB."""
    return f"MemTotal:       {int(gb * 1024 * 1024)} kB\nMemFree:        1000000 kB\n".encode()


def problems_of(upload: Upload) -> list[str]:
    """What the report says is wrong."""
    return [problem["message"] for problem in upload.report["problems"]]


def questions_of(upload: Upload) -> list[str]:
    """What is open."""
    return [question["field"] for question in upload.report["questions"]]
