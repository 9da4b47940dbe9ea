"""What norm_backward counts of registers is what ptxas needs: it spills where they do not fit, and nowhere else."""

import pytest

from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.norm_backward.emit import emit
from autotune.codegen.rows.norm_backward.problem import NormBackwardProblem
from autotune.codegen.rows.norm_backward.schedule import NormBackwardSchedule
from autotune.compiler import compile_kernel
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.rows.norm_backward import OPERATOR

H200 = named_device("h200")
BF16 = DType.BFLOAT16
LAYER = NormBackwardProblem(4096, 2048, BF16, saved=True)
RMS = NormBackwardProblem(4096, 2048, BF16, centered=False, bias=False, saved=True)
WIDE = NormBackwardProblem(4096, 1024, saved=True)


def spilled(problem: NormBackwardProblem, schedule: NormBackwardSchedule) -> int:
    """Bytes."""
    return compile_kernel(emit(problem, schedule), H200.arch).resources.spill_store_bytes


@pytest.mark.parametrize(
    ("problem", "words", "registers"),
    [
        (LAYER, "threads=128 TPR=32 vector_width=8 hold=shared ahead=2", 344),
        (LAYER, "threads=128 TPR=32 vector_width=8", 344),
        (LAYER, "threads=128 TPR=64 vector_width=8 ahead=1", 216),
        (RMS, "threads=128 TPR=32 vector_width=8 ahead=0", 280),
        (WIDE, "threads=128 TPR=16 vector_width=4 hold=shared ahead=1", 344),
    ],
)
def test_what_does_not_fit_spills(problem: NormBackwardProblem, words: str, registers: int) -> None:
    schedule = NormBackwardSchedule.parse(words.split())
    assert schedule.footprint(problem).registers == registers
    if registers <= H200.registers_per_thread:
        schedule = schedule.replace(min_blocks_per_sm=3)
    assert OPERATOR.violations(problem, schedule, H200)
    assert spilled(problem, schedule) >= 80


@pytest.mark.parametrize(
    ("problem", "words", "registers"),
    [
        (LAYER, "threads=128 TPR=64 vector_width=8 hold=shared ahead=2 min_blocks_per_sm=3", 144),
        (LAYER, "threads=128 TPR=128 vector_width=8 ahead=1 min_blocks_per_sm=4", 120),
        (RMS, "threads=128 TPR=64 vector_width=8 min_blocks_per_sm=3", 152),
        (WIDE, "threads=128 TPR=32 vector_width=4 hold=shared ahead=1 min_blocks_per_sm=2", 184),
    ],
)
def test_what_fits_spills_nothing(problem: NormBackwardProblem, words: str, registers: int) -> None:
    schedule = NormBackwardSchedule.parse(words.split())
    assert schedule.footprint(problem).registers == registers
    assert not OPERATOR.violations(problem, schedule, H200)
    assert spilled(problem, schedule) == 0


@pytest.mark.parametrize("problem", [LAYER, RMS, WIDE])
def test_seeds_spill_next_to_nothing(problem: NormBackwardProblem) -> None:
    for seed in OPERATOR.seeds(problem, H200)[:4]:
        assert spilled(problem, seed) <= 8, seed
