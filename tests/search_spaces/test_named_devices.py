"""The device files: complete, sourced, and in agreement with the published peak rates."""

import json
from dataclasses import asdict, fields, replace
from pathlib import Path

import pytest

from autotune.codegen.model.work import Unit
from autotune.db import pretuned
from autotune.search_spaces import machine
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import (
    capability_limits,
    completed_spec,
    device_spec,
    named_device,
    named_devices,
)

FOLDER = Path(machine.__file__).parent
FILES = [*(FOLDER / "devices").glob("*.json"), FOLDER / "compute_capabilities.json"]
CAPABILITIES = json.loads((FOLDER / "compute_capabilities.json").read_text())

# What the vendor advertises, in TFLOP/s of FP32: independent of the SMs, lanes and clocks that the files state.
ADVERTISED_TFLOPS = {
    "t4": 8.1,
    "a100": 19.5,
    "rtx3090": 35.6,
    "a6000": 38.7,
    "rtx4090": 82.6,
    "l4": 30.3,
    "l40s": 91.6,
    "h100": 66.9,
    "h200": 66.9,
    "b200": 74.4,
    "rtx5090": 104.8,
}

# Dense FP16 tensor TFLOP/s with FP32 accumulation, as advertised.
ADVERTISED_TENSOR_TFLOPS = {
    "t4": 65,
    "a100": 312,
    "rtx3090": 71,
    "a6000": 154.8,
    "rtx4090": 165.2,
    "l4": 121,
    "l40s": 362,
    "h100": 989.4 * 1980 / 1830,  # advertised at 1830 MHz
    "h200": 989.4 * 1980 / 1830,
    "b200": 2250 * 1965 / 1856,  # the clock that the advertised rate takes
    "rtx5090": 209.5,
}


def test_every_promised_device_is_there():
    assert set(named_devices()) == set(ADVERTISED_TFLOPS)


@pytest.mark.parametrize("identifier", named_devices())
def test_a_device_is_complete_and_plausible(identifier):
    spec = named_device(identifier)
    for field in fields(DeviceSpec):
        assert getattr(spec, field.name) or field.name == "shared_reserved", field.name
    assert spec.peak(Unit.FP32) / 1e12 == pytest.approx(ADVERTISED_TFLOPS[identifier], abs=0.06)
    assert spec.peak(Unit.TENSOR_FP16) / 1e12 == pytest.approx(ADVERTISED_TENSOR_TFLOPS[identifier], rel=0.015)
    assert spec.shared_per_block + spec.shared_reserved == spec.shared_per_sm
    assert 1e11 < spec.bandwidth < 1e13
    assert 4 << 20 <= spec.l2_bytes <= 256 << 20


def test_models_are_named_as_the_driver_names_them():
    names = {identifier: named_device(identifier).name for identifier in named_devices()}
    assert len(set(names.values())) == len(names)
    assert names["h200"] == "NVIDIA H200"
    assert names["t4"] == "Tesla T4"
    assert names["h100"] == "NVIDIA H100 80GB HBM3"


def test_h200_is_the_one_that_was_measured():
    spec = named_device("h200")
    assert (spec.sm_count, spec.clock_hz, spec.arch) == (132, 1.98e9, "sm_90")
    assert (spec.l2_bytes, spec.bandwidth) == (60 << 20, 4.8e12)


def test_devices_of_one_compute_capability_share_its_limits():
    assert capability_limits((8, 9)).items() <= vars(named_device("l4")).items()
    shared = capability_limits((8, 9))
    assert shared.pop("rates")[Unit.FP32] == 128
    assert shared.items() <= vars(named_device("rtx4090")).items()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_figure_names_a_stated_source(path):
    content = json.loads(path.read_text())
    sources = content.pop("sources")
    sections = content.values() if path.stem == "compute_capabilities" else [content]
    figures = [figure for section in sections for figure in (section | section.pop("rates", {})).values()]
    assert {figure["source"] for figure in figures} == set(sources)


def test_an_unknown_device_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"unknown device 'h300'; known: a100, a6000, .*, t4$"):
        named_device("h300")


def test_an_unknown_compute_capability_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"unknown compute capability 6\.1; known: 7\.5, 8\.0, "):
        capability_limits((6, 1))


def test_units_that_a_device_lacks_have_others_do_their_work():
    a100, t4 = named_device("a100"), named_device("t4")
    assert (a100.executing(Unit.TENSOR_FP8), a100.peak(Unit.TENSOR_FP8)) == (Unit.TENSOR_FP16, 2 * 1024 * 108 * 1.41e9)
    assert t4.executing(Unit.TENSOR_BF16) is t4.executing(Unit.TENSOR_TF32) is Unit.FP32
    assert a100.peak(Unit.SPECIAL) == 16 * 108 * 1.41e9
    with pytest.raises(ValueError, match=r"NVIDIA A100.* has no rate of INT8 tensor cores: expected one in its device"):
        replace(a100, rates={Unit.FP32: 64}).peak(Unit.TENSOR_INT8)


@pytest.mark.parametrize("capability", [name for name in CAPABILITIES if name not in ("sources", "all")])
def test_every_compute_capability_has_a_rate_for_the_work_of_each_unit(capability):
    major, minor = map(int, capability.split("."))
    rates = capability_limits((major, minor))["rates"]
    spec = replace(named_device("h200"), rates=rates)
    assert all(spec.rate(unit) > 0 for unit in Unit)
    stored = asdict(spec) | {"compute_capability": [major, minor], "rates": {"fp32": rates[Unit.FP32]}}
    assert device_spec(stored | {"name": "NVIDIA Unheard"}).rates == rates


@pytest.mark.parametrize("identifier", named_devices())
def test_a_spec_stored_before_rates_by_unit_is_completed(identifier):
    today = asdict(named_device(identifier))
    stored = json.loads(json.dumps(today))
    stored["fp32_lanes"] = stored.pop("rates")["fp32"]
    assert completed_spec(stored) | {"compute_capability": today["compute_capability"]} == today
    assert completed_spec(today) == today


def test_a_stored_spec_of_an_unknown_device_keeps_the_rate_that_it_states():
    stored = {"name": "NVIDIA Unheard", "compute_capability": [6, 1], "fp32_lanes": 128}
    assert completed_spec(stored)["rates"] == {"fp32": 128}
    assert completed_spec({"fp32_lanes": 128})["rates"] == {"fp32": 128}
    assert completed_spec({"more": 1}) == {"more": 1}


def test_the_digest_of_the_shipped_records_still_names_their_device():
    (device,) = json.loads((pretuned.FOLDER / "nvidia_h200" / "sgemm-nvrtc-13.0.json").read_text())["devices"]
    values = completed_spec(device["limits"])
    assert DeviceSpec(**values | {"compute_capability": (9, 0)}).digest == "69812261eceb5a6b"
