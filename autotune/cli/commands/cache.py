"""``autotune cache``: what is in the cache, and how to empty it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from autotune.cli.options import JsonOption
from autotune.cli.rendering.output import print_json, print_table

if TYPE_CHECKING:
    from autotune.base.cache_contents import Content

app = typer.Typer(help="Show what is in the cache, and empty it.")


@app.command()
def info(as_json: JsonOption = False) -> None:
    """Show where the cache is, and what is in it."""
    from autotune.base.cache_contents import contents

    _print(contents(), as_json, "in")


@app.command()
def clear(as_json: JsonOption = False) -> None:
    """Remove what is in the cache, also while others use it, and say what that was."""
    from autotune.base.cache_contents import clear as remove

    _print(remove(), as_json, "removed from")


def _print(found: list[Content], as_json: bool, where: str) -> None:
    from autotune.base.cache import existing_cache
    from autotune.base.cache_contents import KINDS

    folder = existing_cache()
    if as_json:
        print_json({"folder": folder, "kinds": [asdict(content) for content in found]})
        return
    if found:
        rows = [(one.kind, KINDS[one.kind].summary, one.files, _megabytes(one.bytes)) for one in found]
        print_table("Cache", ("folder", "content", "files", "MB"), rows)
    files, size = sum(one.files for one in found), sum(one.bytes for one in found)
    print(f"files: {files}, {_megabytes(size)} MB, {where} {folder or 'a cache that does not exist yet'}")
    if foreign := sum(one.foreign for one in found):
        print(f"files of other names, which autotune did not write: {foreign}; cache clear leaves them")


def _megabytes(size: int) -> float:
    return round(size / 1e6, 1)
