"""How drivers of libraries are compiled, and what those of operators are."""

import re

import pytest

from autotune.bench.baselines import nvcc_driver
from autotune.bench.baselines.attention.flashinfer import decode_source
from autotune.bench.baselines.rows import cub_reduce
from autotune.bench.baselines.scan import cub as scan_cub
from autotune.bench.baselines.selection import cccl, flashinfer
from autotune.bench.baselines.sorting import cub as sorting_cub
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.reduce.operation import Operation
from autotune.codegen.rows.reduce.problem import Axis, ReduceProblem
from autotune.codegen.scan.scan.operation import Operation as Scanned
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.codegen.selection.sampling.problem import SamplingProblem
from autotune.codegen.selection.topk.order import Order
from autotune.codegen.selection.topk.problem import TopkProblem
from autotune.codegen.sorting.merge.problem import MergeProblem
from autotune.codegen.sorting.merge_sort.problem import MergeSortProblem
from autotune.codegen.sorting.radix_sort.problem import RadixSortProblem
from autotune.codegen.sorting.segmented_sort.problem import SegmentedSortProblem
from autotune.codegen.sorting.values import Values
from autotune.devices.base import DeviceError


def stated(source):
    """The types and the macros ahead of the driver."""
    return dict(re.findall(r"^(?:using|#define) (\w+) (?:= )?(.*?);?$", source, re.MULTILINE))


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        (ReduceProblem(1, 9, axis=Axis.ALL), {"PLAIN": "1", "TERM": "a", "IDENTITY": "0", "WHOLE": "1"}),
        (ReduceProblem(1, 9, Operation.MEAN, dtype=DType.FLOAT16), {"FINISHED": "total / count", "HALVES": "1"}),
        (ReduceProblem(1, 9, Operation.DIST), {"TERM": "(a - b) * (a - b)", "FINISHED": "sqrtf(total)", "ARRAYS": "2"}),
        (ReduceProblem(2, 9, Operation.MAX, dtype=DType.INT32), {"IDENTITY": "-2147483647 - 1", "WHOLE": "0"}),
        (ReduceProblem(2, 9, Operation.MIN), {"IDENTITY": "cuda::std::numeric_limits<Number>::infinity()"}),
        (ReduceProblem(1, 9, Operation.ARGMIN, Axis.ALL), {"EXTREME": "ArgMin", "Result": "long long"}),
        (
            ReduceProblem(1, 9, axis=Axis.SEGMENTS, dtype=DType.INT32, segments=2, offset_dtype=DType.INT32),
            {"SEGMENTED": "1", "Offset": "int", "Number": "long long", "PLAIN": "1"},
        ),
    ],
    ids=lambda value: getattr(value, "key", ""),
)
def test_a_driver_of_reduce_states_the_types_and_the_operation(problem, expected):
    found = stated(cub_reduce.source(problem))
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    "problem",
    [
        ReduceProblem(2, 9, axis=Axis.FIRST),
        ReduceProblem(2, 9, Operation.ARGMAX),
        ReduceProblem(1, 9, Operation.MEAN, Axis.SEGMENTS, segments=2),
    ],
    ids=lambda problem: problem.key,
)
def test_cub_has_not_all(problem):
    with pytest.raises(ValueError, match=rf"^CUB has no {problem.op} over axis={problem.axis}$"):
        cub_reduce.source(problem)


def test_nvcc_that_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(nvcc_driver, "_nvcc", lambda: None)
    assert cub_reduce.CUB.missing().endswith("install the CUDA toolkit")


@pytest.mark.parametrize(("says", "expected"), [("echo first; echo second", "first"), ("true", "exit status 1")])
def test_what_nvcc_says_is_one_line(says, expected, tmp_path, monkeypatch):
    nvcc = tmp_path / "nvcc"
    nvcc.write_text(f"#!/bin/sh\n({says}) >&2\nexit 1\n")
    nvcc.chmod(0o755)
    monkeypatch.setattr(nvcc_driver, "_nvcc", lambda: str(nvcc))
    with pytest.raises(DeviceError, match=f"^nvcc: {expected}$"):
        nvcc_driver.compiled(says, "sm_90")


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        (ScanProblem(1, 9), {"Element": "float", "Operation": "cuda::std::plus<>", "CONVERTS": "0", "REVERSE": "0"}),
        (ScanProblem(1, 9, dtype=DType.BFLOAT16), {"Element": "__nv_bfloat16", "Number": "float", "CONVERTS": "1"}),
        (ScanProblem(1, 9, dtype=DType.INT32, wide=True), {"Number": "long long", "Result": "long long"}),
        (
            ScanProblem(1, 9, Scanned.MAX, DType.INT32, exclusive=True),
            {"IDENTITY": "-2147483647 - 1", "EXCLUSIVE": "1"},
        ),
        (
            ScanProblem(1, 9, Scanned.MIN, DType.INT64, reverse=True),
            {"IDENTITY": "9223372036854775807", "REVERSE": "1"},
        ),
        (ScanProblem(1, 9, Scanned.MAX), {"IDENTITY": "-cuda::std::numeric_limits<Number>::infinity()"}),
    ],
    ids=lambda value: getattr(value, "key", ""),
)
def test_a_driver_of_scan_states_the_types_and_the_operation(problem, expected):
    found = stated(scan_cub.source(problem))
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    "problem", [ScanProblem(2, 9), ScanProblem(1, 9, flags=True), ScanProblem(1, 9, init=True)], ids=lambda p: p.key
)
def test_cub_scans_one_array(problem):
    with pytest.raises(ValueError, match=r"^this driver of cub::DeviceScan scans one array, without rows, "):
        scan_cub.source(problem)


