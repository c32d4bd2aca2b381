"""`python -m tests.bench [a … m] [--rounds N] [--json PATH]`: measures, and prints the table of figures."""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

from .contenders import FIGURES, TARGETS, contenders
from .figures import report, table
from .stage import Stage


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("figures", nargs="*", choices=[*FIGURES, []], metavar="a … m", help="all when none is named")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    options = parser.parse_args()

    samples: dict[str, list[list[float]]] = defaultdict(list)
    with Stage() as stage:
        running = list(contenders(stage, options.figures or FIGURES))
        for number in range(options.rounds):
            # What is compared runs close together, under the same load.
            for contender in running:
                samples[contender.name].append(contender.measure())
            print(f"round {number + 1} of {options.rounds} done", file=sys.stderr)

    result = report(running, TARGETS, samples)
    print(table(result))
    if options.json:
        options.json.write_text(json.dumps(result, indent=2))
    return 0 if all(row["reached"] for row in result["targets"]) else 1


if __name__ == "__main__":
    sys.exit(main())
