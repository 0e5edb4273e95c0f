"""What the page of an upload says: how it stands, what is asked, what is wrong, what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from results import actors
from results.actors import Actor
from results.intake.given import Given
from results.models import System, Trust, Upload, UploadFile
from results.wording import day_words, joined, trust_words

State = Upload.State
MOST_RADIOS = 6

Phase = Literal[
    "reading",
    "failed",
    "refused",
    "asked",
    "nothing",
    "ready",
    "returned",
    "review",
    "scheduled",
    "published",
    "withdrawn",
]
# How lists say it, in a word or two.
WORDS: Mapping[str, Any] = {
    "reading": gettext_lazy("being read"),
    "failed": gettext_lazy("reading failed"),
    "refused": gettext_lazy("refused"),
    "open": gettext_lazy("not sent yet"),
    "asked": gettext_lazy("questions are open"),
    "nothing": gettext_lazy("nothing new in it"),
    "ready": gettext_lazy("understood"),
    "returned": gettext_lazy("returned with a note"),
    "review": gettext_lazy("in review"),
    "scheduled": gettext_lazy("has a date"),
    "published": gettext_lazy("published"),
    "withdrawn": gettext_lazy("withdrawn"),
}
_OF_STATE: Mapping[str, Phase] = {
    State.RECEIVED: "reading",
    State.FAILED: "failed",
    State.REJECTED: "refused",
    State.PUBLISHED: "published",
    State.WITHDRAWN: "withdrawn",
}


def phase_of(upload: Upload, *, questions: bool, has_runs: bool) -> Phase:
    """How an upload stands; `questions`: some are open, `has_runs`: it has runs of its own."""
    if upload.state in _OF_STATE:
        return _OF_STATE[upload.state]
    if questions:
        return "asked"
    if not has_runs:
        return "nothing"
    if upload.sent_at is not None:
        return "scheduled" if upload.publish_at else "review"
    return "returned" if upload.returned_at else "ready"


def moment_words(moment: datetime) -> str:
    """'30 November 2026, 10:00 UTC'."""
    utc = moment.astimezone(timezone.get_default_timezone())
    return _("%(day)s, %(time)s UTC") % {"day": day_words(utc), "time": f"{utc:%H:%M}"}


def sender_of(upload: Upload) -> str:
    """Who sent it, in words."""
    return str(upload.created_by or upload.token or _("an account that is gone"))


def runs_words(count: int) -> str:
    """'3 runs'."""
    return ngettext("%(n)d run", "%(n)d runs", count) % {"n": count}


# What a reader may do


@dataclass(frozen=True)
class Rights:
    """What a reader may do with an upload, whatever its state."""

    changes: bool = False
    publishes: bool = False
    reviews: bool = False


def rights_of(upload: Upload, user: Actor) -> Rights:
    """Two queries, none for the staff."""
    return Rights(
        actors.may_upload(user, upload.lab),
        actors.may_publish(user, upload.lab),
        actors.may_review(user),
    )


@dataclass(frozen=True)
class Desk:
    """How an upload stands, and which of the acts fit that and the reader."""

    upload: Upload
    phase: Phase
    rights: Rights

    @property
    def words(self) -> str:
        """The state in a word or two."""
        return str(WORDS[self.phase])

    @property
    def is_ready(self) -> bool:
        """Understood, nothing open, and with runs."""
        return self.phase in ("ready", "returned", "review", "scheduled")

    @property
    def answers(self) -> bool:
        """Whether answers may be given and files replaced."""
        return self.rights.changes and self.upload.is_open and self.phase != "reading"

    @property
    def reads_again(self) -> bool:
        return self.rights.changes and self.phase == "failed"

    @property
    def sends(self) -> bool:
        return self.rights.changes and self.phase in ("ready", "returned")

    @property
    def publishes(self) -> bool:
        return self.rights.publishes and self.is_ready

    @property
    def unschedules(self) -> bool:
        return self.rights.publishes and self.phase == "scheduled"

    @property
    def returns(self) -> bool:
        return (self.rights.publishes or self.rights.reviews) and self.phase in (
            "review",
            "scheduled",
        )

    @property
    def labels(self) -> bool:
        return self.rights.reviews and (self.is_ready or self.phase == "published")

    @property
    def withdraws(self) -> bool:
        return self.rights.changes and self.phase not in ("withdrawn", "reading")

    @property
    def links(self) -> bool:
        return self.rights.changes and self.phase not in ("withdrawn", "published")

    @property
    def corrects(self) -> bool:
        return self.rights.changes and self.phase == "published"

    @property
    def primary(self) -> str:
        """The act that comes next, the one with the heavy button; empty where it is a wait."""
        if self.phase == "asked" and self.answers:
            return "answer"
        if self.phase in ("refused", "nothing") and self.answers:
            return "replace"
        if self.reads_again:
            return "again"
        if self.publishes and self.phase != "scheduled":
            return "publish"
        return "send" if self.sends else ""

    @property
    def trusts(self) -> list[tuple[int, str, bool]]:
        """The labels that the staff may give, and which holds."""
        return [(level, trust_words(level), level == self.upload.trust) for level in Trust.values]


# How it stands, in words


def title_of(desk: Desk, report: Mapping[str, Any], successor: Upload | None) -> str:
    """The page's heading: what became of the upload so far."""
    upload, phase = desk.upload, desk.phase
    runs = runs_words(report.get("run_count", 0))
    if phase == "refused":
        count = len(report.get("problems", ()))
        words = ngettext("Refused: %(n)d problem", "Refused: %(n)d problems", count)
        return words % {"n": count}
    if phase == "asked":
        count = len(report.get("questions", ()))
        return ngettext("%(n)d question is open", "%(n)d questions are open", count) % {"n": count}
    if phase == "scheduled" and upload.publish_at:
        return _("To be published on %(moment)s") % {"moment": moment_words(upload.publish_at)}
    if phase == "withdrawn" and successor is not None:
        return _("Replaced by a correction")
    words = {
        "reading": _("Being read"),
        "failed": _("Reading failed"),
        "nothing": _("Nothing in it is new"),
        "ready": _("%(runs)s understood, not public yet"),
        "returned": _("Returned, to be mended"),
        "review": _("%(runs)s in review"),
        "published": _("%(runs)s published"),
    }.get(phase, _("Withdrawn"))
    return words % {"runs": runs}


