"""Calibrations as plain values: checked when they are made or read, and what follows from them."""

import json
from math import inf, nan

import pytest
from factories import calibration

from autotune.codegen.model.work import Unit
from autotune.search_spaces.machine.calibration import Calibration, Curve, Figure
from autotune.search_spaces.machine.devices import named_device

H200 = named_device("h200")


def test_json_keeps_all():
    one = calibration()
    assert Calibration.from_dict(json.loads(json.dumps(one.to_dict()))) == one


@pytest.mark.parametrize("value", [0.0, -1.0, nan, inf, "fast", None])
def test_a_figure_is_a_number_above_0(value):
    with pytest.raises(ValueError, match=r"figure copy_bandwidth: .*: expected a number above 0"):
        calibration(figures={Figure.COPY: value})
    with pytest.raises(ValueError, match=r"curve stride: .*: expected a number above 0"):
        calibration(curves={Curve.STRIDE: ((4, value),)})


@pytest.mark.parametrize("xs", [(8, 4), (4, 4), (-4, 4), (nan, 4)])
def test_a_curve_goes_by_growing_bytes(xs):
    with pytest.raises(ValueError, match=r"curve stride: .*expected (points by growing stride|bytes)"):
        calibration(curves={Curve.STRIDE: tuple((x, 1.0) for x in xs)})


@pytest.mark.parametrize(
    "change",
    [{"figures": {"speed": 1.0}}, {"figures": [1]}, {"curves": {"stride": [[4]]}}, {"curves": {"height": []}},
     {"taken_at": "yesterday"}, {"taken_at": 7}, {"environment": None}, {"conditions": {"stride": 4}}],
)  # fmt: skip
def test_what_is_none_is_refused_in_one_line(change):
    with pytest.raises(ValueError, match=r"^not a calibration: .*$"):
        Calibration.from_dict(calibration().to_dict() | change)
    with pytest.raises(ValueError, match=r"^not a calibration: KeyError"):
        Calibration.from_dict({})


def test_peaks_without_figures_are_those_of_the_limits():
    peaks = calibration(figures={}).peaks(H200)
    assert (peaks.bandwidth, peaks.peak(Unit.FP32)) == (H200.bandwidth, H200.peak(Unit.FP32))


def test_the_bandwidth_is_the_most_of_copying_reading_and_writing():
    for most in (Figure.COPY, Figure.READ, Figure.WRITE):
        figures = dict.fromkeys((Figure.COPY, Figure.READ, Figure.WRITE), 3e12) | {most: 4e12, Figure.L2: 9e12}
        assert calibration(figures=figures).peaks(H200).bandwidth == 4e12


def test_every_name_has_a_unit_and_words():
    for figure in Figure:
        assert figure.quantity and figure.label
    for curve in Curve:
        assert curve.quantity and curve.x and curve.y
