"""``autotune devices``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from autotune.cli.options import JsonOption
from autotune.cli.rendering.output import print_json, print_table

if TYPE_CHECKING:
    from autotune.search_spaces.machine.device_spec import DeviceSpec


def devices(as_json: JsonOption = False) -> None:
    """List the GPUs of this machine and the offline devices, with their limits and peak rates."""
    from autotune.search_spaces.machine.devices import named_device, named_devices

    offline = {name: named_device(name) for name in named_devices()}
    listed = {**_gpus(), **offline}
    if as_json:
        print_json([_document(selector, spec, selector in offline) for selector, spec in listed.items()])
        return
    first = ("device", "model", "arch", "SMs", "FP32 TFLOP/s", "GB/s")
    more = ("L2 MiB", "FP16 tensor TFLOP/s", "shared KiB/block", "shared KiB/SM", "registers/SM", "threads/SM")
    rows = (_row(selector, spec) for selector, spec in listed.items())
    print_table("Devices", (*first, *more), rows, expendable=more[::-1])


def _gpus() -> dict[str, DeviceSpec]:
    from autotune.devices.driver import cuda_device_count
    from autotune.devices.select import selected_spec

    return {str(ordinal): selected_spec(str(ordinal)) for ordinal in range(cuda_device_count())}


def _document(selector: str, spec: DeviceSpec, offline: bool) -> dict[str, Any]:
    derived = {"arch": spec.arch, "peaks": {unit: spec.peak(unit) for unit in spec.rates}}
    return {"device": selector, "offline": offline, **asdict(spec), **derived}


def _row(selector: str, spec: DeviceSpec) -> tuple[Any, ...]:
    from autotune.codegen.model.work import Unit

    fp32, fp16 = (
        round(spec.peak(unit) / 1e12, 1) if unit in spec.rates else "" for unit in (Unit.FP32, Unit.TENSOR_FP16)
    )
    return (
        selector,
        spec.name,
        spec.arch,
        spec.sm_count,
        fp32,
        round(spec.bandwidth / 1e9),
        spec.l2_bytes >> 20,
        fp16,
        spec.shared_per_block >> 10,
        spec.shared_per_sm >> 10,
        spec.registers_per_sm,
        spec.threads_per_sm,
    )
