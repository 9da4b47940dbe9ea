"""The buffers of one problem on a GPU: what kernels start from, and whether a kernel left them right."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from cuda.core import Stream

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.problem import Array, Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor import Role, Tensor
from autotune.compiler import CompiledKernel, compile_kernel
from autotune.db.states import Status
from autotune.search_spaces.contract.operator import Operator
from autotune.verification import (
    POISONS,
    Mismatch,
    exact_launch_inputs,
    exactly,
    launch_inputs,
)

from .base import Evaluation
from .cuda_context import CudaContext
from .launcher import LoadedProgram
from .memory import GuardedBuffer
from .output_judge import SAMPLED_COUNT, SAMPLED_ROWS, OutputJudge
from .tensor_maps import encode
from .verifier import Verifier

_WORKSPACE_ALIGNMENT = 256  # as the driver's own allocations


@dataclass(frozen=True)
class Watched:
    """Memory that no kernel may change: an input with its guard zones, or the guard zones alone."""

    name: str
    buffer: GuardedBuffer
    guards_only: bool
    checksum: int

    def __str__(self) -> str:
        """What a kernel wrote to that changed it."""
        return f"outside of {self.name}" if self.guards_only else f"to the input {self.name} or outside of it"


@dataclass(frozen=True)
class Ready:
    """A kernel with a workspace and packed arguments.

    Attributes:
        launch: launches it.
        beside: what surrounds its workspace, if it has one.
    """

    launch: Callable[[], None]
    beside: tuple[Watched, ...]


class Operands:
    """The buffers of a problem, and those of what is expected of its outputs.

    Every verified launch starts from the same state: inputs as `launch_inputs` makes them, `Role.IN_OUT` tensors
    too, outputs and the guard zones around every buffer poisoned. The reference is computed once, by the operator's
    reference kernel, into buffers that start as poison, or as the widened input for `Role.IN_OUT`; on the host, and
    uploaded, if the operator has no such kernel.

    Args:
        context, stream: where everything runs.
        operator, problem, seed: what is computed, and the seed of its inputs.
        memory: frees the buffers.
        load: makes a `LoadedProgram`, or gives the one that it made last if it is of the same kernel.
        exact: inputs from `exact_launch_inputs`, if outputs are to be judged `exactly`.

    Raises:
        CUDAError: there is not enough memory, or the reference cannot be launched.
    """

    def __init__(
        self,
        context: CudaContext,
        stream: Stream,
        operator: Operator[Any, Any],
        problem: Problem,
        seed: int,
        memory: ExitStack,
        load: Callable[[CompiledKernel, Program], LoadedProgram],
        *,
        exact: Mapping[str, Array] | None = None,
    ) -> None:
        self._device, self._stream, self._memory, self._load = context.handle, stream, memory, load
        self._problem, self._seed, self._exact = problem, seed, exact is not None
        self.verifier = Verifier(context.handle, stream, context.spec)
        memory.callback(self.verifier.close)
        written = [tensor for tensor in problem.tensors if tensor.role is not Role.INPUT]
        self._outputs = [exactly(tensor) for tensor in written] if self._exact else written
        self.in_place = {tensor.name: tensor.in_place for tensor in self._outputs if tensor.in_place}
        inputs = self._inputs() if exact is None else exact
        self._buffers = {tensor.name: self._tensor_buffer(tensor) for tensor in problem.tensors}
        # What a launch changes must be restored before the next one.
        self._before = {
            tensor.name: self._tensor_buffer(tensor) for tensor in problem.tensors if tensor.role is Role.IN_OUT
        }
        self._upload(inputs)
        self._watched = [
            self._watch(tensor.name, self._buffers[tensor.name], guards_only=tensor.role is not Role.INPUT)
            for tensor in problem.tensors
        ]
        allocate = partial(self._buffer, memory=memory)
        self._judge = OutputJudge(self.verifier, self._outputs, self._buffers, allocate, problem.sampled_rows(seed))
        if self._judge.compared and operator.reference is None:
            right = problem.reference(inputs, problem.scalars)
            for name, buffer in self._judge.reference_buffers(inputs, {*right}).items():
                buffer.upload(right[name])
        elif self._judge.compared and operator.reference:
            reference = operator.reference(problem)
            expected = self._judge.reference_buffers(inputs, {one.brought for one in reference.brought})
            rows = expected.get(SAMPLED_ROWS)
            count = {SAMPLED_COUNT: rows.size // DType.INT64.bytes} if rows else {}
            kernel = compile_kernel(reference, context.spec.arch)
            with self.ready(reference, kernel, expected, count) as computing:
                computing.launch()
                stream.sync()
        self._check: Callable[[], None] = lambda: None
        if self._judge.checked:
            checker = operator.checked_by(problem)
            kernel = compile_kernel(checker, context.spec.arch)
            self._check = memory.enter_context(
                self.ready(checker, kernel, self._judge.checker_buffers(self._before))
            ).launch

    def pointer(self, name: str) -> int:
        """The device address of a tensor's buffer."""
        return self._buffers[name].pointer

    @contextmanager
    def ready(
        self,
        program: Program,
        kernel: CompiledKernel,
        others: Mapping[str, GuardedBuffer] | None = None,
        scalars: Mapping[str, float] | None = None,
    ) -> Iterator[Ready]:
        """Load a kernel, give it a workspace and pack its arguments.

        It gets `others` for some of its tensors, and `scalars` beside those of the problem.
        """
        with ExitStack() as memory:
            loaded = self._load(kernel, program)
            pointers = {name: buffer.pointer for name, buffer in {**self._buffers, **(others or {})}.items()}
            pointers["workspace"] = 0
            beside: tuple[Watched, ...] = ()
            if program.workspace_bytes:
                workspace = self._buffer(program.workspace_bytes, _WORKSPACE_ALIGNMENT, memory)
                workspace.fill(0)
                pointers["workspace"] = workspace.pointer
                beside = (self._watch("workspace", workspace, guards_only=True),)
            packed: ctypes.Structure = program.pack(pointers, {**self._problem.scalars, **(scalars or {})}, encode)
            yield Ready(partial(loaded.bound(packed), int(self._stream.handle)), beside)

    def ready_in_place(self, program: Program, kernel: CompiledKernel) -> AbstractContextManager[Ready]:
        """The same with the outputs where inputs are, if the problem says that they may be."""
        shared = {operand: self._buffers[output] for output, operand in self.in_place.items()}
        return self.ready(program, kernel, shared)

    def restore(self) -> None:
        """Queue: bring back what a launch reads and changes."""
        for name, before in self._before.items():
            self._buffers[name].copy_from(before)

    def verify(
        self, launch: Callable[[], None], beside: tuple[Watched, ...] = (), *, in_place: bool = False
    ) -> Evaluation:
        """Launch on fresh states, one for each poison, and check all that the kernel wrote, or should have written.

        In place there is one state: outputs hold what the inputs do.
        """
        watched = [*self._watched, *beside]
        errors = []
        for poison in POISONS[:1] if in_place else POISONS:
            found = self._verify_once(launch, watched, poison, in_place)
            if found.status is not Status.OK:
                return found
            errors.append(found.max_error or 0.0)
            if poison == POISONS[0]:
                self._judge.keep()
        if not in_place and (unwritten := self._judge.unwritten()):
            return Evaluation(Status.WRONG, error="; ".join(f"{name}: {one}" for name, one in unwritten.items()))
        return Evaluation(Status.OK, max_error=max(errors))

    def output_checksums(self) -> dict[str, int]:
        """A checksum of each output that every launch on the same inputs must leave the same."""
        names = [tensor.name for tensor in self._outputs] if self._problem.deterministic else []
        return {name: self.verifier.checksum(self._buffers[name], guards_only=False) for name in names}

    def _buffer(self, size: int, alignment: int, memory: ExitStack) -> GuardedBuffer:
        buffer = GuardedBuffer(self._device, self._stream, size, alignment)
        memory.callback(buffer.close)
        return buffer

    def _tensor_buffer(self, tensor: Tensor) -> GuardedBuffer:
        return self._buffer(tensor.bytes, tensor.alignment, self._memory)

    def _inputs(self) -> dict[str, Array]:
        exact = exact_launch_inputs(self._problem, self._seed) if self._exact else None
        return launch_inputs(self._problem, self._seed) if exact is None else exact

    def _upload(self, inputs: Mapping[str, Array]) -> None:
        """Bring every buffer and its guard zones into the state that kernels start from."""
        for buffer in self._buffers.values():
            buffer.poison_all()
        for name, values in inputs.items():
            self._before.get(name, self._buffers[name]).upload(values)

    def _watch(self, name: str, buffer: GuardedBuffer, *, guards_only: bool) -> Watched:
        return Watched(name, buffer, guards_only, self.verifier.checksum(buffer, guards_only=guards_only))

    def _verify_once(
        self, launch: Callable[[], None], watched: list[Watched], poison: int, in_place: bool
    ) -> Evaluation:
        shared = {output: self._buffers[operand] for output, operand in self.in_place.items()} if in_place else {}
        for tensor in self._outputs:
            self._buffers[tensor.name].fill(poison)
        for output, operand in shared.items():
            self._buffers[output].copy_from(operand)
        self.restore()
        launch()
        self._stream.sync()
        damaged = [w for w in watched if self.verifier.checksum(w.buffer, guards_only=w.guards_only) != w.checksum]
        if damaged:
            self._upload(self._inputs())
            return Evaluation(Status.WRONG, error=f"wrote {damaged[0]}")
        found = self._judge.judge(poison, self._before | shared, self._check, scaled=not self._exact)
        wrong = [f"{name}: {one}" for name, one in found.items() if isinstance(one, Mismatch)]
        if wrong:
            return Evaluation(Status.WRONG, error="; ".join(wrong))
        return Evaluation(
            Status.OK, max_error=max((one for one in found.values() if isinstance(one, float)), default=0.0)
        )
