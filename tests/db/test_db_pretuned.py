"""Shipped trials are served by any database when they are asked for, and stay out of the way of what is measured."""

import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from trial_factory import H200, LARGE, SMALL, T4, TRANSPOSE, trial

from autotune.db import TimeSource, TuningDB, pretuned, stored_trials
from autotune.db.comparison import BaselineTimes
from autotune.db.exchange import from_document, read_document, to_document, write_document
from autotune.db.packing import packed, unpacked
from autotune.db.shipping import ship
from autotune.db.storing import newest
from autotune.search_spaces.machine.devices import file_stem

pytestmark = pytest.mark.usefixtures("made_up_trials")

SHIPPED = sorted(path for path in pretuned.FOLDER.glob("*/*.json") if path.stem != "calibration")


def seconds(db):
    best = db.best(SMALL.operator, SMALL.key, H200.model)
    return best and best.seconds


COMPILERS = sorted({path.stem.partition("-")[2] for path in SHIPPED})


@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_shipped_file_is_valid_and_has_nothing_that_does_not_serve(compiler, empty, tmp_path):
    """Those of a compiler at once, since each file has other operators or devices, and a database takes time."""
    trials = []
    for path in (one for one in SHIPPED if one.stem.endswith(f"-{compiler}")):
        own = from_document(read_document(path))
        assert {(file_stem(t.device.model), pretuned.file_name(t.problem.operator, t.compiler)) for t in own} == {
            (path.parent.name, path.name)
        }
        assert path.stat().st_size < 2500 + 900 * len(own), path
        trials += own
    with TuningDB(str(shutil.copy(empty, tmp_path))) as db:
        db._store(trials, newest)
        served = {_id(trial) for trial in db.serving()}
    assert [_id(trial) for trial in trials if _id(trial) not in served] == []
    assert len(served) == len(trials)


def _id(trial):
    return trial.device.model, trial.problem.operator, trial.problem.key, trial.schedule_digest


def test_only_what_is_asked_for_is_taken_in(path, no_pretuned, monkeypatch):
    ship([trial("a", 2e-3), trial("b", device=T4), trial("c", problem=TRANSPOSE)], no_pretuned)
    read = []
    monkeypatch.setattr(stored_trials, "read_document", lambda path: read.append(path) or read_document(path))
    with TuningDB(str(path)) as db:
        assert read == []
        assert seconds(db) == 2e-3
        assert [file.relative_to(no_pretuned).as_posix() for file in read] == ["nvidia_h200/sgemm-nvrtc-13.0.json"]
        assert [one.problem for one in db.trials("transpose")] == [TRANSPOSE]
        assert len(read) == 2
        assert db.devices() == [H200, T4]
        assert len(read) == 3
    with TuningDB(str(path)) as db:
        assert len(db.trials()) == 3
    assert len(read) == 3


def test_each_compiler_is_served_its_own(path, no_pretuned):
    old, new = (f"NVRTC 13.{minor}" for minor in (0, 5))
    generic = trial("g", 9e-3, compiler=new, schedule={"specialize": "none", "name": "g"})
    special = trial("s", 4e-3, compiler=new, schedule={"specialize": "shape", "name": "s"})
    with TuningDB(str(path)) as db:
        for one in (trial("a", 1e-3, compiler=old), trial("b", 2e-3, compiler=old), special, generic):
            db.record(one)
        db.record(trial("l", 5e-3, compiler=old, problem=LARGE))
        db.record(trial("m", 1e-3, compiler=new, time_source=TimeSource.MODELLED, problem=LARGE))
        files = ship(db.shippable(), no_pretuned)
        found = [[one.seconds for one in from_document(read_document(file))] for file in files]
    assert found == [[5e-3, 1e-3], [4e-3, 9e-3]]
    assert [file.name for file in files] == ["sgemm-nvrtc-13.0.json", "sgemm-nvrtc-13.5.json"]
    with TuningDB("sqlite://") as fresh:
        for compiler, best in ((old, 1e-3), (new, 4e-3), ("NVRTC 14.0", 1e-3)):
            assert fresh.best(SMALL.operator, SMALL.key, H200.model, compiler).seconds == best


def test_the_name_of_a_file_has_no_folder_from_a_compiler(no_pretuned):
    (path,) = ship([trial(compiler="../../NVRTC")], no_pretuned)
    assert path == no_pretuned / "nvidia_h200" / "sgemm-..-..-nvrtc.json"


def test_exports_in_the_folder_itself_are_taken_in_with_any_operator(path, no_pretuned):
    write_document(no_pretuned / "mine.json", to_document([trial("a", 2e-3)]))
    with TuningDB(str(path)) as db:
        assert seconds(db) == 2e-3


