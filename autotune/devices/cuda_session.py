"""One problem set up on a GPU, with inputs, reference and timing for many kernels."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import inf
from statistics import median
from types import TracebackType
from typing import Any, Self

from cuda.core import EventOptions

from ..codegen.dtype import DType
from ..codegen.problem import Array, Problem
from ..codegen.program import Program
from ..codegen.schedule import Schedule
from ..codegen.tensor import Role, Tensor
from ..compiler import CompiledKernel, compile_kernel
from ..cuda_core import CUDAError
from ..db.states import Status
from ..search_spaces.device_spec import DeviceSpec
from ..search_spaces.operator import Operator
from ..search_spaces.roofline import impossible_rate
from ..verification import (
    POISONS,
    UNTOUCHED,
    Mismatch,
    exact_launch_inputs,
    exactly,
    expected_dtype,
    launch_inputs,
    scale_name,
)
from .base import DeviceError, Evaluation
from .cuda_context import CudaContext
from .driver import reason
from .launcher import LoadedProgram
from .memory import GuardedBuffer
from .tensor_maps import encode
from .timing import measure, time_limit
from .verifier import Verifier

_FLUSH_CACHES = 4  # caches full of other data that a flush reads; one is not enough, replacement is not strict
_WORKSPACE_ALIGNMENT = 256  # as the driver's own allocations


@dataclass(frozen=True)
class _Watched:
    """Memory that no kernel may change: an input with its guard zones, or the guard zones alone."""

    name: str
    buffer: GuardedBuffer
    guards_only: bool
    checksum: int


class CudaSession:
    """A session in a `CudaContext`; a context manager that frees its device memory.

    Every verified launch starts from the same state: inputs as `launch_inputs` makes them, `Role.IN_OUT` tensors
    too, outputs and the guard zones around every buffer poisoned. The reference is computed once, by the operator's
    reference kernel, into buffers that start as poison, or as the widened input for `Role.IN_OUT`.

    An `exact` session has the inputs of `Problem.exact_inputs`, and judges `exactly`; it only verifies.
    """

    def __init__(
        self, context: CudaContext, operator: Operator[Any, Any], problem: Problem, seed: int, *, exact: bool = False
    ) -> None:
        self.problem = problem
        self._context = context
        self._operator = operator
        self._seed = seed
        self.time_limit = time_limit(problem, context.limits)
        self._judges_exactly = exact
        written = [tensor for tensor in problem.tensors if tensor.role is not Role.INPUT]
        self._outputs = [exactly(tensor) for tensor in written] if exact else written
        self._in_place = {tensor.name: tensor.in_place for tensor in self._outputs if tensor.in_place}
        self._memory = ExitStack()
        self._incumbent = inf  # seconds of the fastest kernel so far, which others race

    def __enter__(self) -> Self:
        self._context.check_usable()
        handle = self._context.handle
        handle.set_current()
        self._stream = handle.create_stream()
        self._begin, self._end = (handle.create_event(EventOptions(timing_enabled=True)) for _ in range(2))
        try:
            inputs = self._inputs()
            self._allocate(inputs)
            self._compute_expected(inputs)
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

    @property
    def limits(self) -> DeviceSpec:
        """The device's limits."""
        return self._context.limits

    @property
    def stream(self) -> int:
        """The address of the ``CUstream`` that everything runs on."""
        return int(self._stream.handle)

    def pointer(self, name: str) -> int:
        """The device address of a tensor's buffer."""
        return self._buffers[name].pointer

    @contextmanager
    def prepared(self, program: Program, kernel: CompiledKernel) -> Iterator[Callable[[], None]]:
        """What launches a kernel on the session's buffers, as long as the context lasts."""
        with ExitStack() as memory:
            yield self._ready(program, kernel, self._buffers, memory)[0]

    def verify(self, launch: Callable[[], None]) -> Evaluation:
        """Launch something else that computes the problem on the session's buffers, and check all that it wrote."""
        return self._verify(launch, self._watched)

    def verify_in_place(self, program: Program, kernel: CompiledKernel) -> Evaluation:
        """Launch a kernel with the outputs where inputs are, if the problem says that they may be, and check them."""
        if not self._in_place:
            return Evaluation(Status.OK)
        shared = {operand: self._buffers[output] for output, operand in self._in_place.items()}
        with ExitStack() as memory:
            launch, _ = self._ready(program, kernel, self._buffers | shared, memory)
            found = self._verify(launch, self._watched, in_place=True)
        return replace(found, error=f"in place: {found.error}") if found.error else found

    def verify_exactly(self, program: Program, kernel: CompiledKernel) -> Evaluation:
        """Launch a kernel on `Problem.exact_inputs`, if the problem has any, and check that it rounds no sums."""
        if self._exact is None:
            return Evaluation(Status.OK)
        with self._exact.prepared(program, kernel) as launch:
            found = self._exact.verify(launch)
        return replace(found, error=f"with whole numbers: {found.error}") if found.error else found

    @cached_property
    def _exact(self) -> CudaSession | None:
        """A session on whole numbers, with memory of its own, for those who evaluate schedules."""
        if self.problem.exact_inputs(self._seed) is None:
            return None
        session = CudaSession(self._context, self._operator, self.problem, self._seed, exact=True)
        try:
            return self._memory.enter_context(session)
        except DeviceError:  # no memory for both: random numbers have to do
            return None

    def evaluate(self, schedule: Schedule, program: Program, kernel: CompiledKernel) -> Evaluation:
        """Verify, time and verify again.

        Raises:
            DeviceError: an earlier kernel destroyed the CUDA context.
        """
        self._context.check_usable()
        try:
            with ExitStack() as memory:
                return self._evaluate(program, kernel, memory)
        except CUDAError as error:
            lost = self._context.check_context()
            return Evaluation(Status.CRASHED if lost else Status.LAUNCH_ERROR, error=reason(error))

    def _evaluate(self, program: Program, kernel: CompiledKernel, memory: ExitStack) -> Evaluation:
        launch, workspace = self._ready(program, kernel, self._buffers, memory)
        watched = [*self._watched, *([self._watch("workspace", workspace, guards_only=True)] if workspace else [])]
        checked = self._verify(launch, watched)
        if checked.status is not Status.OK:
            return checked
        first = self._output_checksums()
        for verify in (self.verify_in_place, self.verify_exactly):
            otherwise = verify(program, kernel)
            if otherwise.status is not Status.OK:
                return otherwise
        conditions = self._context.conditions
        samples = measure(partial(self.sample, launch), incumbent=self._incumbent, slowed_down=conditions.slowed_down)
        found = replace(checked, samples=samples, conditions=conditions.now())
        again = self._verify(launch, watched)
        if again.status is not Status.OK:
            return replace(again, error=f"right before timing, wrong after it: {again.error}")
        if differing := [name for name, sum_ in self._output_checksums().items() if sum_ != first[name]]:
            error = f"{differing[0]}: two launches on the same inputs differ, and {self.problem.key} is deterministic"
            return replace(found, status=Status.WRONG, error=error)
        seconds = median(samples)
        if error := impossible_rate(self.problem, seconds, self._context.limits):
            return replace(found, status=Status.WRONG, error=error)
        self._incumbent = min(self._incumbent, seconds)
        return found

    def _buffer(self, size: int, alignment: int, memory: ExitStack) -> GuardedBuffer:
        buffer = GuardedBuffer(self._context.handle, self._stream, size, alignment)
        memory.callback(buffer.close)
        return buffer

    def _allocate(self, inputs: Mapping[str, Array]) -> None:
        self._verifier = Verifier(self._context.handle, self._stream, self._context.limits)
        self._memory.callback(self._verifier.close)
        flushed = 0 if self._judges_exactly else _FLUSH_CACHES * self._context.limits.l2_bytes  # nothing is timed
        self._flush = self._buffer(flushed, 256, self._memory)
        tensors = self.problem.tensors
        self._buffers = {tensor.name: self._buffer(tensor.bytes, tensor.alignment, self._memory) for tensor in tensors}
        # What a launch changes must be restored before the next one.
        self._before = {
            tensor.name: self._buffer(tensor.bytes, tensor.alignment, self._memory)
            for tensor in tensors
            if tensor.role is Role.IN_OUT
        }
        self._upload(inputs)
        self._watched = [
            self._watch(tensor.name, self._buffers[tensor.name], guards_only=tensor.role is not Role.INPUT)
            for tensor in tensors
        ]

    def _inputs(self) -> dict[str, Array]:
        exact = exact_launch_inputs(self.problem, self._seed) if self._judges_exactly else None
        return launch_inputs(self.problem, self._seed) if exact is None else exact

    def _upload(self, inputs: Mapping[str, Array]) -> None:
        """Bring every buffer and its guard zones into the state that kernels start from."""
        for buffer in self._buffers.values():
            buffer.poison_all()
        for name, values in inputs.items():
            self._before.get(name, self._buffers[name]).upload(values)

    def _watch(self, name: str, buffer: GuardedBuffer, *, guards_only: bool) -> _Watched:
        return _Watched(name, buffer, guards_only, self._verifier.checksum(buffer, guards_only=guards_only))

    def _compute_expected(self, inputs: Mapping[str, Array]) -> None:
        """Have the reference kernel write what is expected, and the scales of the errors that it has a pointer for."""
        program = self._operator.reference(self.problem)
        kernel = compile_kernel(program, self._context.limits.arch)
        self._expected: dict[str, GuardedBuffer] = {}
        for tensor in self._outputs:
            dtype = expected_dtype(tensor)
            buffer = self._buffer(tensor.size * dtype.bytes, max(tensor.alignment, dtype.bytes), self._memory)
            if tensor.role is Role.IN_OUT:
                buffer.upload(inputs[tensor.name].astype(dtype.numpy))
            self._expected[tensor.name] = buffer
            scale = scale_name(tensor)
            if any(argument.name == scale for argument in program.arguments):
                self._expected[scale] = self._buffer(tensor.size * DType.FLOAT64.bytes, 8, self._memory)
        with ExitStack() as memory:
            launch, _ = self._ready(program, kernel, self._buffers | self._expected, memory)
            launch()
            self._stream.sync()

    def _ready(
        self, program: Program, kernel: CompiledKernel, buffers: dict[str, GuardedBuffer], memory: ExitStack
    ) -> tuple[Callable[[], None], GuardedBuffer | None]:
        """Load a kernel, give it a workspace and pack its arguments; what launches it, and the workspace."""
        loaded = LoadedProgram(kernel, program)
        workspace = None
        if program.workspace_bytes:
            workspace = self._buffer(program.workspace_bytes, _WORKSPACE_ALIGNMENT, memory)
            workspace.fill(0)
        pointers = {name: buffer.pointer for name, buffer in buffers.items()}
        pointers["workspace"] = workspace.pointer if workspace else 0
        packed: ctypes.Structure = program.pack(pointers, self.problem.scalars, encode)
        return partial(loaded.bound(packed), self.stream), workspace

    def _verify(self, launch: Callable[[], None], watched: list[_Watched], *, in_place: bool = False) -> Evaluation:
        """Launch on fresh states, one for each poison, and check all that the kernel wrote, or should have written.

        In place there is one state: outputs hold what the inputs do.
        """
        errors = []
        for poison in POISONS[:1] if in_place else POISONS:
            found = self._verify_once(launch, watched, poison, in_place)
            if found.status is not Status.OK:
                return found
            errors.append(found.max_error or 0.0)
        return replace(found, max_error=max(errors))

    def _verify_once(
        self, launch: Callable[[], None], watched: list[_Watched], poison: int, in_place: bool
    ) -> Evaluation:
        for tensor in self._outputs:
            self._buffers[tensor.name].fill(poison)
        if in_place:
            for output, operand in self._in_place.items():
                self._buffers[output].copy_from(self._buffers[operand])
        self._restore()
        launch()
        self._stream.sync()
        damaged = [w for w in watched if self._verifier.checksum(w.buffer, guards_only=w.guards_only) != w.checksum]
        if damaged:
            self._upload(self._inputs())
            return Evaluation(Status.WRONG, error=f"wrote {_outside(damaged[0])}")
        compared = {tensor.name: self._compare(tensor, poison) for tensor in self._outputs}
        max_error = max((error for error, _ in compared.values()), default=0.0)
        wrong = [f"{name}: {mismatch}" for name, (_, mismatch) in compared.items() if mismatch]
        return Evaluation(Status.WRONG if wrong else Status.OK, error="; ".join(wrong), max_error=max_error)

    def _output_checksums(self) -> dict[str, int]:
        """A checksum of each output that every launch on the same inputs must leave the same."""
        names = [tensor.name for tensor in self._outputs] if self.problem.deterministic else []
        return {name: self._verifier.checksum(self._buffers[name], guards_only=False) for name in names}

    def _compare(self, tensor: Tensor, poison: int) -> tuple[float, Mismatch | None]:
        """An output's largest absolute error, and what is wrong with it if something is."""
        name = tensor.name
        actual, expected = self._buffers[name], self._expected[name]
        scale, before = self._expected.get(scale_name(tensor)), self._before.get(name)
        scale = None if self._judges_exactly else scale
        found = self._verifier.compare(tensor, actual, expected, scale=scale, before=before, poison=poison)
        if not found.wrong:
            return found.max_error, None
        index, should = found.first, UNTOUCHED
        if tensor.reaches(index):
            should = str(expected.element(index, expected_dtype(tensor).numpy))
        got = str(actual.element(index, tensor.dtype.numpy))
        return found.max_error, Mismatch(found.wrong, tensor.size, index, got, should)

    def _restore(self) -> None:
        for name, before in self._before.items():
            self._buffers[name].copy_from(before)

    def sample(self, launch: Callable[[], None]) -> float:
        """Seconds of one launch; `timing` says why like this."""
        self._restore()
        self._verifier.queue_checksum(self._flush, guards_only=False)
        self._stream.record(self._begin)
        launch()
        self._stream.record(self._end)
        self._end.sync()
        milliseconds: float = self._end - self._begin
        return milliseconds * 1e-3


def _outside(watched: _Watched) -> str:
    if watched.guards_only:
        return f"outside of {watched.name}"
    return f"to the input {watched.name} or outside of it"
