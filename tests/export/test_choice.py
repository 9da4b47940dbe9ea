"""C++ launches what Python emits for the same sizes: by terms of what Python computes, and by the table it follows."""

import math
import re
from typing import Any

import pytest
from export.exports import COUNT, H200, asked_sizes, assert_launched_alike, drawn, launched_in_cpp
from refusals import refused

from autotune.bench.dispatch.example_call import problem_of_sizes
from autotune.codegen.attention.attention_backward.problem import AttentionBackwardProblem
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import ceil_div, largest, logarithm, round_up, smallest, widest_divisor
from autotune.codegen.rows.reduce.problem import Axis
from autotune.db.states import TimeSource
from autotune.dispatcher.choice.records import Record
from autotune.export import bundle_of, kernels_of
from autotune.export.agreement import chosen as chosen_by_dispatcher
from autotune.export.example import example
from autotune.export.interface import header
from autotune.export.tables import tables
from autotune.export.terms import Terms, Values
from autotune.export.trace import UNKNOWN, Path, ValueNeededError
from autotune.export.tree import Tree
from autotune.search_spaces.contract.registry import operator

CASES: list[tuple[str, int, tuple[str, ...], dict[str, Any]]] = [
    ("sgemm", 1, ("m", "n", "k", "batch"), {"transpose_a": True, "beta_nonzero": True}),
    ("reduce", 4, ("rows", "columns"), {"axis": Axis.FIRST, "dtype": DType.BFLOAT16}),
    ("softmax", 10, ("rows", "columns"), {}),
    ("norm_backward", 2, ("rows", "columns"), {}),
    ("nms", 3, ("candidates", "max_output"), {}),  # launches as often as sizes say
]


@pytest.mark.parametrize(("name", "records", "sizes", "fixed"), CASES, ids=[case[0] for case in CASES])
def test_cpp_launches_what_python_emits(name, records, sizes, fixed, tmp_path):
    exported = drawn(operator(name), records, sizes, **fixed)
    asked = asked_sizes(exported)
    expected = assert_launched_alike(exported, asked, tmp_path, tables(exported))
    assert len({line.split()[0] for line in expected} - {"-1"}) > 1  # several schedules serve
    for one in [*asked[: len(exported.bundle.problems)], *exported.bundle.drawn_sizes(COUNT, seed=0)]:
        chosen = chosen_by_dispatcher(exported.bundle, one, exported.ask(one))
        assert chosen == (exported.serving(one) or (None,))[0]


def test_cpp_encodes_the_tensor_maps_of_python(tmp_path):
    gemm = operator("gemm")

    def candidates(problem, spec):
        return (one for one in gemm.candidates(problem, spec) if one.kernel == "wgmma")

    exported = drawn(gemm.with_kernels(candidates=candidates), 3, ("m", "n", "k"), transpose_b=True, gate=Gate.HALVES)
    asked = asked_sizes(exported)
    expected = assert_launched_alike(exported, asked, tmp_path, tables(exported))
    odd = [one | {"n": one["n"] - 1} for one in asked if one["n"] % 2 == 0]  # a gate takes pairs of columns
    assert launched_in_cpp(exported, odd, tmp_path, tables(exported)) == ["-1 0"] * len(odd)
    assert {" map " in line for line in expected} == {False, True}
    assert exported.addresses == ("a", "b", "d", "workspace")
    assert any(" map 0x4" in line for line in expected)  # of what is prepared in the workspace


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("attention_decode", AttentionDecodeProblem(1, 512, 8, 1, 2, page=16)),  # heads of k and v: 0 stands for q's
        ("attention_backward", AttentionBackwardProblem(256, 256, 8, 1, window_left=64)),  # 0 for a window of all keys
    ],
)
def test_cpp_serves_the_calls_of_an_example(name, problem, tmp_path):
    exported = kernels_of(bundle_of(operator(name), [problem], H200, []), count=COUNT)
    calls = re.findall(r"_schedule\((.*?)\)", example(exported))
    sizes = [dict(zip(exported.bundle.most, map(int, call.split(", ")), strict=True)) for call in calls]
    lines = assert_launched_alike(exported, sizes, tmp_path, tables(exported))
    assert lines and not any(line.startswith("-1") for line in lines)


@pytest.mark.parametrize("size", ["window_left", "heads_kv"])
def test_cpp_serves_zero_where_a_problem_has_it(size, tmp_path):
    problems = [AttentionBackwardProblem(256, 256, 8, 1, causal=True, **{size: value}) for value in (2, 0)]
    op = operator("attention_backward")
    known = [Record(one, op.default(one, H200), 1e-5 * n, TimeSource.MEASURED) for n, one in enumerate(problems, 1)]
    for records in ([], known):
        exported = kernels_of(bundle_of(op, problems, H200, records), count=COUNT)
        lines = assert_launched_alike(exported, asked_sizes(exported), tmp_path, tables(exported))
        assert not any(line.startswith("-1") for line in lines[: len(problems)])
    assert f"{size} 0 to " in header(exported)


