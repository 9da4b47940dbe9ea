"""detect: schedules that are legal, drawn and tried first, and problems that prove them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from autotune.codegen.model.integers import INT_MAX
from autotune.codegen.vision.decode.schedule import DecodeSchedule
from autotune.codegen.vision.detect.problem import DetectProblem
from autotune.codegen.vision.detect.schedule import DetectSchedule
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import CLUSTERS_SINCE, footprint_violations
from autotune.search_spaces.vision.decode.space import candidates as decode_candidates
from autotune.search_spaces.vision.decode.space import checks as decode_checks
from autotune.search_spaces.vision.decode.space import constraints as decode_constraints
from autotune.search_spaces.vision.decode.space import space as decode_space
from autotune.search_spaces.vision.nms.block.space import clusters_at_once

_CHECKED = 64  # boxes that there is room for in the emulator


def constraints(problem: DetectProblem, schedule: DetectSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its footprint: what is illegal for decode, and the launch of nms."""
    yield from decode_constraints(problem.decoding, schedule.decoding, spec)
    keeping = schedule.keeping(problem)
    yield from footprint_violations(spec, keeping.footprint(problem.keeping))
    if (blocks := keeping.blocks(problem.keeping)) > INT_MAX:
        yield f"cluster {schedule.cluster}: {blocks} blocks over the {INT_MAX} of a grid"


def space(problem: DetectProblem, spec: DeviceSpec) -> Space[DetectSchedule]:
    """Draws of decode, and clusters where there are such."""
    decoding = decode_space(problem.decoding, spec)
    clusters = (1, 2, 4, 8) if spec.compute_capability >= CLUSTERS_SINCE else (1,)
    widths = next(one.values for one in decoding.parameters if one.name == "vector_width")

    def build(draw: Draw) -> DetectSchedule:
        fields = {name: value for name, value in draw.items() if name in DecodeSchedule().members}
        return DetectSchedule.from_dict({**draw, "splits": decoding.build(fields).splits})

    return Space(field_parameters(DetectSchedule, vector_width=widths, cluster=clusters), build)


def candidates(problem: DetectProblem, spec: DeviceSpec) -> Iterator[DetectSchedule]:
    """Those of decode, with clusters that run at once."""
    clusters = clusters_at_once(problem.batch, spec)
    for decoding, cluster, chunk in product(decode_candidates(problem.decoding, spec), clusters, (512, 256, 128, 64)):
        schedule = DetectSchedule(
            min(decoding.points, 256), decoding.splits, decoding.vector_width, 512, chunk, cluster
        )
        if not any(constraints(problem, schedule, spec)):
            yield schedule


def checks(problem: DetectProblem, schedule: DetectSchedule) -> list[tuple[DetectProblem, DetectSchedule]]:
    """Those of decode, with little room."""
    few = schedule.replace(threads=min(schedule.threads, 256))
    return [
        (replace(one, capacity=_CHECKED, max_output=_CHECKED // 2), few.replace(vector_width=decoding.vector_width))
        for one, decoding in decode_checks(problem, schedule.decoding)
    ]
