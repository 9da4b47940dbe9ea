"""What Nsight Compute profiles for the counters in docs/performance.md: the kernels that serve some products.

    ncu --clock-control none -k regex:sgemm --csv --page raw --metrics METRIC,… python benchmarks/counters.py MxNxK...

Each is launched twice, on PyTorch tensors; ncu empties the caches before each launch, and the second one counts.
`benchmarks/results/h200/counters.csv` holds such launches, with the metrics as columns.
"""

from __future__ import annotations

import sys

import torch

from autotune import dispatcher


def main(sizes: list[str]) -> None:
    """Compute the product of each size twice."""
    for size in sizes:
        m, n, k = map(int, size.split("x"))
        a, b = (torch.rand(rows, columns, device="cuda") for rows, columns in ((m, k), (k, n)))
        c = torch.empty(m, n, device="cuda")
        for _ in range(2):
            dispatcher.sgemm(a, b, out=c)
            torch.cuda.synchronize()


if __name__ == "__main__":
    main(sys.argv[1:])
