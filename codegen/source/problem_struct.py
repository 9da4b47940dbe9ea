"""``struct Problem``: how kernels read a problem, whose sizes are run-time arguments or compile-time constants."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from autotune.codegen.model.schedule import Specialize

from .headers import Constant, members_read

_MOST_COLUMNS = 108  # columns of a member's line, indented by two


def problem_struct(
    types: list[str],
    facts: Mapping[str, Constant],
    sizes: Mapping[str, tuple[str, int]],
    specialize: Specialize,
    source: str,
    unknown: Collection[str] = (),
) -> str:
    """``struct Problem`` as C++ source; a kernel makes one from its arguments and reads its members.

    Args:
        types: lines that declare types.
        facts: what the source is specialised for in any case; those that it does not read are left out.
        sizes: C++ type and value of each size, by the name that it has in ``struct Arguments`` too; likewise.
        specialize: whether the sizes are constants of the source.
        source: the kernel's source.
        unknown: sizes that are no constants in any case.
    """
    read = members_read(source, "Problem")
    sizes = {name: size for name, size in sizes.items() if name in read}
    constants = [f"static constexpr {_declared(name, value)};" for name, value in facts.items() if name in read]
    specialized = specialize is Specialize.SHAPE
    given = {name: size for name, size in sizes.items() if not specialized or name in unknown}
    members = [
        f"static constexpr {kind} {name} = {value};" for name, (kind, value) in sizes.items() if name not in given
    ]
    members += [f"const {kind} {name};" for name, (kind, _) in given.items()]
    constructor = [_constructor(given) if given else "__device__ explicit Problem(const Arguments&) {}"]
    lines = [f"  {line}" for line in [*types, *constants, *members, *constructor]]
    return "\n".join(["struct Problem {", *lines, "};"])


def double_constants(numbers: Mapping[str, float]) -> dict[str, str]:
    """Lines that declare numbers of ``struct Problem``, by their names."""
    return {name: f"static constexpr double {name} = {value};" for name, value in numbers.items()}


def _constructor(sizes: Iterable[str]) -> str:
    """On as few lines as clang-format gives it: one, two, or one more for each member but the first."""
    head = "__device__ explicit Problem(const Arguments& arguments)"
    values = [f"{name}(arguments.{name})" for name in sizes]
    together = ", ".join(values)
    if len(line := f"{head} : {together} {{}}") <= _MOST_COLUMNS:
        return line
    if len(line := f"    : {together} {{}}") <= _MOST_COLUMNS:
        return f"{head}\n  {line}"
    return f"{head}\n      : " + ",\n        ".join(values) + " {}"


def _declared(name: str, value: Constant) -> str:
    return f"bool {name} = {str(value).lower()}" if isinstance(value, bool) else f"int {name} = {value}"
