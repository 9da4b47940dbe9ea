"""Many simulated tuners on one PostgreSQL: trials a second, repeats, and the processor's time that a trial takes.

    python benchmarks/fleet.py URL [TUNERS]

First all tuners work on one study, of a recorded sgemm, then each on a problem of its own, with modelled times. Nothing
is compiled or emulated, and evaluations take no time: what is left are the tuners and the server. Both run on this
machine, so the processor's time of a trial says more than how many there are in a second. The database of the URL must
be empty; schedules are drawn at random, which costs next to nothing.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from fakes import Device, Pool
from sqlalchemy import text

import autotune.tuner.problem_search  # noqa: F401  once, rather than in each process
from autotune.db import TuningDB
from autotune.devices.replay import ReplayDevice
from autotune.search_spaces.contract.registry import operator
from autotune.tuner import TuneOptions, tune

EACH = 24  # trials of a tuner
RECORDING = Path(__file__).parent / "recordings" / "h200" / "sgemm-1024x1024x1024.jsonl.gz"
SGEMM = operator("sgemm")


def work(url: str, barrier: Any, number: int, device: Any, problem: Any) -> None:
    """Tune when all others are ready, too."""
    pool: Any = Pool()
    options = TuneOptions(EACH, sampler="random", seed=number, compile_workers=1)
    with TuningDB(url) as db:
        barrier.wait()
        tune(SGEMM, problem, device, db, options, pool=pool)


def server_seconds() -> float:
    """The processor's time of all that is named postgres, and of what of it has ended."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, values = stat.read_text().rpartition(")")
        except OSError:
            continue
        if name.endswith("(postgres"):
            ticks += sum(map(int, values.split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def measure(url: str, name: str, devices: list[Any], problems: list[Any]) -> None:
    """Run a tuner for each device and problem, and print what that took."""
    processes = get_context("fork")  # which share what was read of the recording
    barrier = processes.Barrier(len(devices) + 1)
    arguments = zip(range(len(devices)), devices, problems, strict=True)
    started = [processes.Process(target=work, args=(url, barrier, *one)) for one in arguments]
    for process in started:
        process.start()
    barrier.wait()
    begun, server = time.perf_counter(), server_seconds()
    before = _tuners_seconds()
    for process in started:
        process.join()
    seconds, served = time.perf_counter() - begun, server_seconds() - server
    with TuningDB(url) as db, db._engine.connect() as connection:
        tried, stored = (
            connection.scalar(text(f"SELECT {what} FROM trials JOIN studies ON studies.id = study_id WHERE {of}"))
            for what in (f"{EACH} * count(DISTINCT run_id)", "count(*)")
            for of in [f"studies.problem_id IN (SELECT id FROM problems WHERE key IN ({_keys(problems)}))"]
        )
    assert all(process.exitcode == 0 for process in started)
    own, at_server = (1e3 * used / stored for used in (_tuners_seconds() - before, served))
    found = f"{stored / seconds:.1f} trials/s, {tried - stored} repeats"
    used = f"{own:.0f} ms in the tuner, {at_server:.1f} ms in the server"
    print(f"{len(devices)} tuners, {name}: {found}; of a trial, {used}", flush=True)


def _keys(problems: list[Any]) -> str:
    return ", ".join(f"'{problem.key}'" for problem in problems)


def _tuners_seconds() -> float:
    """The processor's time of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(url: str, tuners: str = "64") -> None:
    """Measure both."""
    os.environ["AUTOTUNE_PRETUNED"] = os.devnull
    TuningDB(url).close()
    count = int(tuners)
    recorded = ReplayDevice(f"replay:{RECORDING}")
    measure(url, "one study", [recorded] * count, [recorded.recording.problem] * count)
    own = [SGEMM.problem_type(1024 + 64 * number, 1024, 2048) for number in range(count)]
    measure(url, "a study each", [Device("h200") for _ in own], own)


if __name__ == "__main__":
    main(*sys.argv[1:])
