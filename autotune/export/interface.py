"""``<operator>.h`` and ``<operator>.cpp``: the C interface of an export, named after the operator's own arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from autotune.codegen.model.argument import WORKSPACE, Argument
from autotune.codegen.model.lists import grouped, is_element
from autotune.codegen.model.tensor import Role

from .kernels import Kernels


def header(exported: Kernels) -> str:
    """``<operator>.h``."""
    bundle = exported.bundle
    name, sizes = bundle.operator.name, _sizes(exported)
    fixed = ", ".join(f"{field}={value}" for field, value in bundle.fixed.items())
    alone = ", ".join(f"{one} is 0" for one in _zeros(exported))
    model = bundle.spec.name.replace("*/", "* /")  # which would end the comment
    ranges = ", ".join(f"{size} to {most}" for size, most in bundle.most.items())
    return f"""#pragma once
#include <cuda.h>
#include <stddef.h>
/* {bundle.operator.summary}
   For {fixed or "all problems"}{f"; {alone}" if alone else ""}. Operands are dense and aligned to 16 bytes; sizes are
   at least 1, {ranges} at most. {_lists(exported)}For {model} ({bundle.spec.arch}). Needs the CUDA driver only. */

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
    zeros = _zeros(exported)
    zero = "".join(f"  const {one.cuda_type} {one.name} = 0;\n" for one in exported.scalars if one.name in zeros)
    brought = ", ".join(f"&{name}" for name in exported.brought)
    return f"""#include "{name}.h"

#include "driver.hpp"

CUresult autotune_{name}_load(const char* folder) {{ return autotune::load(folder); }}

int autotune_{name}_schedule({sizes}) {{ return autotune::chosen({{{names}}}).schedule; }}

size_t autotune_{name}_workspace_bytes({sizes}) {{
  return static_cast<size_t>(autotune::chosen({{{names}}}).plan.workspace_bytes);
}}

CUresult autotune_{name}({_parameters(exported)}) {{
  if (!autotune::served({{{names}}})) return CUDA_ERROR_INVALID_VALUE;
  autotune::Chosen& chosen = autotune::chosen({{{names}}});
  if (chosen.schedule < 0) return CUDA_ERROR_NOT_SUPPORTED;
{zero}  const void* brought[] = {{{brought}}};
  return autotune::run(chosen.plan, brought, workspace, stream);
}}
"""


def call(exported: Kernels, tensors: Mapping[str, str]) -> str:
    """The arguments of a call in the example, which has these names for tensors."""
    words = []
    for names in grouped(_pointers(exported)).values():
        given = ", ".join(tensors[one] for one in names)
        words.append(f"std::vector<CUdeviceptr>{{{given}}}.data()" if is_element(names[0]) else given)
    words += exported.bundle.most
    words += [f"scalars[number].{name}" for name in grouped(one.name for one in scalars_of(exported))]
    return ", ".join([*words, WORKSPACE, "nullptr"])


def _lists(exported: Kernels) -> str:
    """How long lists are, for the header; each with what the kernels take for its elements."""
    lists = {name: len(names) for name, names in grouped(_pointers(exported)).items() if is_element(names[0])}
    listed = ", ".join(f"{name} has {count} elements" for name, count in lists.items())
    return f"{listed}: 0 for those that are left out. " if listed else ""


def _parameters(exported: Kernels) -> str:
    words = list(_declared("CUdeviceptr", _pointers(exported)))
    words += [f"long long {size}" for size in exported.bundle.most]
    for kind, group in groupby(scalars_of(exported), lambda one: one.cuda_type):
        words += _declared(kind, (one.name for one in group))
    return ", ".join([*words, "CUdeviceptr workspace", "CUstream stream"])


def _sizes(exported: Kernels) -> str:
    return ", ".join(f"long long {size}" for size in exported.bundle.most)


def _pointers(exported: Kernels) -> tuple[str, ...]:
    return exported.addresses[:-1]


def _declared(kind: str, names: Iterable[str]) -> Iterator[str]:
    """Parameters of a type: a list's elements are one array."""
    for name, group in grouped(names).items():
        yield f"const {kind}* {name}" if is_element(group[0]) else f"{kind} {name}"


def scalars_of(exported: Kernels) -> Iterator[Argument]:
    """Those that a call brings."""
    zeros = _zeros(exported)
    return (one for one in exported.scalars if one.name not in zeros)


def _zeros(exported: Kernels) -> list[str]:
    """The scalar that scales what an output holds before, if these kernels do not read that."""
    bundle = exported.bundle
    scalar = bundle.operator.call.accumulates if bundle.operator.call else ""
    reads = any(tensor.role is Role.IN_OUT for tensor in bundle.problems[0].tensors)
    return [scalar] if scalar and not reads else []
