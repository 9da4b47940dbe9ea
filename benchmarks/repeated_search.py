"""How far the winners of ten searches with different seeds are apart, by the times of a recording.

    python benchmarks/repeated_search.py RECORDING...

What `autotune tune` does in an empty database, with as many candidates under way as while it compiles ahead. Unlike
`repeatability.py` it needs no GPU, and leaves out how far one kernel's measured times differ.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from pathlib import Path

from autotune.bench.search import SEARCHERS
from autotune.devices.recording import load
from autotune.tuner.ahead import MOST_AHEAD

SEEDS = 10
EVALUATIONS = (50, 100, 200)


def best_after(path: Path, seed: int) -> list[float]:
    """Seconds of the best schedule that a search has found after each of `EVALUATIONS`."""
    budget = max(EVALUATIONS)
    times = list(islice(SEARCHERS["bayes"](load(path), seed, budget, MOST_AHEAD), budget))
    return [min(times[:count]) for count in EVALUATIONS]


def main(paths: list[Path]) -> None:
    """Run all searches on each recording."""
    with ProcessPoolExecutor() as pool:
        for path in paths:
            runs = list(pool.map(best_after, [path] * SEEDS, range(SEEDS)))
            after = zip(EVALUATIONS, zip(*runs, strict=True), strict=True)
            apart = (f"{max(found) / min(found) - 1:.1%} after {count}" for count, found in after)
            print(f"{path.name}: the winners of {SEEDS} runs are within {', '.join(apart)} evaluations", flush=True)


if __name__ == "__main__":
    main(list(map(Path, sys.argv[1:])))
