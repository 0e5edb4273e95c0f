"""What a comparison shows, in sentences. Every name and figure in them comes from its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from results import wording
from results.compare import Cell, Column, Row, Table, speedup

LONGEST_LIST = 72  # characters of names that a heading can carry
MOST_NAMED = 6  # rows that a heading names one by one
NUMBERS = (
    gettext_lazy("no"),
    gettext_lazy("one"),
    gettext_lazy("two"),
    gettext_lazy("three"),
    gettext_lazy("four"),
    gettext_lazy("five"),
    gettext_lazy("six"),
    gettext_lazy("seven"),
    gettext_lazy("eight"),
    gettext_lazy("nine"),
    gettext_lazy("ten"),
    gettext_lazy("eleven"),
    gettext_lazy("twelve"),
)


def per_words(per: str) -> str:
    """A normalisation as it opens a sentence: 'Per core'; empty for totals."""
    return {
        "core": _("Per core"),
        "thread": _("Per thread"),
        "socket": _("Per socket"),
        "watt": _("Per watt"),
        "peak": _("As a share of the peak"),
        "price": _("Per dollar"),
    }.get(per, "")


def number_words(count: int) -> str:
    """Small numbers as words, as running text has them: 'six'; others as digits."""
    return str(NUMBERS[count]) if 0 <= count < len(NUMBERS) else f"{count:,}"


def leader(row: Row) -> str | None:
    """The key of the column that is first alone, or None: a tie, or nothing to be ahead of."""
    return row.order()[0][0] if row.lead() is not None else None


def led(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The rows that each column leads alone, by its key; most rows first, then largest lead."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        key = leader(row)
        if key is not None:
            found.setdefault(key, []).append(row)
    return dict(sorted(found.items(), key=lambda item: (-len(item[1]), -_largest(item[1]))))


def _largest(rows: Sequence[Row]) -> float:
    return max(row.lead() or 0.0 for row in rows)


def common_rows(table: Table) -> list[Row]:
    """The rows in which every column has a ratio: those that the mean is over."""
    keys = [column.key for column in table.columns]
    return [
        row
        for row in table.rows
        if all(key in row.cells and row.cells[key].ratio is not None for key in keys)
    ]


def headline(table: Table) -> str:
    """The title of the page: who leads where, and by how much, over the fullest rows.

    Where systems stand in several columns, what the factor does to one of them.
    """
    within = _within_systems(table)
    if within:
        return within
    led_by = led(_fullest(table))
    if not led_by:
        return _side_by_side(table)
    furthest = [max(rows, key=lambda row: row.lead() or 0.0) for rows in led_by.values()][:2]
    if table.per == "peak" and furthest[0].unit != furthest[0].metric.unit:
        return _peak(table, furthest[0])
    clauses = [
        {
            "who": table.column(leader(row) or "").label,
            "what": wording.row_title(row),
            "lead": lead_words(row),
        }
        for row in furthest
    ]
    text = _("%(who)s leads in %(what)s by %(lead)s") % clauses[0]
    if len(clauses) > 1:
        text += ", " + _("%(who)s in %(what)s by %(lead)s") % clauses[1]
    return _opened(table.per, text) if furthest[0].unit != furthest[0].metric.unit else text


def _peak(table: Table, row: Row) -> str:
    """'Vera reaches 86 % of its peak in STREAM Triad, EPYC 9965 52 %': first and last."""
    (first, best), *_rest, (last, worst) = row.order()
    words = {
        "who": table.column(first).label,
        "share": wording.percent(best.value),
        "what": wording.row_title(row),
        "last": table.column(last).label,
        "least": wording.percent(worst.value),
    }
    return _("%(who)s reaches %(share)s of its peak in %(what)s, %(last)s %(least)s") % words


def _within_systems(table: Table) -> str:
    """The largest difference between the columns of one system, or "" if none has two."""
    if len({column.system.pk for column in table.columns}) == len(table.columns):
        return ""
    found = [
        (ratio, row, column, other)
        for row in table.rows
        for column, other, ratio in _extremes(table, row)
    ]
    if not found:
        return ""
    ratio, row, first, last = max(found, key=lambda one: one[0])
    words = {
        "system": first.system.short,
        "first": pins_words(first),
        "last": pins_words(last),
        "what": wording.row_title(row),
        "ratio": close_ratio_words(ratio),
    }
    text = _("On %(system)s, %(what)s is %(ratio)s better with %(first)s than with %(last)s")
    return text % words


def _extremes(table: Table, row: Row) -> list[tuple[Column, Column, float]]:
    """First and last of the row's ranked cells of each system, and the ratio between them."""
    by_system: dict[int, list[tuple[Column, Cell]]] = {}
    for key, cell in row.order():
        column = table.column(key)
        by_system.setdefault(column.system.pk, []).append((column, cell))
    found = []
    for cells in by_system.values():
        (first, best), (last, worst) = cells[0], cells[-1]
        ratio = speedup(best.value, worst.value, higher_is_better=row.metric.higher_is_better)
        if ratio is not None and ratio > 1 and row.one_scale:
            found.append((first, last, ratio))
    return found


