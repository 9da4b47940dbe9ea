"""A trial is fresh as long as its schedule emits the same program, whatever else changes in the generator."""

import json
import shutil
from dataclasses import asdict, replace

import pytest
from trial_factory import trial

from autotune.codegen.model.schedule import Specialize
from autotune.codegen.model.tensor import Role, Within
from autotune.codegen.source import headers
from autotune.db import DeviceRecord, ProblemRecord, TimeSource, freshness, verdicts
from autotune.db.freshness import OTHER_PROGRAM, changed_program, judge
from autotune.search_spaces.contract.registry import OPERATORS
from autotune.search_spaces.machine.devices import named_device

H200 = named_device("h200")
DEVICE = DeviceRecord(H200.name, H200.compute_capability, json.loads(json.dumps(asdict(H200))))
SGEMM, TRANSPOSE = OPERATORS["sgemm"], OPERATORS["transpose"]


def made(operator, problem, schedule, seconds=1e-3):
    """A trial that was made now."""
    return trial(
        schedule.digest,
        seconds,
        device=DEVICE,
        problem=ProblemRecord(operator.name, problem.key, problem.to_dict()),
        schedule=schedule.to_dict(),
        program_digest=operator.program(problem, schedule, H200).digest,
    )


SQUARE, SMALL = SGEMM.problem_type(512, 512, 512), TRANSPOSE.problem_type(64, 64)
PLAIN = TRANSPOSE.kernels[0].schedule_type()
STREAMING = replace(PLAIN, streaming=True)
TRIALS = {
    "sgemm": made(SGEMM, SQUARE, SGEMM.default(SQUARE, H200)),
    "plain": made(TRANSPOSE, SMALL, PLAIN),
    "streaming": made(TRANSPOSE, SMALL, STREAMING),
}


def stale():
    return {name for name, one in TRIALS.items() if changed_program(one)}


@pytest.fixture
def edit(tmp_path, monkeypatch):
    """A function that replaces text in a copy of the headers, from which kernels are emitted."""
    folder = tmp_path / "headers"
    shutil.copytree(headers._FOLDER, folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))

    def forget():
        for value in [*vars(headers).values(), *vars(freshness).values(), *vars(verdicts).values()]:
            getattr(value, "cache_clear", int)()

    def replaced(name, old, new):
        path = folder / name
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new, 1))
        forget()

    with monkeypatch.context() as patch:
        patch.setattr(headers, "_FOLDER", folder)
        patch.setattr(verdicts, "as_loaded", lambda: False)  # no file has verdicts on these kernels
        forget()
        yield replaced
    forget()


def test_a_trial_is_emitted_once_for_all_questions(edit, monkeypatch):
    emitted = []
    monkeypatch.setattr(freshness, "changed", lambda *made: emitted.append(made) or "")
    assert [changed_program(TRIALS["plain"]) for _ in range(3)] == [""] * 3
    assert changed_program(replace(TRIALS["plain"], program_digest="0" * 64)) == ""
    assert [digest for *_, digest in emitted] == [TRIALS["plain"].program_digest, "0" * 64]


LINE = "  const unsigned rows = tiles_m - first_m;\n"  # of a function that both operators use


def test_a_comment_in_a_header_leaves_all_trials_fresh(edit):
    edit("cuda/tile_order.cuh", LINE, f"\n  // One more comment.\n{LINE}")
    assert "One more comment." in SGEMM.program(SQUARE, SGEMM.default(SQUARE, H200), H200).source
    assert "One more comment." in TRANSPOSE.program(SMALL, PLAIN, H200).source
    assert stale() == set()


def test_a_definition_that_no_kernel_uses_leaves_all_trials_fresh(edit):
    edit("cuda/tile_order.cuh", "#pragma once\n", "#pragma once\n\nusing Unused = int;\n\n")
    assert stale() == set()


