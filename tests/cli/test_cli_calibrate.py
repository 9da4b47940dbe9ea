"""``autotune calibrate``: what it prints, stores and refuses; the measuring itself is a stand-in."""

import json
import re
from types import SimpleNamespace

import pytest
from factories import calibration

from autotune.calibrate import run
from autotune.cli.rendering.calibration import amount, size
from autotune.db import TuningDB
from autotune.devices.base import DeviceError
from autotune.search_spaces.machine.calibration import Calibration, Curve, Figure, Quantity
from autotune.search_spaces.machine.devices import named_device

H200 = named_device("h200")
FOUND = calibration(
    H200.name,
    figures={figure: 1.2345e12 if figure.quantity is Quantity.BANDWIDTH else 1.2345e-9 for figure in Figure}
    | {Figure.COPY: 4.2e12, Figure.READ: 4.4e12},
    curves=dict.fromkeys(Curve, ((4, 1234500000000.0), (1 << 30, 2345600000000.0))),
)


@pytest.fixture
def gpu(monkeypatch):
    def calibrate(device, show):
        for name in run.EXPERIMENTS:
            show(name)
        return FOUND

    monkeypatch.setattr("autotune.cli.commands.calibrate.gpu_of", lambda *_: SimpleNamespace(spec=H200))
    monkeypatch.setattr(run, "calibrate", calibrate)


@pytest.mark.usefixtures("gpu")
def test_it_measures_prints_and_stores(autotune, environment, tmp_path):
    path = tmp_path / "found.json"
    outcome = autotune("calibrate", "--device", "0", "-o", str(path))
    assert outcome.code == 0
    assert outcome.stderr.splitlines() == [f"{n}/11  {name}" for n, name in enumerate(run.EXPERIMENTS, 1)]
    assert re.search(r"copy, bytes read and written +4200 GB/s +87\.5%", outcome.stdout)
    assert max(map(len, outcome.stdout.splitlines()[:-1])) <= 80
    assert outcome.stdout.splitlines()[-1] == f"database  {environment}"
    assert Calibration.from_dict(json.loads(path.read_text())) == FOUND
    with TuningDB() as database:
        assert database.calibration(H200.name) == FOUND
    assert autotune("calibrate", "show", "--device", "h200").stdout in outcome.stdout
    assert Calibration.from_dict(autotune("calibrate", "show", "--device", "h200", "--json").json) == FOUND
    assert Calibration.from_dict(autotune("calibrate", "--json").json) == FOUND


@pytest.mark.usefixtures("gpu")
def test_an_experiment_that_fails_is_one_line(autotune, monkeypatch):
    def fails(*_):
        raise DeviceError("calibration, stride: CUDA_ERROR_LAUNCH_FAILED")

    monkeypatch.setattr(run, "calibrate", fails)
    outcome = autotune("calibrate")
    assert (outcome.code, outcome.stdout) == (1, "")
    assert outcome.stderr == "autotune: calibration, stride: CUDA_ERROR_LAUNCH_FAILED\n"
    with TuningDB() as database:
        assert database.calibration(H200.name) is None


def test_what_was_not_calibrated_is_said(autotune):
    outcome = autotune("calibrate", "show", "--device", "t4")
    assert (outcome.code, outcome.stderr) == (
        1, "autotune: Tesla T4 was not calibrated: autotune calibrate measures a GPU\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("value", "quantity", "text"),
    [(4.2094e12, "B/s", "4209 GB/s"), (9.64e10, "B/s", "96.4 GB/s"), (6.532e13, "FLOP/s", "65.3 TFLOP/s"),
     (9.996e14, "FLOP/s", "1000 TFLOP/s"), (6.4e-7, "s", "640 ns"), (3.52e-6, "s", "3.52 µs"), (48128, "B", "47 KiB")],
)  # fmt: skip
def test_amounts_have_the_unit_that_fits(value, quantity, text):
    assert amount(value, Quantity(quantity)) == text


@pytest.mark.parametrize(("count", "text"), [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (3 << 30, "3 GiB")])
def test_sizes(count, text):
    assert size(count) == text
