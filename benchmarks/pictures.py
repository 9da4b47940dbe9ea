"""Draw a picture of each family from results of `autotune bench`: how many times as fast as each baseline.

    python benchmarks/pictures.py benchmarks/results/h200

Needs Matplotlib.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from autotune.bench.plot import draw

# Of each picture the results, as files are named after them.
FAMILIES = {
    "gemm-linear": ("gemm-linear",),
    "map": ("map",),
    "dropout-rope": ("dropout", "rope"),
    "reduce": ("reduce",),
    "softmax": ("softmax", "softmax_backward", "rows"),
    "norms": ("rms_norm", "layer_norm", "norm_backward"),
    "cross_entropy": ("cross_entropy",),
}


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


if __name__ == "__main__":
    main(Path(sys.argv[1]))
