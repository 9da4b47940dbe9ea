"""What ships with the package, in pretuned/: for each device model files of trials, and a calibration.

Trials have a file for each operator and compiler.
"""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from functools import cache
from pathlib import Path
from typing import NamedTuple

from autotune.search_spaces.machine.devices import file_stem

FOLDER = Path(__file__).parent / "pretuned"
CALIBRATION = "calibration.json"  # the calibration of a device model, beside its trials


class ShippedFile(NamedTuple):
    """A file of trials.

    Attributes:
        path: where it is.
        name: its path within the folder.
        digest: 16 hexadecimal digits over its content.
    """

    path: Path
    name: str
    digest: str


def shipped_folder() -> Path:
    """The package's folder, or the one of the same layout that ``AUTOTUNE_PRETUNED`` names.

    With an empty folder nothing ships, nor with ``/dev/null``. If there is no such folder, a warning says so, once.
    """
    folder = Path(os.environ.get("AUTOTUNE_PRETUNED") or FOLDER)
    if not folder.is_dir() and str(folder) != os.devnull:
        _warn(f"AUTOTUNE_PRETUNED={folder}: there is no such folder")
    return folder


def shipped_files(operator: str | None = None, device: str | None = None) -> list[ShippedFile]:
    """The files with trials of an operator and a device model, of all where that is None.

    Exports that lie in the folder itself may hold trials of any operator. If a file may not be read, a warning says so,
    once, and there are none.
    """
    folder = shipped_folder()
    models = folder.glob("*/") if device is None else [folder / file_stem(device)]
    try:
        found = [*folder.glob("*.json")]
        for model in models:
            found += (path for path in model.glob("*.json") if operator in (None, path.stem.partition("-")[0]))
        return [_file(path, folder) for path in sorted(found) if path.name != CALIBRATION]
    except OSError as error:
        _warn(f"{error.filename}: {error.strerror}")
        return []


def digest(operator: str, device: str) -> str:
    """Names the content of the files with trials of an operator and a device model."""
    return " ".join(file.digest for file in shipped_files(operator, device))


def shipped_compilers() -> list[str]:
    """The compilers that shipped trials were measured with, such as ``NVRTC 13.0``."""
    texts = (file.path.read_text(encoding="utf-8") for file in shipped_files())
    return sorted({name for text in texts for name in re.findall(r'"(NVRTC \d+\.\d+)"', text)})


def advice(device: str, operator: str | None = None) -> str:
    """How to get good schedules on a device model for which none ship, and how long it takes; empty if some do."""
    if shipped_files(operator, device):
        return ""
    return (
        f"no schedules {f'of {operator} ' if operator else ''}ship for {device}, so those of its kin or a model serve: "
        f"autotune tune {operator or 'OPERATOR'} --untuned --seconds 60 finds good ones for what programs called, "
        "in a minute a problem"
    )


def file_name(operator: str, compiler: str) -> str:
    """The name of a file in a device model's folder: ``sgemm-nvrtc-13.0.json`` of sgemm and ``NVRTC 13.0``."""
    return "-".join([operator, *re.findall(r"[a-z0-9.]+", compiler.lower())]) + ".json"


@cache  # many ask for what ships
def _warn(wrong: str) -> None:
    warnings.warn(f"{wrong}, so no schedules ship", RuntimeWarning, stacklevel=4)


def _file(path: Path, folder: Path) -> ShippedFile:
    name = path.relative_to(folder).as_posix()
    return ShippedFile(path, name, hashlib.sha256(path.read_bytes()).hexdigest()[:16])
