"""A value beside what is published, in sentences; and what makes one doubt it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from results import wording
from results.catalogue.base import Metric
from results.compare.beside import Beside, Flag, Given, Own, Rival
from results.compare.mistakes import Mistake
from results.models import Run, System
from results.queries import Stored
from results.wording import cellwords

TIMES_FROM = 3.0  # from here on a difference is said as a multiple, not in percent
SMALLEST_PERCENT = 0.05


@dataclass(frozen=True)
class Said:
    """What is said of a value: a sentence, what it is said about, and that run's page."""

    text: str
    detail: str = ""
    url: str = ""
    link: str = ""


@dataclass(frozen=True)
class Names:
    """Names of what sentences speak of: systems by id, labs by slug."""

    systems: Mapping[int, System]
    labs: Mapping[str, str]

    def system(self, pk: int) -> str:
        found = self.systems.get(pk)
        return str(found) if found else _("another system")

    def lab(self, slug: str) -> str:
        return self.labs.get(slug, slug)


def own_words(one: Given, beside: Beside, names: Names) -> Said:
    """What is said beside a value of the same system: '3.1 % above the median of 4 runs'."""
    own = beside.own
    if one.known:
        return Said(_("this run itself"))
    if own is None:
        return Said(_no_own(one, beside))
    detail = [*_cell_words(one.metric, own.cell, names, own.others)]
    if not own.at_point:
        detail += _read_at(one, own.cell.axis)
    detail += _place_on_curve(one, beside)
    return Said(_own_sentence(one, own), "; ".join(detail), *_link(own.cell))


def _no_own(one: Given, beside: Beside) -> str:
    if beside.first:
        return _("first result of this row")
    if beside.other_scale:
        return _("only other work is published in this row: no ratio")
    if one.system == "":
        return _("open: which system it is")
    return _("first result of this system in this row")


def _own_sentence(one: Given, own: Own) -> str:
    if own.cell.median is None:
        return _against_range(one, own)
    if own.percent is None or own.times is None:
        return _("a range beside %(what)s: no ratio") % {"what": _reference(own)}
    what = _reference(own)
    if own.percent == 0:
        return _("equal to %(what)s") % {"what": what}
    if own.times >= TIMES_FROM or own.times < 1 / TIMES_FROM:
        text = _("%(times)s times %(what)s") % {"times": times_words(own.times), "what": what}
    elif own.percent > 0:
        text = _("%(percent)s above %(what)s") % {"percent": _percent(own), "what": what}
    else:
        text = _("%(percent)s below %(what)s") % {"percent": _percent(own), "what": what}
    if own.spread == "inside":
        return _("%(text)s, within their range") % {"text": text}
    return f"{text}{_verdict(one.metric, own.better)}"


def _against_range(one: Given, own: Own) -> str:
    if one.value is None:
        return _("a range beside a published range: no ratio")
    return {
        "below": _("below the published range"),
        "above": _("above the published range"),
    }.get(own.spread, _("within the published range"))


def _reference(own: Own) -> str:
    """'the median of 4 runs', 'the one published run'."""
    if own.cell.n == 1:
        return _("the one published run")
    words = _("the median of %(n)s runs, this one among them") if own.together else ""
    return (words or _("the median of %(n)s runs")) % {"n": own.cell.n}


def _percent(own: Own) -> str:
    """'3.1 %', '42 %', 'less than 0.1 %'."""
    size = abs(own.percent or 0.0)
    if size < SMALLEST_PERCENT:
        return _("less than 0.1 %%") % ()
    return f"{size:.1f} %" if size < 10 else f"{size:.0f} %"


def _verdict(metric: Metric, better: bool | None) -> str:
    """' (better)'; where less is better that is said, since it reads the other way round."""
    if better is None:
        return ""
    if metric.higher_is_better:
        return _(" (better)") if better else _(" (worse)")
    return _(" (better: lower is better)") if better else _(" (worse: lower is better)")


def times_words(times: float | None) -> str:
    """'0.43', '7.9', '1,049': a quotient with two digits, or all before the point."""
    if times is None:
        return wording.MISSING
    if not wording.is_written_out(times):
        return f"{times:.2g}"
    if times >= 10:
        return f"{times:,.0f}"
    if times >= 2:
        return f"{times:.1f}"
    return f"{times:.2f}" if times >= 0.1 else f"{times:.2g}"


def _cell_words(metric: Metric, cell: Stored, names: Names, others: int = 0) -> Iterator[str]:
    """'2,073 GB/s', '2,041–2,081', the lab, how many further results there are."""
    shown = wording.figures(metric.unit, [cell.median, cell.low, cell.high])
    if cell.median is not None:
        yield wording.qualified(shown.with_unit(cell.median), cell.qualifier)
    if cell.median is None or cell.n > 1:
        yield f"{shown.span(cell.low, cell.high)} {shown.unit}"
    yield names.lab(cell.lab)
    if others:
        words = ngettext("%(n)s other result", "%(n)s other results", others)
        yield words % {"n": others}


def _read_at(one: Given, axis: Mapping[str, object]) -> list[str]:
    where = " · ".join(cellwords.at_words(one.benchmark, axis))
    return [_("read at %(where)s") % {"where": where}] if where else []


def _place_on_curve(one: Given, beside: Beside) -> list[str]:
    if beside.best_at is None:
        return []
    where = " · ".join(cellwords.at_words(one.benchmark, beside.best_at))
    return [_("the upload's own best is at %(where)s") % {"where": where}] if where else []


