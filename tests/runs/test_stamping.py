"""Records whose programs have changed are confirmed by their machine code, and by nothing else."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

import autotune
from autotune.compiler import compile_kernel, compiler_version
from autotune.db import TimeSource, TuningDB
from autotune.db.exchange import from_document, read_document
from autotune.db.freshness import changed_program, emitted
from autotune.db.pretuned import FOLDER, file_name
from autotune.machine_code import machine_code_digest
from autotune.runs import stamping
from autotune.runs.stamping import CheckoutError, stamp
from autotune.search_spaces.contract.registry import OPERATORS

CHECKOUT = Path(autotune.__file__).parents[1]
TRANSPOSE = OPERATORS["transpose"]


@pytest.fixture(scope="module")
def shipped():
    """A record that ships, of the compiler in use, with its machine code."""
    file = FOLDER / "nvidia_h200" / file_name("transpose", compiler_version())
    trial = next(one for one in from_document(read_document(file)) if not changed_program(one))
    return replace(trial, machine_code_digest=machine_code_digest(compile_kernel(emitted(trial), "sm_90")))


@pytest.fixture
def db():
    with TuningDB("sqlite://") as database:
        yield database


@pytest.fixture
def changed(monkeypatch):
    """A function that changes what transpose emits from now on."""

    def change(of_schedule=lambda schedule: schedule, **fields):
        def emit(problem, schedule):
            program = TRANSPOSE.emit(problem, of_schedule(schedule))
            return replace(program, **{name: of(program) for name, of in fields.items()})

        monkeypatch.setitem(OPERATORS, "transpose", TRANSPOSE.with_kernels(emit=emit))

    return change


def another_text(program):
    return f"{program.source}using Unused = int;\n"


def test_a_record_whose_text_has_changed_is_confirmed_if_its_machine_code_has_not(db, shipped, changed):
    others = replace(shipped, compiler="NVRTC 1.0"), replace(shipped, time_source=TimeSource.MODELLED)
    for one in (shipped, *others):
        db.record(one)
    assert list(stamp(db)) == []
    changed(source=another_text)
    assert [*map(bool, map(changed_program, db.serving("transpose")))] == [True]
    assert list(stamp(db, "sgemm")) == []
    assert list(stamp(db)) == [(shipped, "")]
    (record,) = db.serving("transpose", compiler=compiler_version())
    assert not changed_program(record)
    assert replace(record, program_digest=shipped.program_digest) == shipped
    assert len(db.trials()) == 4
    assert list(stamp(db)) == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            {"of_schedule": lambda one: replace(one, raster_group=7)},
            "compiles to other machine code",
        ),
        ({"steps": lambda one: (replace(one.launch, shared_bytes=64),)}, "its launches are others today"),
        ({"source": lambda one: f"{one.source}int x = y;\n"}, "does not compile today: .*error: "),
    ],
)
def test_what_differs_stays_unconfirmed_and_is_not_dropped(db, shipped, changed, change, reason):
    db.record(shipped)
    changed(**change)
    ((trial, why),) = stamp(db)
    assert trial == shipped
    assert re.match(reason, why)
    assert db.serving("transpose") == db.trials() == [shipped]


@pytest.mark.parametrize(
    ("stored", "reason"),
    [("", "its machine code is not known"), ("0" * 64, "compiles to other machine code today")],
    ids=["none", "another version's"],
)
def test_machine_code_comes_from_a_checkout_of_before(db, shipped, changed, stored, reason):
    db.record(replace(shipped, machine_code_digest=stored))
    changed(source=another_text)
    assert [why for _, why in stamp(db)] == [reason]
    assert [why for _, why in stamp(db, before=CHECKOUT)] == [""]
    (record,) = db.serving("transpose")
    assert record.machine_code_digest == shipped.machine_code_digest
    assert not changed_program(record)


def test_a_folder_that_is_no_checkout_or_breaks_is_one_line(db, shipped, changed, tmp_path):
    db.record(replace(shipped, machine_code_digest=""))
    changed(source=another_text)
    with pytest.raises(CheckoutError, match="is no checkout of autotune"):
        list(stamp(db, before=tmp_path))
    module = tmp_path / "autotune" / "runs" / "stamping.py"
    module.parent.mkdir(parents=True)
    module.write_text("raise OSError('no\\nroom')")
    with pytest.raises(CheckoutError, match="does not compile its records: room"):
        list(stamp(db, before=tmp_path))


def test_a_checkout_knows_nothing_of_programs_that_it_does_not_emit():
    assert stamping.shipped_codes(["0" * 64]) == {}
