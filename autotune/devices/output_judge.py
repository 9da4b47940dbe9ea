"""What is expected of a problem's outputs on a GPU, and how far what a launch left there is from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.lists import suffixed
from autotune.codegen.model.problem import Array
from autotune.codegen.model.tensor import Checked, Role, Tensor
from autotune.verification import UNTOUCHED, WRITTEN, Mismatch, expected_dtype, is_sampled, scale_name

from .memory import GuardedBuffer
from .verifier import EMPTY_REPORT, REPORT, Discrepancy, Verifier

Buffers = Mapping[str, GuardedBuffer]
SAMPLED_ROWS, SAMPLED_COUNT = "sampled_rows", "sampled_count"  # arguments of a reference kernel


class OutputJudge:
    """Judges outputs in device memory as `verification.judge` does.

    Args:
        verifier: compares.
        outputs: of the problem, as they are judged.
        buffers: of all tensors, by name.
        allocate: makes a buffer of so many bytes with that alignment.
        rows: those of `Problem.sampled_rows`.
    """

    def __init__(
        self,
        verifier: Verifier,
        outputs: Sequence[Tensor],
        buffers: Buffers,
        allocate: Callable[[int, int], GuardedBuffer],
        rows: Array | None,
    ) -> None:
        self._verifier, self._outputs, self._buffers, self._allocate = verifier, outputs, buffers, allocate
        self._expected: Buffers = {}
        self._reports: Buffers = {}
        self._rows = None if rows is None else self._uploaded(rows)
        self._own_rows: Buffers = {
            tensor.name: self._uploaded(tensor.own_rows(rows))
            for tensor in outputs
            if rows is not None and tensor.row_axes
        }
        # What an earlier launch left where no reference says what is right.
        self._earlier: Buffers = {
            tensor.name: allocate(tensor.bytes, tensor.alignment)
            for tensor in outputs
            if tensor.role is Role.OUTPUT and is_sampled(tensor, rows)
        }

    @property
    def compared(self) -> bool:
        """Whether an output is compared with a reference."""
        return any(not isinstance(tensor.judged, Checked) for tensor in self._outputs)

    @property
    def checked(self) -> bool:
        """Whether an output is judged by the operator's checker."""
        return any(isinstance(tensor.judged, Checked) for tensor in self._outputs)

    def reference_buffers(self, inputs: Mapping[str, Array], taken: set[str]) -> Buffers:
        """Where the reference writes outputs, and the scales of their errors, of which it has the pointers `taken`."""
        expected = {}
        for tensor in self._outputs:
            dtype = expected_dtype(tensor)
            alignment = max(tensor.alignment, dtype.bytes)
            expected[tensor.name] = self._allocate(tensor.size * dtype.bytes, alignment)
            if tensor.role is Role.IN_OUT:
                expected[tensor.name].upload(inputs[tensor.name].astype(dtype.numpy))
            if (scale := scale_name(tensor)) in taken:
                expected[scale] = self._allocate(tensor.size * DType.FLOAT64.bytes, 8)
        self._expected = expected
        if SAMPLED_ROWS not in taken:
            return expected
        if self._rows is None:
            rows = self._uploaded(np.arange(max(tensor.rows_end for tensor in self._outputs if tensor.row_axes)))
        else:
            rows = self._rows
        return expected | {SAMPLED_ROWS: rows}

    def checker_buffers(self, before: Buffers) -> Buffers:
        """Where the checker reports, beside what tensors held `before` that are read and written."""
        checked = [tensor.name for tensor in self._outputs if isinstance(tensor.judged, Checked)]
        self._reports = {name: self._allocate(REPORT.itemsize, 8) for name in checked}
        return {suffixed(name, "_report"): report for name, report in self._reports.items()} | {
            suffixed(name, "_before"): buffer for name, buffer in before.items()
        }

    def judge(
        self, poison: int, before: Buffers, check: Callable[[], None], *, scaled: bool
    ) -> dict[str, float | Mismatch]:
        """The largest absolute error of each output, or what is wrong with it.

        Args:
            poison: what outputs were filled with ...
            before: ... unless they held what is here.
            check: launches the checker on the `checker_buffers`.
            scaled: whether errors are relative to the scales that the reference wrote.
        """
        for report in self._reports.values():
            report.upload(EMPTY_REPORT)
        if self._reports:
            check()
        return {tensor.name: self._judged(tensor, poison, before.get(tensor.name), scaled) for tensor in self._outputs}

    def keep(self) -> None:
        """Queue: copy the outputs of a launch with the first poison, for `unwritten`."""
        for name, earlier in self._earlier.items():
            earlier.copy_from(self._buffers[name])

    def unwritten(self) -> dict[str, Mismatch]:
        """The outputs with elements that no launch wrote, neither the one before `keep` nor the last one."""
        found = {}
        for tensor in (tensor for tensor in self._outputs if tensor.name in self._earlier):
            name, counts = tensor.name, self._buffers[tensor.extent.count] if tensor.extent else None
            left = self._verifier.unwritten(tensor, self._earlier[name], self._buffers[name], counts)
            if left.wrong:
                got = str(self._buffers[name].element(left.first, tensor.dtype.numpy))
                place = tensor.indices_of(left.first)
                found[name] = Mismatch(left.wrong, tensor.size, left.first, got, WRITTEN, place)
        return found

    def _uploaded(self, rows: Array) -> GuardedBuffer:
        buffer = self._allocate(rows.nbytes, DType.INT64.bytes)
        buffer.upload(rows.astype(np.int64))
        return buffer

    def _judged(self, tensor: Tensor, poison: int, before: GuardedBuffer | None, scaled: bool) -> float | Mismatch:
        name, actual = tensor.name, self._buffers[tensor.name]
        report = self._reports.get(name)
        expected = None if report else self._expected[name]
        scale = self._expected.get(scale_name(tensor)) if scaled else None
        counts = self._buffers[tensor.extent.count] if tensor.extent else None
        found = self._verifier.compare(
            tensor,
            actual,
            expected,
            scale=scale,
            before=before,
            counts=counts,
            rows=self._own_rows.get(name),
            poison=poison,
        )
        if report:
            elements = Discrepancy.reported(report)
            first = min((one.first for one in (found, elements) if one.wrong), default=0)
            found = Discrepancy(found.wrong + elements.wrong, first, elements.max_error)
        if not found.wrong:
            return found.max_error
        index, should = found.first, UNTOUCHED
        count_at = partial(counts.element, dtype="int32") if counts else None
        if tensor.reaches(index, count_at):
            should = str(expected.element(index, expected_dtype(tensor).numpy)) if expected else str(tensor.judged)
        got = str(actual.element(index, tensor.dtype.numpy))
        return Mismatch(found.wrong, tensor.size, index, got, should, tensor.indices_of(index))
