"""The .cuh files of a kernel as one source that holds what one kernel uses and nothing else.

The files are CUDA C++ with includes and ``#if`` as usual. A condition on lower-case names is resolved here, as by
``unifdef``: its names are fields of the schedule, members of its enums, and facts of the problem. Conditions on other
names, such as ``__CUDA_ARCH__``, are left to the compiler. Of what remains, definitions that the kernel does not reach
are left out, so a header may offer more than each kernel needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from types import CodeType

Constant = int | str
_FOLDER = Path(__file__).parents[1]
_DIRECTIVE = re.compile(r"# *(ifdef|ifndef|if|elif|else|endif|include|pragma once)\b *(.*?) *(?://.*)?$")
_NAME = re.compile(r"[A-Za-z_]\w*")
_WORD = re.compile(r"\w+")
_COMMENT = re.compile(r"//.*")
_DEFINITION = re.compile(r"\b(?:struct|class|union|enum class|using) (\w+)|(\w+) =\s|(\w+)(?:<[^()]*>)?\(")
_TEMPLATE = re.compile(r"^template <.*?>\n", re.MULTILINE | re.DOTALL)


def inlined(*names: str) -> str:
    """The source of .cuh files under codegen/ with the project's own headers inlined, each once."""
    seen: set[str] = set()

    def lines(name: str) -> Iterator[str]:
        if name not in seen:
            seen.add(name)
            for line, included in _lines(name, {}):
                yield from lines(included) if included else (line,)

    return "".join(f"{line}\n" for name in names for line in lines(name))


def used_source(name: str, called: str | tuple[str, ...], constants: Mapping[str, Constant]) -> str:
    """The source of one .cuh file under codegen/ and of its headers, of which entries call one or several functions.

    Raises:
        NameError: a condition on a name that `constants` lacks.
        ValueError: there is no such file, or none of these files defines a function.
    """
    known = _condition_names(name)
    functions = (called,) if isinstance(called, str) else called
    return _used_source(name, functions, tuple((key, value) for key, value in constants.items() if key in known))


@lru_cache(maxsize=128)
def members_read(source: str, struct: str) -> frozenset[str]:
    """The members of a struct that a source reads: static ones of ``Struct``, others of its instance ``struct``."""
    members = set()
    for prefix in (f"{struct}::", f"{struct.lower()}."):  # a pattern of both would be tried at each word
        for before, after in pairwise(source.split(prefix)):
            if not _WORD.match(before[-1:]) and (found := _WORD.match(after)):
                members.add(found[0])
    return frozenset(members)


@lru_cache(maxsize=256)
def _used_source(name: str, called: tuple[str, ...], constants: tuple[tuple[str, Constant], ...]) -> str:
    definitions = list(_definitions(name, constants, set()))
    by_name: dict[str, list[_Definition]] = {}
    for definition in definitions:
        by_name.setdefault(definition.name, []).append(definition)
    if missing := [function for function in called if function not in by_name]:
        raise ValueError(f"codegen/{name} is to define {missing[0]}: neither it nor a file that it includes does")
    reached: set[str] = set()
    ahead = {*called, *(name for one in by_name.get("static_assert", []) for name in one.uses)} & by_name.keys()
    while ahead:
        reached |= ahead
        ahead = {used for name in ahead for one in by_name[name] for used in one.uses if used in by_name} - reached
    reached.add("static_assert")
    files = {one.file for one in definitions if one.name in reached}
    return "\n".join(one.source for one in definitions if one.name in reached or (not one.name and one.file in files))


@dataclass(frozen=True)
class _Definition:
    """A definition at the top level with the comment above it; without a name, the comment that begins a file."""

    file: str
    name: str
    uses: frozenset[str]
    source: str


def _definitions(name: str, constants: tuple[tuple[str, Constant], ...], seen: set[str]) -> Iterator[_Definition]:
    """The definitions of a file and of those that it includes, each file once."""
    if name not in seen:
        seen.add(name)
        known = _own_condition_names(name)
        for part in _parts(name, tuple(constant for constant in constants if constant[0] in known)):
            yield from _definitions(part, constants, seen) if isinstance(part, str) else (part,)