@pytest.mark.parametrize("name", ["attention_decode", "attention_varlen", "letterbox_mixed"])
def test_times_follow_from_sizes_where_calls_state_no_lengths(name):
    op = operator(name)
    exported = kernels_of(bundle_of(op, [problem_of_sizes(op.problem_type, lambda *_: 512)], H200, []), count=COUNT)
    for sizes in filter(exported.serving, exported.bundle.drawn_sizes(COUNT, seed=0)):
        values = Values(exported.terms, sizes)
        assert any(values[row] < 1e9 for row in exported.rule.seconds.values())


def test_a_wrong_number_is_found(tmp_path):
    exported = drawn(operator("transpose"), 4, ("m", "n"))
    asked = asked_sizes(exported)
    right = tables(exported)
    wrong = right.replace(" 32, ", " 33, ", 1)
    assert "constants" in right[: right.index(" 32, ")] and "terms" not in right[: right.index(" 32, ")]
    assert_launched_alike(exported, asked, tmp_path, right)
    with pytest.raises(AssertionError):
        assert_launched_alike(exported, asked, tmp_path, wrong)


MOST = {"n": 1000, "k": 2**40}


def traced(function, n, k=5, *, own=False):
    path = Path(Values(Terms(), {"n": n, "k": k}), own)
    return path, function(**path.sizes)


@pytest.mark.parametrize(
    "function",
    [
        lambda n, k: min(n, 7) * k - n,
        lambda n, k: ceil_div(n, 128) + round_up(k, 16),
        lambda n, k: (n - 500) // 7 + (k - n) % 13,
        lambda n, k: -n % 128 if n > k else divmod(k, n)[1],
        lambda n, k: widest_divisor(8, n, k),
        lambda n, k: sum(1 for turn in range(9) if turn < math.ceil(n)) * k * k,
        lambda n, k: 64 if n > 3.5 else int(n) + k,
        lambda n, k: math.ceil(n / 7) + round(k / n) + (n & -n) + (n | k),
        lambda n, k: largest(logarithm(n), (k / n) ** 0.25, smallest(n, 3), logarithm(k, 2)),
    ],
)
def test_the_same_conditions_lead_to_the_same_terms(function):
    alike = 0
    for n, k in ((1, 5), (6, 8), (8, 8), (96, 64), (640, 2**33), (999, 17)):
        path, result = traced(function, n, k, own=True)
        for other in ((1, 5), (7, 9), (8, 8), (640, 2**33), (999, 17), (1000, 2**40)):
            values = Values(path.values.terms, dict(zip(MOST, other, strict=True)))
            if all(values[condition] is way for condition, way in path.conditions.items()):
                alike += 1
                assert values[path.row(result)] == function(*other)
    assert alike > 1


def test_what_needs_a_value_is_so_for_this_value_only():
    for function, expected in (
        (lambda n, k: [*range(n - 3)], [0, 1]),
        (lambda n, k: int(n / 2), 2),
    ):
        path, result = traced(function, 5, own=True)
        assert (result, [*path.conditions.values()]) == (expected, [True])
        with pytest.raises(ValueNeededError):
            traced(function, 5)
    text = "rounds = {}".format
    assert [traced(lambda n, k: text(n + 1), 5, own=own)[1] for own in (True, False)] == [text(6), text(UNKNOWN)]
    path, _ = traced(lambda n, k: (n**0.5 + k / 2) * 3.0, 5)  # a tolerance, which nobody asks for
    assert not path.conditions


def test_a_tree_knows_what_was_asked_for():
    """It is deeper than calls can be nested; what holds a value serves this value alone."""
    terms = Terms()
    tree, nothing = Tree[int](), terms.constant(-1)

    def function(path):
        return int(path.sizes["n"]) % 2

    for n in [*range(7), *range(8, 3000), 7]:
        tree.ask(Values(terms, {"n": n}), function, own=n != 7)
    row = tree.row(terms, terms.constant, nothing)
    found = [Values(terms, {"n": n})[row] for n in (0, 1, 7, 2998, 2999, 3000)]
    assert found == [0, 1, -1, 0, 1, -1]


test_what_c_cannot_follow_is_refused = refused(
    lambda function: traced(function, 5),
    [
        (lambda n, k: {n: 1}, "looked up in a table or a cache"),
        (lambda n, k: n * (2**53 + 1), "C.. has whole numbers up to 9007199254740992"),
    ],
)
