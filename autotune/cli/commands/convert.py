"""``autotune convert``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..errors import user_input
from ..options import output_option


class Format(StrEnum):
    """The file formats that a recording can be converted to."""

    KERNEL_TUNER = "kernel-tuner"
    T4 = "t4"


def convert(
    path: Annotated[Path, typer.Argument(metavar="RECORDING", help="A file that autotune record wrote.")],
    to: Annotated[Format, typer.Option(help="The format: a cache file of Kernel Tuner, or a T4 results file.")],
    output: Annotated[Path, output_option("Write the recording to this file.")],
) -> None:
    """Convert a recording to another file format."""
    from ...bench.search.kernel_tuner import cache_document, t4_document
    from ...db.exchange import write_document
    from ...devices.recording import load

    with user_input():
        recording = load(path)
    document = {Format.KERNEL_TUNER: cache_document, Format.T4: t4_document}[to]
    write_document(output, document(recording))
