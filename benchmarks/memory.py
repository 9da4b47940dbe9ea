"""What a long tuning run takes: time and memory after 500 and after up to 10,000 trials.

    python benchmarks/memory.py [SAMPLER] [URL]

With the URL of an empty PostgreSQL database as a study there, else in a file. The search, the database and the time
model are real; nothing is compiled and nothing is emulated.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from fakes import Device, Pool

from autotune.db import TuningDB
from autotune.search_spaces.contract.registry import operator
from autotune.tuner import Progress, TuneOptions, tune

SHOWN = (500, 1000, 2000, 5000, 10_000)


def show(progress: Progress) -> None:
    """Print the memory in use."""
    if progress.done in SHOWN:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        used = pages * resource.getpagesize() / 1e6
        print(f"{progress.done:>6} trials  {progress.elapsed:6.1f} s  {used:6.1f} MB", flush=True)


def main(sampler: str = "bayes", url: str | None = None) -> None:
    """Tune a product of 4096 for an H200."""
    sgemm = operator("sgemm")
    with TemporaryDirectory() as folder, TuningDB(url or f"{folder}/tuning.sqlite3") as db:
        options = TuneOptions(trials=SHOWN[-1], sampler=sampler, study="bench" if url else None)
        tune(sgemm, sgemm.problem_type(4096, 4096, 4096), Device("h200"), db, options, show, pool=Pool())  # type: ignore[arg-type]


if __name__ == "__main__":
    main(*sys.argv[1:])
