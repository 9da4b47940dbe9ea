from dataclasses import asdict, replace

import bench_fakes
import pytest
from cli.cli_command import Outcome

from autotune import bench as benchmarks
from autotune.bench import comparison
from autotune.cli.app import run
from autotune.db import DeviceRecord, ProblemRecord, Status, TimeSource, Trial, TuningDB
from autotune.devices import select
from autotune.search_spaces.contract.registry import operator

TRANSPOSE = operator("transpose")


@pytest.fixture
def no_gpu(monkeypatch):
    """Nothing is compiled and nothing captured."""
    monkeypatch.setattr(comparison, "compile_kernel", lambda source, arch: source)
    monkeypatch.setattr(comparison, "captured", bench_fakes.captured)


@pytest.fixture
def gpu(monkeypatch, no_gpu):
    """What ``--device`` names, whatever it says."""
    device = bench_fakes.Gpu()
    monkeypatch.setattr(select, "device", lambda selector: device)
    return device


@pytest.fixture(autouse=True)
def baselines(monkeypatch):
    """The baselines of every operator: ``mover`` and ``copy``, which a test may change."""
    known = {
        "mover": bench_fakes.baseline("mover"),
        "copy": bench_fakes.baseline("copy", verified=False, replayed=False),
    }
    monkeypatch.setattr(benchmarks, "baselines_of", lambda operator: dict(known))
    return known


@pytest.fixture
def record(monkeypatch, tmp_path):
    """``record(problem)`` puts a trial of its default schedule, or of another one, into the database in use."""
    monkeypatch.setenv("AUTOTUNE_DB", str(tmp_path / "tuning.sqlite3"))
    TuningDB().close()

    def store(problem, schedule=None, source=TimeSource.MEASURED, operator="transpose", seconds=1e-3, digest=""):
        spec = bench_fakes.SPEC
        schedule = schedule or TRANSPOSE.default(problem, spec).to_dict()
        device = DeviceRecord(spec.name, spec.compute_capability, asdict(spec))
        place = ProblemRecord(operator, problem.key, problem.to_dict())
        with TuningDB() as database:
            trial = Trial(device, place, schedule, str(schedule)[:99], Status.OK, source, samples=(seconds,))
            database.record(replace(trial, program_digest=digest))

    return store


@pytest.fixture
def bench(capsys, record, gpu):
    """``bench(*arguments)`` runs ``autotune bench transpose``."""

    def call(*arguments):
        code = run(["bench", "transpose", *arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call
