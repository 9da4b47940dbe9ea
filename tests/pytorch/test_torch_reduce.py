"""autotune.torch.reduce without a GPU: values and gradients are PyTorch's."""

import pytest

torch = pytest.importorskip("torch")
autotune_torch = pytest.importorskip("autotune.torch")
pytestmark = pytest.mark.usefixtures("emulated")

FUNCTIONS = {
    "sum": torch.sum,
    "mean": torch.mean,
    "l2": lambda x, dim: torch.linalg.vector_norm(x, dim=dim),
    "max": lambda x, dim: x.max() if dim is None else x.max(dim).values,
    "min": lambda x, dim: x.min() if dim is None else x.min(dim).values,
}


def random(*shape):
    torch.manual_seed(sum(shape))
    return (torch.rand(*shape) * 2 - 1).requires_grad_()


def assert_same(found, expected, inputs):
    """Values, and gradients by weights that differ from element to element."""
    torch.testing.assert_close(found, expected)
    weights = torch.randn(expected.shape)
    for gradient, truth in zip(
        *(torch.autograd.grad((y * weights).sum(), inputs) for y in (found, expected)), strict=True
    ):
        torch.testing.assert_close(gradient, truth)


@pytest.mark.parametrize("dim", [None, -1, 0])
@pytest.mark.parametrize("op", FUNCTIONS)
def test_values_and_gradients(op, dim):
    x = random(3, 5, 7)
    assert_same(autotune_torch.reduce(x, op, dim), FUNCTIONS[op](x, dim=dim), [x])


def test_a_norm_of_zeros_has_no_gradient():
    x = torch.zeros(3, 4, requires_grad=True)
    (gradient,) = torch.autograd.grad(autotune_torch.reduce(x, "l2", 1).sum(), x)
    assert torch.equal(gradient, torch.zeros(3, 4))


def test_an_index_has_no_gradient():
    x = random(3, 4)
    index = autotune_torch.reduce(x, "argmin", 1)
    assert torch.equal(index, x.argmin(1))
    assert not index.requires_grad


@pytest.mark.parametrize("op", [*FUNCTIONS, "argmin"])
def test_the_operator_keeps_pytorchs_contract(op):
    torch.library.opcheck(torch.ops.autotune.reduce.default, (random(3, 8), op, -1))


def test_the_compiler_keeps_it_in_one_graph():
    @torch.compile(fullgraph=True, backend="aot_eager")
    def function(x):
        return autotune_torch.reduce(x * 2, "max", 1) + autotune_torch.reduce(x, "mean", -1)

    x = random(3, 8)
    assert_same(function(x), (x * 2).max(1).values + x.mean(-1), [x])
