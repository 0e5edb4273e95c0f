"""Jobs in any state, as workers leave them behind, and who looks at them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from runners.models import Attempt, Host, Job

TAIL = "pass 1 of 20\n\x1b[31mpass 2 of 20\x1b[0m\n<script>alert(1)</script>"
RECORD = {
    "steps": [{"name": "measure", "argv": ["./stream", "a b"], "env": {"OMP_NUM_THREADS": "2"}}],
    "before": {"governor": "performance"},
}
OVER = (Attempt.State.FINISHED, Attempt.State.FAILED, Attempt.State.LOST, Attempt.State.CANCELLED)


def job_in(host: Host, state: str, *tries: str, **fields: Any) -> Job:
    """A job with an attempt for each of `tries` (states); without, one in the job's own."""
    values = {
        "benchmark": "stream",
        "preset": "standard",
        "parameters": {"ms": 100, "way": "well", "serial": 7},
        "actor_name": "sam",
        **fields,
    }
    job = Job.objects.create(host=host, state=state, **values)
    for number, tried in enumerate(tries or (state,), start=1):
        Attempt.objects.create(job=job, host=host, number=number, **_attempt(tried))
    return job


def _attempt(state: str) -> dict[str, Any]:
    now = timezone.now()
    if state == Attempt.State.QUEUED:
        return {"state": state}
    begun = {"state": state, "started_at": now - timedelta(seconds=75), "tail": TAIL}
    if state == Attempt.State.RUNNING:
        held = {"owner": "o" * 32, "lease_until": now + timedelta(seconds=30)}
        return {**begun, **held, "step": "measure", "progress": 0.456}
    ended = {"finished_at": now, "ended_at": now, "record": RECORD}
    return {**begun, **ended, "message": "nothing was heard of it" if state == "lost" else ""}


def signed_in(name: str, **fields: Any) -> Client:
    """A client of an account of that name."""
    client = Client()
    client.force_login(User.objects.create_user(name, **fields))
    return client
