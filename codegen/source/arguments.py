"""The members of ``struct Arguments`` that follow from a problem: addresses of its tensors, and its sizes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from autotune.codegen.model.program import Argument
from autotune.codegen.model.tensor import Role, Tensor


def pointer_arguments(
    tensors: Iterable[Tensor], wide: Collection[str] = (), scaled: Collection[str] = ()
) -> Iterator[Argument]:
    """A pointer for each tensor.

    Args:
        tensors: of the problem.
        wide: names of the outputs that are written in double precision, as a reference does.
        scaled: names of those beside which the scales of their errors are written.
    """
    for tensor in tensors:
        const = "const " if tensor.role is Role.INPUT else ""
        yield Argument(tensor.name, f"{const}{'double' if tensor.name in wide else tensor.dtype.cuda}*")
        if tensor.name in scaled:
            yield Argument(f"{tensor.name}_scale", "double*")


def size_arguments(sizes: Mapping[str, tuple[str, int]]) -> Iterator[Argument]:
    """A member for each size, of which `sizes` has the C++ type and the value."""
    return (Argument(name, kind, value) for name, (kind, value) in sizes.items())