@pytest.mark.parametrize(
    ("source", "problem", "expected"),
    [
        (sorting_cub.merge_source, MergeProblem(3, 4, DType.BFLOAT16), {"Number": "float", "PAIRS": "0"}),
        (
            sorting_cub.merge_sort_source,
            MergeSortProblem(9, dtype=DType.INT32, values=Values.INDEX64, descending=True),
            {"FLOATING": "0", "LARGEST_FIRST": "1", "INDICES": "1", "Value": "long long"},
        ),
        (
            sorting_cub.segmented_sort_source,
            SegmentedSortProblem(9, 2, DType.INT16, Values.BYTES16, offset_dtype=DType.INT32),
            {"Offset": "int", "Value": "uint4", "ORDER": ""},
        ),
        (
            cccl.source,
            TopkProblem(2, 9, 4, largest=False, index_dtype=DType.INT32),
            {"DIRECTION": "MinPairs", "COLUMNS": "9", "Index": "int"},
        ),
        (flashinfer.topk_source, TopkProblem(2, 9, 4, order=Order.INDEX), {"SORTED": "0", "Element": "float"}),
        (
            flashinfer.sampling_source,
            SamplingProblem(2, 9, top_p=True),
            {"TOP_K": "0", "TOP_P": "1", "FROM_LOGITS": "1"},
        ),
        (
            decode_source,
            AttentionDecodeProblem(1, 32, 6, 3, 2, 9, head_dim=64, page=4),
            {"DECODED_GROUP": "3", "DECODED_DIM": "64", "WINDOW": "9", "SOFTCAP": "0.0", "SCALE": "0.125"},
        ),
    ],
    ids=lambda value: getattr(value, "key", ""),
)
def test_a_driver_of_sorts_and_selections_states_the_types_and_the_order(source, problem, expected):
    found = stated(source(problem))
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("source", "problem", "message"),
    [
        (sorting_cub.radix_sort_source, RadixSortProblem(9, 2), "without rows"),
        (sorting_cub.segmented_sort_source, SegmentedSortProblem(9, 2, DType.FLOAT64), "so NaN has no place"),
        (cccl.source, TopkProblem(2, 9, 4, lengths=True), "whole rows of up to 2097152 elements"),
        (cccl.source, TopkProblem(2, 2097153, 4), "whole rows of up to 2097152 elements"),
        (flashinfer.topk_source, TopkProblem(2, 9, 4, largest=False), "selects the largest"),
        (flashinfer.sampling_source, SamplingProblem(2, 9, DType.FLOAT16), "not float16"),
        (flashinfer.sampling_source, SamplingProblem(2, 9, min_p=True, top_k=True), "by min_p alone"),
        (decode_source, AttentionDecodeProblem(1, 32, 5, 3, 1, head_dim=64, page=4), "not 64 and 64 in groups of 5"),
        (decode_source, AttentionDecodeProblem(1, 32, 2, 3, head_dim=64, page=4, stride_k_t=136), "without gaps"),
    ],
    ids=lambda value: getattr(value, "key", ""),
)
def test_drivers_of_sorts_and_selections_have_not_all(source, problem, message):
    with pytest.raises(ValueError, match=message):
        source(problem)


def test_headers_that_are_missing_are_named(monkeypatch):
    monkeypatch.setattr(nvcc_driver, "_nvcc", lambda: "nvcc")
    monkeypatch.setattr(nvcc_driver, "_library_folder", lambda library: None)
    assert nvcc_driver.Headers("no-such-headers").missing("it").endswith("pip install --no-deps no-such-headers")
    assert nvcc_driver.Headers(libraries=("curand",)).missing("it").endswith("pip install nvidia-curand")
