"""What is made of the samples: medians over rounds, ratios within rounds, targets, a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

Samples = Mapping[str, list[list[float]]]
"""Per contender and round, seconds."""


@dataclass(frozen=True)
class Contender:
    """One thing to measure. `measure` runs it for one round and gives a duration in seconds for each time."""

    figure: str
    name: str
    measure: Callable[[], list[float]]
    per: int = 0
    """How many calls a duration stands for, where calls a second are of interest."""


@dataclass(frozen=True)
class Target:
    """A ratio of two contenders, or the rate of one. `most` is the highest value that is right, `least` the lowest."""

    name: str
    against: str | None = None
    most: float | None = None
    least: float | None = None

    def reached(self, value: float) -> bool:
        return (self.most is None or value <= self.most) and (self.least is None or value >= self.least)

    @property
    def text(self) -> str:
        if self.most is not None:
            return f"≤ {self.most:g}"
        return f"≥ {self.least:,.0f}" if self.least is not None else ""


def quantile(values: Iterable[float], q: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]


def over_rounds(rounds: list[list[float]], q: float) -> float:
    """The median over rounds of each round's quantile: a round that something else disturbed does not count."""
    return median(quantile(values, q) for values in rounds)


def value_of(target: Target, samples: Samples, rates: Mapping[str, int]) -> float | None:
    """The value, None when a contender was not run. A ratio is taken within rounds, where the load was alike."""
    if target.name not in samples:
        return None
    if target.against is None:
        return rates[target.name] / over_rounds(samples[target.name], 0.5)
    if target.against not in samples:
        return None
    pairs = zip(samples[target.name], samples[target.against], strict=True)
    return median(median(ours) / median(theirs) for ours, theirs in pairs)


def report(contenders: Iterable[Contender], targets: Iterable[Target], samples: Samples) -> dict[str, Any]:
    contenders = list(contenders)
    rates = {c.name: c.per for c in contenders if c.per}
    figures = [
        {
            "figure": c.figure,
            "name": c.name,
            "p50": over_rounds(samples[c.name], 0.5),
            "p99": over_rounds(samples[c.name], 0.99),
            "samples": sum(map(len, samples[c.name])),
            **({"perSecond": rates[c.name] / over_rounds(samples[c.name], 0.5)} if c.per else {}),
        }
        for c in contenders
    ]
    checked = []
    for target in targets:
        value = value_of(target, samples, rates)
        if value is not None:
            row = {"name": target.name, "against": target.against, "value": value, "target": target.text}
            checked.append({**row, "reached": target.reached(value)})
    return {"figures": figures, "targets": checked}


def table(result: Mapping[str, Any]) -> str:
    lines = [f"{'':52}{'p50':>12}{'p99':>12}{'n':>8}"]
    for row in result["figures"]:
        times = f"{row['p50'] * 1e3:9.2f} ms{row['p99'] * 1e3:9.2f} ms{row['samples']:8d}"
        rate = f"{row['perSecond']:10,.0f}/s" if "perSecond" in row else ""
        lines.append(f"({row['figure']}) {row['name']:48}{times}{rate}")
    lines += ["", f"{'':84}{'reached':>9}  target"]
    for row in result["targets"]:
        what = f"{row['name']}  /  {row['against']}" if row["against"] else f"{row['name']}, per second"
        value = f"{row['value']:9.2f}" if row["against"] else f"{row['value']:9,.0f}"
        verdict = "" if not row["target"] else "ok" if row["reached"] else "MISSED"
        lines.append(f"{what:84}{value}  {row['target']:8} {verdict}".rstrip())
    return "\n".join(lines)
