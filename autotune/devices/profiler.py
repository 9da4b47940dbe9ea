"""Nsight Compute: the hardware's counters while a program launches kernels."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from .base import DeviceError
from .tools import last_line, under

# What each counter says, by its name in ncu.
COUNTERS = {
    "gpu__time_duration.sum": "time (ns)",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": "SMs busy (% of peak)",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "device memory busy (% of peak)",
    "dram__bytes_read.sum": "bytes read from device memory",
    "dram__bytes_write.sum": "bytes written to device memory",
    "lts__t_sector_hit_rate.pct": "sectors found in L2 (%)",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum": "bank conflicts in shared memory",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "warps resident (% of the most)",
    "smsp__issue_active.avg.pct_of_peak_sustained_active": "issue slots used (%)",
    "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active": "FMA pipe busy (%)",
    "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active": "tensor cores busy (%)",
    **{
        f"smsp__average_warps_issue_stalled_{why}_per_issue_active.ratio": f"warps stalled by {of}, per instruction"
        for why, of in {
            "long_scoreboard": "global memory",
            "short_scoreboard": "shared memory",
            "barrier": "barriers",
            "math_pipe_throttle": "busy pipes",
            "dispatch_stall": "dispatch",
        }.items()
    },
}
# Clocks stay as they are. What is counted begins when the program says so. ncu empties the caches before each launch.
_OPTIONS = ("--clock-control", "none", "--profile-from-start", "off", "--csv", "--page", "raw", "--print-units", "base")


class Counted(NamedTuple):
    """A launch of a kernel, and its counters by the names in `COUNTERS`, without those that this GPU has not."""

    kernel: str
    counters: dict[str, float]


def counted(program: Sequence[str]) -> list[Counted]:
    """Run a Python program under ncu: the launches between its calls of ``cuProfilerStart`` and ``cuProfilerStop``.

    Args:
        program: the arguments of the Python interpreter.

    Raises:
        DeviceError: ncu is not installed or may not read the counters, or the program failed; one line.
    """
    with TemporaryDirectory() as folder:
        log = Path(folder) / "ncu.csv"
        done = under("ncu", [*_OPTIONS, "--metrics", ",".join(COUNTERS), "--log-file", str(log)], program)
        written = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    if launches := _launches(written):
        return launches
    said = f"{written}\n{done.stdout}"
    why = [line.removeprefix("==ERROR==").strip() for line in said.splitlines() if line.startswith("==ERROR==")]
    raise DeviceError(f"ncu counted nothing: {why[-1] if why else last_line(said)}")


def _launches(written: str) -> list[Counted]:
    """The rows of ncu's table, whose second line has the units; lines around it begin with ``==``."""
    names, *rows = [*csv.reader(line for line in written.splitlines() if line.startswith('"'))] or [[]]
    told = [dict(zip(names, row, strict=False)) for row in rows if row[0]]
    return [
        Counted(row["Kernel Name"], {name: value for name in COUNTERS if (value := _number(row.get(name))) is not None})
        for row in told
    ]


def _number(text: str | None) -> float | None:
    """ncu groups digits by commas, and has ``n/a`` for what a GPU does not count."""
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return None
