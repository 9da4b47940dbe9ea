"""One problem set up on a GPU, with inputs, reference and timing for many kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from math import inf
from statistics import median
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from cuda.core import EventOptions

from autotune.base.cuda_core import CUDAError
from autotune.codegen.model.problem import Array, Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.compiler import CompiledKernel
from autotune.db.states import Status
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.roofline import impossible_rate
from autotune.verification import exact_launch_inputs

from .base import DeviceError, Evaluation
from .cuda_context import CudaContext
from .driver import reason
from .energy import Meter
from .launcher import LoadedProgram
from .memory import GuardedBuffer
from .operands import Operands
from .timing import measure, time_limit

if TYPE_CHECKING:
    from optuna.pruners import BasePruner

    from .race import Race

_STAYS_WARM = 0.1  # seconds without a launch after which the clock may have dropped
_FLUSH_CACHES = 4  # caches full of other data that a flush reads; one is not enough, replacement is not strict


class CudaSession:
    """A session in a `CudaContext`; a context manager that frees its device memory.

    A kernel is sampled until `pruner` says that it cannot be the fastest of the session (`Race`). Without a `pruner`,
    one that is `Race.hopeless` is not warmed up. With a `meter`, the energy of each is measured after its time.
    """

    def __init__(
        self,
        context: CudaContext,
        operator: Operator[Any, Any],
        problem: Problem,
        seed: int,
        pruner: BasePruner | None = None,
        meter: Meter | None = None,
    ) -> None:
        self.problem = problem
        self._context = context
        self._operator = operator
        self._seed = seed
        self.time_limit = time_limit(problem, context.spec)
        self._memory = ExitStack()
        self._pruner, self._meter = pruner, meter
        self._sampled_at = -inf
        self._load = lru_cache(maxsize=1)(LoadedProgram)  # an evaluation prepares a kernel up to three times

    def __enter__(self) -> Self:
        self._context.check_usable()
        handle = self._context.handle
        handle.set_current()
        self._stream = handle.create_stream()
        self._begin, self._end = (handle.create_event(EventOptions(timing_enabled=True)) for _ in range(2))
        try:
            flushed = _FLUSH_CACHES * self._context.spec.l2_bytes
            self._flush = GuardedBuffer(handle, self._stream, flushed, 256)
            self._memory.callback(self._flush.close)
            begun = monotonic()
            self._operands = self._new_operands(self._memory)
            if self._operator.reference is None:  # the host computes it again, of whole numbers, as the first is judged
                self.time_limit += 2 * (monotonic() - begun)
        except CUDAError as error:
            self.__exit__(None, None, None)
            self._context.check_context()
            raise DeviceError(f"{self.problem.key} on device {self._context.selector}: {reason(error)}") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # A lost context cannot free its memory; the process that ends does.
        with suppress(CUDAError):
            self._memory.close()

    def _new_operands(self, memory: ExitStack, exact: Mapping[str, Array] | None = None) -> Operands:
        arguments = self._context, self._stream, self._operator, self.problem, self._seed, memory, self._load
        return Operands(*arguments, exact=exact)

    @property
    def spec(self) -> DeviceSpec:
        """That of the context's device."""
        return self._context.spec

    @property
    def stream(self) -> int:
        """The address of the ``CUstream`` that everything runs on."""
        return int(self._stream.handle)

    def wait(self) -> None:
        """Wait for all that is queued."""
        self._stream.sync()

    def pointer(self, name: str) -> int:
        """The device address of a tensor's buffer."""
        return self._operands.pointer(name)

    @contextmanager
    def prepared(self, program: Program, kernel: CompiledKernel) -> Iterator[Callable[[], None]]:
        """What launches a kernel on the session's buffers, as long as the context lasts."""
        with self._operands.ready(program, kernel) as ready:
            yield ready.launch

    def verify(self, launch: Callable[[], None]) -> Evaluation:
        """Launch something else that computes the problem on the session's buffers, and check all that it wrote."""
        return self._operands.verify(launch)

    def verify_in_place(self, program: Program, kernel: CompiledKernel) -> Evaluation:
        """Launch a kernel with the outputs where inputs are, if the problem says that they may be, and check them."""
        if not self._operands.in_place:
            return Evaluation(Status.OK)
        with self._operands.ready_in_place(program, kernel) as ready:
            found = self._operands.verify(ready.launch, in_place=True)
        return replace(found, error=f"in place: {found.error}") if found.error else found

    def verify_exactly(self, program: Program, kernel: CompiledKernel) -> Evaluation:
        """Launch a kernel on `Problem.exact_inputs`, if the problem has any, and check that it rounds no sums."""
        if self._exact_operands is None:
            return Evaluation(Status.OK)
        with self._exact_operands.ready(program, kernel) as ready:
            found = self._exact_operands.verify(ready.launch)
        return replace(found, error=f"with whole numbers: {found.error}") if found.error else found

    @cached_property
    def _exact_operands(self) -> Operands | None:
        """Buffers of whole numbers, for those who evaluate schedules."""
        inputs = exact_launch_inputs(self.problem, self._seed)
        if inputs is None:
            return None
        with ExitStack() as memory:
            try:
                operands = self._new_operands(memory, inputs)
            except CUDAError:  # no memory for both: random numbers have to do
                self._context.check_context()
                return None
            self._memory.enter_context(memory.pop_all())
        return operands

    @cached_property
    def _race(self) -> Race:
        from .race import Race  # Optuna, which only those need who evaluate schedules

        return Race(self._pruner)

    def evaluate(self, schedule: Schedule, program: Program, kernel: CompiledKernel) -> Evaluation:
        """Verify, time and verify again.

        Raises:
            DeviceError: an earlier kernel destroyed the CUDA context.
        """
        self._context.check_usable()
        try:
            return self._evaluate(program, kernel)
        except CUDAError as error:
            lost = self._context.check_context()
            return Evaluation(Status.CRASHED if lost else Status.LAUNCH_ERROR, error=reason(error))

    def _evaluate(self, program: Program, kernel: CompiledKernel) -> Evaluation:
        warm = monotonic() < self._sampled_at + _STAYS_WARM
        with self._operands.ready(program, kernel) as ready:
            checked = self._operands.verify(ready.launch, ready.beside)
            if checked.status is not Status.OK:
                return checked
            first = self._operands.output_checksums()
            for verify in (self.verify_in_place, self.verify_exactly):
                otherwise = verify(program, kernel)
                if otherwise.status is not Status.OK:
                    return otherwise
            self._race.start()
            conditions = self._context.conditions
            sample = partial(self.sample, ready.launch)
            hopeless = self._race.hopeless if warm and not self._pruner else None
            samples, early = measure(sample, monotonic, self._race.prune, conditions.slowed_down, hopeless)
            stopped = {"stopped_early": True} if early else {}
            found = replace(checked, samples=samples, conditions=conditions.now() | stopped)
            energy = self._meter and self._meter.measure(ready.launch, self.wait, median(samples))
            if energy:
                found = replace(found, conditions={**found.conditions, **energy._asdict()})
            again = self._operands.verify(ready.launch, ready.beside)
            last = self._operands.output_checksums()
        if again.status is not Status.OK:
            return replace(again, error=f"right before timing, wrong after it: {again.error}")
        if differing := [name for name, sum_ in last.items() if sum_ != first[name]]:
            error = f"{differing[0]}: two launches on the same inputs differ, and {self.problem.key} is deterministic"
            return replace(found, status=Status.WRONG, error=error)
        seconds = median(samples)
        if error := impossible_rate(self.problem, seconds, self._context.spec):
            return replace(found, status=Status.WRONG, error=error)
        self._race.finish(seconds)
        return found

    def sample(self, launch: Callable[[], None]) -> float:
        """Seconds of one launch; `timing` says why like this."""
        self._operands.restore()
        self._operands.verifier.queue_checksum(self._flush, guards_only=False)
        self._stream.record(self._begin)
        launch()
        self._stream.record(self._end)
        self._end.sync()
        self._sampled_at = monotonic()
        milliseconds: float = self._end - self._begin
        return milliseconds * 1e-3
