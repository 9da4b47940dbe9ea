"""Calibrations: stored, and found again by their device model."""

import json

import pytest
from factories import calibration
from sqlalchemy import text
from trial_factory import trial

from autotune.codegen.model.work import Unit
from autotune.db import DatabaseError, pretuned
from autotune.db.stored_calibrations import shipped_calibration
from autotune.search_spaces.machine.calibration import Curve, Figure
from autotune.search_spaces.machine.devices import file_stem, named_device, named_devices

H200, T4 = named_device("h200"), named_device("t4")


def test_the_newest_of_a_model_counts(db):
    first, newest, other = (calibration(H200.name, 1), calibration(H200.name, 5), calibration(T4.name, 9))
    for one, spec in ((first, H200), (newest, H200), (calibration(H200.name, 3), H200), (other, T4)):
        db.record_calibration(one, spec)
    assert db.calibration(H200.name) == newest
    assert db.calibration(T4.name) == other
    assert db.calibration("NVIDIA L4") is None


def test_of_two_at_once_the_later_stored_counts(db):
    later = calibration(H200.name, environment={"uuid": "GPU-2"})
    for one in (calibration(H200.name), later):
        db.record_calibration(one, H200)
    assert db.calibration(H200.name) == later


def ship(folder, text, device=H200.name):
    path = folder / file_stem(device) / "calibration.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def test_without_one_that_which_ships_counts(db, no_pretuned):
    shipped = calibration(H200.name)
    ship(no_pretuned, json.dumps(shipped.to_dict()))
    assert (db.calibration(H200.name), db.calibration(T4.name)) == (shipped, None)
    db.record_calibration(newer := calibration(H200.name, 1), H200)
    assert db.calibration(H200.name) == newer
    assert db.trials() == [], "it is no file of trials"


@pytest.mark.parametrize("text", ["", "{}", "[1]"])
def test_a_file_that_states_none_is_named(db, no_pretuned, text):
    ship(no_pretuned, text)
    with pytest.raises(DatabaseError, match=r"nvidia_h200/calibration.json: .*: correct or remove this file$"):
        db.calibration(H200.name)


@pytest.mark.parametrize("path", sorted(pretuned.FOLDER.glob("*/calibration.json")), ids=lambda path: path.parent.name)
def test_what_ships_is_of_its_device_and_complete(path, monkeypatch):
    monkeypatch.delenv("AUTOTUNE_PRETUNED")
    (device,) = (named_device(one).name for one in named_devices() if folder_of(one) == path.parent.name)
    shipped = shipped_calibration(device)
    assert shipped.device == device
    assert (set(shipped.figures), set(shipped.curves)) == (set(Figure), set(Curve))


def folder_of(identifier):
    return file_stem(named_device(identifier).name)


def test_a_device_of_trials_may_be_calibrated_and_the_other_way_round(db):
    db.record(trial("a"))
    db.record_calibration(calibration(H200.name), H200)
    db.record_calibration(calibration(T4.name), T4)
    db.record(trial("b"))
    assert db.trials()[-1].device.limits == trial("a").device.limits, "known limits stay"
    assert len(db.devices()) == 2


def test_peaks_are_the_measured_ones_and_else_those_of_the_limits(db):
    assert db.peaks(H200) is H200
    db.record_calibration(calibration(H200.name), H200)
    peaks = db.peaks(H200)
    assert (peaks.bandwidth, peaks.peak(Unit.FP32)) == (4.4e12, 6.5e13)
    assert peaks.peak(Unit.TENSOR_FP16) == H200.peak(Unit.TENSOR_FP16)


def test_columns_tell_device_and_driver(db):
    db.record_calibration(calibration(H200.name), H200)
    with db._engine.connect() as connection:
        query = "SELECT model, uuid, driver FROM calibrations JOIN devices ON devices.id = device_id"
        rows = connection.execute(text(query))
        assert rows.all() == [(H200.name, "GPU-1", "580.159")]
