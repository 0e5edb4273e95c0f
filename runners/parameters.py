"""Chosen parameters made complete: typed, within what the host can do. Pure.

What comes in may be typed by anybody: text of a form or of a command line, values of a JSON
document. What goes out is an int, a float or one of a list of words, so that nothing typed
ever reaches a program's arguments as it came.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from runners.benchmarks.base import Bound, Parameter, ParameterError, Runner, Value
from runners.machine import Facts

LONGEST = 40
MOST_MESSAGES = 20
GIANT = 10**18
NUMBER = re.compile(r"(?:\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})", re.ASCII)


def complete(
    runner: Runner, preset: str, chosen: Mapping[str, Any], facts: Facts
) -> dict[str, Value]:
    """Every parameter of the runner: as chosen, else as the preset says, else the default.

    Numbers may be given as text. A preset's number that is too large for the host becomes the
    largest that it can do. Raises ParameterError with a message for each name that is unknown
    and each value that cannot be.
    """
    known = runner.preset(preset) if isinstance(preset, str) else None
    if known is None:
        names = ", ".join(preset.name for preset in runner.presets)
        raise ParameterError(
            {"preset": f"Preset: found {_shown(preset)}, expected one of: {names}"}
        )
    _check_names(runner, chosen)
    bounds = dict(runner.bounds(facts))
    values = _settled(runner, chosen, known.values, bounds)
    if runner.within:
        bounds |= runner.within(values, facts)
        values = _settled(runner, chosen, known.values, bounds)
    return values


def _check_names(runner: Runner, chosen: Mapping[str, Any]) -> None:
    """Raises ParameterError for what the runner has not."""
    if not isinstance(chosen, Mapping):
        raise ParameterError({"parameters": "Parameters: expected a value for each name"})
    names = [parameter.name for parameter in runner.parameters]
    unknown = [name for name in chosen if name not in names][:MOST_MESSAGES]
    if unknown:
        listed = ", ".join(names)
        raise ParameterError(
            {
                _shown(name).strip("'"): f"Found the parameter {_shown(name)}, expected: {listed}"
                for name in unknown
            }
        )


def _settled(
    runner: Runner, chosen: Mapping[str, Any], preset: Mapping[str, Value], bounds: dict[str, Bound]
) -> dict[str, Value]:
    """A value for each parameter. Raises ParameterError with all that cannot be."""
    values: dict[str, Value] = {}
    messages: dict[str, str] = {}
    for parameter in runner.parameters:
        name, bound = parameter.name, bounds[parameter.name]
        given = chosen[name] if name in chosen else preset.get(name, bound.default)
        value = _typed(parameter.kind, given)
        if name not in chosen and isinstance(value, int | float):
            value = _nearest(value, bound)
        if value is None or not _is_within(value, bound):
            messages[name] = _message(parameter, bound, given)
        else:
            values[name] = value
    if messages:
        raise ParameterError(messages)
    return values


def _typed(kind: str, given: Any) -> Value | None:
    """The value in its parameter's type; None where it is no such value. True is no number."""
    if kind == "choice":
        return given if isinstance(given, str) else None
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        return None
    number = _number(given)
    if kind == "number" or number is None:
        return number
    return int(number) if number == int(number) and not _has_point(given) else None


def _number(given: str | float) -> int | float | None:
    """A number of a usual size; None for words, for what is not finite, and for giants."""
    if isinstance(given, str):
        if len(given) > LONGEST or not NUMBER.fullmatch(given):
            return None
        return float(given) if _has_point(given) else int(given)
    return given if -GIANT < given < GIANT else None


def _has_point(given: str | float) -> bool:
    return isinstance(given, str) and "." in given


def _nearest(value: float, bound: Bound) -> float:
    """A preset's number, or the nearest to it that the host can do."""
    if bound.minimum is not None and value < bound.minimum:
        return type(value)(bound.minimum)
    if bound.maximum is not None and value > bound.maximum:
        return type(value)(bound.maximum)
    return value


def _is_within(value: Value, bound: Bound) -> bool:
    if isinstance(value, str):
        return value in bound.choices
    if bound.choices:
        return str(value) in bound.choices
    least = -math.inf if bound.minimum is None else bound.minimum
    most = math.inf if bound.maximum is None else bound.maximum
    return least <= value <= most


def _message(parameter: Parameter, bound: Bound, given: Any) -> str:
    """Found and expected, and why the host allows no more."""
    unit = f" {parameter.unit}" if parameter.unit else ""
    kind = "a whole number" if parameter.kind == "integer" else "a number"
    if bound.choices:
        expected = f"one of: {', '.join(bound.choices)}"
    else:
        expected = f"{kind} from {_plain(bound.minimum)} to {_plain(bound.maximum)}{unit}"
    because = f" ({bound.because})" if bound.because else ""
    return f"{parameter.label}: found {_shown(given)}, expected {expected}{because}"


def _plain(bound: float | None) -> str:
    """A bound as one writes it; 'any' where there is none."""
    return "any" if bound is None else f"{bound:.15g}"


def _shown(given: Any) -> str:
    """A value for a reader: short, printable, whatever it is."""
    if isinstance(given, str):
        return show(given[:200])
    if isinstance(given, int) and not isinstance(given, bool) and abs(given) >= GIANT:
        return "a number of 19 digits or more"
    return show(given) if isinstance(given, int | float) else f"a {type(given).__name__}"


def show(value: object) -> str:
    """A value that was found, short and printable."""
    # Loaded where something is wrong: the bundle's model takes a process 7 MB.
    from results.bundle import problems

    return problems.show(value)