def deck_of(desk: Desk) -> str:
    """The line below: what it means and what comes next."""
    return {
        "reading": _("The files are stored. The page shows what was understood in a moment."),
        "failed": _("The files are stored, but reading them came to no end."),
        "refused": _(
            "Nothing of it was taken in. Mend and replace the files, or what was said beside them."
        ),
        "asked": _("The files do not say everything. What is open is asked below."),
        "nothing": _("All its runs are stored already: the same files came before."),
        "ready": _ready_words(desk),
        "returned": _("Mend what the note says, then send it again."),
        "review": _review_words(desk),
        "scheduled": _("It becomes public by itself at that moment."),
        "published": _("Everybody can see and compare it."),
        "withdrawn": _("It is in no comparison. Its addresses stay and tell why."),
    }[desk.phase]


def _review_words(desk: Desk) -> str:
    if desk.publishes:
        return _("Check the values, then publish it, give it a date, or return it with a note.")
    return _("It waits for somebody who may publish it.")


def _ready_words(desk: Desk) -> str:
    if desk.publishes:
        return _("Only your lab and the staff see it. Check the values, then publish.")
    return _("Only your lab and the staff see it. Check the values, then send it for review.")


# What is asked


@dataclass(frozen=True)
class Option:
    value: str
    label: str
    chosen: bool


@dataclass(frozen=True)
class Asked:
    """A question as the form puts it. `name` is that of its field, `value` what holds now."""

    field: str
    name: str
    text: str
    needed: bool
    options: Sequence[Option] = ()
    taken: str = ""
    value: str = ""
    error: str = ""

    @property
    def is_radio(self) -> bool:
        return 0 < len(self.options) <= MOST_RADIOS

    @property
    def takes_other(self) -> bool:
        """Whether another system than those named may be meant."""
        return self.field == "system" and bool(self.options)

    @property
    def other(self) -> str:
        """A system that was named beside those offered."""
        known = {option.value for option in self.options}
        return "" if self.value in known else self.value


def asked_of(
    upload: Upload, posted: Mapping[str, str] | None = None, error: tuple[str, str] = ("", "")
) -> list[Asked]:
    """The open questions, needed ones first, with the answers that hold or were just posted."""
    report, given = upload.report, Given.of(upload.given)
    rows = [*report.get("questions", ()), *report.get("optional", ())]
    return [_asked(row, given, posted or {}, error) for row in rows]


def _asked(
    row: Mapping[str, Any], given: Given, posted: Mapping[str, str], error: tuple[str, str]
) -> Asked:
    key = row["field"]
    name = key if key in ("lab", "system") else f"set.{key}"
    held = given.system if key == "system" else given.settings.get(key, "")
    value = posted.get(name, held)
    options = [Option(o["value"], o["label"], o["value"] == value) for o in row["options"]]
    labels = {option.value: option.label for option in options}
    taken = labels.get(row["taken"], row["taken"])
    wrong = error[1] if error[0] == key else ""
    return Asked(key, name, row["text"], row["needed"], options, taken, value, wrong)


def settings_of(upload: Upload, asked: Iterable[Asked]) -> list[tuple[str, str]]:
    """What was said beside the files and is no answer to a question that still stands."""
    standing = {one.field for one in asked}
    given = Given.of(upload.given)
    return [(key, value) for key, value in given.settings.items() if key not in standing]


# Files and what is wrong with them


@dataclass(frozen=True)
class Held:
    """A file of an upload, what it was taken for, and what was found in it if it is an archive."""

    file: UploadFile
    kind: str


@dataclass(frozen=True)
class Inner:
    """A file that came out of an archive."""

    name: str
    size: int
    kind: str


