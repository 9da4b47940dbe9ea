"""Recordings: the trials of one problem on one device as a small file that ships.

A recording is an export (`exchange`), a line of JSON for each trial after one line for the rest, compressed by gzip.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from autotune.base.files import atomic_write, read_regular

from .exchange import from_document, to_document
from .trials import Trial

_MOST_BYTES = 256 << 20  # bytes of a decompressed recording: ten thousand schedules take a tenth of it
_MOST_RATIO = 64  # decompressed bytes for each of the file: a genuine recording has less than 30
_LONGEST_LINE = 1 << 18  # bytes of a trial: a genuine one has a few thousand
_MOST_NESTED = 1000  # lists and objects of a line: a genuine one has about ten
_DIGITS = 9  # nanoseconds: an event resolves 32 of them, and more digits would not compress


def write_recording(path: Path, trials: Iterable[Trial]) -> None:
    """Write trials, their samples as whole nanoseconds, so that the same trials give the same bytes.

    Raises:
        OSError: the file cannot be written; what was there is still there.
    """
    document = to_document(_rounded(trial) for trial in trials)
    lines = [document | {"trials": len(document["trials"])}, *document["trials"]]
    text = "".join(json.dumps(line, separators=(",", ":"), allow_nan=False) + "\n" for line in lines)
    with atomic_write(path) as written:
        written.write_bytes(gzip.compress(text.encode(), mtime=0))


def read_recording(path: Path) -> list[Trial]:
    """The trials of a recording, each value of them checked.

    Raises:
        OSError: the file cannot be read.
        ValueError: one line that says where the file is wrong.
    """
    try:
        header, *trials = [_value(line) for line in _lines(path)]
        if not isinstance(header, dict) or header.get("trials") != len(trials):
            raise ValueError(f"its first line does not announce the {len(trials)} trials that follow")
        return from_document(header | {"trials": trials})
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a recording: {error}") from None


def _lines(path: Path) -> list[bytes]:
    """The decompressed file, up to a limit: a few bytes can decompress to gigabytes."""
    content = read_regular(path, _MOST_BYTES)
    most = min(_MOST_BYTES, _MOST_RATIO * len(content) + _LONGEST_LINE)
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            text = file.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"no whole gzip file ({error})") from None
    if len(text) > most:
        raise ValueError(f"over {most} bytes after decompression")
    return text.splitlines()


def _value(line: bytes) -> Any:
    if len(line) > _LONGEST_LINE:
        raise ValueError(f"a line of {len(line)} bytes: expected {_LONGEST_LINE} at most")
    # What is short as text and large in memory, such as a list of empty lists, is none of a trial's values.
    if line.count(b"[") + line.count(b"{") > _MOST_NESTED:
        raise ValueError(f"a line of over {_MOST_NESTED} lists and objects")
    return json.loads(line)


def _rounded(trial: Trial) -> Trial:
    return replace(trial, samples=tuple(round(sample, _DIGITS) or sample for sample in trial.samples))
