"""Spaces that others have measured as a whole: T4 files, and cache files of Kernel Tuner.

A file has every configuration that satisfies the constraints of its space, with its time or what went wrong, and how
long it took to find that out.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from math import inf, isfinite
from pathlib import Path
from random import Random
from typing import Any

from autotune.base.files import read_regular
from autotune.search_spaces.contract.space import BareSpace, Draw, Parameter, Value, values_of

Configuration = tuple[Value, ...]  # a value for each parameter

_SUFFIXES = (".json", ".json.gz")
_MOST_BYTES = 256 << 20  # of a file, and after decompression: a space of 18,000 configurations has 30 MiB
_MOST_RATIO = 64  # decompressed bytes for each of the file: a genuine file has less than 20
_MILLISECONDS = {"milliseconds", "miliseconds", "ms"}  # the second is what the published files say
_SECONDS = ("seconds", "s")
_ERROR = 1e20  # what old files have for the time of a failure
_TIMINGS = ("compile_time", "verification_time", "benchmark_time", "framework_time")


@dataclass(frozen=True)
class Outcome:
    """What became of a configuration.

    Attributes:
        time: of the kernel, in milliseconds unless the file says another unit than that or seconds; infinite for a
            failure.
        seconds: what an evaluation took: compiling, verifying and timing.
    """

    time: float
    seconds: float


@dataclass(frozen=True)
class ListedSpace(BareSpace):
    """A space of which the legal draws are listed: it draws no others.

    Attributes:
        listed: the configurations.
    """

    listed: tuple[Configuration, ...] = field(kw_only=True)

    @property
    def size(self) -> int:
        """The number of configurations."""
        return len(self.listed)

    def all_draws(self) -> Iterator[Draw]:
        """Every configuration once."""
        return map(self.draw_of, self.listed)

    def random_draws(self, seed: int) -> Iterator[Draw]:
        """Each configuration equally likely, without end."""
        random = Random(seed)
        while True:
            yield self.draw_of(random.choice(self.listed))


@dataclass(frozen=True, eq=False)
class MeasuredSpace:
    """A space with the outcome of each configuration; compared by identity.

    Attributes:
        name: of the file, without its suffix.
        parameters: those that have several values, which are sorted.
        outcomes: by configuration.
    """

    name: str
    parameters: tuple[Parameter, ...]
    outcomes: Mapping[Configuration, Outcome]

    @property
    def optimum(self) -> float:
        """The shortest time."""
        return min(outcome.time for outcome in self.outcomes.values())

    @cached_property
    def space(self) -> ListedSpace:
        """What a search draws from: everything that was measured, failures included."""
        return ListedSpace(self.parameters, values_of(self.parameters), listed=tuple(self.outcomes))


def measured_spaces(folder: Path) -> dict[Path, MeasuredSpace]:
    """The spaces of all files in a folder that have results; descriptions of spaces (T1) have none.

    Raises:
        OSError: the folder or a file cannot be read.
        ValueError: one line that says which file is wrong, and where; or that there is none.
    """
    paths = sorted(path for path in folder.iterdir() if path.name.endswith(_SUFFIXES))
    found = {path: space for path in paths if (space := read_space(path))}
    if not found:
        kinds = "T4 files or caches of Kernel Tuner, .json or .json.gz"
        raise ValueError(f"{folder} has no measured space: expected {kinds}")
    return found


def read_space(path: Path) -> MeasuredSpace | None:
    """The space of a file; None if it has no results.

    Raises:
        OSError: it cannot be read.
        ValueError: one line that says what is wrong with it.
    """
    try:
        document = json.loads(_content(path))
        rows = _rows(document) if isinstance(document, dict) else None
        return None if rows is None else _space(path.name.removesuffix(".gz").removesuffix(".json"), rows)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no measured space: {error}") from None


Row = tuple[Mapping[str, Value], Outcome]


def _rows(document: Mapping[str, Any]) -> list[Row] | None:
    if isinstance(cache := document.get("cache"), dict):
        names = document.get("tune_params_keys")
        if not isinstance(names, list):
            raise ValueError("it has no list tune_params_keys")
        return [_of_cache(key, entry, names) for key, entry in cache.items()]
    if isinstance(results := document.get("results"), list):
        metadata = document.get("metadata")
        unit = metadata.get("timeunit", "seconds") if isinstance(metadata, dict) else "seconds"
        if unit not in _MILLISECONDS | {"seconds"}:
            raise ValueError(f"timeunit {unit!r}: expected milliseconds or seconds")
        return [_of_t4(at, result, 1e-3 if unit in _MILLISECONDS else 1.0) for at, result in enumerate(results)]
    return None


def _of_cache(key: str, entry: Any, names: list[Any]) -> Row:
    """A configuration of a cache, whose times are milliseconds."""
    if not isinstance(entry, dict):
        raise ValueError(f"configuration {key}: expected an object")
    draw = {name: _value(f"configuration {key}", name, entry.get(name)) for name in names}
    spent = sum(_number(entry.get(name, 0.0)) for name in _TIMINGS)
    return draw, Outcome(_time(entry.get("time")), spent * 1e-3)


def _of_t4(at: int, result: Any, unit: float) -> Row:
    """A result of T4, whose kernel's time is the measurement called time."""
    where = f"result {at}"
    try:
        configuration, times, measurements = result["configuration"], result["times"], result["measurements"]
        ok = result["invalidity"] == "correct"
        measured = [(one["value"], one.get("unit")) for one in measurements if one["name"] == "time"]
        time, of = measured[0] if measured else (None, None)
        spent = [times[name] for name in times if name != "search_algorithm"]
        draw = {name: _value(where, name, value) for name, value in configuration.items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{where}: no result of T4 ({type(error).__name__}: {error})") from None
    seconds = unit * sum(sum(map(_number, one)) if isinstance(one, list) else _number(one) for one in spent)
    return draw, Outcome(_time(time) * (1e3 if of in _SECONDS else 1.0) if ok else inf, seconds)


def _value(where: str, name: Any, value: Any) -> Value:
    if type(name) is not str or type(value) not in (int, bool, str):
        raise ValueError(f"{where}: {name}={value!r}: expected a whole number, true, false or a word")
    found: Value = value
    return found


def _number(value: Any) -> float:
    """A duration; what is none, such as the error of an evaluation that was not made, took no time."""
    return float(value) if type(value) in (int, float) and isfinite(value) and value > 0 else 0.0


def _time(value: Any) -> float:
    """The time of a kernel; a failure has a word instead."""
    return _number(value) if 0 < _number(value) < _ERROR else inf


def _space(name: str, rows: list[Row]) -> MeasuredSpace:
    names = list(rows[0][0]) if rows else []
    values: dict[str, set[Value]] = {one: set() for one in names}
    for draw, _ in rows:
        if list(draw) != names:
            raise ValueError(f"parameters {', '.join(draw)}: the first configuration has {', '.join(names)}")
        for one, value in draw.items():
            values[one].add(value)
    kinds = {one: {type(value) for value in some} for one, some in values.items()}
    if mixed := [one for one, types in kinds.items() if len(types) > 1]:
        raise ValueError(f"parameter {mixed[0]} has values of several types")
    parameters = tuple(Parameter(one, tuple(sorted(some))) for one, some in values.items() if len(some) > 1)
    outcomes = {tuple(draw[parameter.name] for parameter in parameters): outcome for draw, outcome in rows}
    if len(outcomes) < len(rows):
        raise ValueError(f"{len(rows) - len(outcomes)} configurations are there twice")
    if len({outcome.time for outcome in outcomes.values()} - {inf}) < 2:
        raise ValueError(f"its {len(rows)} configurations have fewer than two different times")
    return MeasuredSpace(name, parameters, outcomes)


def _content(path: Path) -> bytes:
    """The file, decompressed up to a limit: a few bytes can decompress to gigabytes."""
    content = read_regular(path, _MOST_BYTES)
    if not path.name.endswith(".gz"):
        return content
    most = min(_MOST_BYTES, _MOST_RATIO * len(content) + (1 << 16))
    try:
        with gzip.GzipFile(fileobj=BytesIO(content)) as file:
            text = file.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"no whole gzip file ({error})") from None
    if len(text) > most:
        raise ValueError(f"over {most} bytes after decompression")
    return text
