"""What a fresh install serves without tuning."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.db import TuningDB
from autotune.db.exchange import from_document, read_document
from autotune.db.freshness import OTHER_PROGRAM, changed_program
from autotune.db.pretuned import shipped_files
from autotune.db.states import TimeSource
from autotune.dispatcher.choice.choose import choices
from autotune.dispatcher.choice.records import read_records
from autotune.dispatcher.choice.rule import Rule
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
MOST_UNCONFIRMED = 0.1  # of all shipped records


@pytest.mark.parametrize(
    ("name", "sizes"),
    [("sgemm", {"m": 4096, "n": 4096, "k": 4096}), ("transpose", {"m": 16384, "n": 32768})],
)
def test_an_h200_has_measured_records_that_are_legal(name, sizes, tmp_path, monkeypatch):
    monkeypatch.delenv("AUTOTUNE_PRETUNED")
    chosen = operator(name)
    problem = chosen.problem_type(**sizes)
    with TuningDB(str(tmp_path / "fresh.sqlite3")) as db:
        best = db.best(name, problem.key, SPEC.name)
    assert best is not None
    assert best.time_source is TimeSource.MEASURED
    assert chosen.violations(problem, chosen.schedule(best.schedule), SPEC) == []


def test_records_of_each_compiler_are_confirmed_or_known_to_be_unconfirmed(monkeypatch):
    """A problem that has a record of an H200 has one of each compiler of its operator; nearly all emit today's program.

    Other GPUs' records are of the compilers under which they were measured; with others, they serve likewise.
    """
    monkeypatch.delenv("AUTOTUNE_PRETUNED")
    unconfirmed, others = 0, []
    trials = [trial for file in shipped_files() for trial in from_document(read_document(file.path))]
    for trial in trials:
        changed = changed_program(trial)
        unconfirmed += changed == OTHER_PROGRAM
        if changed not in ("", OTHER_PROGRAM):
            others.append((trial.problem.operator, trial.problem.key, trial.compiler, changed))
    assert others == [], "these can serve no more: renew them as CONTRIBUTING.md says"
    measured = (trial for trial in trials if trial.device.model == SPEC.name)
    named = {(trial.problem.operator, trial.problem.key, trial.compiler) for trial in measured}
    compilers = {(operator, compiler) for operator, _, compiler in named}
    wanted = {(name, key, compiler) for name, key, _ in named for operator, compiler in compilers if operator == name}
    assert sorted(wanted - named) == [], "renew these records as CONTRIBUTING.md says"
    assert unconfirmed <= MOST_UNCONFIRMED * len(trials), "stamp or renew them as CONTRIBUTING.md says"


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.delenv("AUTOTUNE_PRETUNED")
        with TuningDB(str(tmp_path_factory.mktemp("shipped") / "fresh.sqlite3")) as db:
            return read_records(operator("sgemm"), SPEC, db)


@settings(max_examples=100)
@given(
    *(st.floats(0, 13).map(lambda exponent: int(2**exponent)) for _ in range(3)),
    st.fixed_dictionaries(
        {"transpose_a": st.booleans(), "transpose_b": st.booleans(), "align_a": st.sampled_from((4, 16))}
    ),
)
def test_any_size_gets_something_legal(shipped, m, n, k, layout):
    sgemm = operator("sgemm")
    problem = SgemmProblem(m, n, k, **layout)
    first = next(choices(sgemm, problem, SPEC, shipped))
    assert sgemm.violations(problem, first.schedule, SPEC) == []
    assert first.seconds is not None
    assert problem.work.bytes / SPEC.bandwidth / 2 < first.seconds < 1  # an L2 cache may beat the memory
    assert (first.record is None) == (first.rule is Rule.MODEL)


def test_tuned_sizes_get_their_own_records(shipped):
    best = {record.problem: record for record in reversed(shipped) if not record.unconfirmed}
    for record in best.values():
        first = next(choices(operator("sgemm"), record.problem, SPEC, shipped))
        assert (first.rule, first.schedule) == (Rule.EXACT, record.schedule)
        assert first.seconds == pytest.approx(record.seconds)
        assert first.loss == 0
