"""``autotune convert``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from autotune.cli.errors import user_input
from autotune.cli.options import output_option


class Format(StrEnum):
    """The file formats that a recording can be converted to."""

    KERNEL_TUNER = "kernel-tuner"
    T1 = "t1"
    T4 = "t4"


def convert(
    path: Annotated[Path, typer.Argument(metavar="RECORDING", help="A file that autotune record wrote.")],
    to: Annotated[Format, typer.Option(help="The format: a cache of Kernel Tuner, a T1 search space, or T4 results.")],
    output: Annotated[Path, output_option("Write the recording to this file.")],
) -> None:
    """Convert a recording to another file format."""
    from autotune.bench.search.kernel_tuner import cache_document, t4_document
    from autotune.bench.search.t1 import t1_document
    from autotune.db.exchange import write_document
    from autotune.devices.recording import load

    with user_input():
        recording = load(path)
    documents = {Format.KERNEL_TUNER: cache_document, Format.T1: t1_document, Format.T4: t4_document}
    write_document(output, documents[to](recording))