def test_a_change_of_one_operators_kernel_leaves_the_trials_of_others_fresh(edit):
    edit("layout/transpose/transpose.cuh", "(problem.n - 1) /", "(problem.n - 1u) /")
    assert stale() == {"plain", "streaming"}
    assert changed_program(TRIALS["plain"]) == OTHER_PROGRAM


def test_a_change_of_a_shared_header_makes_all_trials_stale_that_use_it(edit):
    edit("cuda/tile_order.cuh", LINE, LINE.replace("tiles_m - first_m", "(tiles_m - first_m)"))
    assert stale() == set(TRIALS)


@pytest.mark.parametrize(
    "change",
    [
        lambda program: replace(program, source=f"{program.source}using Unused = int;\n"),
        lambda program: replace(program, steps=(replace(program.launch, shared_bytes=64),)),
        lambda program: replace(program, steps=(replace(program.launch, grid=(1, 1, 1)),)),
        lambda program: replace(program, arch_suffix="a"),
    ],
)
def test_exactly_the_trials_are_stale_whose_source_or_launch_has_changed(monkeypatch, change):
    def emit(problem, schedule):
        program = TRANSPOSE.emit(problem, schedule)
        return change(program) if schedule.streaming else program

    monkeypatch.setitem(OPERATORS, "transpose", TRANSPOSE.with_kernels(emit=emit))
    assert stale() == {"streaming"}


def test_a_confirmed_trial_is_best_before_faster_unconfirmed_ones_which_are_not_dropped(db):
    old = [replace(made(TRANSPOSE, SMALL, one, 1e-4), program_digest="0" * 64) for one in (PLAIN, STREAMING)]
    name = ("transpose", SMALL.key, H200.name)
    for one in old:
        db.record(one)
    assert db.best(*name) == old[0]
    fresh = made(TRANSPOSE, SMALL, replace(PLAIN, raster_group=2), 2e-4)
    db.record(fresh)
    assert db.best(*name) == fresh
    assert db.bests() == [fresh]
    assert db.serving() == db.shippable() == [fresh, old[0]]


def test_beside_an_unconfirmed_kernel_for_one_shape_those_for_any_serve(db):
    special = replace(PLAIN, specialize=Specialize.SHAPE)
    stale = [
        replace(made(TRANSPOSE, SMALL, one, seconds), program_digest="0" * 64)
        for one, seconds in ((special, 1e-4), (PLAIN, 3e-4))
    ]
    confirmed = made(TRANSPOSE, SMALL, replace(special, raster_group=2), 2e-4)
    for one in (*stale, confirmed):
        db.record(one)
    assert db.serving() == [confirmed, *stale]
    generic = made(TRANSPOSE, SMALL, STREAMING, 4e-4)
    db.record(generic)
    assert db.serving() == [confirmed, stale[0], generic, stale[1]]


def test_a_modelled_trial_is_not_best_for_being_fresh(db):
    old = replace(made(TRANSPOSE, SMALL, PLAIN, 1e-4), program_digest="0" * 64)
    db.record(old)
    db.record(replace(made(TRANSPOSE, SMALL, STREAMING, 1e-5), time_source=TimeSource.MODELLED))
    assert db.best("transpose", SMALL.key, H200.name) == old


def test_a_judge_is_a_reference_kernel_and_the_tolerances_of_outputs(monkeypatch):
    def with_judged(inputs):
        tensors = tuple(
            replace(tensor, judged=Within(1e-3)) if (tensor.role is Role.INPUT) == inputs else tensor
            for tensor in SQUARE.tensors
        )
        with monkeypatch.context() as patch:
            patch.setattr(type(SQUARE), "tensors", tensors)
            return judge(SGEMM, SQUARE)

    today = judge(SGEMM, SQUARE)
    assert today == with_judged(inputs=True) != with_judged(inputs=False)
    mended = replace(SGEMM, reference=lambda problem: replace(SGEMM.reference(problem), source="// none"))
    assert judge(mended, SQUARE) != today
    faster = replace(SGEMM, kernels=())
    assert judge(faster, SQUARE) == today
