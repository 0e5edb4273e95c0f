"""Parameters by the role they play, and the keys made of them. Pure: no database."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

from results.catalogue.base import Benchmark, ParameterError, Tracked, Value

Values = Mapping[str, Value]

# More cores, threads or nodes than this are no count, and no database's integer.
MOST_COUNTED = 10**9


def canonical(value: Any) -> str:
    """JSON in one spelling: keys sorted, no blanks."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


class Filled(NamedTuple):
    """A run's parameters in their types; `refused` are (name, what is expected)."""

    parameters: dict[str, Value]
    assumed: tuple[str, ...]
    refused: tuple[tuple[str, str], ...]


def fill(entry: Benchmark, scope: str, given: Mapping[str, Any]) -> Filled:
    """Type the parameters a run gives, and take the catalogue's defaults for the missing.

    Null is 'known to be not stated': absent, and no default is taken. Names must be known.
    """
    parameters: dict[str, Value] = {}
    refused = []
    for parameter in entry.parameters:
        if given.get(parameter.name) is None:
            continue
        try:
            parameters[parameter.name] = parameter.clean(given[parameter.name])
        except ParameterError as error:
            refused.append((parameter.name, error.expected))
    assumed = [p for p in entry.parameters if scope in p.assumed and p.name not in given]
    parameters |= {p.name: p.assumed[scope] for p in assumed}
    return Filled(parameters, tuple(p.name for p in assumed), tuple(refused))


def open_parameters(entry: Benchmark, scope: str, parameters: Values) -> list[str]:
    """Parameters with a default at this scope that a run nevertheless leaves out."""
    return [p.name for p in entry.parameters if scope in p.assumed and p.name not in parameters]


@dataclass(frozen=True, slots=True)
class Roles:
    """Parameters by role, and how much they say the run loaded. `text` is the key's part."""

    variant: Values
    axis: Values
    scale: Values
    tracked: Values
    cores: int | None
    threads: int | None
    nodes: int | None
    text: str

    @classmethod
    def of(cls, entry: Benchmark, parameters: Values) -> Roles:
        """Sort typed parameters by their role in the catalogue."""
        by_role: dict[str, dict[str, Value]] = {
            role: {} for role in ("variant", "axis", "scale", "tracked", "describes")
        }
        counts: dict[str, int] = {}
        for parameter in entry.parameters:
            value = parameters.get(parameter.name)
            if value is None:
                continue
            by_role[parameter.role][parameter.name] = value
            if parameter.counts and isinstance(value, int) and value <= MOST_COUNTED:
                counts.setdefault(parameter.counts, value)
        del by_role["describes"]
        tracked = by_role.pop("tracked")
        return cls(
            **by_role,
            tracked=tracked,
            cores=counts.get("cores"),
            threads=counts.get("threads"),
            nodes=counts.get("nodes"),
            text=canonical([by_role["variant"], by_role["axis"], by_role["scale"]]),
        )


def tracked_values(
    entry: Benchmark,
    *,
    version: str,
    roles: Roles,
    parameters: Values,
    setup: Mapping[str, str],
    facts: Mapping[str, str],
) -> dict[str, Value]:
    """What counts when two runs are judged, by field, cut to its depth.

    Of each tracked field: the run's parameter of that name, else the setup's field, else
    the system's fact. Unknown ones are missing.
    """
    found: dict[str, Value] = dict(roles.tracked)
    if version:
        found["version"] = version
    for tracked in entry.tracked:
        value = _tracked_value(tracked, parameters, setup, facts)
        if value:
            found[tracked.field] = value
    return found


def _tracked_value(
    tracked: Tracked, parameters: Values, setup: Mapping[str, str], facts: Mapping[str, str]
) -> str:
    for where in (parameters, setup, facts):
        value = where.get(tracked.field)
        if value not in (None, ""):
            return tracked.cut(str(value))
    return ""


def fingerprint(tracked: Values) -> str:
    """40 hexadecimal digits for the tracked values."""
    return _short(canonical(tracked))


def cell_key(
    *,
    system_id: int,
    lab_id: int,
    benchmark: str,
    version: str,
    metric_id: int,
    scope: str,
    roles: Roles,
    fingerprint: str,
    ranked: bool,
) -> str:
    """The key of the summary that a measurement enters: 40 hexadecimal digits."""
    text = json.dumps(
        (system_id, lab_id, benchmark, version, metric_id, scope, roles.text, fingerprint, ranked)
    )
    return _short(text)


def _short(text: str) -> str:
    return blake2b(text.encode(), digest_size=20).hexdigest()
