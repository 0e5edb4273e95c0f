"""What was measured, as lines beside their budgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

OVER = "over budget"
HEAD = ("measured", "found", "budget", "")


@dataclass(frozen=True)
class Line:
    """One ratio or count. `bound` says on which side of `budget` it should lie.

    `digits` are those behind the point; `remark` says what it was made of. Without a
    budget it is only told; `found` None is 'not measured'.
    """

    what: str
    found: float | None
    budget: float | None = None
    bound: Literal["at most", "at least"] = "at most"
    unit: str = ""
    digits: int = 2
    remark: str = ""

    @property
    def is_over(self) -> bool:
        if self.found is None or self.budget is None:
            return False
        if self.bound == "at most":
            return self.found > self.budget
        return self.found < self.budget

    def cells(self) -> tuple[str, str, str, str]:
        """The line as the table shows it."""
        mark = OVER if self.is_over else ""
        if self.budget is None:
            budget = ""
        else:
            budget = f"{'≤' if self.bound == 'at most' else '≥'} {self.budget:g}"
        found = "not measured" if self.found is None else f"{self.found:,.{self.digits}f}"
        told = f"{found} {self.unit}".rstrip()
        return self.what, told, budget, "; ".join(part for part in (mark, self.remark) if part)


def table(title: str, lines: Sequence[Line]) -> str:
    """Lines under a title, in columns."""
    rows = [HEAD, *(line.cells() for line in lines)]
    widths = [max(len(row[at]) for row in rows) for at in range(3)]
    text = [
        f"  {row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:<{widths[2]}}  {row[3]}".rstrip()
        for row in rows
    ]
    return "\n".join([title, *text])
