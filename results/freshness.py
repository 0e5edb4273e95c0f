"""Whether a page that was rendered before still shows what is stored."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from django.apps import AppConfig
from django.db import connection
from django.db.models.signals import m2m_changed, post_delete, post_save

from results.models import Artefact, AuditEntry, Stamp, Token, Upload, UploadFile

# Rows that no page for all readers shows.
UNSEEN = (Artefact, AuditEntry, Stamp, Token, Upload, UploadFile, Upload.runs.through)

# New rows are noticed even where they were written past the models' signals; drafts are not:
# no page for all readers shows them.
MARK = """
SELECT (SELECT value FROM results_stamp WHERE id = 1),
       (SELECT MAX(id) FROM results_summary),
       (SELECT MAX(id) FROM results_run WHERE state = 'published'),
       (SELECT MAX(id) FROM results_system WHERE is_public),
       (SELECT MAX(id) FROM results_listentry)
"""


def touch() -> None:
    """Say that something has changed; part of the transaction that changes it."""
    value = uuid4().hex
    if not Stamp.objects.filter(pk=1).update(value=value):
        Stamp.objects.create(pk=1, value=value)


def hold() -> None:
    """Have writers of what pages show take turns, from here to the transaction's end.

    On PostgreSQL they would meet in the same cells, each holding what the other wants; called
    before the first row is locked. On SQLite there is one writer at a time anyway.
    """
    if connection.features.has_select_for_update:
        list(Stamp.objects.select_for_update().filter(pk=1).values_list("pk"))


def mark() -> str:
    """A text that differs after each change of what pages show. One query."""
    with connection.cursor() as cursor:
        cursor.execute(MARK)
        return " ".join(str(part) for part in cursor.fetchone())


def watch(app: AppConfig) -> None:
    """Touch on every saved or deleted row of the app, as the admin and services write them.

    Writers of many rows at once (ingest, summaries) send no signals and touch themselves.
    """

    def changed(sender: Any, **_: Any) -> None:
        if sender._meta.app_label == app.label and sender not in UNSEEN:
            touch()

    for signal in (post_save, post_delete, m2m_changed):
        signal.connect(changed, weak=False, dispatch_uid=f"results.freshness.{id(signal)}")
