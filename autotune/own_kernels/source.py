"""The user's CUDA source: where its kernels are, what it includes, and how it becomes a part of an emitted one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autotune import codegen
from autotune.codegen.source.emission import inlined
from autotune.compiler import CUDA_HEADER

_HIDDEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_WORD = re.compile(r"\s*([A-Za-z_]\w*)\s*(\()?")
_ATTRIBUTES = ("__launch_bounds__", "__cluster_dims__", "__maxnreg__", "__block_size__")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"[^\n]*', re.MULTILINE)
_DYNAMIC = re.compile(r"extern\s+__shared__\s+([^;{}()\[\]]*?(?:\([^()]*\)[^;{}()\[\]]*?)?)\b(\w+)\s*\[\s*\]\s*;")
_ALIGNED = re.compile(r"(?:__align__|alignas)\s*\(\s*(\d+)\s*\)")
_CODEGEN = "cuda/"  # headers of this package
_CODEGEN_FOLDER = Path(str(codegen.__file__)).parent


@dataclass(frozen=True)
class Function:
    """A kernel as an ordinary function of the device.

    Attributes:
        source: the whole source with it.
        attributes: those of its launches, such as ``__launch_bounds__(256)``, as the source states them.
    """

    source: str
    attributes: tuple[str, ...]


def read_source(source: str | Path, folder: Path) -> tuple[str, str]:
    """Headers of this package and of CUDA that a source includes, and its text, with the other files that it includes.

    The source is a text, or a file relative to a folder. Headers of this package, such as ``cuda/numbers.cuh``, and
    those between angle brackets go ahead of all macros, others are found beside the file that includes them.

    Raises:
        OSError: a file cannot be read.
        ValueError: a header is not there.
    """
    if isinstance(source, Path) or ("\n" not in source and source.endswith((".cu", ".cuh"))):
        path = folder / source
        text, folder, seen = path.read_text(encoding="utf-8"), path.parent, {path.resolve()}
    else:
        text, seen = source, set()
    own: dict[str, None] = {}
    whole = _with_includes(text, folder, seen, own)
    of_cuda = "".join(f"{line.strip()}\n" for line in dict.fromkeys(CUDA_HEADER.findall(whole)))
    return of_cuda + inlined(*own), CUDA_HEADER.sub("", whole)


def as_function(source: str, name: str) -> Function:
    """The source with one of its kernels as a function that an entry of ours calls.

    The call is inlined, so that the machine code is that of the kernel.

    Raises:
        ValueError: there is no such kernel.
    """
    masked = _HIDDEN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)
    for found in re.finditer(r"\b__global__\b", masked):
        kernel, attributes, end = _head(masked, found.end())
        if kernel != name:
            continue
        head = masked[found.end() : end]
        for attribute in attributes:
            head = head.replace(attribute, " " * len(attribute))
        text = f"{source[: found.start()]}__device__ __forceinline__{head}{source[end:]}"
        return Function(_dynamic_in_emulator(text), tuple(attributes))
    known = ", ".join(dict.fromkeys(_kernels(masked))) or "none"
    raise ValueError(f"the source has no kernel {name!r}: expected __global__ void {name}(…); it has {known}")


def _kernels(masked: str) -> Iterator[str]:
    return (_head(masked, found.end())[0] for found in re.finditer(r"\b__global__\b", masked))


def _head(masked: str, position: int) -> tuple[str, list[str], int]:
    """The name of the function whose declaration goes on there, its attributes, and where its name begins."""
    attributes: list[str] = []
    while word := _WORD.match(masked, position):
        if not word[2]:
            position = word.end()
        elif word[1] in _ATTRIBUTES:
            end = _closing(masked, word.end())
            attributes.append(masked[word.start(1) : end])
            position = end
        else:
            return word[1], attributes, word.start(1)
    return "", attributes, position


def _closing(masked: str, position: int) -> int:
    """Where the parentheses end that are open at a position."""
    depth = 1
    while depth and position < len(masked):
        depth += {"(": 1, ")": -1}.get(masked[position], 0)
        position += 1
    return position


def _dynamic_in_emulator(source: str) -> str:
    """The emulator's dynamic shared memory beside that of CUDA, which C++ has no words for."""

    def both(found: re.Match[str]) -> str:
        aligned = _ALIGNED.search(found[1])
        element, name = _ALIGNED.sub("", found[1]).strip(), found[2]
        memory = f"autotune_emulator::dynamic_shared({aligned[1] if aligned else ''})"
        line = source.count("\n", 0, found.end()) + 1
        return (
            f"\n#ifdef AUTOTUNE_EMULATOR\n{element}* {name} = static_cast<{element}*>({memory});\n"
            f"#else\n{found[0]}\n#endif\n#line {line}\n"
        )

    return _DYNAMIC.sub(both, source)


def _with_includes(source: str, folder: Path, seen: set[Path], own: dict[str, None]) -> str:
    """The source without includes between quotes: headers of this package go to `own`, others are in their place."""

    def included(found: re.Match[str]) -> str:
        name = found[1]
        path = (folder / name).resolve()
        if name.startswith(_CODEGEN) and (_CODEGEN_FOLDER / name).is_file() and not path.exists():
            own[name] = None
            return ""
        if path in seen:
            return ""
        seen.add(path)
        try:
            text = path.read_text(encoding="utf-8")
        except OSError:
            raise ValueError(f'#include "{name}": there is no {path}') from None
        return _with_includes(text.replace("#pragma once", ""), path.parent, seen, own)

    return _INCLUDE.sub(included, source)
