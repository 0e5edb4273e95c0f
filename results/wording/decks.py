"""The sentences below a comparison's title. Every name and figure in them comes from its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from results import wording
from results.compare import Row, Table
from results.wording import findings


def deck(table: Table, labs: Mapping[str, str]) -> list[str]:
    """The sentences below the title: what is set side by side, who leads, how sure it is."""
    sentences = [
        _extent(table, labs),
        _leads(table),
        _totals_kept(table),
        _undivided(table),
        _unsplit(table),
        _certainty(table),
    ]
    return [sentence for sentence in sentences if sentence]


def _extent(table: Table, labs: Mapping[str, str]) -> str:
    rows = ngettext("%(count)s row", "%(count)s rows", len(table.rows))
    benchmarks = len({row.benchmark.slug for row in table.rows})
    of = ngettext("%(count)s benchmark", "%(count)s benchmarks", benchmarks)
    by = dict.fromkeys(cell.lab for row in table.rows for cell in row.cells.values())
    words = {
        "columns": _columns_words(table).capitalize(),
        "rows": rows % {"count": findings.number_words(len(table.rows))},
        "benchmarks": of % {"count": findings.number_words(benchmarks)},
        "labs": wording.joined([labs.get(lab, lab) for lab in by]),
    }
    if not by:
        return _("%(columns)s: nothing has been measured here.") % words
    if len(table.columns) == 1:
        return _("%(columns)s: %(rows)s of %(benchmarks)s, measured by %(labs)s.") % words
    return _("%(columns)s side by side: %(rows)s of %(benchmarks)s, measured by %(labs)s.") % words


def _columns_words(table: Table) -> str:
    """'six two-socket systems', 'eighteen columns of six systems'."""
    systems = {column.system.pk: column.system for column in table.columns}
    sockets = {system.sockets for system in systems.values()}
    count = len(systems)
    kind = ngettext("system", "systems", count)
    if len(sockets) == 1 and (one := sockets.pop()):
        kind = _("%(sockets)s-socket %(systems)s") % {
            "sockets": findings.number_words(one),
            "systems": kind,
        }
    words = f"{findings.number_words(count)} {kind}"
    if len(table.columns) == count:
        return words
    return _("%(columns)s columns of %(systems)s") % {
        "columns": findings.number_words(len(table.columns)),
        "systems": words,
    }


def _leads(table: Table) -> str:
    """Who leads how many of the rows that all columns have; under `per`, of the divided ones."""
    per = findings.per_words(table.per)
    common = [row for row in findings.common_rows(table) if not per or findings.divided(row)]
    columns = len(table.columns)
    if not common or columns < 2:
        return ""
    rows = ngettext("the one row", "the %(count)s rows", len(common))
    if per:
        rows = ngettext("the one row read %(per)s", "the %(count)s rows read %(per)s", len(common))
    words = {
        "rows": rows % {"count": findings.number_words(len(common)), "per": per.lower()},
        "all": _("all %(n)s") % {"n": findings.number_words(columns)},
        "leads": _leaders(table, common),
    }
    if columns == 2:
        words["all"] = _("both")
    if len(common) == 1:
        return _("In %(rows)s that %(all)s have, %(leads)s.") % words
    return _("Of %(rows)s that %(all)s have, %(leads)s.") % words


def _leaders(table: Table, common: Sequence[Row]) -> str:
    """'Vera leads three and EPYC 9965 leads one', 'Vera leads' where there is but one row."""
    if len(common) == 1:
        key = findings.leader(common[0])
        return (
            _("%(who)s leads") % {"who": table.column(key).label}
            if key
            else _("nobody leads alone")
        )
    clauses = [
        _("%(who)s leads %(count)s")
        % {"who": table.column(key).label, "count": findings.number_words(len(rows))}
        for key, rows in findings.led(common).items()
    ]
    return wording.joined(clauses) or _("nobody leads one alone")


def _totals_kept(table: Table) -> str:
    """How many rows are not normalised, though the table is asked to be."""
    kept = sum(not findings.divided(row) for row in table.rows)
    if not findings.per_words(table.per) or not kept:
        return ""
    text = ngettext(
        "%(count)s row keeps its total: its metric is not read that way.",
        "%(count)s rows keep their totals: their metrics are not read that way.",
        kept,
    )
    return text % {"count": findings.number_words(kept).capitalize()}


def _undivided(table: Table) -> str:
    """The columns of which nothing can be normalised, since the divisor is not known."""
    rows = [row for row in table.rows if findings.divided(row)]
    cells = [(key, cell) for row in rows for key, cell in row.cells.items()]
    known = {key for key, cell in cells if cell.denominator is not None}
    names = [c.label for c in table.columns if c.key in {key for key, _cell in cells} - known]
    if not names:
        return ""
    return _("The divisor is not known for %(names)s.") % {"names": wording.joined(names)}


def _unsplit(table: Table) -> str:
    """That the factor under test splits no system, where it does not."""
    systems = {column.system.pk for column in table.columns}
    if table.factor == "system" or len(systems) < len(table.columns) or len(systems) < 2:
        return ""
    return _("Each system has one value of the factor only: it splits none of them.")


def _certainty(table: Table) -> str:
    cells = [cell for row in table.rows for cell in row.cells.values()]
    if not cells:
        return ""
    most = max(cell.n for cell in cells)
    if most == 1 and len(table.columns) == 1:
        return _("Every figure is a single published one (n = 1).")
    if most == 1:
        return _(
            "Every figure is a single published one (n = 1): "
            "differences are shown, none is called significant."
        )
    several = _(
        "Up to %(n)s runs stand behind a figure; "
        "where there are several, the median and their range are shown."
    )
    return several % {"n": findings.number_words(most)}
