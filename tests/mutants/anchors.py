"""Where a piece of a definition is, whatever its file's folder and layout are.

An anchor is the end of a file's path and, after a blank, the name of a definition: ``cache.py seal``,
``gemm/emit.py``, ``tile.cuh Part::store`` in CUDA. Texts are compared by tokens, so lines may break anywhere.
"""

import ast
import re
from collections.abc import Iterator

from tests.mutants.mutant import sources, text_of

_TOKEN = re.compile(r"\w+|[^\w\s]")
Span = tuple[int, int]


def find(anchor: str, piece: str) -> tuple[str, int, int]:
    """The one file that has the piece there, where it begins, and its end.

    Raises:
        ValueError: one line, if there is none, or more than one.
    """
    path, _, name = anchor.partition(" ")
    words = {*_TOKEN.findall(piece), *re.findall(r"\w+", name)}
    found = []
    for file in sources():
        if f"/{file}".endswith(f"/{path}"):
            text = text_of(file)
            if all(word in text for word in words):  # of files of one name few have them, and to parse takes time
                found += [(file, *span) for span in _pieces(text, piece, _definitions(file, text, name))]
    if len(found) != 1:
        raise ValueError(f"`before` occurs {len(found)} times in {anchor}: expected once")
    return found[0]


def _definitions(file: str, text: str, name: str) -> list[Span]:
    """The spans of a name's definitions, of which C++ may have several; the whole text for no name."""
    if not name:
        return [(0, len(text))]
    return [(begin, end) for found, begin, end in _named(file, text) if found == name]


def _pieces(text: str, piece: str, spans: list[Span]) -> Iterator[Span]:
    wanted = _TOKEN.findall(piece)
    for begin, end in spans:
        tokens = list(_TOKEN.finditer(text, begin, end))
        words = [token[0] for token in tokens]
        for first in range(len(words) - len(wanted) + 1):
            if words[first : first + len(wanted)] == wanted:
                yield tokens[first].start(), tokens[first + len(wanted) - 1].end()


def _named(file: str, text: str) -> Iterator[tuple[str, int, int]]:
    """The definitions of a text, by their qualified names."""
    return _of_python(text) if file.endswith(".py") else _of_cuda(text)


def _of_python(text: str) -> Iterator[tuple[str, int, int]]:
    starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def visit(node: ast.AST, prefix: str) -> Iterator[tuple[str, int, int]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                first = min([child.lineno, *(one.lineno for one in child.decorator_list)])
                name = f"{prefix}{child.name}"
                yield name, starts[first - 1], starts[child.end_lineno or first]
                yield from visit(child, f"{name}.")
            else:
                yield from visit(child, prefix)

    starts.append(len(text))
    return visit(ast.parse(text), "")


_HEAD = re.compile(r"(?:struct|class|union|enum)\s+(?:class\s+)?(\w+)|(~?\w+|operator\S+)\s*\(")
_NO_FUNCTION = {"if", "for", "while", "switch", "sizeof", "alignas", "__launch_bounds__", "__align__", "return"}


def _of_cuda(text: str) -> Iterator[tuple[str, int, int]]:
    """Functions and types by the text ahead of their braces: all that C++ of this layout takes."""
    open_: list[tuple[str, int, bool]] = []  # of each brace: the qualified name, where it begins, whether a function
    conditions: list[list[tuple[str, int, bool]]] = []  # what was open ahead of each `#if`, and so ahead of its `#else`
    before = -1
    for match in re.finditer(r"[;{}]|^# *(?:if|el|endif)", text, re.M):
        end, found = match.start(), match[0]
        if found.startswith("#"):
            if found.endswith("if") and not found.endswith("endif"):
                conditions.append(list(open_))
            elif found.endswith("el"):
                open_ = list(conditions[-1])
            else:
                conditions.pop()
            continue
        if found == "{":
            open_.append(_opened(text[before + 1 : end], before + 1, open_))
        elif found == "}" and open_:
            name, begin, _ = open_.pop()
            if name:
                yield name, begin, end + 1
        before = end


def _opened(ahead: str, begin: int, open_: list[tuple[str, int, bool]]) -> tuple[str, int, bool]:
    """What a brace opens by the text ahead of it: the qualified name, where it begins, and whether it is a function."""
    head = re.sub(r"//.*|^#.*", lambda match: " " * len(match[0]), ahead, flags=re.M)
    found = next((one for one in _HEAD.finditer(head) if one[2] not in _NO_FUNCTION), None)
    if any(function for _, _, function in open_):
        found = None  # a block of a function
    name = found[1] or found[2] if found else ""
    inside = next((one for one, _, _ in reversed(open_) if one), "")
    return f"{inside}::{name}" if inside and name else name, begin, bool(found and found[2])
