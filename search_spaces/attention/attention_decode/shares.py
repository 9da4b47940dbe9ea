"""Blocks of a fixed grid, which have equal shares of the keys of all requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from autotune.codegen.attention.attention_decode.parts import Parts
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.search_spaces.contract.space import Draw, Parameter, Space, Value
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import blocks_per_sm

_WAVES = "waves"  # the parameter of how many blocks there are for each that the SMs have room for
P = TypeVar("P", bound=Parts)


def space_of_shares(
    problem: AttentionDecodeProblem,
    spec: DeviceSpec,
    kind: type[P],
    parameters: Sequence[Parameter],
    fitted: Callable[[AttentionDecodeProblem, P, DeviceSpec], P],
) -> Space[P]:
    """The space of a type's fields as `fitted` leaves them, and of waves."""

    def build(draw: Draw) -> P:
        fields = {name: value for name, value in draw.items() if name != _WAVES}
        return shared(problem, fitted(problem, kind.from_dict(fields), spec), spec, int(draw[_WAVES]))

    return Space((*parameters, _waves(problem)), build, fits={_WAVES: _fits_waves(problem, spec)})


def _waves(problem: AttentionDecodeProblem) -> Parameter:
    """With 0, requests are cut by their own length: the only way that gives them the same bits in any batch."""
    return Parameter(_WAVES, (0,) if problem.batch_invariant else (0, 1, 2))


def changing_bits(problem: AttentionDecodeProblem, schedule: Parts) -> Iterator[str]:
    """Why a request's bits would depend on others, if they must not."""
    if problem.batch_invariant and schedule.grid_blocks:
        yield f"grid_blocks {schedule.grid_blocks}: expected 0 with batch_invariant: shares depend on others"


def shared(problem: AttentionDecodeProblem, schedule: P, spec: DeviceSpec, count: int) -> P:
    """The schedule of a grid of so many waves, or of fewer blocks if shared memory has no room for weights of all."""
    if not count:
        return schedule
    alone = schedule.replace(splits=1, grid_blocks=0, **({"cluster": False} if schedule.cluster else {}))
    footprint = alone.replace(grid_blocks=1).footprint(problem)
    registers = min(footprint.uncapped_registers, spec.registers_per_thread)
    resident = blocks_per_sm(spec, footprint.threads, registers, footprint.shared_bytes)
    room = max(1, count * resident) * spec.sm_count
    found = alone.replace(grid_blocks=max(1, room // max(1, alone.row_tiles(problem))))
    while found.footprint(problem).shared_bytes > spec.shared_per_block:
        found = found.replace(grid_blocks=found.grid_blocks // 2)
    return found


def _fits_waves(problem: AttentionDecodeProblem, spec: DeviceSpec) -> Callable[[Parts, Value], bool]:
    """Whether a schedule may have been built with so many waves."""

    def fits(schedule: Parts, count: Value) -> bool:
        return shared(problem, schedule.replace(grid_blocks=0), spec, int(count)).grid_blocks == schedule.grid_blocks

    return fits
