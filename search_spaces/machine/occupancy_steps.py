"""How occupancy follows from what a block takes: up to which amount of a resource an SM holds how many blocks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from autotune.codegen.model.footprint import Footprint

from .device_spec import DeviceSpec
from .occupancy import Limiter, blocks_by_limiter, occupancy


class Resource(StrEnum):
    """What a block takes of an SM; the values are names of `Footprint`'s fields."""

    THREADS = "threads"
    REGISTERS = "registers"
    SHARED_BYTES = "shared_bytes"

    @property
    def limiter(self) -> Limiter:
        """What a block with too much of it runs short of."""
        return _LIMITERS[self]


_LIMITERS = {
    Resource.THREADS: Limiter.WARPS,
    Resource.REGISTERS: Limiter.REGISTERS,
    Resource.SHARED_BYTES: Limiter.SHARED_MEMORY,
}


class Step(NamedTuple):
    """Amounts of a resource with which an SM holds the same number of blocks.

    Attributes:
        most: the largest of them; the step before ends below the smallest.
        blocks_per_sm: resident blocks.
        warps_per_sm: resident warps, with the largest amount.
    """

    most: int
    blocks_per_sm: int
    warps_per_sm: int


def steps(spec: DeviceSpec, footprint: Footprint, resource: Resource) -> list[Step]:
    """The blocks of an SM for every amount of one resource; the other two are the footprint's.

    The first step has the most blocks. Amounts that a block may not have are left out.
    """

    def occupancy_with(amount: int) -> tuple[int, int]:
        found = occupancy(spec, *_amounts(footprint, resource, amount))
        return found.blocks_per_sm, found.warps_per_sm

    found: list[Step] = []
    amount, limit = int(resource is not Resource.SHARED_BYTES), _limit(spec, resource)
    while amount <= limit and (blocks := occupancy_with(amount)[0]):
        most = _last(limit, blocks, lambda larger: occupancy_with(larger)[0])
        found.append(Step(most, *occupancy_with(most)))
        amount = most + 1
    return found


def most_for_blocks(spec: DeviceSpec, footprint: Footprint, resource: Resource, blocks: int) -> int | None:
    """The largest amount of a resource that allows so many blocks, whatever the other two allow; None if none does."""

    def allowed(amount: int) -> int:
        return blocks_by_limiter(spec, *_amounts(footprint, resource, amount))[resource.limiter]

    least = int(resource is not Resource.SHARED_BYTES)
    most = _last(_limit(spec, resource), blocks, allowed)
    return most if most >= least and allowed(most) >= blocks else None


def _amounts(footprint: Footprint, resource: Resource, amount: int) -> tuple[int, int, int]:
    """Threads, registers and shared memory of the footprint, with another amount of one of them."""
    taken = {each: int(getattr(footprint, each)) for each in Resource} | {resource: amount}
    return taken[Resource.THREADS], taken[Resource.REGISTERS], taken[Resource.SHARED_BYTES]


def _limit(spec: DeviceSpec, resource: Resource) -> int:
    limits = {
        Resource.THREADS: spec.threads_per_block,
        Resource.REGISTERS: spec.registers_per_thread,
        Resource.SHARED_BYTES: spec.shared_per_block,
    }
    return limits[resource]


def _last(limit: int, blocks: int, blocks_with: Callable[[int], int]) -> int:
    """The last amount, from 1 to `limit`, that leaves at least so many blocks; 0 if there is none."""
    return bisect_right(range(1, limit + 1), -blocks, key=lambda amount: -blocks_with(amount))
