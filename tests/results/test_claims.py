"""Every comparative statement of the source reviews that their figures bear out, through
`compare_systems`: the ratios, percentages, shares of peak, per-core values and ranks."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from results.compare import compare_systems, places
from results.models import List
from tests.results.claims import Claim, Formula, Operand, cell, key, load_claims, ratio, row_of

pytestmark = pytest.mark.django_db

CLAIMS = {claim.id: claim for claim in load_claims()}
YES = [claim_id for claim_id, claim in CLAIMS.items() if claim.agrees == "yes"]
NO = [claim_id for claim_id, claim in CLAIMS.items() if claim.agrees == "no"]

ARITHMETIC = "arithmetic on specifications: no measured value is in it"
# Claims that no comparison can bear out, and why. Keep it short.
NOT_COMPARED = {
    "C011": ARITHMETIC,
    "C084": ARITHMETIC,
    "C090": ARITHMETIC,
    "C149": ARITHMETIC,
    "C163": ARITHMETIC,
    "C169": ARITHMETIC,
    "C170": ARITHMETIC,
    "C177": ARITHMETIC,
    "C178": ARITHMETIC,
    "C179": ARITHMETIC,
    "C180": ARITHMETIC,
    "C181": ARITHMETIC,
}
# Ranked from the slowest or the highest, as the statement says.
FROM_THE_OTHER_END = ("C122", "C123", "C127", "C128")


def compare_ratio(formula: Formula) -> float | None:
    """a over the best of the other cells, per core where the formula divides by cores."""
    a, *others = formula.operands.values()
    cells = [operand for operand in others if operand.is_cell]
    if not a.is_cell or not cells:
        return None
    per = "core" if any("cores" in operand.text.split() for operand in others) else "total"
    found = [ratio(a, operand, per=per) for operand in cells]
    return None if None in found else min(one for one in found if one is not None)


def evaluate(formula: Formula) -> float:
    """The formula over cells that each come out of a comparison of their own."""
    names = {name: _number(operand) for name, operand in formula.operands.items()}
    text = formula.text.replace(" x ", " * ").replace(" div ", " // ")
    assert re.fullmatch(r"[a-z0-9 .,+\-*/()<>]*", text), text
    return float(eval(text, {"__builtins__": {}}, {**names, "min": min, "max": max}))  # noqa: S307


def _number(operand: Operand) -> float:
    if not operand.is_cell:
        return operand.value
    found = cell(operand)
    if found.raw is not None:
        return found.value if found.value is not None else found.raw
    ends = [end for end in (found.low, found.high) if end is not None]
    return min(ends, key=lambda end: abs(end - operand.value))


def by_ratio(formula: Formula) -> float | None:
    """Formulas of one quotient a / b, worked out by the comparison's own ratio."""
    shapes: dict[str, Callable[[float], float]] = {
        "a / b": lambda r: r,
        "a / b x 100": lambda r: r * 100,
        "(a / b-1) x 100": lambda r: (r - 1) * 100,
        "(b / a-1) x 100": lambda r: (1 / r - 1) * 100,
        "(1-a / b) x 100": lambda r: (1 - r) * 100,
        "a / (b x 4 / 3)": lambda r: r * 3 / 4,
        "a / max(b,c)": lambda r: r,
        "a / max(b,c,d,e,f)": lambda r: r,
        "((a / b) / (p / q)-1) x 100": lambda r: (r - 1) * 100,
    }
    if formula.text not in shapes:
        return None
    found = compare_ratio(formula)
    return None if found is None else shapes[formula.text](found)


def by_denominator(formula: Formula) -> float | None:
    """Shares of peak and values per core, worked out by the comparison's normalisation."""
    a, b = formula.operands.get("a"), formula.operands.get("b")
    if a is None or b is None or not a.is_cell or b.is_cell:
        return None
    per = "peak" if re.search(r"rated|theoretical", b.text) else "core" if "cores" in b.text else ""
    shapes = {"a / b": 1.0, "a / b x 100": 1.0, "a / b / 1000": 1e-3, "a x 4 / 3 / b x 100": 4 / 3}
    if not per or formula.text not in shapes:
        return None
    found = cell(a, per=per)
    if found.denominator != b.value or found.value is None:
        return None
    return found.value * shapes[formula.text]


def work_out(formula: Formula) -> float:
    for strategy in (by_ratio, by_denominator):
        found = strategy(formula)
        if found is not None:
            return found
    return evaluate(formula)


def rank_of(claim: Claim) -> int:
    """The rank in a table of just the listed systems, or of one system's factor values."""
    target = claim.ranked
    listed = claim.listed
    if len(listed) == 1:
        return _rank_within_system(claim, target)
    keys = list(dict.fromkeys([*listed, target.system]))
    variants = {system: _placement(claim, system, target) for system in keys}
    factor = "placement" if len(set(variants.values())) > 1 else "system"
    columns = [f"{s}@placement={variants[s]}" if factor == "placement" else s for s in keys]
    where = f"{target.benchmark}/{target.workload}"
    table = compare_systems(systems=columns, benchmarks=[where], factor=factor)
    row = row_of(table, target, without=("placement",) if factor == "placement" else ())
    own = columns[keys.index(target.system)]
    cells = {k: c for k, c in row.cells.items() if c.rank is not None}
    assert len(cells) == len(keys), "every listed system is ranked"
    rank = cells[own].rank or 0
    return len(cells) + 1 - rank if claim.id in FROM_THE_OTHER_END else rank


