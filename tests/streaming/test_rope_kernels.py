"""What rope's cases cover, and what is peculiar to its kernels; tests/contract runs them all."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from planted import check_caught
from rope_cases import BFLOAT16, FLOAT32, INT64, OFFSET, SPEC

from autotune.codegen.model.program import Program
from autotune.codegen.streaming.rope.problem import RopeProblem, frequencies
from autotune.codegen.streaming.rope.schedule import RopeSchedule
from autotune.emulator import verify
from autotune.search_spaces.streaming.rope import OPERATOR

PLAIN = {"theta": 10000.0, "factor": 1.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "old_context": 8192.0}


def with_scalars(problem: RopeProblem, **scalars: float) -> RopeProblem:
    class Changed(RopeProblem):
        @property
        def scalars(self) -> Mapping[str, float]:
            return {**super().scalars, **scalars}

    return Changed.from_dict(problem.to_dict())


def program(problem: RopeProblem, words: str) -> Program:
    return OPERATOR.program(problem, RopeSchedule.parse(words.split()), SPEC)


@pytest.mark.parametrize("offset", [131_071, 2**31 - 2, -5])
def test_angles_of_far_positions_are_reduced(offset: int) -> None:
    """The scale of errors grows with angles: this holds sines and cosines to what they are at 0."""
    problem = with_scalars(RopeProblem(3, 1, 1, 16, dtype=FLOAT32), offset=offset, **PLAIN)

    class Strict(type(problem)):  # type: ignore[misc]
        def reference(self, inputs, scalars):  # type: ignore[no-untyped-def]
            found = super().reference(inputs, scalars)
            steps = PLAIN["theta"] ** (-np.arange(8, dtype=np.longdouble) / 8)
            turns = (offset + np.arange(3))[:, None, None] * steps / (2 * np.longdouble(np.pi))
            angles = (2 * np.longdouble(np.pi) * (turns - np.rint(turns))).astype(np.float64)
            for given, result in (("q", "r"), ("k", "s")):
                a, b = np.split(inputs[given].reshape(3, 1, 16).astype(np.float64), 2, axis=-1)
                y = np.concatenate(
                    (a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)), -1
                )
                largest = np.concatenate((np.abs(a) + np.abs(b),) * 2, -1)
                found[result], found[f"{result}_scale"] = y.ravel(), 16 * largest.ravel()
            return found

    for seed in (0, 2):  # which is another launch
        verify(Strict.from_dict(problem.to_dict()), program(problem, "vector_width=4 HPT=2"), seeds=(seed,))


def test_long_wavelengths_are_stretched_as_in_llama() -> None:
    """By the branches of its own code: kept below 2048 positions, divided by 8 above 8192, blended between."""
    scaling = {
        "theta": 500_000.0,
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "old_context": 8192.0,
    }
    plain = 500_000.0 ** (-np.arange(64) / 64)
    wavelength = 2 * np.pi / plain
    smooth = (8192 / wavelength - 1) / 3
    blended = (1 - smooth) * plain / 8 + smooth * plain
    expected = np.where(wavelength < 2048, plain, np.where(wavelength > 8192, plain / 8, blended))
    np.testing.assert_allclose(frequencies(128, scaling), expected, rtol=1e-13)
    np.testing.assert_allclose(frequencies(128, scaling | {"factor": 1.0}), plain, rtol=1e-13)


def test_a_conjugate_rotates_back() -> None:
    problem = RopeProblem(5, 2, 1, 16, 8, dtype=FLOAT32, positions=INT64)
    inputs = problem.inputs(0)
    turned = problem.reference(inputs, problem.scalars)
    back = replace(problem, conj=True).reference(inputs | {"q": turned["r"], "k": turned["s"]}, problem.scalars)
    np.testing.assert_allclose(back["r"], inputs["q"], atol=1e-12)
    np.testing.assert_allclose(back["s"], inputs["k"], atol=1e-12)


@pytest.mark.parametrize("interleaved", [False, True])
def test_pairs_are_those_of_complex_numbers(interleaved: bool) -> None:
    problem = RopeProblem(4, 1, 1, 6, dtype=FLOAT32, interleaved=interleaved)
    inputs = problem.inputs(0)
    pairs = inputs["q"].reshape(4, 3, 2) if interleaved else inputs["q"].reshape(4, 2, 3).swapaxes(1, 2)
    angles = (3 + np.arange(4))[:, None] * frequencies(6, problem.scalars)
    turned = (pairs[..., 0] + 1j * pairs[..., 1]) * np.exp(1j * angles)
    found = problem.reference(inputs, problem.scalars)["r"].reshape((4, 3, 2) if interleaved else (4, 2, 3))
    real, imaginary = np.moveaxis(found, -1, 0) if interleaved else np.moveaxis(found, 1, 0)
    np.testing.assert_allclose(real + 1j * imaginary, turned)


HALVES = RopeProblem(5, 3, 2, 24, 16, dtype=FLOAT32, positions=INT64)
STORE = "store_global_whole<false>(target, loaded[i][0]);"


def test_elements_that_are_not_rotated_are_copied() -> None:
    source = program(HALVES, "vector_width=4 HPT=2")
    check_caught(HALVES, source, STORE, f"if (unit.rotated) {STORE}", seeds=(0,))


def test_threads_without_a_unit_do_nothing() -> None:
    problem = RopeProblem(20, 3, 1, 24, dtype=BFLOAT16)
    source = program(problem, "threads=128 vector_width=4")  # 42 slots of 3 units
    assert source.launch.blocks == 2
    verify(problem, source, seeds=(0,))


def test_positions_begin_anew_with_each_sequence() -> None:
    once, twice = RopeProblem(3, 2, 1, 8, dtype=FLOAT32), RopeProblem(6, 2, 1, 8, sequence=3, dtype=FLOAT32)
    assert twice.positions is OFFSET
    inputs = once.inputs(0)
    expected = once.reference(inputs, once.scalars)["r"]
    doubled = {name: np.tile(array, 2) for name, array in inputs.items()}
    np.testing.assert_array_equal(twice.reference(doubled, twice.scalars)["r"], np.tile(expected, 2))
