"""gemv: what schedules of both kernels have room for, and which are legal and drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from autotune.codegen.matmul.gemv.problem import GemvProblem, WeightOrder
from autotune.codegen.matmul.gemv.schedule import GemvSchedule, WeightLoads
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import LEAST_COPY
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import blocks_per_sm
from autotune.search_spaces.machine.resources import CLUSTERS_SINCE

S = TypeVar("S", bound=GemvSchedule)

_COPIES_SINCE = (8, 0)  # compute capability
_WORKSPACE_BYTES = 2**30
_SPARE_REGISTERS = 12  # beyond the footprint, with which ptxas spills nothing
MOST_LOADS = 16  # vectors of W of a thread that are in flight
MOST_SUMS = 128  # accumulators of a thread


def common_violations(problem: GemvProblem, schedule: GemvSchedule, spec: DeviceSpec) -> list[str]:
    """What makes a schedule of either kernel illegal beyond its fields and its footprint."""
    threads, of_output = schedule.threads, schedule.threads_per_output
    if of_output > threads:
        return [f"threads_per_output {of_output} over the {threads} threads of a block"]
    found = []
    vector, widest = schedule.vector_width, problem.vector_width("w")
    if vector > widest:
        found.append(f"vector_width {vector} over the {widest} elements that W is aligned for")
    loads, sums, steps = schedule.strips * schedule.loads_in_flight, schedule.sums(problem), schedule.steps(problem)
    if loads > MOST_LOADS:
        found.append(f"strips {schedule.strips} × loads_in_flight {schedule.loads_in_flight} over {MOST_LOADS}")
    if schedule.stages > 1:
        found += _copy_violations(problem, schedule, spec)
    if schedule.shared_x:
        found += _shared_x_violations(problem, schedule)
    if sums > MOST_SUMS:
        found.append(f"{sums} sums of a thread over {MOST_SUMS}")
    if schedule.partitions > steps:
        found.append(f"cluster {schedule.cluster} × splits {schedule.splits} over the {steps} steps along k")
    if schedule.workspace_bytes(problem) > _WORKSPACE_BYTES:
        found.append(f"a workspace of {schedule.workspace_bytes(problem)} bytes over {_WORKSPACE_BYTES}")
    return found


def _copy_violations(problem: GemvProblem, schedule: GemvSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What keeps W from being copied to shared memory."""
    vector_bytes = schedule.vector_width * problem.weight_dtype.bytes
    if spec.compute_capability < _COPIES_SINCE:
        yield f"cp.async needs sm_80 or newer, not {spec.arch}"
    if vector_bytes < LEAST_COPY:
        yield f"vector_width {schedule.vector_width}: {vector_bytes} bytes, cp.async copies {LEAST_COPY} or more"
    if schedule.weight_loads is not WeightLoads.CACHED:
        yield f"weight_loads {schedule.weight_loads}: expected cached for stages {schedule.stages}, which copy"


def _shared_x_violations(problem: GemvProblem, schedule: GemvSchedule) -> Iterator[str]:
    """What keeps x from being copied to shared memory."""
    x_bytes = schedule.x_width(problem) * problem.dtype.bytes
    if schedule.stages == 1:
        yield "shared_x: expected 2 stages or more"
    if problem.order is not WeightOrder.NK or problem.transpose_x:
        yield "shared_x: expected order nk, and vectors x stored as m×k"
    elif x_bytes < LEAST_COPY:
        yield f"shared_x: x is aligned for {x_bytes} bytes, cp.async copies {LEAST_COPY} or more"


def space(
    problem: GemvProblem, spec: DeviceSpec, kind: type[S], fitted: Callable[[GemvProblem, S, DeviceSpec], S]
) -> Space[S]:
    """All fields are drawn, and those that do not go together are lowered until they do."""
    specs = field_specs(kind)
    widths = [width for width in specs["vector_width"].values if width <= problem.vector_width("w")]
    clusters = specs["cluster"].values if spec.compute_capability >= CLUSTERS_SINCE else (1,)

    def build(draw: Draw) -> S:
        return fitted(problem, kind.from_dict(draw), spec)

    return Space(field_parameters(kind, vector_width=widths, cluster=clusters), build)


def within_limits(problem: GemvProblem, schedule: S, spec: DeviceSpec) -> S:
    """The schedule with no more threads, strips, loads, partitions and resident blocks than there is room for."""
    specs = field_specs(type(schedule))
    wanted = schedule.replace(threads_per_output=min(schedule.threads, schedule.threads_per_output))
    while wanted.strips > 1 and wanted.sums(problem) > MOST_SUMS:
        wanted = wanted.replace(strips=wanted.strips // 2)
    while wanted.vector_width > 1 and wanted.sums(problem) > MOST_SUMS:
        wanted = wanted.replace(vector_width=wanted.vector_width // 2)
    loads = min(wanted.loads_in_flight, MOST_LOADS // wanted.strips)
    wanted = _staged(problem, wanted.replace(loads_in_flight=loads), spec)
    if wanted.shared_x and any(_shared_x_violations(problem, wanted)):
        wanted = wanted.replace(shared_x=False)
    while wanted.loads_in_flight > 1 and wanted.footprint(problem).registers > spec.registers_per_thread:
        wanted = wanted.replace(loads_in_flight=wanted.loads_in_flight // 2)
    steps = wanted.steps(problem)
    cluster = max(value for value in specs["cluster"].values if value <= min(wanted.cluster, steps))
    splits = max(value for value in specs["splits"].values if value <= min(wanted.splits, max(1, steps // cluster)))
    wanted = wanted.replace(cluster=cluster, splits=splits, min_blocks_per_sm=1)
    footprint = wanted.footprint(problem)
    registers = min(footprint.registers + _SPARE_REGISTERS, spec.registers_per_thread)
    resident = blocks_per_sm(spec, footprint.threads, registers, footprint.shared_bytes)
    counts = specs["min_blocks_per_sm"].values
    most = min(schedule.min_blocks_per_sm, max(1, resident))
    return wanted.replace(min_blocks_per_sm=max(count for count in counts if count <= most))


def _staged(problem: GemvProblem, schedule: S, spec: DeviceSpec) -> S:
    """The schedule with as many stages as shared memory holds; one if W cannot be copied there."""
    copied = schedule.replace(weight_loads=WeightLoads.CACHED)
    if schedule.stages == 1 or any(_copy_violations(problem, copied, spec)):
        return schedule.replace(stages=1)
    counts = (count for count in field_specs(type(schedule))["stages"].values if count <= schedule.stages)
    fitting = [n for n in counts if copied.replace(stages=n).shared_bytes(problem) <= spec.shared_per_block]
    stages = max(fitting, default=1)
    return copied.replace(stages=stages) if stages > 1 else schedule.replace(stages=1)