def pins_words(column: Column) -> str:
    """What a column is pinned to: 'SMT on'; its system's name where it is not."""
    return column.label.removeprefix(f"{column.system.short} · ")


def _opened(per: str, text: str) -> str:
    return f"{per_words(per)}, {text}" if per_words(per) else text


def lead_words(row: Row) -> str:
    """By how much the first of a row leads: '2.27×'."""
    return close_ratio_words(row.lead() or 1.0)


def close_ratio_words(ratio: float) -> str:
    """'2.27×'; '1.003×' where two digits would say nothing."""
    return f"{ratio:.3f}×" if ratio < 1.005 else wording.ratio_words(ratio)


def _fullest(table: Table) -> list[Row]:
    """Normalised rows before others; of them those that all share, else those with most."""
    rows = [row for row in table.rows if leader(row) is not None]
    normalised = [row for row in rows if row.unit != row.metric.unit]
    rows = normalised or rows
    most = max((len(row.order()) for row in rows), default=0)
    return [row for row in rows if len(row.order()) == most]


def _side_by_side(table: Table) -> str:
    """The title where nothing is ahead of anything."""
    names = [column.label for column in table.columns]
    if len(names) == 1:
        return names[0]
    if len(names) <= 3:
        return _("%(names)s side by side") % {"names": wording.joined(names)}
    return _("%(count)s columns side by side") % {"count": number_words(len(names)).capitalize()}


def kicker(table: Table) -> str:
    """The line above the title: 'Comparison of six systems'."""
    systems = len({column.system.pk for column in table.columns})
    if systems == 1:
        return _("One system, by its own settings") if len(table.columns) > 1 else _("One system")
    return _("Comparison of %(count)s systems") % {"count": number_words(systems)}


def divided(row: Row) -> bool:
    """Whether a row shows normalised values, not its totals."""
    return row.unit != row.metric.unit


def nobody_shares(table: Table) -> bool:
    """Whether no row has a value in every column, though there are several."""
    return len(table.columns) > 1 and not common_rows(table)


def part_names(rows: Sequence[Row]) -> dict[str, str]:
    """What tells each row from the others, by row id: 'go', 'SMT off', 'one socket · local'.

    A row that differs from the others in nothing, and one that stands alone, keep the title.
    """
    parts = {row.id: [_bare_title(row), *row_parts(row)] for row in rows}
    shared = [part for part in next(iter(parts.values()), []) if _in_all(part, parts)]
    names = {}
    for row in rows:
        own = [part for part in parts[row.id] if part not in shared]
        names[row.id] = " · ".join(own) if own and len(rows) > 1 else wording.row_title(row)
    return names


def _in_all(part: str, parts: Mapping[str, list[str]]) -> bool:
    return all(part in one for one in parts.values())


def row_parts(row: Row) -> list[str]:
    """Scope and variant, a phrase each."""
    return [part for part in wording.row_words(row).split(" · ") if part]


def shared_parts(rows: Sequence[Row]) -> list[str]:
    """What all rows are measured on: ['system', 'SMT off']."""
    first, *rest = [row_parts(row) for row in rows]
    return [part for part in first if all(part in one for one in rest)]


def _bare_title(row: Row) -> str:
    """The row's title without the program's name: 'Triad', 'GET p99'."""
    title = wording.row_title(row)
    bare = title.removeprefix(row.benchmark.name).strip(" ,:")
    return bare or title


def figure(table: Table, rows: Sequence[Row]) -> str:
    """The heading of a figure over `rows` of one benchmark: who leads where."""
    led_by = led(rows)
    if not led_by:
        return _nothing_leads(rows)
    if len(rows) == 1:
        row = rows[0]
        shares = row.per == "peak" and row.unit != row.metric.unit
        return _peak(table, row) if shares else _one_row(table, row)
    only = next(iter(led_by))
    if len(led_by) == 1 and len(led_by[only]) == len(rows):
        return _one_leader(table, only, rows)
    return _where(table, rows) or _first_metric(table, rows) or _counts(table, led_by, len(rows))


def _where(table: Table, rows: Sequence[Row]) -> str:
    """Which column is ahead where, if that can be said in a line; else ""."""
    led_by = led(rows)
    said = _by_title(rows, led_by) or _by_part(rows, led_by) or _by_name(rows, led_by)
    if not said or sum(map(len, said.values())) > LONGEST_LIST:
        return ""
    return _clauses(table, said)


def _first_metric(table: Table, rows: Sequence[Row]) -> str:
    """The same for the rows of the benchmark's first metric, where it has several."""
    first = [row for row in rows if row.metric.name == rows[0].metric.name]
    if len(first) in (1, len(rows)) or len(led(first)) < 2:
        return ""
    text = _where(table, first)
    return text and f"{_bare_title(rows[0])}: {text}"


