"""What a trial from elsewhere must satisfy before it stands beside those that were made here.

A merged trial replaces a slower one of its key, so whoever writes a document could replace any record by a claim. The
claim is held against what the operator can read and what the device can do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from reprlib import repr as short

from autotune.search_spaces.contract.known import possible_schedule
from autotune.search_spaces.contract.registry import operator as registered
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import device_spec, named_device, named_devices
from autotune.search_spaces.machine.roofline import impossible_rate

from .trials import DeviceRecord, Trial

_SHORTEST = 1e-7  # seconds; the fastest launches that were measured take over ten times as long
_CLOCKS_DIFFER = timedelta(days=1)
_OVERCLOCKED = 1.5  # how much faster than a named device one of its model may be


def check_foreign(trials: Iterable[Trial], known: Mapping[str, DeviceRecord]) -> None:
    """Check trials that were not made here.

    Args:
        trials: what a document states.
        known: the devices of the database by model, whose limits count rather than the document's.

    Raises:
        ValueError: one line with the first trial that cannot be true, or that no operator can read.
    """
    believed: dict[str, list[DeviceSpec]] = {}
    for index, trial in enumerate(trials):
        model = trial.device.model
        try:
            if model not in believed:
                believed[model] = _believed(trial.device, known)
            _check(trial, believed[model])
        except ValueError as error:
            raise ValueError(f"trials[{index}]: {error}") from None


def _check(trial: Trial, believed: list[DeviceSpec]) -> None:
    operator = registered(trial.problem.operator)
    problem = operator.problem_type.from_dict(trial.problem.fields)
    possible_schedule(operator, trial.schedule)
    for name in ("schedule_digest", "program_digest", "machine_code_digest", "compiler", "lost_to"):
        if not getattr(trial, name).isprintable():
            raise ValueError(f"{name}={short(getattr(trial, name))}: expected printable text")
    if trial.created_at > datetime.now(UTC) + _CLOCKS_DIFFER:
        raise ValueError(f"created_at={trial.created_at.isoformat()} is in the future")
    for seconds in _times(trial):
        if seconds < _SHORTEST:
            raise ValueError(f"{seconds:.3g} s is shorter than any launch takes")
        for spec in believed:
            if why := impossible_rate(problem, seconds, spec):
                raise ValueError(why)


def _times(trial: Trial) -> list[float]:
    """The median of a trial's samples, and the times of its comparison."""
    compared = trial.comparison
    return [
        *([] if trial.seconds is None else [trial.seconds]),
        *([compared.own, *compared.others.values()] if compared else []),
    ]


def _believed(device: DeviceRecord, known: Mapping[str, DeviceRecord]) -> list[DeviceSpec]:
    """The limits that times of a device model are held against: the known ones, else those that it states.

    Both may be made up, by this document or by one before it, so of a model with a device file that counts, too.
    """
    stated = device_spec(device.limits)
    if (stated.name, stated.compute_capability) != (device.model, device.compute_capability):
        raise ValueError(f"the limits are of {short(stated.name)} sm_{stated.arch[3:]}: expected {device.model}'s")
    named = [spec for spec in map(named_device, named_devices()) if spec.name == device.model]
    for spec in named:
        _check_limits(stated, spec)
    faster = [
        replace(spec, clock_hz=_OVERCLOCKED * spec.clock_hz, bandwidth=_OVERCLOCKED * spec.bandwidth) for spec in named
    ]
    here = known.get(device.model)
    with suppress(ValueError):  # stored by a version whose limits were others
        if here:
            return [device_spec(here.limits), *faster]
    return [stated, *faster]


def _check_limits(stated: DeviceSpec, named: DeviceSpec) -> None:
    """Check that what is stated of a device model does not contradict its device file: later times are held to it.

    Raises:
        ValueError: a figure is far from the device file's.
    """
    figures, of_file = map(_figures, (stated, named))
    for name in figures.keys() & of_file.keys():
        least, most = sorted((figures[name], of_file[name]))
        if most > _OVERCLOCKED * least:
            raise ValueError(f"{name}={figures[name]} of the device's limits: a {named.name} has {of_file[name]}")


def _figures(spec: DeviceSpec) -> dict[str, float]:
    own = {name: value for name, value in asdict(spec).items() if isinstance(value, int | float)}
    return own | {f"rate of {unit}": rate for unit, rate in spec.rates.items()}
