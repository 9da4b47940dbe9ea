"""Peaks of fused multiply-adds and of tensor cores, in registers alone."""

from __future__ import annotations

import numpy as np

from autotune.codegen.calibration import programs
from autotune.codegen.calibration.programs import THREADS
from autotune.codegen.model.problem import Array
from autotune.codegen.model.program import Program
from autotune.search_spaces.machine.calibration import Figure

from .experiment import Found, check_result
from .instrument import Instrument

_CHECKED_PASSES, _TIMED_PASSES = 16, 512
_TENSOR_BLOCKS = 4  # blocks of an SM
_TENSOR_SINCE = (8, 0)  # the first compute capability with BF16 in tensor cores
_ONES = 0x3F803F80  # two of bfloat16
_SEED = 18


def multiply_add(instrument: Instrument) -> Found:
    """Chains of FP32 multiply-adds: checked on numbers that count, timed on others whose digits change."""
    spec = instrument.spec
    blocks = spec.sm_count * (spec.threads_per_sm // THREADS)
    program = programs.multiply_add(blocks)
    instrument.launch(program, {"passes": _CHECKED_PASSES, "x": 1.0, "y": 1.0})
    found = instrument.download("sums", np.float32, blocks * THREADS)
    chains = np.arange(programs.FMA_CHAINS) + _CHECKED_PASSES * programs.FMA_UNROLL
    _check_sums(program, found, (np.arange(blocks * THREADS)[:, None] % 64 + chains).sum(axis=1))
    seconds = instrument.seconds(program, {"passes": _TIMED_PASSES, "x": -0.999999, "y": 0.7}, cold=False)
    operations = 2 * programs.FMA_CHAINS * programs.FMA_UNROLL * _TIMED_PASSES * blocks * THREADS
    return Found({Figure.FP32: operations / seconds})


def tensor_cores(instrument: Instrument) -> Found:
    """Chains of BF16 products of tiles: checked on ones, timed on random numbers; nothing before sm_80."""
    spec = instrument.spec
    if spec.compute_capability < _TENSOR_SINCE:
        return Found()
    blocks = spec.sm_count * _TENSOR_BLOCKS
    program = programs.multiply_tiles(blocks)
    instrument.upload("tiles", np.full(programs.TILE_WORDS, _ONES, np.uint32))
    instrument.launch(program, {"passes": _CHECKED_PASSES})
    found = instrument.download("sums", np.float32, blocks * THREADS)
    chains = np.arange(programs.TILE_CHAINS) + 16 * _CHECKED_PASSES * programs.TILE_UNROLL
    _check_sums(program, found, np.full(blocks * THREADS, 4 * chains.sum()))
    random = np.random.default_rng(_SEED).standard_normal(2 * programs.TILE_WORDS, np.float32)
    instrument.upload("tiles", (random.view(np.uint32) >> 16).astype(np.uint16).view(np.uint32))
    seconds = instrument.seconds(program, {"passes": _TIMED_PASSES}, cold=False)
    products = programs.TILE_CHAINS * programs.TILE_UNROLL * _TIMED_PASSES * blocks * THREADS // 32
    return Found({Figure.TENSOR: programs.TILE_OPERATIONS * products / seconds})


def _check_sums(program: Program, found: Array, expected: Array) -> None:
    """Make sure that each thread has its sum; the message names the first that has not."""
    wrong = np.flatnonzero(found != expected)
    thread = int(wrong[0]) if wrong.size else 0
    check_result(program, float(found[thread]), float(expected[thread]))
