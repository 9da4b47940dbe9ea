"""A folder with what the commands of the docs take for granted: files by their names there, and a run by its id."""

import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path

import factories

from autotune.bench.search.kernel_tuner import t4_document
from autotune.db import DeviceRecord, ProblemRecord, Status, TimeSource, Trial, pretuned
from autotune.db.exchange import from_document, read_document, to_document, write_document
from autotune.db.recording import write_recording
from autotune.db.shipping import ship
from autotune.devices.recording import load
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.contract.restriction import sample
from autotune.search_spaces.machine.devices import named_device

RUN = "3f2a9c81"
PROBLEM = "m4096-n4096-k4096-nn"
RESULTS = Path(__file__).parents[1] / "benchmarks" / "results" / "h200"
OWN_KERNEL = Path(__file__).parents[1] / "examples" / "own_kernels" / "vector_add.py"
TRIALS = Path("benchmarks/recordings/h200-trials/rope.jsonl.gz")
COMPILER = "nvrtc-13.5"  # of the records that ship
DATABASE = "tuning.sqlite3"
SHIPPED = "shipped-trials"
FAILURE = ".cache/autotune/failures/sgemm-0123456789abcdef-01234567.json"
H200 = named_device("h200")
DEVICE = DeviceRecord(H200.name, H200.compute_capability, asdict(H200) | {"compute_capability": [9, 0]})
SGEMM = operator("sgemm")


def fill(folder):
    """Write the files; the database is the caller's."""
    for file in pretuned.FOLDER.glob(f"*/*-{COMPILER}.json"):
        trials = from_document(read_document(file))
        some = {PROBLEM, *sorted({trial.problem.key for trial in trials})[:2]}
        ship([trial for trial in trials if trial.problem.key in some], folder / SHIPPED)
    (folder / "shapes.json").write_text(json.dumps([{"m": 4096, "n": 4096}]))
    shutil.copy(RESULTS / "suite-gemm.json", folder)
    shutil.copy(OWN_KERNEL, folder)
    (folder / TRIALS).parent.mkdir(parents=True)
    shutil.copy(Path(__file__).parents[1] / TRIALS, folder / TRIALS)
    (folder / "results.json").write_text(json.dumps({"results": [_t4(64, 0.1), _t4(128, 0.2)], "metadata": {}}))
    counted = {"operator": "sgemm", "problem": PROBLEM, "device": H200.name, "taken_at": "2026-11-27"}
    counted["launches"] = [{"kernel": "sgemm", "counters": {"gpu__time_duration.sum": 2513792}}]
    (folder / "counters.json").write_text(json.dumps(counted))
    for size in (1024, 4096):
        write_recording(folder / f"sgemm-{size}.jsonl.gz", _sgemm_trials(size))
    factories.recording(folder / "transpose.jsonl.gz", 6)
    (folder / "spaces").mkdir()
    write_document(folder / "spaces" / "transpose_T4.json", t4_document(load(folder / "transpose.jsonl.gz")))
    failed = replace(_sgemm_trials(64)[0], status=Status.WRONG, time_source=TimeSource.MODELLED, error="wrong")
    (folder / FAILURE).parent.mkdir(parents=True)
    own = {"version": 1, "device": "h200", "seed": 3, "source": ""}
    write_document(folder / FAILURE, own | {"record": to_document([failed])})


def _t4(block_size, milliseconds):
    """A result as Kernel Tuner writes it, of the kernel's file."""
    measured = {"name": "time", "value": milliseconds, "unit": "ms"}
    own = {"configuration": {"block_size": block_size}, "times": {}, "measurements": [measured]}
    return own | {"invalidity": "correct"}


def _sgemm_trials(size):
    problem = SGEMM.problem_type(size, size, size)
    record = ProblemRecord("sgemm", problem.key, problem.to_dict())
    schedules = sample(SGEMM, problem, H200, SGEMM.space(problem, H200), 4, seed=0)
    return [
        Trial(DEVICE, record, one.to_dict(), one.digest, Status.OK, TimeSource.MEASURED, (3e-3 + 1e-4 * index,))
        for index, one in enumerate(schedules)
    ]
