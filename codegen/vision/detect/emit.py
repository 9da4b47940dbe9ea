"""DetectProblem and DetectSchedule → Program."""

from __future__ import annotations

from math import inf

from autotune.codegen.model.program import Program
from autotune.codegen.vision.decode.emit import emit as emit_decode
from autotune.codegen.vision.decode.emit import emit_naive as naive_decode
from autotune.codegen.vision.nms.emit import emit_block
from autotune.codegen.vision.nms.emit import emit_naive as naive_nms

from .problem import DetectProblem
from .schedule import DetectSchedule


def emit(problem: DetectProblem, schedule: DetectSchedule) -> Program:
    """The launches of decode, then that of nms, which takes the number of boxes from the device."""
    keeping = emit_block(problem.keeping, schedule.keeping(problem))
    return emit_decode(problem.decoding, schedule.decoding).then(_of_boxes(keeping))


def emit_naive(problem: DetectProblem) -> Program:
    """The simplest kernels of both."""
    return naive_decode(problem.decoding).then(_of_boxes(naive_nms(problem.keeping)))


def _of_boxes(keeping: Program) -> Program:
    """The program of nms on what decode leaves."""
    return keeping.taking(classes="ids", counts="count", indices="chosen", score_threshold=-inf)
