"""What a bench reports: figures with their rounds, rows that hold one against its baseline, the table."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Figure:
    """Measured values of several rounds; the median counts, the range is shown beside it."""

    values: tuple[float, ...]
    unit: str = "s"

    @classmethod
    def of(cls, values: Iterable[float], unit: str = "s") -> "Figure":
        return cls(tuple(values), unit)

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def __str__(self) -> str:
        text = f"{_plain(self.median)} {self.unit}"
        if len(self.values) > 1:
            text += f" ({_plain(min(self.values))} to {_plain(max(self.values))})"
        return text


@dataclass(frozen=True, slots=True)
class Aim:
    """What a ratio or a figure should come to: at most `bound`, or at least with `at_least`."""

    bound: float
    unit: str = "x"
    at_least: bool = False

    def is_met(self, value: float) -> bool:
        return value >= self.bound if self.at_least else value <= self.bound

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.bound:g} {self.unit}"


@dataclass(frozen=True, slots=True)
class Row:
    """One figure beside its baseline; `aim` bounds `ratio`, or the figure itself where there is no ratio."""

    what: str
    ours: Figure
    baseline: Figure | None = None
    ratio: float | None = None
    aim: Aim | None = None

    @classmethod
    def times(cls, what: str, ours: Figure, baseline: Figure, aim: Aim | None = None) -> "Row":
        """How many times as long as the baseline ours took."""
        return cls(what, ours, baseline, ours.median / baseline.median, aim)

    @classmethod
    def faster(cls, what: str, ours: Figure, baseline: Figure, aim: Aim | None = None) -> "Row":
        """How many times faster than the baseline ours was."""
        return cls(what, ours, baseline, baseline.median / ours.median, aim)

    @property
    def is_met(self) -> bool | None:
        """Whether the aim is met; None where there is none."""
        if self.aim is None:
            return None
        return self.aim.is_met(self.ours.median if self.ratio is None else self.ratio)


def show(console: Console, title: str, conditions: str, rows: Sequence[Row]) -> None:
    """Print one bench's rows as a table, with the conditions under which they were measured."""
    table = Table(title=title, title_justify="left", caption=conditions, caption_justify="left")
    for heading in ("what", "ours", "baseline"):
        table.add_column(heading, overflow="fold")
    for heading in ("ratio", "aim", "met"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            row.what,
            str(row.ours),
            "" if row.baseline is None else str(row.baseline),
            "" if row.ratio is None else f"{row.ratio:.2f}",
            "" if row.aim is None else str(row.aim),
            {None: "", True: "[green]yes[/]", False: "[red]no[/]"}[row.is_met],
        )
    console.print(table)


def _plain(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.2f}"