def _placement(claim: Claim, system: str, target: Operand) -> str:
    """Where the memory lay, for claims that set one placement against another."""
    own = target.params.get("placement", "")
    if system == target.system or "placement=" not in claim.note.partition("; over")[2]:
        return own
    match = re.search(r"against x86 placement=(\w+)", claim.note)
    return match.group(1) if match else own


def _rank_within_system(claim: Claim, target: Operand) -> int:
    where = f"{target.benchmark}/{target.workload}"
    table = compare_systems(systems=[target.system], benchmarks=[where], factor="smt")
    return row_of(table, target, without=("smt",)).cells[key(target, "smt")].rank or 0


def place_in_list(claim: Claim) -> int:
    """The place of a thread's or socket's value in the list of single-CPU results."""
    entries = List.objects.get(slug="stream-top15-1cpu").entries.values_list("value", flat=True)
    value = cell(claim.ranked).value
    assert value is not None
    return places.place(value, entries, higher_is_better=True)


def gain_rank(claim: Claim) -> int:
    """The rank of a system's gain (or per-core value) among those of others."""
    gains = [work_out(formula) for formula in claim.formulas]
    return places.place(gains[0], gains[1:], higher_is_better=True)


def rounded(text: str) -> float:
    """Half a unit in the last digit that is stated."""
    decimals = len(text.partition(".")[2])
    return 0.5 * 10.0**-decimals


def agrees(claim: Claim, stated: str, value: float) -> bool:
    """Whether the value bears the statement out, by the tolerance that the claim carries."""
    if claim.test:
        return bool(eval(claim.test, {"__builtins__": {}}, {"value": value}))  # noqa: S307
    bounds = re.search(r"rounding of the inputs \(([\d.]+) to ([\d.]+)\)", claim.note)
    if bounds:
        low, high = (float(end) for end in bounds.groups())
        return low - rounded(stated) <= float(stated) <= high + rounded(stated)
    tolerance = re.search(r"tolerance ([\d.]+)%", claim.note)
    if tolerance:
        return abs(value / float(stated) - 1) <= float(tolerance.group(1)) / 100
    slack = 1 + 1e-9
    if re.search(r"stated as (about|up to|two thirds|double)", claim.note):
        slack = 2.2
    return abs(value - float(stated)) <= rounded(stated) * slack


def check(claim: Claim) -> bool:
    """Work the claim out and check the worked-out value against claims.csv on the way."""
    if claim.kind == "rank" and "number of listed values" in claim.note:
        single = "1-CPU list" in claim.statement
        return str(place_in_list(claim) if single else rank_of(claim)) == claim.stated
    if claim.kind == "rank" and "number of values above" in claim.note:
        return str(gain_rank(claim)) == claim.stated
    if claim.id == "C116":
        return _inside_a_range(claim)
    values = [work_out(formula) for formula in claim.formulas]
    if ".." in claim.stated:
        return _ends(claim, values)
    assert len(values) == 1
    if claim.test == "value > 0":
        return values[0] > 0
    assert values[0] == pytest.approx(float(claim.recomputed), rel=5.1e-4), "as claims.csv has it"
    return agrees(claim, claim.stated, values[0])


def _ends(claim: Claim, values: list[float]) -> bool:
    stated = claim.stated.split("..")
    recomputed = [float(end) for end in claim.recomputed.split("..")]
    assert sorted(values) == pytest.approx(sorted(recomputed), rel=5.1e-4)
    return all(agrees(claim, s, v) for s, v in zip(stated, sorted(values), strict=True))


def _inside_a_range(claim: Claim) -> bool:
    systems = ["dell-r770ap-xeon-6978p", "dell-r760-xeon-8592plus", "nvidia-mgx-vera-c2"]
    table = compare_systems(systems=systems, benchmarks=["nginx/https"])
    row = next(r for r in table.rows if r.variant == {"smt": "on", "connections": 1000})
    low, high, value = (row.cells[system].value for system in systems)
    assert (low, high) == tuple(float(end) for end in claim.stated.split(".."))
    return agrees(claim, claim.stated, value or 0.0)


@pytest.mark.parametrize("claim_id", [c for c in YES if c not in NOT_COMPARED])
def test_claim_comes_out_of_the_comparison(claim_id: str) -> None:
    claim = CLAIMS[claim_id]
    assert check(claim), claim.statement


@pytest.mark.parametrize("claim_id", NO)
def test_claim_that_its_figures_contradict_is_contradicted(claim_id: str) -> None:
    claim = CLAIMS[claim_id]
    assert not check(claim), claim.statement


def test_claims_that_are_not_compared_hold_no_measured_value() -> None:
    for claim_id in NOT_COMPARED:
        claim = CLAIMS[claim_id]
        operands = [o for f in claim.formulas for o in f.operands.values()]
        assert operands
        assert not any(operand.is_cell for operand in operands), claim_id


def test_there_are_143_claims_that_agree_and_3_that_do_not() -> None:
    assert (len(YES), len(NO)) == (143, 3)