def test_a_folder_that_is_not_there_is_told_once_and_an_empty_one_never(path, tmp_path, monkeypatch, recwarn):
    with TuningDB(str(path)) as db:
        for folder in ("pretuned", "missing", "missing"):
            monkeypatch.setenv("AUTOTUNE_PRETUNED", str(tmp_path / folder))
            assert seconds(db) is None
            db.problems()
        monkeypatch.setenv("AUTOTUNE_PRETUNED", os.devnull)
        assert seconds(db) is None
    (told,) = (str(one.message) for one in recwarn)
    assert f"AUTOTUNE_PRETUNED={tmp_path / 'missing'}: there is no such folder" in told


def test_a_file_that_may_not_be_read_is_told_once(path, no_pretuned, monkeypatch, recwarn):
    def denied(path):
        raise PermissionError(13, "Permission denied", str(path))

    write_document(no_pretuned / "mine.json", to_document([trial("a", 2e-3)]))
    monkeypatch.setattr(Path, "read_bytes", denied)
    with TuningDB(str(path)) as db:
        assert [seconds(db), seconds(db)] == [None, None]
    (told,) = (str(one.message) for one in recwarn)
    assert told == f"{no_pretuned / 'mine.json'}: Permission denied, so no schedules ship"


def test_a_new_file_is_merged_once_and_keeps_the_better(path, no_pretuned, monkeypatch):
    with TuningDB(str(path)) as db:
        db.record(trial("a", 2e-3))
    ship([trial("a", 3e-3), trial("b", 1e-3)], no_pretuned)
    with TuningDB(str(path)) as db:
        assert seconds(db) == 1e-3
        db.record(trial("b", 5e-3))
        assert seconds(db) == 2e-3

    ship([trial("c", 1e-4)], no_pretuned)
    with TuningDB(str(path)) as db:
        assert seconds(db) == 1e-4
    monkeypatch.setattr(stored_trials, "read_document", lambda path: pytest.fail("the same file was merged again"))
    with TuningDB(str(path)) as db:
        assert len(db.trials()) == 3


def test_what_is_measured_before_the_shipped_trial_was_asked_for_stays(path, no_pretuned):
    ship([trial("a", 1e-3)], no_pretuned)
    with TuningDB(str(path)) as db:
        db.record(trial("a", 2e-3, minutes=1))
        assert seconds(db) == 2e-3


def test_what_ships_is_what_serving_needs(no_pretuned):
    samples = tuple((100 + number) * 1e-5 for number in range(9))
    compared = BaselineTimes(1.04e-3, {"cuBLAS": 1.0000000001e-3}, {"cuBLAS": "13"})
    (path,) = ship([trial(samples=samples, comparison=compared, conditions={"celsius": 40})], no_pretuned)
    (found,) = from_document(read_document(path))
    assert found.samples == pytest.approx((1.00e-3, 1.02e-3, 1.04e-3, 1.06e-3, 1.08e-3))
    assert found.seconds == round(trial(samples=samples).seconds, 9)
    assert (found.max_error, found.conditions, found.faster_baselines) == (None, {}, {"cuBLAS"})
    same = ("device", "problem", "schedule", "environment", "resources", "compiler", "program_digest", "created_at")
    assert all(getattr(found, name) == getattr(trial(), name) for name in same)


def test_a_change_of_one_trial_is_a_change_of_one_line(no_pretuned):
    many = [trial(f"t{number}", number * 1e-4, problem=LARGE) for number in range(1, 9)]
    (path,) = ship(many, no_pretuned)
    before = path.read_text().splitlines()
    assert ship(reversed(many), no_pretuned) == []
    ship([*many[:-1], trial("t8", 3.3e-3, problem=LARGE)], no_pretuned)
    after = path.read_text().splitlines()
    assert sum(old != new for old, new in zip(before, after, strict=True)) == 1


values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from([0.0, 1.0, "x"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)


@given(rows=st.lists(st.dictionaries(st.sampled_from("abc"), values, max_size=3), max_size=4))
@example(rows=[{"a": 1}, {"a": 1.0}, {"a": True}])
def test_packed_rows_are_unpacked_as_they_were(rows):
    found = unpacked(json.loads(json.dumps(packed(rows))))
    assert repr([_sorted(row) for row in found]) == repr([_sorted(row) for row in rows])


def _sorted(value):
    """The value with the members of objects in order: 1, 1.0 and true are equal in Python, and not in JSON."""
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize("wrong", [{"common": [], "each": []}, {"common": {}, "each": {}}, {"common": {}, "each": [1]}])
def test_what_is_packed_wrongly_is_refused(wrong):
    with pytest.raises(ValueError, match="expected an object as common and a list of objects as each"):
        unpacked(wrong)