@lru_cache(maxsize=1024)
def _parts(name: str, constants: tuple[tuple[str, Constant], ...]) -> tuple[_Definition | str, ...]:
    """The definitions of a file, and the names of the files that it includes between them.

    Definitions end where braces and the compiler's conditions are closed; a file's comment ends at a blank line.
    """
    parts: list[_Definition | str] = []
    lines: list[str] = []
    depth = 0
    for line, included in _lines(name, dict(constants)):
        if included:
            parts.append(included)
            continue
        code = _code(line)
        if lines or line:
            lines.append(line)
        depth += code.count("{") - code.count("}") + line.startswith("#if") - line.startswith("#endif")
        if depth == 0 and (code.endswith((";", "}", "#endif")) or (lines and not line)):
            parts.append(_definition(name, "\n".join(lines).rstrip("\n")))
            lines = []
    return tuple(parts)


@cache
def _definition(file: str, source: str) -> _Definition:
    code = _TEMPLATE.sub("", "\n".join(_code(line) for line in source.split("\n")))
    found = _DEFINITION.search(code)
    name = next(filter(None, found.groups())) if found else ""
    return _Definition(file, name, frozenset(_NAME.findall(_COMMENT.sub("", source))), source + "\n")


@cache
def _code(line: str) -> str:
    return _COMMENT.sub("", line).rstrip()


def _lines(name: str, constants: Mapping[str, Constant]) -> Iterator[tuple[str, str]]:
    """The lines of a file that conditions leave, each with the name of the file that it includes, if it does."""
    taken: list[
        bool | None
    ] = []  # for each open condition, whether a branch was taken; None where it is the compiler's
    active = [True]
    for line, directive, rest in _parsed(name):
        if directive == "if" and _is_ours(rest):
            taken.append(active[-1] and bool(_holds(rest, constants)))
            active.append(bool(taken[-1]))
        elif directive.startswith("if"):
            taken.append(None)
            active.append(active[-1])
            if active[-1]:
                yield line, ""
        elif directive in ("elif", "else", "endif") and taken[-1] is not None:
            active.pop()
            if directive == "endif":
                taken.pop()
                continue
            holds = active[-1] and not taken[-1] and (directive == "else" or bool(_holds(rest, constants)))
            active.append(holds)
            taken[-1] = taken[-1] or holds
        elif directive == "include" and active[-1]:
            yield line, rest.strip('"')
        elif active[-1] and directive not in ("include", "pragma once"):
            yield line, ""
            if directive == "endif":
                taken.pop()
                active.pop()
        elif directive == "endif":
            taken.pop()
            active.pop()


@cache
def _parsed(name: str) -> list[tuple[str, str, str]]:
    """Each line of a file with its directive, if it has one that matters here, and what follows that."""
    lines = _text(name).splitlines()
    found = [_DIRECTIVE.match(line) for line in lines]
    return [(line, one[1], one[2]) if one else (line, "", "") for line, one in zip(lines, found, strict=True)]


def _text(name: str) -> str:
    try:
        return (_FOLDER / name).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ValueError(
            f"there is no file codegen/{name}: expected one under codegen/, by its path from there"
        ) from None


@cache
def _condition_names(name: str) -> frozenset[str]:
    """`_own_condition_names` of a file and of those that it may include."""
    included = (rest.strip('"') for _, directive, rest in _parsed(name) if directive == "include")
    return _own_condition_names(name).union(*map(_condition_names, included))


@cache
def _own_condition_names(name: str) -> frozenset[str]:
    """The names in all conditions of a file, some of which are resolved here."""
    conditions = (rest for _, directive, rest in _parsed(name) if directive in ("if", "elif"))
    return frozenset(found for condition in conditions for found in _NAME.findall(condition))


def _is_ours(condition: str) -> bool:
    return all(name[0].islower() and name != "defined" for name in _NAME.findall(condition))


def _holds(condition: str, constants: Mapping[str, Constant]) -> object:
    try:
        return eval(_compiled(condition), {"__builtins__": {}}, dict(constants))
    except NameError as error:
        raise NameError(f"#if {condition}: {error.name} is neither a field of the schedule nor a fact") from None


@cache
def _compiled(condition: str) -> CodeType:
    python = re.sub(r"!(?!=)", " not ", condition.replace("&&", " and ").replace("||", " or "))
    return compile(python.strip(), condition, "eval")
