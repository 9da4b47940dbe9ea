"""A failed candidate as a file, with all that running it again takes. A file from elsewhere is not trusted."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as short
from typing import Any

from autotune.base.cache import cache_folder, keep_newest, own_place
from autotune.db.trials import Trial

VERSION = 1
_MOST = 1000  # failure reports, of 20 to 200 KB


@dataclass(frozen=True)
class FailureReport:
    """A candidate and how it failed.

    Attributes:
        trial: problem, schedule, error and environment.
        device: the selector of the device that it failed on.
        seed: that the inputs were made from.
        source: the CUDA source, for people: what runs is always emitted anew.
    """

    trial: Trial
    device: str
    seed: int
    source: str

    def write(self) -> Path | None:
        """Write the file that is named after the schedule, the problem and the device; None where nothing can be."""
        from autotune.db.exchange import to_document, write_document

        trial = self.trial
        digest = hashlib.sha256(f"{trial.problem.key}\0{trial.device.model}".encode()).hexdigest()[:8]
        path = failures_folder() / f"{trial.problem.operator}-{trial.schedule_digest}-{digest}.json"
        own = {"version": VERSION, "device": self.device, "seed": self.seed, "source": self.source}
        with suppress(OSError):  # a full disk must not end a run that can do without
            write_document(own_place(path), own | {"record": to_document([trial])})
            keep_newest(path.parent, _MOST)
            return path
        return None

    @classmethod
    def read(cls, path: Path) -> FailureReport:
        """Read and check a file.

        Raises:
            OSError: the file cannot be read.
            ValueError: one line that says where it is wrong.
        """
        from autotune.db.exchange import from_document, read_document

        document: Any = read_document(path)
        if not isinstance(document, dict) or set(document) != {"version", "device", "seed", "source", "record"}:
            raise ValueError(f"{path} is no failure report: expected version, device, seed, source and record")
        if document["version"] != VERSION:
            raise ValueError(f"{path}: version {short(document['version'])}, expected {VERSION}")
        device, seed, source = document["device"], document["seed"], document["source"]
        if not (isinstance(device, str) and isinstance(source, str)):
            raise ValueError(f"{path}: device={short(device)}, source={short(source)}: expected text")
        if type(seed) is not int or not 0 <= seed < 2**31:
            raise ValueError(f"{path}: seed={short(seed)}: expected 0 … {2**31 - 1}")
        try:
            (trial,) = from_document(document["record"])
        except ValueError as error:
            raise ValueError(f"{path}: the record: {error}") from None
        return cls(trial, device, seed, source)


def failures_folder() -> Path:
    """Where failure reports are written, of which the newest stay; it may be emptied at any time."""
    return cache_folder("failures")
