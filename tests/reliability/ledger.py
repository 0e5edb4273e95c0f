"""What a lab sent against what is stored for it: rows, files, runs."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from tests.bench.report import Line
from tests.reliability.hub import Hub

FILES = """
SELECT upload.id, upload.state, artefact.sha256
FROM results_upload upload
JOIN results_lab lab ON lab.id = upload.lab_id
LEFT JOIN results_uploadfile file ON file.upload_id = upload.id
LEFT JOIN results_artefact artefact ON artefact.id = file.artefact_id
WHERE lab.slug = ? ORDER BY upload.id
"""
RUNS = """
SELECT attached.upload_id, run.id
FROM results_run run
JOIN results_lab lab ON lab.id = run.lab_id
LEFT JOIN results_upload_runs attached ON attached.run_id = run.id
WHERE lab.slug = ?
"""
SENT = """
SELECT count(*) FROM results_auditentry entry
JOIN results_upload upload ON upload.id = entry.upload_id
JOIN results_lab lab ON lab.id = upload.lab_id
WHERE lab.slug = ? AND entry.action = 'upload'
"""
SWEEP = "from results.intake import sweep; print(sweep.remove_strays(older_than_s=0))"


class Accepted:
    """The uploads that were answered 200 or 201: id and digest; may be told by many threads."""

    def __init__(self) -> None:
        self.digests: dict[int, str] = {}
        self.statuses: Counter[int] = Counter()
        self.changed: list[int] = []
        self.done = 0
        self._lock = threading.Lock()

    def answered(self, *statuses: int) -> None:
        """Count the answers to one upload, those that broke off among them."""
        with self._lock:
            self.statuses.update(statuses)
            self.done += 1

    def add(self, number: int, sha256: str) -> None:
        """Note an upload; an id that two different files got is an id that changed."""
        with self._lock:
            if self.digests.setdefault(number, sha256) != sha256:
                self.changed.append(number)

    @property
    def failures(self) -> int:
        """Answers that no server should give."""
        return sum(n for status, n in self.statuses.items() if status in range(500, 600)) - sum(
            self.statuses[status] for status in (502, 503, 507)
        )


def lines(hub: Hub, lab: str, accepted: Accepted, sent: int) -> list[Line]:
    """What must be zero, line by line, when `sent` different files were sent for a lab."""
    rows = hub.rows(FILES, lab)
    stored = {(number, sha256) for number, _state, sha256 in rows}
    told = set(accepted.digests.items())
    runs = Counter(number for number, _run in hub.rows(RUNS, lab))
    audited = hub.rows(SENT, lab)[0][0]
    return [
        Line("accepted uploads that are lost", len(told - stored), 0, digits=0),
        Line("uploads there twice, or sent by nobody", abs(len(rows) - sent), 0, digits=0),
        Line("answers of another id for the same file", len(accepted.changed), 0, digits=0),
        Line("uploads that were not understood", _unread(rows), 0, digits=0),
        Line("runs lost or doubled", _off(runs, accepted.digests), 0, digits=0),
        Line("audit rows lost or doubled", abs(audited - sent), 0, digits=0),
        Line("files lost or changed", len(damaged(hub.var, accepted.digests)), 0, digits=0),
        Line("answers 5xx but 502, 503, 507", accepted.failures, 0, digits=0),
    ]


def _unread(rows: list[tuple[int, str, str]]) -> int:
    return len([number for number, state, _sha256 in rows if state != "parsed"])


def _off(runs: Mapping[int, int], uploads: Mapping[int, str]) -> int:
    """Runs too many and too few where each upload should have one."""
    return sum(abs(runs.get(number, 0) - 1) for number in {*runs, *uploads})


def damaged(var: Path, digests: Mapping[int, str]) -> list[int]:
    """Uploads whose file is not there byte for byte."""
    return [number for number, sha256 in digests.items() if _digest(var, sha256) != sha256]


def _digest(var: Path, sha256: str) -> str:
    path = var / "artefacts" / sha256[:2] / sha256
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


def after_sweep(hub: Hub) -> list[Line]:
    """Files that nobody names and half files, once the sweep has removed them."""
    left = int(hub.manage("shell", "-c", SWEEP).split()[-1])
    named = {row[0] for row in hub.rows("SELECT sha256 FROM results_artefact")}
    root = hub.var / "artefacts"
    here = {path.name for path in root.glob("[0-9a-f][0-9a-f]/*")}
    remark = f"{left} were there before it"
    return [
        Line("files without a row, after the sweep", len(here - named), 0, digits=0, remark=remark),
        Line("half files, after the sweep", len(hub.incoming()), 0, digits=0),
    ]
