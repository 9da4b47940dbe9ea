"""``autotune new``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autotune.cli.errors import user_input

app = typer.Typer(help="Begin something of your own.")


@app.callback()
def _new() -> None:
    """Begin something of your own."""


@app.command()
def operator(
    name: Annotated[str, typer.Argument(help="The operator's name, and that of its package.")],
    folder: Annotated[Path, typer.Option(help="Where the package's folder is made.")] = Path(),
) -> None:
    """Write the smallest package that adds an operator; its README says what to fill in."""
    from autotune.new.write import write_operator

    with user_input():
        written = write_operator(name, folder)
    for path in written:
        print(path)
    print(f"next      pip install -e {folder / name}, then autotune tune {name} --device h200 --trials 6")
