"""Draw a picture of each family from results of `autotune bench`: how many times as fast as each baseline.

``overview.svg`` has the geometric mean of each operator, over the fastest baseline of each problem, ``ladder-NAME.svg``
the times of the ladder of that name, ``crossover-NAME.svg`` what `crossover.py` has measured.

    python benchmarks/pictures.py benchmarks/results/h200

Needs Matplotlib.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import geometric_mean

from autotune.bench.baselines import COPY_NAME
from autotune.bench.plot import draw, draw_ladder, draw_sizes

# Of each picture the results, as files are named after them.
FAMILIES = {
    "gemm-linear": ("gemm-linear",),
    "map": ("map",),
    "dropout-rope": ("dropout", "rope"),
    "reduce": ("reduce",),
    "softmax": ("softmax", "softmax_backward", "rows"),
    "norms": ("rms_norm", "layer_norm", "norm_backward"),
    "cross_entropy": ("cross_entropy",),
    "letterbox": ("letterbox",),
}


# Of the overview the results of each operator.
OVERVIEW = (
    *("suite-gemm", "suite-gemm-linear", "suite-layers", "suite-scans", "suite-layouts", "suite-reduce", "suite-map"),
    *("suite-dropout", "suite-rope", "suite-rms_norm", "suite-layer_norm", "suite-norm_backward", "suite-softmax"),
    *("suite-softmax_backward", "suite-cross_entropy", "suite-cross_entropy_backward"),
)
FASTEST = "the fastest of its baselines"


def overview(folder: Path) -> None:
    """Write ``overview.svg``; the copy, which computes nothing, is no baseline there."""
    means = []
    for name in OVERVIEW:
        result = json.loads((folder / f"{name}.json").read_text())
        compared = [[ratio for by, ratio in run["ratios"].items() if by != COPY_NAME] for run in result["runs"]]
        least = [min(ratios) for ratios in compared if ratios]
        means.append((f"{result['operator']}, {len(least)} problems", {FASTEST: geometric_mean(least)}))
    draw(folder / "overview.svg", f"geometric means on {result['device']}", means, [FASTEST])


def main(folder: Path) -> None:
    """Write ``family-NAME.svg`` beside the results of each family."""
    for family, suites in FAMILIES.items():
        results = [json.loads((folder / f"suite-{suite}.json").read_text()) for suite in suites]
        ratios = [
            (f"{result['operator']}  {run['problem']}", run["ratios"]) for result in results for run in result["runs"]
        ]
        baselines = dict.fromkeys(name for result in results for name in result["baselines"])
        title = f"{', '.join(dict.fromkeys(result['operator'] for result in results))} on {results[0]['device']}"
        draw(folder / f"family-{family}.svg", title, ratios, list(baselines))


def ladders(folder: Path) -> None:
    """Write ``ladder-NAME.svg`` beside the result of each ladder."""
    for path in sorted(folder.glob("ladder-*.json")):
        result = json.loads(path.read_text())
        (run,) = result["runs"]
        title = f"{result['operator']} on {result['device']}: {run['problem']}"
        seconds = {name: contender["seconds"] for name, contender in run["contenders"].items()}
        draw_ladder(path.with_suffix(".svg"), title, seconds)


def crossovers(folder: Path) -> None:
    """Write ``crossover-NAME.svg`` beside the result of each."""
    for path in sorted(folder.glob("crossover-*.json")):
        result = json.loads(path.read_text())
        sizes: list[dict[str, float]] = result["sizes"]
        seconds = {name: [one[name] for one in sizes] for name in sizes[0] if name != "keys"}
        title = f"{result['operator']} of float32 on {result['device']}, and NumPy on its host"
        draw_sizes(path.with_suffix(".svg"), title, [int(one["keys"]) for one in sizes], seconds)


if __name__ == "__main__":
    crossovers(Path(sys.argv[1]))
    ladders(Path(sys.argv[1]))
    overview(Path(sys.argv[1]))
    main(Path(sys.argv[1]))