def _one_row(table: Table, row: Row) -> str:
    (first, _cell), (second, _other) = row.order()[:2]
    words = {
        "who": table.column(first).label,
        "second": table.column(second).label,
        "what": wording.row_title(row),
        "lead": lead_words(row),
    }
    text = _("%(who)s leads %(second)s in %(what)s by %(lead)s") % words
    return _opened(row.per, text) if row.unit != row.metric.unit else text


def _one_leader(table: Table, key: str, rows: Sequence[Row]) -> str:
    leads = sorted(rows, key=lambda row: row.lead() or 1.0)
    count = number_words(len(rows))
    words = {
        "who": table.column(key).label,
        "all": _("all %(n)s rows") % {"n": count} if len(rows) > 2 else _("both rows"),
        "least": lead_words(leads[0]),
        "most": lead_words(leads[-1]),
    }
    if words["least"] == words["most"]:
        return _("%(who)s is ahead in %(all)s, by %(most)s") % words
    return _("%(who)s is ahead in %(all)s, by %(least)s to %(most)s") % words


def _by_title(rows: Sequence[Row], led_by: Mapping[str, list[Row]]) -> dict[str, str]:
    """Each leader's workloads, where no two columns lead rows of one: 'in go and regex_compile'."""
    titles = {key: list(dict.fromkeys(map(_bare_title, ahead))) for key, ahead in led_by.items()}
    level = [_bare_title(row) for row in rows if leader(row) is None]
    every = [title for own in titles.values() for title in own] + level
    if len(set(every)) < len(every) or len(every) < 2:
        return {}
    return {
        key: _("in %(places)s") % {"places": wording.joined(own)} for key, own in titles.items()
    }


def _by_part(rows: Sequence[Row], led_by: Mapping[str, list[Row]]) -> dict[str, str]:
    """Each leader's one condition, in all of its rows and in nobody else's: 'with SMT on'."""
    found = {}
    for key, ahead in led_by.items():
        others = {part for row in rows if row not in ahead for part in row_parts(row)}
        own = [
            part
            for part in row_parts(ahead[0])
            if part not in others and all(part in row_parts(row) for row in ahead)
        ]
        if not own:
            return {}
        found[key] = _("with %(places)s") % {"places": own[-1]}
    return found


def _by_name(rows: Sequence[Row], led_by: Mapping[str, list[Row]]) -> dict[str, str]:
    """Each leader's rows by name; engines without version where all versions agree."""
    if len(rows) > MOST_NAMED:
        return {}
    names = part_names(rows)
    short = {row.id: _without_followers(row, names[row.id]) for row in rows}
    found = {}
    for key, ahead in led_by.items():
        taken = {short[row.id] for row in rows if row not in ahead}
        said = [names[row.id] if short[row.id] in taken else short[row.id] for row in ahead]
        places = wording.joined(list(dict.fromkeys(said)))
        found[key] = _("with %(places)s") % {"places": places}
    return found


def _without_followers(row: Row, name: str) -> str:
    """A row's name without the values that only follow another: 'MariaDB' for 'MariaDB 12.3.3'."""
    for parameter in row.benchmark.parameters:
        value = row.variant.get(parameter.name)
        if parameter.follows and value is not None:
            name = name.replace(f" {parameter.say(value)}", "")
    return name


def _clauses(table: Table, said: Mapping[str, str]) -> str:
    (key, places), *rest = said.items()
    text = _("%(who)s is ahead %(places)s") % {"who": table.column(key).label, "places": places}
    others = [f"{table.column(key).label} {places}" for key, places in rest]
    return ", ".join([text, *others])


def _counts(table: Table, led_by: Mapping[str, list[Row]], total: int) -> str:
    (key, rows), *rest = led_by.items()
    text = _("%(who)s is ahead in %(count)s of %(total)s rows") % {
        "who": table.column(key).label,
        "count": number_words(len(rows)),
        "total": number_words(total),
    }
    others = [
        _("%(who)s in %(count)s")
        % {"who": table.column(key).label, "count": number_words(len(rows))}
        for key, rows in rest[:3]
    ]
    return ", ".join([text, *others])


def _nothing_leads(rows: Sequence[Row]) -> str:
    """The heading where no row has two values that may be ranked against each other."""
    what = wording.row_title(rows[0]) if len(rows) == 1 else rows[0].benchmark.name
    cells: list[Cell] = [cell for row in rows for cell in row.cells.values()]
    if any(not row.one_scale for row in rows):
        return _("%(what)s: the columns did different work, so nobody is ahead") % {"what": what}
    if any(len(row.order()) > 1 for row in rows):
        return _("%(what)s: the first are level") % {"what": what}
    if any(cell.is_range for cell in cells):
        return _("%(what)s: reported ranges, and too few values to set side by side") % {
            "what": what
        }
    return what
