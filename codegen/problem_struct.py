"""``struct Problem``: how kernels read a problem, whose sizes are run-time arguments or compile-time constants."""

from __future__ import annotations

from collections.abc import Mapping

from .headers import Constant, members_read
from .schedule import Specialize


def problem_struct(
    types: list[str],
    facts: Mapping[str, Constant],
    sizes: Mapping[str, tuple[str, int]],
    specialize: Specialize,
    source: str,
) -> str:
    """``struct Problem`` as C++ source; a kernel makes one from its arguments and reads its members.

    Args:
        types: lines that declare types.
        facts: what the source is specialised for in any case; those that it does not read are left out.
        sizes: C++ type and value of each size, by the name that it has in ``struct Arguments`` too; likewise.
        specialize: whether the sizes are constants of the source.
        source: the kernel's source.
    """
    read = members_read(source, "Problem")
    sizes = {name: size for name, size in sizes.items() if name in read}
    constants = [f"static constexpr {_declared(name, value)};" for name, value in facts.items() if name in read]
    if specialize is Specialize.SHAPE:
        members = [f"static constexpr {kind} {name} = {value};" for name, (kind, value) in sizes.items()]
        constructor = ["__device__ explicit Problem(const Arguments&) {}"]
    else:
        members = [f"const {kind} {name};" for name, (kind, _) in sizes.items()]
        values = [f"{name}(arguments.{name})" for name in sizes]
        constructor = ["__device__ explicit Problem(const Arguments& arguments)"]
        constructor += ["    : " + ",\n        ".join(values) + " {}"]
    lines = [f"  {line}" for line in [*types, *constants, *members, *constructor]]
    return "\n".join(["struct Problem {", *lines, "};"])


def _declared(name: str, value: Constant) -> str:
    return f"bool {name} = {str(value).lower()}" if isinstance(value, bool) else f"int {name} = {value}"
