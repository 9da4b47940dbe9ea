"""DetectProblem and DetectSchedule → Program."""

from __future__ import annotations

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.program import Program
from autotune.codegen.source.arguments import sizes_of
from autotune.codegen.source.kernel_source import KernelSource
from autotune.codegen.vision.decode.emit import emit as emit_decode
from autotune.codegen.vision.decode.emit import emit_naive as naive_decode
from autotune.codegen.vision.nms.emit import emit_block
from autotune.codegen.vision.nms.emit import emit_naive as naive_nms

from .problem import DetectProblem
from .schedule import DetectSchedule, ResultsSchedule

_FOUND = {"boxes": "float*", "scores": "float*", "ids": "int*", "indices": "int*"}  # of each box, by decode


def emit(problem: DetectProblem, schedule: DetectSchedule) -> Program:
    """The launches of decode, that of nms, which takes the number of boxes from the device, and one for the results."""
    keeping = emit_block(problem.keeping, schedule.keeping(problem))
    return _joined(problem, emit_decode(problem.decoding, schedule.decoding), keeping)


def emit_naive(problem: DetectProblem) -> Program:
    """The simplest kernels of both."""
    return _joined(problem, naive_decode(problem.decoding), naive_nms(problem.keeping))


def _joined(problem: DetectProblem, decoding: Program, keeping: Program) -> Program:
    """What decode leaves is in the workspace, and so are the numbers of the boxes that nms keeps."""
    found = {"boxes": "found_boxes", "scores": "found_scores"}
    decoded = decoding.taking(**found, ids="found_ids", indices="found_indices", count="found_count")
    kept = keeping.taking(**found, classes="found_ids", counts="found_count", indices="chosen", score_threshold=0.0)
    boxes, images = max(1, problem.batch * problem.capacity), max(1, problem.batch)
    sizes = dict.fromkeys(("found_scores", "found_ids", "found_indices"), 4 * boxes)
    sizes |= {"found_boxes": 16 * boxes, "found_count": 4 * images, "chosen": 8 * max(1, images * problem.max_output)}
    return decoded.then(kept).then(_results(problem)).in_workspace(**sizes)


def _results(problem: DetectProblem) -> Program:
    """The launch that writes all elements of the results."""
    members = [*(Argument(f"found_{name}", f"const {kind}") for name, kind in _FOUND.items())]
    source = KernelSource(
        "detect",
        "vision/detect",
        problem,
        sizes={name: size for name, size in sizes_of(problem).items() if name in ("batch", "capacity", "max_output")},
        scalars=[*members, Argument("chosen", "const long long*")],
    )
    return source.scheduled(ResultsSchedule(), function="write_kept")
