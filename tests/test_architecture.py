"""Imports go down only, in the order that docs/architecture.md gives, and nowhere in a circle."""

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import autotune

PACKAGE = Path(autotune.__file__).parent
PAGE = PACKAGE.parent / "docs" / "architecture.md"


def layers():
    """The line of each module in the picture, counted from the top."""
    _, _, below = PAGE.read_text().partition("Imports go down only:\n\n```text\n")
    picture, _, _ = below.partition("```\n")
    return {name.strip(): line for line, names in enumerate(picture.splitlines()) for name in names.split(",")}


def modules():
    """The files by their dotted names under autotune; a folder goes by its own name."""
    found = {}
    for folder in (PACKAGE, *(link for link in PACKAGE.iterdir() if link.is_symlink())):
        for path in folder.rglob("*.py"):
            name = path.relative_to(PACKAGE).with_suffix("").parts
            if "versions" not in name:  # alembic's, whose names are no identifiers
                found[name[:-1] if name[-1] == "__init__" else name] = path
    return found


FILES = modules()


def imported(module):
    """The modules that one imports anywhere in its file: in functions and for type checking, too."""
    package = module if FILES[module].name == "__init__.py" else module[:-1]
    for node in ast.walk(ast.parse(FILES[module].read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            assert node.level == 1, f"{module}: files of other folders are imported from autotune"
            base = (*package[: len(package) - node.level + 1], *(node.module.split(".") if node.module else ()))
            for alias in node.names:
                name = (*base, alias.name)
                yield name if name in FILES else base
        elif isinstance(node, ast.ImportFrom | ast.Import):
            if isinstance(node, ast.Import):
                assert "autotune" not in {alias.name.partition(".")[0] for alias in node.names}, (
                    f"{module}: from … import"
                )
            elif (node.module or "").partition(".")[0] == "autotune":
                base = tuple((node.module or "").split("."))[1:]
                for alias in node.names:
                    name = (*base, alias.name)
                    yield name if name in FILES else base


@cache
def imports():
    """What each module imports."""
    return {module: set(imported(module)) - {module} for module in FILES}


def circle(graph):
    """One circle of a graph, empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return " imports ".join(".".join(module) for module in reversed(error.args[1]))
    return ""


def test_imports_go_down_only():
    order = layers()
    assert {module[0] for module in FILES if module} == set(order)
    for module in filter(None, FILES):
        upwards = [name for name in filter(None, imports()[module]) if order[name[0]] < order[module[0]]]
        assert not upwards, f"{'.'.join(module)} imports {'.'.join(upwards[0])}, which is above it"


def test_no_modules_import_each_other():
    assert circle(imports()) == ""


def test_no_folders_import_each_other():
    for depth in range(1, max(map(len, FILES))):
        graph = {}
        for module, names in imports().items():
            if len(module) >= depth:  # what a folder's __init__ offers of its files is no import of a neighbour
                *folder, itself = module[:depth]
                siblings = {name[:depth] for name in names if len(name) >= depth and name[: depth - 1] == (*folder,)}
                graph.setdefault(module[:depth], set()).update(siblings - {(*folder, itself)})
        assert circle(graph) == ""


def test_private_names_of_cuda_core_are_in_one_file():
    users = [
        path.relative_to(PACKAGE.parent)
        for folder in ("base", "autotune", "codegen", "search_spaces", "db", "tests", "benchmarks", "examples")
        for path in (PACKAGE.parent / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
        if name.startswith("cuda.core._")
    ]
    assert users == [Path("base/cuda_core.py")]


def test_includes_of_the_emulator_go_one_way():
    includes, folder = {}, PACKAGE / "emulator" / "cpp"
    for path in sorted([*folder.glob("*.cpp"), *folder.glob("*.hpp")]):
        named = set(re.findall(r'^#include "(\w+)\.hpp"', path.read_text(), re.MULTILINE))
        includes.setdefault(path.stem, set()).update(named - {path.stem})
    order = list(TopologicalSorter(includes).static_order())
    parts = ["position", "order", "races", "threads", "main"]
    assert sorted(parts, key=order.index) == parts
