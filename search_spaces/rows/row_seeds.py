"""Which schedules of rows to try first, for operators that read a row, reduce it and write it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Generic, TypeVar

from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.rows.problem import RowProblem
from autotune.codegen.rows.schedule import RowSchedule, RowStorage, held_row
from autotune.search_spaces.contract.space import Space
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import blocks_per_sm, most_registers
from autotune.search_spaces.machine.resources import footprint_violations

P = TypeVar("P", bound=RowProblem)
S = TypeVar("S", bound=RowSchedule)

_ROUNDS = (8, 4, 2, 16, 1, 32)  # vectors of 16 bytes that a thread has of rows of all arrays, best guess first
_CLUSTERS = (1, 2, 4, 8, 16)
_NARROW_ELEMENTS = (32, 4)  # elements of a row that a thread has in narrow vectors
_LEAST_COPIED = 2**14  # bytes of a row that shared memory may hold
_RESIDENT = 4  # blocks of an SM that hide each other's waits
# Registers beyond the footprint, with which ptxas spills nothing.
_SPARE_REGISTERS = {RowStorage.REGISTERS: 16, RowStorage.SHARED: 4, RowStorage.RELOAD: 4}
# Threads of an SM: by so many, loads of 64 bytes each suffice; copies to shared memory leave room for all.
_MOST_RESIDENT = {RowStorage.REGISTERS: 1024, RowStorage.SHARED: 2048}


@dataclass(frozen=True)
class RowSeeds(Generic[P, S]):
    """Seeds for one problem on one device.

    Attributes:
        problem: whose rows are read.
        streamed: a schedule that reads rows of any length again, in the widest vectors to use.
        drawn: the search space.
        constraints: see `Operator`.
        spec: the device.
        spare: registers that the operator takes besides for rows in shared memory,
        spare_of_word: and for each word of a row in registers, such as halves that ptxas keeps apart.
    """

    problem: P
    streamed: S
    drawn: Space[S]
    constraints: Callable[[P, S, DeviceSpec], Iterator[str]]
    spec: DeviceSpec
    spare: int = 0
    spare_of_word: float = 0.0

    def in_shared_memory(self) -> Iterator[S]:
        """First the smallest cluster of blocks of 256 threads, of which four fit on an SM; last a larger one."""
        row_bytes = self.problem.columns * self.problem.dtype.bytes * self.streamed.arrays
        if row_bytes < _LEAST_COPIED:
            return
        copied = replace(self.streamed, hold=RowStorage.SHARED, loads_in_flight=1)
        fitting = (cluster for cluster in _CLUSTERS if row_bytes / cluster <= self.spec.shared_per_sm / _RESIDENT)
        usual = next(fitting, _CLUSTERS[-1])
        near = ((256, usual), (512, usual), (256, 2 * usual), (512, usual // 2), (512, 4 * usual))
        for threads, cluster in near:
            schedule = replace(copied, threads=threads, threads_per_row=threads, cluster=cluster)
            if cluster in _CLUSTERS and schedule in self.drawn and self._legal(schedule):
                yield self.filling(schedule)

    def narrow(self, wide: Sequence[S]) -> Iterator[S]:
        """For rows that begin between vectors: vectors that all of them are aligned for, for more threads, too."""
        aligned = min(self.problem.widths)
        for schedule in wide[:2]:
            narrow = replace(schedule, vector_width=aligned)
            if aligned < schedule.vector_width and not self._spills(narrow):
                # Each vector in registers takes at least one, however narrow.
                yield self.filling(narrow) if schedule.hold is RowStorage.REGISTERS else narrow
        if aligned * self.problem.dtype.bytes < WIDEST_ACCESS:
            for elements in _NARROW_ELEMENTS:
                yield self.filling(self._held(ceil_div(elements, aligned), aligned))

    def in_registers(self) -> Iterator[S]:
        """Rows in registers: of a segment of a warp, of a block, or of a cluster, as their length asks for."""
        seen, width = set(), self.streamed.vector_width
        for cluster, vectors in product(_CLUSTERS, _ROUNDS):
            rounds = max(1, vectors // self.streamed.arrays)
            schedule = self.filling(replace(self._held(rounds * cluster, width), cluster=cluster))
            if schedule.rounds(self.problem.columns) > rounds or schedule in seen or schedule not in self.drawn:
                continue
            seen.add(schedule)
            if self._legal(schedule) and not self._spills(schedule):
                yield schedule

    def _held(self, rounds: int, width: int) -> S:
        return held_row(type(self.streamed), self.problem.columns, width, rounds)

    def _legal(self, schedule: S) -> bool:
        return not any(self.constraints(self.problem, schedule, self.spec)) and not any(
            footprint_violations(self.spec, schedule.footprint(self.problem))
        )

    def _needed(self, schedule: S) -> int:
        """Registers of a thread with which ptxas spills nothing."""
        words = schedule.loaded_words(schedule.reach_in(self.problem), self.problem.dtype.bytes)
        spare = int(self.spare_of_word * words) if schedule.hold is RowStorage.REGISTERS else self.spare
        return schedule.footprint(self.problem).registers + _SPARE_REGISTERS[schedule.hold] + spare

    def _spills(self, schedule: S) -> bool:
        """Whether even one block on an SM leaves too few registers."""
        return self._needed(schedule) > most_registers(self.spec, schedule.threads, 1)

    def filling(self, schedule: S) -> S:
        """A schedule that holds rows, with as many blocks on an SM as have the registers that they need.

        Without a bound, ptxas takes up to three times as many, to work on several vectors at once.
        """
        footprint, needed = schedule.footprint(self.problem), self._needed(schedule)
        counts = field_specs(type(schedule))["min_blocks_per_sm"].values
        fitting = [n for n in counts if n == 1 or most_registers(self.spec, schedule.threads, n) >= needed]
        most = _MOST_RESIDENT[schedule.hold] // schedule.threads
        most = min(most, blocks_per_sm(self.spec, schedule.threads, needed, footprint.shared_bytes))
        return replace(schedule, min_blocks_per_sm=max(n for n in fitting if n <= max(1, most)))
