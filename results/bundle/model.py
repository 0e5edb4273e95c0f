"""The Bundle, version 1: the interchange document that everything stored once was.

Bounds of texts are those of the database's columns. What needs the catalogue or the
database (units, names, roles) is checked by ingest.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from results.bundle.text import clean_line, clean_lines

BIGGEST = 1e300
MOST_SAMPLES = 100_000

Scalar = str | int | float | None


def _refuse(expected: str) -> PydanticCustomError:
    return PydanticCustomError("unexpected", "unexpected value", {"expected": expected})


def check_scalar(value: Any) -> Scalar:
    """A parameter's value as JSON gives it. Raises PydanticCustomError for anything else."""
    if isinstance(value, str):
        text = str(clean_line(value))
        if len(text) <= 100:
            return text
    elif value is None or (_is_number(value) and abs(value) <= BIGGEST):
        return value  # type: ignore[no-any-return]
    raise _refuse("a text of at most 100 characters, a finite number or null")


def check_setup(value: Any) -> str | None:
    """A setup field as text: numbers become text, null and the empty text mean 'not stated'."""
    if value is None:
        return None
    if isinstance(value, str):
        text = str(clean_line(value))
        if len(text) <= 300:
            return text or None
    elif _is_number(value):
        return str(value)
    raise _refuse("a text of at most 300 characters or null")


def check_fact(value: Any) -> Any:
    """A further fact about hardware: a plain value, or a list of plain values."""
    if isinstance(value, list) and len(value) <= 100:
        return [_check_plain_fact(item) for item in value]
    return _check_plain_fact(value)


def _check_plain_fact(value: Any) -> Any:
    if isinstance(value, str):
        text = str(clean_line(value))
        if len(text) <= 500:
            return text
    elif isinstance(value, (bool, type(None))) or (_is_number(value) and abs(value) <= BIGGEST):
        return value
    raise _refuse("a text of at most 500 characters, a finite number, true, false or null")


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return isinstance(value, int) or math.isfinite(value)


def check_time(value: Any) -> datetime:
    """A date and time with its zone, in UTC. A time without a zone is refused, not guessed."""
    expected = "a date and time since 1970 with its zone, such as 2026-10-01T12:00:00Z"
    if isinstance(value, datetime):
        moment = value
    elif isinstance(value, str) and 16 <= len(value) <= 40:
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            raise _refuse(expected) from None
    else:
        raise _refuse(expected)
    if moment.utcoffset() is None or not 1970 <= moment.year < 9999:
        raise _refuse(expected)
    return moment.astimezone(UTC)


