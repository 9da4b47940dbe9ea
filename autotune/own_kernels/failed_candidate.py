"""A candidate of a kernel of your own that failed, launched once, for a sanitizer to watch.

python -m autotune.own_kernels.failed_candidate FILE REPORT GPU
"""

from __future__ import annotations

import sys
from pathlib import Path

from autotune.tuner import failed_candidate

from .origin import run_file


def launch(file: str, report: str, ordinal: str) -> None:
    """Have the kernel declared, and launch it; see `failed_candidate.launch`."""
    run_file(Path(file))
    failed_candidate.launch(report, ordinal)


if __name__ == "__main__":
    launch(*sys.argv[1:])
