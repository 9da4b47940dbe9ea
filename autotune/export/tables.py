"""``tables.hpp``: the device, the kernels and the records of an export, for the selector in C++."""

from __future__ import annotations

from ..codegen.matmul.sgemm.schedule import SgemmSchedule
from ..codegen.program import Program, cuda_arguments
from ..codegen.work import Unit
from ..db.states import TimeSource
from ..dispatcher.choice.transfer import DOUBT, FARTHEST
from .bundle import Bundle, Exported

FIXED_SECONDS = (4e-6, 7e-6)  # of a launch, and of one whose blocks share tiles
HIDING = 8.0  # the rate of the exponential by which registers in use hide latency


def tables(bundle: Bundle) -> str:
    """The content of ``tables.hpp``; times are hexadecimal, so that no bit is lost."""
    limits = bundle.limits
    numbers = {digest: number for number, digest in enumerate(bundle.kernels)}
    figures = [limits.peak(Unit.FP32), limits.bandwidth, *FIXED_SECONDS, HIDING, DOUBT, FARTHEST]
    device = ", ".join([str(limits.sm_count), str(limits.registers_per_sm), *(float(f).hex() for f in figures)])
    kernels = [_kernel(digest, *pair) for digest, pair in bundle.kernels.items()]
    records = [_record(one, numbers) for one in bundle.exported]
    title = f"{len(records)} records and {len(kernels)} kernels of sgemm {bundle.layout.layout} for {limits.name}"
    return f"""#pragma once
#include "selector.hpp"
// {title} ({limits.arch}), by autotune.

namespace autotune {{

{cuda_arguments(bundle.program.arguments)}

struct Kernel {{
  const char* file;
  int block_m, block_n, grid_blocks, cluster_k, threads, shared_bytes;
}};

constexpr const char* entry = "{bundle.program.name}";
constexpr bool transpose_a = {_bool(bundle.layout.transpose_a)}, transpose_b = {_bool(bundle.layout.transpose_b)};
constexpr Device device = {{{device}}};
constexpr int any_kernel = {numbers[bundle.program.source_digest]};
constexpr Kernel kernels[] = {{
{_lines(kernels)}
}};
constexpr Record records[] = {{
{_lines(records)}
}};

}}  // namespace autotune
"""


def _kernel(digest: str, schedule: SgemmSchedule, program: Program) -> str:
    tile = (schedule.block_m, schedule.block_n, schedule.grid_blocks, schedule.cluster_k)
    sizes = (*tile, schedule.threads, program.launch.shared_bytes)
    return f'{{"{digest[:16]}.cubin", {", ".join(map(str, sizes))}}}'


def _record(one: Exported, numbers: dict[str, int]) -> str:
    record, schedule = one.record, one.schedule
    m, n, k = (getattr(record.problem, size) for size in "mnk")
    flags = f"{_bool(record.time_source is TimeSource.MODELLED)}, {_bool(record.own_only)}"
    tile = (schedule.block_m, schedule.block_n, schedule.block_k, schedule.grid_blocks, schedule.cluster_k)
    vectors = (schedule.vector_a, schedule.vector_b, schedule.vector_c)
    kernels = (numbers[program.source_digest] for program in (one.own, one.larger, one.others))
    integers = ", ".join(map(str, (record.registers, *tile, *vectors, *kernels)))
    return f"{{{{{m}, {n}, {k}}}, {record.seconds.hex()}, {flags}, {integers}}}"


def _bool(value: bool) -> str:
    return "true" if value else "false"


def _lines(rows: list[str]) -> str:
    return ",\n".join(f"    {row}" for row in rows)
