"""autotune.torch.reduce on the CPU: values and gradients are PyTorch's."""

import pytest

torch = pytest.importorskip("torch")
autotune_torch = pytest.importorskip("autotune.torch")

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


@pytest.mark.parametrize("dim", [None, -1, 0])
def test_values_and_gradients_of_two_arrays(dim):
    x, other = random(3, 5, 7), random(5, 3, 7).detach().reshape(3, 5, 7).requires_grad_()
    axes = (0, 1, 2) if dim is None else dim
    assert_same(autotune_torch.reduce(x, "dot", dim, other=other), (x * other).sum(axes), [x, other])
    distance = torch.linalg.vector_norm(x - other, dim=dim)
    assert_same(autotune_torch.reduce(x, "dist", dim, other=other), distance, [x, other])


@pytest.mark.parametrize("op", FUNCTIONS)
def test_values_and_gradients_of_segments(op):
    x, offsets = random(40), torch.tensor([0, 7, 8, 40])
    expected = torch.stack([FUNCTIONS[op](part, dim=0) for part in x.split([7, 1, 32])])
    assert_same(autotune_torch.reduce(x, op, offsets=offsets), expected, [x])


def test_segments_without_elements_have_no_gradient():
    x, offsets = random(5), torch.tensor([0, 0, 5, 5], dtype=torch.int32)
    for op in ("max", "mean"):
        y = autotune_torch.reduce(x, op, offsets=offsets)
        (gradient,) = torch.autograd.grad(y[1], x)
        assert gradient.sum() == pytest.approx(1)


def test_a_norm_of_zeros_has_no_gradient():
    x = torch.zeros(3, 4, requires_grad=True)
    (gradient,) = torch.autograd.grad(autotune_torch.reduce(x, "l2", 1).sum(), x)
    assert torch.equal(gradient, torch.zeros(3, 4))


def test_an_index_has_no_gradient():
    x = random(3, 4)
    index = autotune_torch.reduce(x, "argmin", 1)
    assert torch.equal(index, x.argmin(1))
    assert not index.requires_grad


@pytest.mark.parametrize(
    ("op", "others"), [("dot", {"other": torch.rand(8)}), ("min", {"offsets": torch.tensor([0, 3, 3, 8])})]
)
def test_further_arrays_keep_pytorchs_contract(op, others):
    torch.library.opcheck(torch.ops.autotune.reduce.default, (random(8), op, None), others)