def _link(cell: Stored) -> tuple[str, str]:
    return cellwords.run_address(cell.run), _("run %(number)s") % {"number": cell.run}


def rival_words(one: Given, beside: Beside, names: Names) -> list[Said]:
    """What is said beside a value of other systems: '0.43 times the best, EPYC 9965 · …'."""
    if beside.best_at is not None:
        return [Said(_("a point of a curve, whose best is compared"))]
    found = [rival for rival in (beside.best, beside.alike) if rival is not None]
    if not found:
        return [] if beside.first else [Said(_("no other system in this row"))]
    return [_rival(one, rival, names) for rival in found]


def _rival(one: Given, rival: Rival, names: Names) -> Said:
    name = names.system(rival.cell.system_id)
    words = {"times": times_words(rival.times), "kind": rival.isa, "name": name}
    is_alike = bool(rival.isa)
    if rival.times is None:
        text = _("beside the best, %(name)s") % words
    elif rival.better is None:
        text = _("equal to the best, %(name)s") % words
    elif is_alike:
        text = _("%(times)s times the best %(kind)s server, %(name)s") % words
    else:
        text = _("%(times)s times the best, %(name)s") % words
    if rival.better or not one.metric.higher_is_better:
        text += _verdict(one.metric, rival.better)
    among = ngettext("of %(n)s other system", "of %(n)s other systems", rival.among)
    detail = [*_cell_words(one.metric, rival.cell, names), among % {"n": rival.among}]
    return Said(text, "; ".join(detail), *_link(rival.cell))


# Doubts


def flag_words(one: Given, flag: Flag, names: Names) -> Said:
    """A doubt in a sentence: '7.9 times the best x86 server: bits taken for bytes?'."""
    if flag.kind == "peak":
        return Said(_peak(flag))
    if flag.kind == "same" and flag.cell is not None:
        text = _("the lab has published this very value here: is it the same run once more?")
        return Said(text, "", *_link(flag.cell))
    text = _far(flag, names)
    if flag.mistake is not None:
        text = _("%(text)s: %(guess)s") % {"text": text, "guess": mistake_words(flag.mistake)}
    elif flag.kind == "far":
        text = _("%(text)s: are value and unit right?") % {"text": text}
    return Said(text)


def _far(flag: Flag, names: Names) -> str:
    cell = flag.cell
    name = names.system(cell.system_id) if cell else ""
    words = {"times": _exactly(flag), "kind": flag.isa, "name": name}
    if flag.against == "own":
        return _("%(times)s times what is published of this system") % words
    if flag.against == "worst":
        return _("%(times)s times the worst that is published, %(name)s") % words
    if flag.isa:
        return _("%(times)s times the best %(kind)s server, %(name)s") % words
    return _("%(times)s times the best, %(name)s") % words


def _exactly(flag: Flag) -> str:
    """A quotient near 1 with the digits that tell MiB from GiB."""
    if flag.kind == "unit" and flag.times is not None and flag.times < 2:
        return f"{flag.times:.3f}"
    return times_words(flag.times)


def _peak(flag: Flag) -> str:
    words = {"share": wording.percent(flag.times), "peak": wording.alone(flag.amount, "GB/s")}
    if flag.inferred:
        return _("%(share)s of the memory's peak, inferred to be %(peak)s") % words
    return _("%(share)s of the memory's peak of %(peak)s") % words


def mistake_words(found: Mistake) -> str:
    """The unit that may have been mistaken, as a question: 'MB taken for GB?'."""
    small, large = _units(found)
    taken, real = (small, large) if found.too_large else (large, small)
    return _("%(taken)s taken for %(real)s?") % {"taken": taken, "real": real}


def _units(found: Mistake) -> tuple[str, str]:
    """The smaller and the larger of the two units that may have been mistaken."""
    name = found.name
    if name == "bits":
        return _("bits"), _("bytes")
    if name == "mebi":
        return "MB", "MiB"
    if name == "gibi":
        return "GB", "GiB"
    if name == "kibi":
        return "MiB", "GiB"
    if name == "sixty":
        return _sixty(found.unit)
    return _prefixes(found)


def _sixty(unit: str) -> tuple[str, str]:
    """A rate a minute counts the smaller thing: 60 a minute are one a second."""
    if unit in ("s", "ms", "us", "ns"):
        return _("seconds"), _("minutes")
    return _("a rate per minute"), _("one per second")


def _prefixes(found: Mistake) -> tuple[str, str]:
    million = found.name == "million"
    times = {"s": ("ms", "µs"), "ms": ("µs", "ns"), "us": ("ns", "ps"), "ns": ("ps", "fs")}
    if found.unit in times:
        return times[found.unit][million], wording.unit_words(found.unit)
    if "GB" in found.unit:
        return ("kB" if million else "MB"), "GB"
    if million:
        return _("ones"), _("millions")
    return _("ones"), _("thousands")


# The run as a whole


def stored_words(run: Run | None) -> Said:
    """That a run is stored already; `run` is None where the reader may not see it."""
    if run is None:
        return Said(_("This very run is stored already: it adds nothing."))
    link = (run.get_absolute_url(), _("run %(number)s") % {"number": run.pk})
    if run.is_published and run.published_at:
        words = {"number": run.pk, "day": wording.day_words(run.published_at.date())}
        text = _("This very run is stored as run %(number)s, published %(day)s: it adds nothing.")
        return Said(text % words, "", *link)
    words = {"number": run.pk, "state": run.get_state_display()}
    text = _("This very run is stored as run %(number)s (%(state)s): it adds nothing.")
    return Said(text % words, "", *link)
