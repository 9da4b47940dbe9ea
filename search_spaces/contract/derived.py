"""What follows from a schedule's fields, its footprint, its tiles and its program, where an operator states no more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from autotune.codegen.model.fields import FieldRole, field_specs, invalid_fields
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import LINE_BYTES, WARP, WIDEST_ACCESS, WORD_BYTES
from autotune.codegen.model.integers import round_up
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import footprint_violations
from autotune.search_spaces.machine.workload import Workload

from .space import Space, field_parameters

P = TypeVar("P", bound=Problem)
S = TypeVar("S", bound=Schedule)
_SMALL = 33  # a size in check problems that tiles do not divide


def no_constraints(_problem: Any, _schedule: Any, _spec: DeviceSpec) -> Iterable[str]:
    """What fields may be and what a block may take says all."""
    return ()


def field_space(
    schedule_type: type[S], constraints: Callable[[P, S, DeviceSpec], Iterable[str]]
) -> Callable[[P, DeviceSpec], Space[S]]:
    """The values of all fields, but for those that are illegal in the schedule of defaults."""

    def space(problem: P, spec: DeviceSpec) -> Space[S]:
        default = schedule_type()

        def legal(name: str, value: Any) -> bool:
            changed = replace(default, **{name: value})
            return not (
                any(invalid_fields(changed))
                or any(constraints(problem, changed, spec))
                or any(footprint_violations(spec, changed.footprint(problem)))
            )

        stated = {name: one.values for name, one in field_specs(schedule_type).items() if one.values}
        fewer = {
            name: [value for value in values if legal(name, value)] or [getattr(default, name)]
            for name, values in stated.items()
        }
        return Space(field_parameters(schedule_type, **fewer), schedule_type.from_dict)

    return space


def one_by_one(
    schedule_type: type[S], space: Callable[[P, DeviceSpec], Space[S]]
) -> Callable[[P, DeviceSpec], Iterator[S]]:
    """The schedule of defaults, and those that differ from it in one parameter."""

    def candidates(problem: P, spec: DeviceSpec) -> Iterator[S]:
        drawn, default = space(problem, spec), schedule_type()
        yield default
        for parameter in drawn.parameters if default in drawn else ():
            for value in parameter.values:
                yield drawn.build({**drawn.draw_of(default), parameter.name: value})

    return candidates


def tile_checks(problem: P, schedule: S) -> list[tuple[P, S]]:
    """Two tiles without gaps; and a tile and a half with gaps, in a batch of two, aligned as the problem is.

    Sizes that are not tiled are the problem's, reduced to some that are soon done.
    """
    specs, tile = field_specs(type(problem)), schedule.tile_sizes(problem)
    kept = {name: getattr(problem, name) for name in specs if _is_kept(problem, name)}
    sizes = {name: getattr(problem, name) for name, spec in specs.items() if spec.role is FieldRole.SIZE}
    batches = {name: 2 for name in sizes if specs[name].implied == 1 and name not in tile}
    whole = {name: 2 * tile[name] if name in tile else min(size, 2 * _SMALL) for name, size in sizes.items()}
    edges = {name: tile[name] + tile[name] // 2 + 1 if name in tile else min(_SMALL, s) for name, s in sizes.items()}
    ragged: Any = type(problem)(**type(problem).fitted({**kept, **edges, **batches}))
    for operand, stated in ragged.layouts.items():
        widest, last = WIDEST_ACCESS // stated.element_bytes, len(stated.fields) - 1
        odd = problem.layouts[operand].strides[-1] % widest
        ragged = replace(ragged, **stated.spread(last, round_up(stated.shape[-1], widest) + widest + odd))
    return [(type(problem)(**type(problem).fitted({**kept, **whole})), schedule), (ragged, schedule)]


@dataclass(frozen=True)
class EmittedWorkload(Generic[P, S]):
    """The bytes of the problem's usual work; each launch of a program moves an equal share, spread over its blocks.

    It tells schedules apart by their blocks and their occupancy alone.
    """

    emit: Callable[[P, S], Program]

    def __call__(self, problem: P, schedule: S, spec: DeviceSpec) -> tuple[Workload, ...]:
        """See `Kernel`."""
        own, launches = schedule.footprint(problem), self.emit(problem, schedule).launches
        footprints = (replace(own, threads=one.threads, shared_bytes=one.shared_bytes) for one in launches)
        share = problem.usual_work.bytes // len(launches)
        return tuple(
            _streamed(share, one.blocks, footprint) for one, footprint in zip(launches, footprints, strict=True)
        )


def _streamed(moved: int, blocks: int, footprint: Footprint) -> Workload:
    of_block = moved / max(1, blocks)
    accesses = of_block / (WARP * WORD_BYTES)
    return Workload(
        blocks,
        footprint,
        moved,
        instructions=8 * accesses,
        load_instructions=2 * accesses,
        lines=of_block / LINE_BYTES,
        bytes_loaded=of_block / 2,
        bytes_stored=of_block / 2,
    )


def _is_kept(problem: Problem, name: str) -> bool:
    """Whether check problems have a field's value: all but sizes and distances."""
    role = field_specs(type(problem))[name].role
    return role in (FieldRole.KIND, FieldRole.DATA) or (role is FieldRole.LAYOUT and name.startswith("align"))
