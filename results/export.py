"""Stored runs as a bundle that can be imported again, unchanged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Model

from results.bundle import Bundle, model
from results.chunks import chunks
from results.models import Artefact, Measurement, Run, Source, System
from results.roles import open_parameters


class ExportError(ValueError):
    """Runs that do not go into one bundle; the message says why."""


def export_runs(ids: Sequence[int]) -> Bundle:
    """The bundle of these runs, with all that they refer to, in the order of their ids.

    Raises ExportError for an unknown run and for runs of several labs.
    """
    runs = _runs(ids)
    labs = {run.lab for run in runs}
    if len(labs) != 1:
        slugs = ", ".join(sorted(lab.slug for lab in labs)) or "none"
        raise ExportError(f"a bundle holds the runs of one lab, these are of: {slugs}")
    systems = _with_members({run.system for run in runs})
    sources = {run.source for run in runs if run.source}
    sources |= {system.source for system in systems if system.source}
    processors = {system.processor for system in systems if system.processor}
    names = _artefact_names(runs)
    raw = {
        "bundle": 1,
        "lab": runs[0].lab.slug,
        "labs": [_filled(_columns(lab, model.Lab)) for lab in labs],
        "sources": [_source(source) for source in _sorted(sources)],
        "processors": [_filled(_columns(row, model.Processor)) for row in _sorted(processors)],
        "systems": [_system(system) for system in _sorted(systems)],
        "runs": [_run(run, names) for run in runs],
        "artefacts": [
            {"name": name, "sha256": artefact.sha256, "size": artefact.size}
            for artefact, name in names.items()
        ],
    }
    return Bundle.model_validate(raw)


def to_json(bundle: Bundle) -> str:
    """The bundle as text: what is empty or at its default is left out."""
    data = bundle.model_dump(mode="json", exclude_unset=True)
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _runs(ids: Sequence[int]) -> list[Run]:
    wanted = sorted(set(ids))
    found: list[Run] = []
    for part in chunks(wanted):
        found += (
            Run.objects.filter(pk__in=part)
            .select_related("lab", "system", "benchmark", "setup", "source")
            .prefetch_related("measurements__metric__benchmark", "measurements__artefact")
            .order_by("pk")
        )
    if len(found) != len(wanted):
        missing = sorted(set(wanted) - {run.pk for run in found})
        raise ExportError(f"there is no run {missing[0]}")
    return found


def _with_members(systems: set[System]) -> list[System]:
    """The systems and, of groups, their members."""
    ids = {system.pk for system in systems}
    through = System.members.through.objects.filter(from_system__in=ids)
    ids.update(through.values_list("to_system_id", flat=True))
    found: list[System] = []
    for part in chunks(sorted(ids)):
        rows = System.objects.filter(pk__in=part).select_related("processor", "source")
        found += rows.prefetch_related("members")
    return found


def _sorted(rows: Iterable[Any]) -> list[Any]:
    return sorted(rows, key=lambda row: str(row.slug))


def _filled(values: dict[str, Any]) -> dict[str, Any]:
    """Without what is empty: missing and empty mean the same in a bundle."""
    return {name: v for name, v in values.items() if v is not None and v not in ("", [], {})}


def _columns(row: Model, part: type[model.Part]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in part.model_fields}


def _source(source: Source) -> dict[str, Any]:
    names = [name for name in model.Source.model_fields if name != "id"]
    return _filled({"id": source.slug, **{name: getattr(source, name) for name in names}})


def _system(system: System) -> dict[str, Any]:
    return _filled(
        {
            "slug": system.slug,
            "name": system.name,
            "vendor": system.vendor,
            "processor": system.processor.slug if system.processor else None,
            "sockets": system.sockets,
            "memory": _filled(
                {
                    "config": system.memory_config,
                    "type": system.memory_type,
                    "speed_mts": system.memory_mts,
                    "channels": system.memory_channels,
                    "capacity_gb": system.memory_gb,
                    "peak_gbs": system.peak_gbs,
                    "peak_gbs_per_socket": system.peak_gbs_per_socket,
                }
            ),
            "storage": _filled({"device": system.storage_device, "link": system.storage_link}),
            "firmware": _filled({"bios": system.firmware, "profile": system.firmware_profile}),
            "members": sorted(member.slug for member in system.members.all()),
            "price_usd": system.price_usd,
            "extra": system.extra,
            "inferred": system.inferred,
            "note": system.note,
            "source": system.source.slug if system.source else None,
        }
    )


def _artefact_names(runs: Iterable[Run]) -> dict[Artefact, str]:
    """A name of its own for each file: two may have been called the same."""
    files = {m.artefact for run in runs for m in run.measurements.all() if m.artefact}
    names: dict[Artefact, str] = {}
    for artefact in sorted(files, key=lambda artefact: artefact.pk):
        taken = artefact.name in names.values()
        names[artefact] = (
            f"{artefact.sha256[:12]}-{artefact.name}"[:200] if taken else artefact.name
        )
    return names


def _in_order(values: Mapping[str, Any]) -> dict[str, Any]:
    return dict(sorted(values.items()))


def _run(run: Run, names: dict[Artefact, str]) -> dict[str, Any]:
    left_open = open_parameters(run.benchmark.entry, run.scope, run.parameters)
    return _filled(
        {
            "system": run.system.slug,
            "node": run.node,
            "benchmark": run.benchmark.slug,
            "version": run.version,
            "scope": run.scope,
            "setup": _in_order(run.setup.fields),
            "setup_inferred": _in_order(run.setup.inferred),
            "parameters": _in_order({**run.parameters, **dict.fromkeys(left_open)}),
            "assumed": run.assumed,
            "started_at": run.started_at,
            "ordinal": run.ordinal or None,
            "note": run.note,
            "source": run.source.slug if run.source else None,
            "not_ranked_because": run.not_ranked_because,
            "measurements": [_measurement(m, names) for m in run.measurements.all()],
        }
    )


def _measurement(measurement: Measurement, names: dict[Artefact, str]) -> dict[str, Any]:
    evidence = None
    if measurement.artefact:
        lines = [measurement.line_from, measurement.line_to]
        evidence = _filled(
            {
                "artefact": names[measurement.artefact],
                "lines": lines if measurement.line_from else None,
            }
        )
    return _filled(
        {
            "metric": measurement.metric.full_name,
            "value": measurement.value,
            "low": measurement.low,
            "high": measurement.high,
            "unit": measurement.metric.unit,
            "qualifier": measurement.qualifier,
            "samples": measurement.samples,
            "printed": measurement.printed,
            "covers": [_in_order(cover) for cover in measurement.covers],
            "note": measurement.note,
            "evidence": evidence,
        }
    )