Clean = BeforeValidator(clean_line)
Slug = Annotated[str, Field(max_length=80, pattern=r"^[a-z0-9][a-z0-9_-]*$"), Clean]
# A name of something described elsewhere: whether it is known is ingest's question.
Reference = Annotated[str, Field(min_length=1, max_length=200), Clean]
Name = Annotated[str, Field(min_length=1, max_length=120), Clean]
Title = Annotated[str, Field(min_length=1, max_length=200), Clean]
Short = Annotated[str, Field(max_length=60), Clean]
Tiny = Annotated[str, Field(max_length=40), Clean]
Medium = Annotated[str, Field(max_length=80), Clean]
Line = Annotated[str, Field(max_length=120), Clean]
Note = Annotated[str, Field(max_length=5_000), BeforeValidator(clean_lines)]
Url = Annotated[str, Field(max_length=500, pattern=r"^(https?://[^\s<>\"]+)?$"), Clean]
Date = Annotated[str, Field(pattern=r"^(\d{4}(-\d\d){0,2})?$"), Clean]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
FileName = Annotated[str, Field(max_length=200, pattern=r"^[^/\\]+$"), Clean]
Key = Annotated[str, Field(min_length=1, max_length=60), Clean]
Finite = Annotated[float, Field(allow_inf_nan=False, ge=-BIGGEST, le=BIGGEST)]
Measure = Annotated[float, Field(allow_inf_nan=False, ge=0, le=1e9)]
Count = Annotated[int, Field(ge=1, le=100_000)]
LineNumber = Annotated[int, Field(ge=1, le=10**9)]
Plain = Annotated[
    Scalar,
    PlainValidator(check_scalar),
    WithJsonSchema({"type": ["string", "number", "null"], "maxLength": 100}),
]
SetupText = Annotated[
    str | None,
    PlainValidator(check_setup),
    WithJsonSchema({"type": ["string", "number", "null"], "maxLength": 300}),
]
Fact = Annotated[
    Any,
    PlainValidator(check_fact),
    WithJsonSchema({"type": ["string", "number", "boolean", "null", "array"]}),
]
Moment = Annotated[
    datetime,
    PlainValidator(check_time),
    PlainSerializer(lambda moment: moment.isoformat(), return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
Scope = Literal["system", "socket", "cores", "thread", "shard", "cluster"]
Qualifier = Literal["exact", "approximate", "chart_only"]
Parameters = dict[Key, Plain]
Facts = dict[Key, Fact]


class Part(BaseModel):
    """A part of a bundle: no unknown key, no value of another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Lab(Part):
    slug: Annotated[Slug, Field(max_length=60)]
    name: Name
    kind: Literal["review", "vendor", "hpc", "list", "local"] = "review"
    homepage: Annotated[Url, Field(max_length=200)] | None = None


class Source(Part):
    """A published source; `date` as precise as known: 2026, 2026-11 or 2026-11-30."""

    id: Annotated[str, Field(max_length=80, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$"), Clean]
    title: Annotated[str, Field(min_length=1, max_length=300), Clean]
    publisher: Line | None = None
    date: Date | None = None
    language: list[Tiny] = []
    kind: Line | None = None
    url: Url | None = None
    note: Note | None = None


class Processor(Part):
    """A CPU model; figures of one socket. `inferred`: what no source states, by field."""

    slug: Slug
    name: Name
    short_name: Short | None = None
    vendor: Short | None = None
    isa: Tiny | None = None
    microarchitecture: Short | None = None
    cores: Count | None = None
    threads: Count | None = None
    base_ghz: Measure | None = None
    max_ghz: Measure | None = None
    tdp_w: Measure | None = None
    l1i_kb: Measure | None = None
    l1d_kb: Measure | None = None
    l2_kb: Measure | None = None
    l3_mb: Measure | None = None
    extra: Facts = {}
    inferred: Facts = {}
    note: Note | None = None


class Memory(Part):
    """Of the whole system; peaks in GB/s, 10**9 bytes a second."""

    config: Line | None = None
    type: Tiny | None = None
    speed_mts: Annotated[int, Field(ge=1, le=10**6)] | None = None
    channels: Count | None = None
    capacity_gb: Measure | None = None
    peak_gbs: Measure | None = None
    peak_gbs_per_socket: Measure | None = None


class Storage(Part):
    device: Line | None = None
    link: Short | None = None


class Firmware(Part):
    bios: Medium | None = None
    profile: Medium | None = None


class System(Part):
    """A configuration as tested; with `members`, a group that a source quotes as one."""

    slug: Slug
    name: Name
    vendor: Short | None = None
    processor: Reference | None = None
    sockets: Count | None = None
    memory: Memory | None = None
    storage: Storage | None = None
    firmware: Firmware | None = None
    members: Annotated[list[Reference], Field(max_length=100)] = []
    price_usd: Measure | None = None
    extra: Facts = {}
    inferred: Facts = {}
    note: Note | None = None
    source: Reference | None = None


class Evidence(Part):
    """A file of the bundle, and the first and last line from which a value was read."""

    artefact: Reference
    lines: Annotated[list[LineNumber], Field(min_length=2, max_length=2)] | None = None


class Measurement(Part):
    """A metric's value, or a reported range. `printed` is what the file or source said."""

    metric: Reference
    value: Finite | None = None
    low: Finite | None = None
    high: Finite | None = None
    unit: Annotated[str, Field(min_length=1, max_length=30), Clean]
    qualifier: Qualifier = "exact"
    samples: Annotated[list[Finite], Field(min_length=1, max_length=MOST_SAMPLES)] | None = None
    printed: Line | None = None
    covers: Annotated[list[Parameters], Field(max_length=100)] = []
    note: Note | None = None
    evidence: Evidence | None = None


class Run(Part):
    """One execution. A parameter that is null is known to be not stated: no default is taken."""

    system: Reference
    node: Medium | None = None
    benchmark: Reference
    version: Short | None = None
    scope: Scope
    setup: dict[Key, SetupText] = {}
    setup_inferred: dict[Key, SetupText] = {}
    parameters: Parameters = {}
    assumed: Annotated[list[Key], Field(max_length=100)] = []
    started_at: Moment | None = None
    ordinal: Annotated[int, Field(ge=0, le=10**6)] | None = None
    note: Note | None = None
    source: Reference | None = None
    not_ranked_because: Annotated[str, Field(max_length=300), Clean] | None = None
    measurements: Annotated[list[Measurement], Field(min_length=1, max_length=1_000)]


class ListEntry(Part):
    rank: Annotated[int, Field(ge=1, le=10**6)]
    system: Reference | None = None
    label: Name
    value: Finite
    unit: Annotated[str, Field(min_length=1, max_length=30), Clean]
    scope: Scope | None = None
    parameters: Parameters = {}


class RankedList(Part):
    """An external ranking to place a value in; `length` is its own, entries may be fewer."""

    slug: Slug
    title: Title
    benchmark: Reference
    metric: Reference
    source: Reference
    date: Date | None = None
    length: Annotated[int, Field(ge=1, le=10**6)]
    note: Note | None = None
    entries: list[ListEntry] = []


class Comparison(Part):
    """A stored comparison; `systems` are column keys, `slug` or `slug@key=value`."""

    slug: Slug
    title: Title
    text: Note | None = None
    systems: Annotated[list[Reference], Field(max_length=50)] = []
    baseline: Reference | None = None
    benchmarks: list[Reference] = []
    factor: Short = "system"
    per: Literal["total", "core", "thread", "socket", "watt", "peak", "price"] = "total"
    default: bool = False


class Artefact(Part):
    """A file that came with the bundle; `size` in bytes."""

    name: FileName
    sha256: Digest
    size: Annotated[int, Field(ge=0, le=2**53)]


class Bundle(Part):
    """The whole document: a lab's runs, and what they refer to where it is new."""

    bundle: Literal[1]
    lab: Annotated[str, Field(min_length=1, max_length=60), Clean]
    labs: list[Lab] = []
    sources: list[Source] = []
    processors: list[Processor] = []
    systems: list[System] = []
    lists: list[RankedList] = []
    runs: list[Run] = []
    comparisons: list[Comparison] = []
    artefacts: list[Artefact] = []
