"""A kernel's modelled time on a GPU that is not here: a roofline with occupancy, waves, reuse and spills.

The model knows a kernel only by its launch, its registers and memory, and by what the problem asks for, so it serves
every operator. Its free constants are a `Calibration`. With the default's the median rank correlation is 0.70 on 1,752
measured schedules of 54 matrix products on an H200, to which it was fitted (with hiding = 2 it is 0.60). Its level was
set by two measurements there: a copy moves 88 % of the datasheet's bytes per second, and a good FP32 matrix product
reaches 78 % of the peak.

1. Blocks run in waves of as many as the device holds at once (see `occupancy`); the last one may be partly filled.
2. A wave takes as long as the slowest of four: the multiply-adds of its fullest SM, the loads of their operands into
   registers, the bytes that this SM reads through L2, and the wave's share of those that cross device memory (Williams,
   Waterman, Patterson: Roofline, CACM 2009).
3. Latency is hidden by independent work in flight, which the registers in use bound, whether many threads hold few of
   them or few threads many (Volkov: Better performance at lower occupancy, GTC 2010).
4. A block that keeps s results in registers reads about 2/√s words for each multiply-add, as a square tile of a matrix
   product does (Hong, Kung: I/O complexity, STOC 1981). A thread that keeps r of them loads 2/√r words into registers,
   up to four with one instruction.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, sqrt

from ..codegen.problem import Problem
from ..codegen.program import Program
from ..codegen.tensor import Role
from ..codegen.work import Unit
from ..compiler import Resources
from ..search_spaces.device_spec import DeviceSpec
from ..search_spaces.occupancy import occupancy

LAUNCH_SECONDS = 4e-6
FIX_UP_SECONDS = 3e-6
_ISSUE_LANES = 128  # four schedulers issue to 32 lanes each, in every clock
_REACHED = 0.86  # of a peak rate, with all registers in use
_WORD = 4
_ADDRESS_REGISTERS, _REGISTERS_PER_RESULT = 80, 1.3


@dataclass(frozen=True)
class Calibration:
    """What the model cannot know of a device; ``autotune bench model`` fits it to recordings.

    Attributes:
        hiding: the exponential's rate: an eighth of the registers in use reaches 1 - exp(-1) = 63 % of what all do.
        l2_bytes: that one SM reads through L2 in a clock.
        load_lanes: of an SM that load from shared memory or L1, in a clock.
    """

    hiding: float = 8.0
    l2_bytes: float = 32.0
    load_lanes: float = 32.0


DEFAULT = Calibration()


@dataclass(frozen=True)
class _Block:
    """One block's equal share of the work.

    Attributes:
        multiply_adds: two floating-point operations each.
        bytes: bytes that cross device memory.
        operand_bytes: bytes of operands that come through L2, again and again where they do not fit in registers.
        loads: load instructions for each multiply-add.
        registers: 32-bit registers that the block holds.
    """

    multiply_adds: float
    bytes: float
    operand_bytes: float
    loads: float
    registers: int


def predict_seconds(
    problem: Problem,
    program: Program,
    resources: Resources,
    limits: DeviceSpec,
    calibration: Calibration = DEFAULT,
) -> float:
    """Modelled seconds of one launch; never less than the device's peak rates allow.

    Raises:
        ValueError: not even one block fits on an SM, so that a launch would fail.
    """
    launch = program.launch
    if launch.blocks == 0:
        return LAUNCH_SECONDS
    shared_bytes = resources.shared_bytes + launch.shared_bytes
    resident = occupancy(limits, launch.threads, resources.registers, shared_bytes)
    if resident.blocks_per_sm == 0:
        raise ValueError(
            f"a block of {launch.threads} threads with {resources.registers} registers each and {shared_bytes} B of "
            f"shared memory does not fit on an SM of {limits.name}: too many {', '.join(resident.limiters)}"
        )
    block = _block(problem, program, resources)
    wave = limits.sm_count * resident.blocks_per_sm
    full, tail = divmod(launch.blocks, wave)
    seconds = full * _wave_seconds(wave, block, limits, calibration)
    seconds += _wave_seconds(tail, block, limits, calibration)
    # A spilled word costs about what a register's worth of the thread's state is of the whole.
    spills = (resources.spill_store_bytes + resources.spill_load_bytes) / (_WORD * max(1, resources.registers))
    return fixed_seconds(program.workspace_bytes > 0) + seconds * (1 + spills)


def fixed_seconds(shared: bool) -> float:
    """What a launch costs however little it computes: start and end, and the fix-up of tiles that blocks share.

    In 17,680 pairs of times that one schedule took for two problems on an H200, the one foretells the logarithm of the
    other with a standard deviation of 0.18 by these constants, and of 0.29 by 2 µs and none.
    """
    return LAUNCH_SECONDS + (FIX_UP_SECONDS if shared else 0.0)


def estimated_resources(problem: Problem, program: Program, limits: DeviceSpec) -> Resources:
    """What a kernel that is not compiled yet may use: enough registers for its results, operands and addresses.

    A thread's results are its share of the outputs. In the sgemm records of an H200 that ship, threads with 16, 64 and
    128 results take 91 to 147, 146 to 255 and 213 to 255 registers.
    """
    launch = program.launch
    fitting = limits.registers_per_block // max(1, launch.threads)
    registers = _ADDRESS_REGISTERS + _REGISTERS_PER_RESULT * _results(problem, program)
    return Resources(int(min(registers, limits.registers_per_thread, fitting)))


def _results(problem: Problem, program: Program) -> float:
    """Words that a thread writes. Partial results in the workspace (split-K) are written like any others."""
    outputs = sum(tensor.bytes for tensor in problem.tensors if tensor.role is not Role.INPUT)
    threads = program.launch.blocks * program.launch.threads
    return max(1.0, (outputs + program.workspace_bytes) / _WORD / max(1, threads))


def _block(problem: Problem, program: Program, resources: Resources) -> _Block:
    launch = program.launch
    # About half of a thread's registers can hold results: the rest are operands and addresses.
    results = max(1.0, min(_results(problem, program), resources.registers / 2))
    side = sqrt(results)
    multiply_adds = problem.work.count(Unit.FP32) / 2 / launch.blocks
    return _Block(
        multiply_adds=multiply_adds,
        bytes=(problem.work.bytes + 2 * program.workspace_bytes) / launch.blocks,
        operand_bytes=_WORD * multiply_adds * 2 / sqrt(results * launch.threads),
        loads=2 / side / min(4.0, side),
        registers=resources.registers * launch.threads,
    )


def _wave_seconds(blocks: int, block: _Block, limits: DeviceSpec, calibration: Calibration) -> float:
    """Seconds of `blocks` blocks that the device holds at once, spread evenly over its SMs."""
    if blocks == 0:
        return 0.0
    fullest = ceil(blocks / limits.sm_count)
    # Where a multiply-add takes more than one clock of a scheduler, loads are issued beside it at no cost.
    issue = min(1.0, _ISSUE_LANES / limits.rates[Unit.FP32] / (1 + block.loads))
    lanes = _REACHED * limits.rates[Unit.FP32] * issue * hiding(fullest * block.registers, limits, calibration)
    streaming = hiding(blocks / limits.sm_count * block.registers, limits, calibration)
    return max(
        fullest * block.multiply_adds / (lanes * limits.clock_hz),
        fullest * block.multiply_adds * block.loads / (calibration.load_lanes * limits.clock_hz),
        fullest * block.operand_bytes / (calibration.l2_bytes * limits.clock_hz),
        blocks * block.bytes / (_REACHED * limits.bandwidth * streaming),
    )


def hiding(registers: float, limits: DeviceSpec, calibration: Calibration = DEFAULT) -> float:
    """The share of what a device can reach that so many registers in use on an SM keep busy."""
    return 1 - exp(-calibration.hiding * registers / limits.registers_per_sm)
