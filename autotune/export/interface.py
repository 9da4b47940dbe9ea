"""``<operator>.h`` and ``<operator>.cpp``: the C interface of an export, named after the operator's own arguments."""

from __future__ import annotations

from collections.abc import Mapping

from autotune.codegen.model.lists import grouped, is_element, list_of
from autotune.codegen.model.tensor import Role

from .kernels import Kernels


def header(exported: Kernels) -> str:
    """``<operator>.h``."""
    bundle = exported.bundle
    name, sizes = bundle.operator.name, _declared(dict.fromkeys(bundle.most, "long long"))
    fixed = ", ".join(f"{field}={value}" for field, value in bundle.fixed.items())
    alone = f"; {_left_out(exported)} is 0" if _left_out(exported) else ""
    model = bundle.spec.name.replace("*/", "* /")  # which would end the comment
    ranges = ", ".join(f"{size} {bundle.least[size]} to {most}" for size, most in bundle.most.items())
    lists = (names for names in grouped(exported.addresses).values() if is_element(names[0]))
    listed = "".join(
        f"{list_of(first)} has {1 + len(others)} elements: 0 for those left out. " for first, *others in lists
    )
    return f"""#pragma once
#include <cuda.h>
#include <stddef.h>
/* {bundle.operator.summary}
   For {fixed or "all problems"}{alone}. Operands are dense and aligned to 16 bytes; sizes are
   {ranges}. {listed}For {model} ({bundle.spec.arch}). Needs the CUDA driver only. */

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
CUresult autotune_{name}({_declared(parameters(exported))});

/* The number in tables.hpp of the schedule that serves these sizes; -1 if none does. */
int autotune_{name}_schedule({sizes});

#ifdef __cplusplus
}}
#endif
"""


def source(exported: Kernels) -> str:
    """``<operator>.cpp``."""
    name, names = exported.bundle.operator.name, ", ".join(exported.bundle.most)
    sizes = _declared(dict.fromkeys(exported.bundle.most, "long long"))
    zeros = "".join(
        f"  const {one.cuda_type} {one.name} = 0;\n" for one in exported.scalars if one.name == _left_out(exported)
    )
    brought = ", ".join(f"&{name}" for name in exported.brought)
    return f"""#include "{name}.h"

#include "driver.hpp"

CUresult autotune_{name}_load(const char* folder) {{ return autotune::load(folder); }}

int autotune_{name}_schedule({sizes}) {{ return autotune::chosen({{{names}}}).schedule; }}

size_t autotune_{name}_workspace_bytes({sizes}) {{ return autotune::chosen({{{names}}}).workspace_bytes; }}

CUresult autotune_{name}({_declared(parameters(exported))}) {{
{zeros}  const void* brought[] = {{{brought}}};
  return autotune::run({{{names}}}, {{brought, workspace, stream}});
}}
"""


def parameters(exported: Kernels) -> dict[str, str]:
    """What a call takes, by the type in C: pointers, sizes, scalars, the workspace and the stream."""
    *tensors, workspace = exported.addresses
    scalars = {one.name: one.cuda_type for one in exported.scalars if one.name != _left_out(exported)}
    sizes = dict.fromkeys(exported.bundle.most, "long long")
    return dict.fromkeys(tensors, "CUdeviceptr") | sizes | scalars | {workspace: "CUdeviceptr", "stream": "CUstream"}


def call(exported: Kernels, values: Mapping[str, str]) -> str:
    """A call with the values of its parameters: a list's elements are one array."""
    kinds, words = parameters(exported), []
    for first, *others in grouped(kinds).values():
        given = ", ".join(values[name] for name in (first, *others))
        words.append(f"std::vector<{kinds[first]}>{{{given}}}.data()" if is_element(first) else given)
    return f"autotune_{exported.bundle.operator.name}({', '.join(words)})"


def _left_out(exported: Kernels) -> str:
    """The scalar that scales what an output holds before, if these kernels do not read that."""
    stated = exported.bundle.operator.call
    reads = any(tensor.role is Role.IN_OUT for tensor in exported.bundle.problems[0].tensors)
    return stated.accumulates if stated and not reads else ""


def _declared(kinds: Mapping[str, str]) -> str:
    return ", ".join(
        f"const {kinds[first]}* {name}" if is_element(first) else f"{kinds[first]} {name}"
        for name, (first, *_) in grouped(kinds).items()
    )
