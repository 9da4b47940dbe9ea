"""``struct Arguments``: its members that follow from a problem, and how it is declared in CUDA C++."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.fields import FieldRole, field_specs
from autotune.codegen.model.lists import is_element, list_of, suffixed
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.tensor import Role, Tensor
from autotune.codegen.model.tensor_map import TENSOR_MAP_BYTES

_SIZES = (FieldRole.SIZE, FieldRole.LAYOUT)
_DECLARED = ("float16", "bfloat16", "float8_e4m3", "float8_e5m2", "Report")  # defined in headers of cuda/


def pointer_arguments(
    tensors: Iterable[Tensor], wide: Collection[str] = (), scaled: Collection[str] = ()
) -> Iterator[Argument]:
    """A pointer for each tensor; the elements of a list follow each other.

    Args:
        tensors: of the problem.
        wide: names of the outputs that are written in double precision, as a reference does.
        scaled: names of those beside which the scales of their errors are written.
    """
    for _, group in groupby(tensors, lambda tensor: list_of(tensor.name)):
        listed = list(group)
        for tensor in listed:
            const = "const " if tensor.role is Role.INPUT else ""
            yield Argument(tensor.name, f"{const}{'double' if tensor.name in wide else tensor.dtype.cuda}*")
        for tensor in listed:
            if tensor.name in scaled:
                yield Argument(suffixed(tensor.name, "_scale"), "double*")


def sizes_of(problem: Problem, *names: str) -> dict[str, tuple[str, int]]:
    """C++ type and value of fields, by default of all sizes, leading dimensions and strides: 64 bits where needed."""
    specs = field_specs(type(problem))
    names = names or tuple(name for name, spec in specs.items() if spec.role in _SIZES and not name.startswith("align"))
    return {name: ("int" if specs[name].most else "long long", getattr(problem, name)) for name in names}


def size_arguments(sizes: Mapping[str, tuple[str, int]]) -> Iterator[Argument]:
    """A member for each size, of which `sizes` has the C++ type and the value."""
    return (Argument(name, kind, value) for name, (kind, value) in sizes.items())


def cuda_arguments(arguments: Sequence[Argument]) -> str:
    """``struct Arguments`` as C++ source, after the project's own types that it needs; others are defined later.

    Arguments that are elements of a list are one array: ``const float* x[4];`` of ``x[0]`` to ``x[3]``.
    """
    elements = dict.fromkeys(a.cuda_type.removeprefix("const ").removesuffix("*") for a in arguments if a.pointer)
    declared = "".join(f"struct {element};\n" for element in elements if element in _DECLARED)
    if any(argument.tensor_map for argument in arguments):
        declared += f"struct alignas(64) TensorMap {{\n  unsigned long long words[{TENSOR_MAP_BYTES // 8}];\n}};\n"
    return f"{declared}struct Arguments {{\n{cuda_members(arguments)}}};"


def cuda_members(arguments: Iterable[Argument]) -> str:
    """The members of a struct; see `cuda_arguments`."""
    return "".join(
        f"  {kind} {name}{f'[{len(list(group))}]' if listed else ''};\n"
        for (kind, name, listed), group in groupby(arguments, _declarator)
    )


def _declarator(argument: Argument) -> tuple[str, str, bool]:
    """The type and the name of its declaration, and whether it is an element of an array."""
    return argument.cuda_type, list_of(argument.name), is_element(argument.name)