def files_of(upload: Upload) -> tuple[list[Held], list[Inner]]:
    """The files as they came, and those that were in archives among them."""
    told = {row["name"]: row for row in upload.report.get("files", ())}
    held = [Held(file, told.get(file.name, {}).get("kind", "")) for file in upload.files.all()]
    names = {one.file.name for one in held}
    inner = [Inner(r["name"], r["size"], r["kind"]) for n, r in told.items() if n not in names]
    return held, inner


@dataclass(frozen=True)
class Trouble:
    """A problem with the line that it is about, where that can be shown."""

    file: str
    line: int | None
    message: str
    found: str = ""
    expected: str = ""
    shown: str = ""


def troubles_of(report: Mapping[str, Any], lines: Mapping[tuple[str, int], str]) -> list[Trouble]:
    """The problems of a report; `lines` are those of the files that could be read."""
    return [
        Trouble(
            row.get("file") or "",
            row.get("line"),
            row["message"],
            row.get("found") or "",
            row.get("expected") or "",
            lines.get((row.get("file") or "", row.get("line") or 0), ""),
        )
        for row in report.get("problems", ())
    ]


@dataclass(frozen=True)
class Disputed:
    """A fact of which two sources say different things, side by side."""

    name: str
    told: Sequence[Mapping[str, Any]]


# Facts whose name in the report is no word for a reader.
FACTS: Mapping[str, Any] = {
    "cores_per_socket": gettext_lazy("cores of a socket"),
    "threads_per_core": gettext_lazy("threads of a core"),
    "memory_gb": gettext_lazy("memory in modules, GB"),
    "memory_total_gb": gettext_lazy("memory that the system sees, GB"),
    "memory_mts": gettext_lazy("memory speed, MT/s"),
}


def disputed_of(report: Mapping[str, Any]) -> list[Disputed]:
    """The contradictions of a report."""
    rows = report.get("machine", {}).get("contradictions", ())
    names = {name: str(words) for name, words in FACTS.items()}
    told = [(names.get(row["field"], row["field"].replace("_", " ")), row["told"]) for row in rows]
    return [Disputed(name, sides) for name, sides in told]


def machine_words(report: Mapping[str, Any]) -> str:
    """The machine that the files describe: '2 × AMD EPYC 9965, 192 cores each, 1,511 GB'."""
    facts = report.get("machine", {}).get("facts", {})
    told = {name: fact["value"] for name, fact in facts.items() if fact["value"]}
    words = [" ".join(str(told[name]) for name in ("maker", "product") if name in told)]
    sockets, cores = told.get("sockets", 1), told.get("cores_per_socket")
    if "processor" in told:
        words.append(f"{sockets} × {told['processor']}" if sockets > 1 else told["processor"])
    if cores and sockets > 1:
        words.append(ngettext("%(n)d core each", "%(n)d cores each", cores) % {"n": cores})
    elif cores:
        words.append(ngettext("%(n)d core", "%(n)d cores", cores) % {"n": cores})
    if memory := told.get("memory_gb") or told.get("memory_total_gb"):
        words.append(_("%(size)s GB of memory") % {"size": f"{memory:,.0f}"})
    return ", ".join(word for word in words if word)


# Lists


@dataclass(frozen=True)
class Row:
    """An upload in a list."""

    upload: Upload
    phase: Phase
    systems: Sequence[str]
    runs: int
    files: str
    waits_days: int = 0
    wished: str = ""
    sender: str = field(default="")

    @property
    def state(self) -> str:
        if self.phase == "scheduled" and self.upload.publish_at:
            return _("public from %(moment)s") % {"moment": moment_words(self.upload.publish_at)}
        return str(WORDS[self.phase])

    @property
    def holds(self) -> str:
        """'3 runs on Vera'; what files it has where no run is known."""
        if not self.runs:
            return self.files
        words = runs_words(self.runs)
        if not self.systems:
            return words
        return _("%(runs)s on %(systems)s") % {"runs": words, "systems": joined(self.systems[:3])}


def rows_of(uploads: Iterable[Any], names: Mapping[str, System]) -> list[Row]:
    """Rows of uploads that were read with `queries.uploads.listed`."""
    return [_row(upload, names) for upload in uploads]


def _row(upload: Any, names: Mapping[str, System]) -> Row:
    systems = [str(names[slug].short) if slug in names else slug for slug in said_systems(upload)]
    phase = phase_of(upload, questions=bool(upload.said_questions), has_runs=upload.has_runs)
    waits = (timezone.now() - upload.sent_at).days if upload.sent_at else 0
    wished = moment_words(datetime.fromisoformat(upload.wished)) if upload.wished else ""
    return Row(
        upload,
        phase,
        systems,
        upload.said_runs or 0,
        _files_words(upload),
        waits,
        wished,
        sender_of(upload),
    )


def said_systems(upload: Any) -> list[str]:
    """The slugs that a listed upload's report names."""
    return list(upload.said_systems or ())


def _files_words(upload: Upload) -> str:
    names = [file.name for file in upload.files.all()]
    more = len(names) - 1
    if more < 1:
        return "".join(names)
    words = ngettext("%(name)s and %(n)d more file", "%(name)s and %(n)d more files", more)
    return words % {"name": names[0], "n": more}
