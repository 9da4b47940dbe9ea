"""Imports go down only, in the order that docs/architecture.md gives."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import autotune

PACKAGE = Path(autotune.__file__).parent
PAGE = PACKAGE.parent / "docs" / "architecture.md"


def layers() -> dict[str, int]:
    """The line of each module in the picture, counted from the top."""
    _, _, below = PAGE.read_text().partition("Imports go down only:\n\n")
    picture, _, _ = below.partition("\n\n")
    return {name.strip(): line for line, names in enumerate(picture.splitlines()) for name in names.split(",")}


def imported(path: Path, module: tuple[str, ...]) -> Iterator[str]:
    """The modules directly under autotune that a file imports, its own left out; `module` is its dotted name."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = (*module[: len(module) - node.level], *(node.module or "").split("."))
            found = [name for name in base if name] or [alias.name for alias in node.names]
            if found[0] != module[0]:
                yield found[0]


def test_imports_go_down_only() -> None:
    order = layers()
    seen = set()
    for folder in (PACKAGE, *(link for link in PACKAGE.iterdir() if link.is_symlink())):
        for path in folder.rglob("*.py"):
            module = path.relative_to(PACKAGE).with_suffix("").parts
            if module == ("__init__",) or "versions" in module:
                continue
            seen.add(module[0])
            upwards = [name for name in imported(path, module) if order[name] < order[module[0]]]
            assert not upwards, f"{path.relative_to(PACKAGE)} imports {upwards[0]}, which is above it"
    assert seen == set(order)


def test_private_names_of_cuda_core_are_in_one_file() -> None:
    users = [
        path.relative_to(PACKAGE.parent)
        for folder in ("autotune", "codegen", "search_spaces", "db", "tests", "benchmarks", "examples")
        for path in (PACKAGE.parent / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
        if name.startswith("cuda.core._")
    ]
    assert users == [Path("autotune/cuda_core.py")]
