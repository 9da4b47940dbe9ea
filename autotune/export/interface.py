"""``<operator>.h`` and ``<operator>.cpp``: the C interface of an export, named after the operator's own arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from autotune.codegen.model.argument import WORKSPACE, Argument
from autotune.codegen.model.lists import grouped, is_element
from autotune.codegen.model.tensor import Role

from .kernels import Kernels


def header(exported: Kernels) -> str:
    """``<operator>.h``."""
    bundle = exported.bundle
    name, sizes = bundle.operator.name, _sizes(exported)
    fixed = ", ".join(f"{field}={value}" for field, value in bundle.fixed.items())
    alone = "".join(f"; {one.name} is 0" for one in _left_out(exported))
    model = bundle.spec.name.replace("*/", "* /")  # which would end the comment
    ranges = ", ".join(f"{size} to {most}" for size, most in bundle.most.items())
    lists = {name: len(names) for name, names in grouped(_pointers(exported)).items() if is_element(names[0])}
    listed = "".join(f"{name} has {count} elements: 0 for those that are left out. " for name, count in lists.items())
    return f"""#pragma once
#include <cuda.h>
#include <stddef.h>
/* {bundle.operator.summary}
   For {fixed or "all problems"}{alone}. Operands are dense and aligned to 16 bytes; sizes are
   at least 1, {ranges} at most. {listed}For {model} ({bundle.spec.arch}). Needs the CUDA driver only. */

#ifdef __cplusplus
extern "C" {{
#endif

/* Load the kernels of a folder into the current context. */
CUresult autotune_{name}_load(const char* folder);

/* Bytes of scratch that a call with these sizes needs. They are zeroed once when they are allocated; calls leave them
   fit for the next one on the same stream with the same sizes. */
size_t autotune_{name}_workspace_bytes({sizes});

/* Launch on a stream. workspace may be 0 where none is needed. CUDA_ERROR_INVALID_VALUE: sizes out of range, or no
   workspace; CUDA_ERROR_NOT_SUPPORTED: no exported kernel serves these sizes. */
CUresult autotune_{name}({_parameters(exported)});

/* The number in tables.hpp of the schedule that serves these sizes; -1 if none does. */
int autotune_{name}_schedule({sizes});

#ifdef __cplusplus
}}
#endif
"""


def source(exported: Kernels) -> str:
    """``<operator>.cpp``."""
    name, sizes, names = exported.bundle.operator.name, _sizes(exported), ", ".join(exported.bundle.most)
    zeros = "".join(f"  const {one.cuda_type} {one.name} = 0;\n" for one in _left_out(exported))
    brought = ", ".join(f"&{name}" for name in exported.brought)
    return f"""#include "{name}.h"

#include "driver.hpp"

CUresult autotune_{name}_load(const char* folder) {{ return autotune::load(folder); }}

int autotune_{name}_schedule({sizes}) {{ return autotune::chosen({{{names}}}).schedule; }}

size_t autotune_{name}_workspace_bytes({sizes}) {{ return autotune::chosen({{{names}}}).workspace_bytes; }}

CUresult autotune_{name}({_parameters(exported)}) {{
{zeros}  const void* brought[] = {{{brought}}};
  return autotune::run({{{names}}}, {{brought, workspace, stream}});
}}
"""


def call(exported: Kernels, tensor: Callable[[str], str]) -> str:
    """The arguments of a call in the example."""
    words = []
    for names in grouped(_pointers(exported)).values():
        given = ", ".join(map(tensor, names))
        words.append(f"std::vector<CUdeviceptr>{{{given}}}.data()" if is_element(names[0]) else given)
    scalars = (f"scalars[number].{name}" for name in grouped(one.name for one in scalars_of(exported)))
    return ", ".join([*words, *exported.bundle.most, *scalars, WORKSPACE, "nullptr"])


def scalars_of(exported: Kernels) -> list[Argument]:
    """Those that a call brings."""
    return [one for one in exported.scalars if one not in _left_out(exported)]


def _left_out(exported: Kernels) -> list[Argument]:
    """The scalar that scales what an output holds before, if these kernels do not read that."""
    bundle = exported.bundle
    reads = any(tensor.role is Role.IN_OUT for tensor in bundle.problems[0].tensors)
    name = bundle.operator.call.accumulates if bundle.operator.call and not reads else ""
    return [one for one in exported.scalars if one.name == name]


def _parameters(exported: Kernels) -> str:
    kinds = {one.name: one.cuda_type for one in scalars_of(exported)}
    pointers, scalars = _declared(dict.fromkeys(_pointers(exported), "CUdeviceptr")), _declared(kinds)
    return ", ".join([*pointers, _sizes(exported), *scalars, "CUdeviceptr workspace", "CUstream stream"])


def _declared(kinds: Mapping[str, str]) -> Iterator[str]:
    """Parameters of these types: a list's elements are one array."""
    for name, (first, *_) in grouped(kinds).items():
        yield f"const {kinds[first]}* {name}" if is_element(first) else f"{kinds[first]} {name}"


def _sizes(exported: Kernels) -> str:
    return ", ".join(f"long long {size}" for size in exported.bundle.most)


def _pointers(exported: Kernels) -> tuple[str, ...]:
    return exported.addresses[:-1]
