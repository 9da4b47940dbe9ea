"""What follows from the tensors of a problem that a call binds, and what of a call's arrays is refused by them."""

from dataclasses import dataclass, replace

import pytest
from refusals import refused

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, layout, size
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.tensor import Role, Tensor
from autotune.search_spaces.contract.bound import bound, output_types
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout, viewed


@dataclass(frozen=True)
class CountProblem(Problem):
    """Of u32 keys with a weight each, or none."""

    n: int = size(64)
    weighted: bool = kind(False)
    align_keys: int = layout(16)

    @property
    def tensors(self):
        keys = Tensor.flat("keys", DType.UINT32, self.n, Role.INPUT, self.align_keys)
        weights = Tensor.flat("weights", DType.FLOAT16, self.n, Role.INPUT, 4)
        counts = Tensor.flat("counts", DType.INT32, 256, Role.OUTPUT, 16)
        return (keys, weights, counts) if self.weighted else (keys, counts)

    def inputs(self, seed):
        return {}

    def reference(self, inputs, scalars):
        return {}


def count(keys, weights=None, *, repeated=False, out=None, stream=None):
    """How often each byte is a key's last one."""


def _bind(keys, weights):
    return Binding(CountProblem(keys.shape[0], weights is not None), {"out": "counts"})


CALL = Call(count, ("keys", "weights"), ("out",), _bind, optional=("weights",))
KEYS, WEIGHTS = Layout((33,), (1,), "uint32", 4, 16), Layout((33,), (1,), "float16", 2, 16)
OUT = Layout((256,), (1,), "int32", 4, 16)


def types(call=CALL, **inputs):
    return output_types(call, {"weights": None, **inputs}, {"repeated": False})


def problem(call=CALL, **arrays):
    return bound(call, {"keys": KEYS, "weights": None, "out": OUT, **arrays}, {"repeated": False}).problem


def test_types_and_alignments_follow_from_the_tensors():
    assert types(keys=KEYS) == types(keys=KEYS, weights=WEIGHTS) == {"out": ArrayType((256,), DType.INT32)}
    assert problem(weights=WEIGHTS._replace(alignment=4)) == CountProblem(33, True)
    assert problem(keys=KEYS._replace(alignment=4)) == CountProblem(33, align_keys=4)
    rows = replace(CALL, bind=lambda keys: _bind(keys, None)._replace(shapes={"keys": (33,), "out": (2, 128)}))
    assert types(rows, keys=KEYS)["out"].shape == (2, 128)


test_inputs_that_are_not_the_tensors_are_refused = refused(
    lambda **arrays: types(**{"keys": KEYS, **arrays}),
    [
        ({"keys": KEYS._replace(dtype="int32")}, "TypeError: keys has dtype int32: expected uint32"),
        ({"keys": KEYS._replace(shape=(33, 2), strides=(2, 1))}, "keys has shape (33, 2): expected (33,)"),
        ({"weights": WEIGHTS._replace(shape=(32,))}, "weights has shape (32,): expected (33,)"),
    ],
)

UNBOUND = replace(CALL, bind=lambda keys: _bind(keys, None))

test_what_an_operator_forgets_is_refused = refused(
    lambda call=CALL, **arrays: problem(call, **arrays),
    [
        ({"keys": KEYS._replace(strides=(2,))}, "keys has shape (33,) and strides (2,): expected a contiguous array"),
        ({"keys": KEYS._replace(strides=(-1,))}, "and strides (-1,): expected a contiguous array"),
        ({"out": OUT._replace(shape=(2, 128), strides=(1, 2))}, "out has .* expected a contiguous array"),
        ({"keys": KEYS._replace(itemsize=8)}, "keys has .* expected a contiguous array"),
        ({"keys": KEYS._replace(itemsize=2)}, "keys has elements of 2 B: expected uint32 of 4 B"),
        ({"weights": WEIGHTS._replace(alignment=2)}, "weights is aligned to 2 B: expected 4 B; pass a copy"),
        ({"out": OUT._replace(alignment=8)}, "out is aligned to 8 B: expected 16 B"),
        ({"out": OUT._replace(shape=(255,))}, "out has shape"),
        ({"call": UNBOUND, "weights": WEIGHTS}, "weights is weights, which is no tensor of n33: keys, counts"),
    ],
)


@pytest.mark.parametrize(
    ("shape", "strides", "seen", "expected"),
    [
        ((2, 3, 7), (36, 12, 1), (6, 7), (12, 1)),
        ((2, 3, 7), (21, 7, 1), (1, 42), (0, 1)),
        ((2, 3, 7), (36, 7, 1), (6, 7), None),
        ((2, 3, 7), (21, 7, 1), (3, 14), None),
        ((2, 3, 7), (21, 7, 1), (2, 21, 2), None),
        ((4, 1, 7), (0, 5, 1), (4, 7), (0, 1)),
        ((0, 3), (3, 1), (0, 5), (0, 0)),
        ((0, 3), (3, 1), (2, 5), None),
        ((), (), (1,), (0,)),
    ],
)
def test_views(shape, strides, seen, expected):
    assert viewed(Layout(shape, strides, "float32", 4, 16), seen) == expected
