"""rms_norm and layer_norm: which schedules are legal, which to draw from, which to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from autotune.codegen.rows.norm.presets import streamed, widest
from autotune.codegen.rows.norm.problem import NormProblem
from autotune.codegen.rows.norm.schedule import LayerNormSchedule, Passes, RmsNormSchedule
from autotune.codegen.rows.schedule import RowStorage
from autotune.search_spaces.contract.space import Space
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.rows.row_schedules import place_violations, row_space, row_violations
from autotune.search_spaces.rows.row_seeds import RowSeeds

P = TypeVar("P", bound=NormProblem)
S = TypeVar("S", bound=RmsNormSchedule)

_LONG_ROW = 60_000  # bytes of a row that shared memory holds best
_CENTERED = 6  # registers beside the footprint for rows in shared memory: an origin, a mean, biases
# Vectors of a thread: if its first one is far from its others, the squares of differences from that one's mean are so
# many times the variance. Of 16, rstd had errors up to 2.3e-6, where the tolerance is 3.8e-6; of 32, up to 6.7e-6.
_SHIFTED_ROUNDS = 16
_SUM_HOLDS = (RowStorage.REGISTERS, RowStorage.RELOAD)  # cp.async copies, and adds nothing


def constraints(problem: NormProblem, schedule: RmsNormSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    yield from row_violations(schedule, schedule.reach_in(problem), problem.dtype.bytes)
    yield from place_violations(schedule, problem.batch_invariant, problem.vector_width("x"))
    vector_bytes = schedule.vector_width * problem.dtype.bytes
    if problem.residual and schedule.hold not in _SUM_HOLDS:
        yield f"hold {schedule.hold}: expected {' or '.join(_SUM_HOLDS)} for the sum of two arrays"
    rounds, shifted = schedule.rounds_in(problem), getattr(schedule, "passes", None) is Passes.SHIFTED
    if shifted and rounds > _SHIFTED_ROUNDS:
        yield f"passes shifted: expected two or welford for {rounds} vectors of a thread, over {_SHIFTED_ROUNDS}"
    if problem.residual and vector_bytes > problem.align_x:
        yield (
            f"vector_width {schedule.vector_width}: {vector_bytes} bytes over the {problem.align_x} that x, the "
            "residual and their sum are aligned for together"
        )


@dataclass(frozen=True)
class NormSpace(Generic[S]):
    """What an operator states of its space, by the type of its schedules."""

    kind: type[S]

    def space(self, problem: NormProblem, spec: DeviceSpec) -> Space[S]:
        """All fields."""
        size = problem.dtype.bytes
        holds = _SUM_HOLDS if problem.residual else tuple(RowStorage)
        return row_space(
            self.kind,
            problem.columns,
            problem.vector_width("x"),
            size,
            spec,
            widest=widest(problem) * size,
            holds=holds,
        )

    def default(self, problem: NormProblem, spec: DeviceSpec) -> S:
        """The first candidate; a row that fits nowhere is read again."""
        return next(self.candidates(problem, spec), streamed(self.kind, problem))

    def candidates(self, problem: NormProblem, spec: DeviceSpec) -> Iterator[S]:
        """Long rows in shared memory first, others in registers first, both with their variants; read again last."""
        spare = _CENTERED if problem.centered else 0
        seeds = RowSeeds(problem, streamed(self.kind, problem), self.space(problem, spec), constraints, spec, spare)
        copied = [] if problem.residual else list(seeds.in_shared_memory())
        loaded = list(seeds.in_registers())[:4]
        if problem.columns * problem.dtype.bytes >= _LONG_ROW:
            held = [*copied, *loaded[:2]]
        else:
            held = [*loaded[:2], *copied[:2], *loaded[2:]]
        first = [variant for schedule in held[:2] for variant in _variants(problem, schedule)]
        for_caches = [replace(schedule, streaming=True) for schedule in loaded[:1]]
        again = replace(seeds.streamed, threads=512, threads_per_row=512, loads_in_flight=4)
        others = [one for schedule in held[2:] for one in _at_once(schedule)]
        for schedule in (*first, *others, *for_caches, again, *seeds.narrow(loaded)):
            if schedule in seeds.drawn:
                yield schedule


def _variants(problem: NormProblem, schedule: S) -> Iterator[S]:
    """See `_at_once`; and of a known shape, also for caches or in vectors of half the width.

    A layer_norm of a known shape spills in such vectors.
    """
    at_once = list(_at_once(schedule))
    yield from at_once
    shaped = at_once[-1].shape_specialized
    yield from (shaped, replace(shaped, streaming=True))
    if not problem.centered and schedule.vector_width > 1:
        yield replace(shaped, vector_width=schedule.vector_width // 2)


def _at_once(schedule: S) -> Iterator[S]:
    """A layer_norm's mean and variance at once, too."""
    yield schedule
    if isinstance(schedule, LayerNormSchedule):
        yield replace(schedule, passes=Passes.SHIFTED)
