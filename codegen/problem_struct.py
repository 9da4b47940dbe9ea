"""``struct Problem``: how kernels read a problem, whose sizes are run-time arguments or compile-time constants."""

from __future__ import annotations

from collections.abc import Mapping

from .schedule import Specialize


def problem_struct(constants: list[str], sizes: Mapping[str, tuple[str, int]], specialize: Specialize) -> str:
    """``struct Problem`` as C++ text; a kernel makes one from its arguments and reads its members.

    Args:
        constants: lines that declare what the text is specialised for in any case.
        sizes: C++ type and value of each size, by the name that it has in ``struct Arguments`` too.
        specialize: whether the sizes are constants of the text.
    """
    if specialize is Specialize.SHAPE:
        members = [f"static constexpr {kind} {name} = {value};" for name, (kind, value) in sizes.items()]
        constructor = ["__device__ explicit Problem(const Arguments&) {}"]
    else:
        members = [f"const {kind} {name};" for name, (kind, _) in sizes.items()]
        values = [f"{name}(arguments.{name})" for name in sizes]
        constructor = ["__device__ explicit Problem(const Arguments& arguments)"]
        constructor += ["    : " + ",\n        ".join(values) + " {}"]
    lines = [f"  {line}" for line in [*constants, *members, *constructor]]
    return "\n".join(["struct Problem {", *lines, "};"])
