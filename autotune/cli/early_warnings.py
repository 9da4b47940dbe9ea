"""What makes a long command worth less, said on stderr before it begins."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from .printable import printable

if TYPE_CHECKING:
    import typer
    from sqlalchemy import URL

    from autotune.db import TuningDB
    from autotune.devices.base import Device

_MOUNTS = Path("/proc/self/mounts")
_NETWORK = ("9p", "afs", "beegfs", "ceph", "cifs", "fuse.sshfs", "glusterfs", "gpfs", "lustre", "nfs", "nfs4", "smb3")


def warn_of_cache() -> None:
    """Warn if the cache cannot be used, since what a command leaves there is lost when it ends."""
    from autotune.base.cache import checked_cache_folder

    try:
        checked_cache_folder("sources")
    except OSError as error:
        _warn(f"{error.filename}: {error.strerror}; sources and failure reports are lost when this command ends")


def warn_of_database(url: URL) -> None:
    """Warn if a SQLite file is on a network file system, whose locks SQLite cannot rely on."""
    from autotune.db.engine import sqlite_file

    file = sqlite_file(url)
    if file and (kind := file_system(file)) in _NETWORK:
        _warn(f"{file} is on a network file system ({kind}), whose locks may fail: prefer a local file, or PostgreSQL")


def warn_of_options(context: typer.Context, names: Iterable[str], why: str) -> None:
    """Warn of options that the user gave and that have no effect."""
    for name in names:
        source = context.get_parameter_source(name)
        if source and source.name == "COMMANDLINE":
            _warn(f"--{name.replace('_', '-')} has no effect {why}")


def warn_of_new_models(operator: str, devices: Iterable[Device], database: TuningDB) -> None:
    """Say how to get good schedules on GPUs for which none ship, unless some were tuned there."""
    from autotune.db.pretuned import advice

    for model in dict.fromkeys(device.spec.name for device in devices if device.selector.isdecimal()):
        if not database.winners(operator, model) and (text := advice(model, operator)):
            _warn(text)


def file_system(path: Path) -> str:
    """The kind of the file system that a file is on, or would be made on; empty if that cannot be told."""
    try:
        lines = [line.split(" ") for line in _MOUNTS.read_text(encoding="utf-8").splitlines()]
    except OSError:
        return ""
    target = Path(os.path.realpath(path))
    # The last of the longest: one may be mounted over another. Spaces are octal in this list.
    places = [(Path(line[1].replace(r"\040", " ")), line[2]) for line in lines]
    holding = [(place, kind) for place, kind in places if target.is_relative_to(place)]
    return max(reversed(holding), key=lambda one: len(one[0].parts))[1] if holding else ""


def _warn(text: str) -> None:
    print(f"autotune: {printable(text)}", file=sys.stderr)
