"""Random command lines and calls, and tuners killed at random: no traceback, no wrong exit code, nothing lost.

    python benchmarks/fuzz.py [SEED]

800 command lines run in this process, on files, a database and a cache of their own. Among them is each command of each
operator. Then come 200 calls of the Python API, and 40 tuners that are killed by SIGKILL while they store trials. Each
finding is a line; with any, the exit code is 1. The same seed gives the same lines and calls.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import sqlite3
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, redirect_stderr, redirect_stdout
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

from fakes import Device, Pool
from fuzz_calls import calls
from fuzz_cases import Lines
from fuzz_files import Files, trials
from fuzz_values import BAD_INPUT, DONE, Case

from autotune.base.errors import AutotuneError
from autotune.cli.app import run
from autotune.db import TuningDB
from autotune.db.pretuned import FOLDER
from autotune.search_spaces.contract.registry import operator
from autotune.tuner import Progress, TuneOptions, tune

LINES, CALLS, KILLS = 800, 200, 40
_UNEXPECTED = ("Traceback", "AUTOTUNE_DEBUG=1 shows where")


def wrong_with(case: Case) -> tuple[int | None, str]:
    """The exit code of a command line, and what is wrong with it; empty if nothing is."""
    stdout, stderr = io.StringIO(), io.StringIO()
    try:
        with redirect_stdout(stdout), redirect_stderr(stderr):
            code = run(case.words)
    except BaseException as error:
        return None, f"raised {type(error).__name__}: {error}"
    said = stderr.getvalue()
    if any(word in said for word in _UNEXPECTED):
        return code, said
    if code not in case.codes:
        return code, f"exit code {code}, expected {' or '.join(map(str, case.codes))}: {said}"
    errors = [line for line in said.splitlines() if line.startswith("autotune: ")]
    if code != DONE and (len(errors) != 1 or said.splitlines()[-1] != errors[0]):
        return code, f"not one line at the end: {said!r}"
    if code == BAD_INPUT and stdout.getvalue():
        return code, f"bad input, and printed {stdout.getvalue()[:80]!r}"
    if any(not (c.isprintable() or c in "\n\xa0") for c in stdout.getvalue() + said):
        return code, f"control characters in {stdout.getvalue()[:200] + said!r}"
    if code == DONE and case.words[-1] == "--json":
        try:
            json.loads(stdout.getvalue())
        except ValueError as error:
            return code, f"no JSON: {error}"
    return code, ""


def wrong_lines(random: Random, files: Files) -> Iterator[str]:
    """Run command lines; prints how many ended with which code."""
    codes: Counter[int | None] = Counter()
    start = perf_counter()
    for case in islice(Lines(random, files), LINES):
        code, why = wrong_with(case)
        codes[code] += 1
        if why:
            yield f"autotune {' '.join(map(repr, case.words))}: {why}"
    ended = ", ".join(f"{count} with {code}" for code, count in sorted(codes.items(), key=str))
    print(f"{LINES} command lines in {perf_counter() - start:.0f} s: exit codes {ended}", flush=True)


def wrong_calls(random: Random, folder: Path) -> Iterator[str]:
    """Make calls; each returns, or raises an error of one line that a caller can expect."""
    start, refused = perf_counter(), 0
    for name, call in islice(calls(random, folder), CALLS):
        try:
            call()
        except (AutotuneError, ValueError, TypeError, OSError) as error:
            refused += 1
            if not str(error) or "\n" in str(error):
                yield f"{name}: {type(error).__name__} of another length than a line: {error!s}"
        except BaseException as error:
            yield f"{name}: {type(error).__name__}: {error}"
    print(f"{CALLS} calls in {perf_counter() - start:.0f} s: {refused} refused", flush=True)


def tune_until_killed(database: str, seed: int, pipe: Any) -> None:
    """Tune, and send the name of each trial that is stored."""
    transpose = operator("transpose")
    options = TuneOptions(10_000, sampler="random", seed=seed)

    def show(progress: Progress) -> None:
        pipe.send(progress.trial.schedule_digest)

    with TuningDB(database) as db:
        tune(transpose, transpose.problem_type(512, 512 + seed), Device("h200"), db, options, show, pool=Pool())  # type: ignore[arg-type]


def lost_trials(random: Random, database: str) -> Iterator[str]:
    """Kill tuners at random; each trial that one of them sent must be there."""
    processes = get_context("forkserver")
    processes.set_forkserver_preload(["autotune.tuner.loop", "autotune.db.database", "fakes"])
    start, sent = perf_counter(), 0
    for seed in range(KILLS):
        receiver, sender = processes.Pipe(duplex=False)
        process = processes.Process(target=tune_until_killed, args=(database, seed, sender), daemon=True)
        process.start()
        sender.close()
        stored = [receiver.recv() for _ in range(random.randint(1, 40))]
        assert process.pid
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        try:
            while True:
                stored.append(receiver.recv())
        except (EOFError, OSError):
            pass
        sent += len(stored)
        with TuningDB(database) as db:
            kept = {trial.schedule_digest for trial in db.trials("transpose", f"m512-n{512 + seed}-e4")}
        if lost := set(stored) - kept:
            yield f"tuner {seed}, killed after {len(stored)} trials, lost {len(lost)}"
    yield from damaged(database)
    print(f"{KILLS} tuners killed in {perf_counter() - start:.0f} s, after {sent} trials")


def damaged(database: str) -> Iterator[str]:
    """What SQLite finds wrong with a database."""
    with closing(sqlite3.connect(database)) as connection:
        (said,) = connection.execute("PRAGMA integrity_check").fetchone()
    if said != "ok":
        yield f"{database}: {said}"


def main(seed: str = "0") -> int:
    """Print the findings and the figures."""
    warnings.simplefilter("ignore")
    random = Random(int(seed))
    findings: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(FOLDER, folder / "pretuned")  # where db ship writes
        named = {"DB": "tuning.sqlite3", "CACHE": "cache", "PRETUNED": "pretuned"}
        os.environ |= {f"AUTOTUNE_{variable}": str(folder / path) for variable, path in named.items()}
        os.chdir(folder)
        files = Files(folder)
        checks = (
            wrong_lines(random, files),
            wrong_calls(random, folder),
            lost_trials(random, str(folder / "killed.sqlite3")),
            damaged(str(files.database)),
            damaged(str(files.other)),
        )
        for found in checks:
            for finding in found:
                print(finding, file=sys.stderr, flush=True)
                findings.append(finding)
        with TuningDB() as db:
            kept = {trial.schedule_digest for trial in db.trials()}
        lost = {trial.schedule_digest for trial in trials("transpose", 64, 4)} - kept
        findings += [f"the command lines lost {len(lost)} trials"] if lost else []
    print(f"{len(findings)} findings")
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
