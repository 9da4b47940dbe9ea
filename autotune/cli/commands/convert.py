"""``autotune convert``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..errors import user_input


class Format(StrEnum):
    """What a recording can become."""

    KERNEL_TUNER = "kernel-tuner"
    T4 = "t4"


def convert(
    path: Annotated[Path, typer.Argument(metavar="RECORDING", help="A file that autotune record made.")],
    to: Annotated[Format, typer.Option(help="Kernel Tuner's cache file, or a T4 results file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Write the recording to this file.")],
) -> None:
    """Write a recording in a format of others."""
    from ...bench.search.kernel_tuner import cache_document, t4_document
    from ...db.exchange import write_document
    from ...devices.recording import load

    with user_input():
        recording = load(path)
    document = {Format.KERNEL_TUNER: cache_document, Format.T4: t4_document}[to]
    write_document(output, document(recording))
