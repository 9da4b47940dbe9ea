"""autotune.torch.gemm and the layer made of it on the CPU: values and gradients are PyTorch's, but for rounding."""

from collections.abc import Callable
from typing import Any

import pytest

from autotune import dispatcher

torch = pytest.importorskip("torch")
autotune_torch = pytest.importorskip("autotune.torch")
functional = torch.nn.functional

ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "identity": lambda z: z,
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda z: functional.gelu(z, approximate="tanh"),
    "silu": functional.silu,
}
ROUNDING = {torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11}


def random(*shape, dtype=torch.float16):
    torch.manual_seed(sum(shape))
    return (torch.rand(*shape) * 2 - 1).to(dtype).requires_grad_()


def assert_gradients(found, expected, inputs):
    """Values, and gradients by weights that differ from element to element, against those in float32."""
    rounding = ROUNDING[inputs[0].dtype]
    torch.testing.assert_close(found.float(), expected, rtol=2 * rounding, atol=8 * rounding)
    weights = torch.rand(expected.shape) - 0.5
    for reduce in (lambda y: (y.float() * weights).sum(), lambda y: (y.mT.float() * weights.mT).sum()):
        gradients, truths = (torch.autograd.grad(reduce(y), inputs, retain_graph=True) for y in (found, expected))
        for gradient, truth in zip(gradients, truths, strict=True):
            assert gradient.dtype == truth.dtype
            torch.testing.assert_close(gradient.float(), truth.float(), rtol=4 * rounding, atol=24 * rounding)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("dtype", ROUNDING)
def test_a_fused_layer_has_the_gradients_of_its_steps(activation, dtype):
    inputs = x, w, bias, h = [random(*shape, dtype=dtype) for shape in ((5, 24), (9, 24), (9,), (5, 9))]
    found = autotune_torch.gemm(x, w.mT, bias, h, activation=activation, alpha=0.5, beta=-0.25)
    z = 0.5 * (x.float() @ w.float().mT) + bias.float()
    assert_gradients(found, ACTIVATIONS[activation](z) - 0.25 * h.float(), inputs)


@pytest.mark.parametrize(("options", "written"), [({}, False), ({"activation": "relu"}, True)])
def test_what_was_before_no_activation_is_not_written(problems, options, written):
    autotune_torch.gemm(random(5, 8), random(8, 7), **options)
    assert [problem.preactivation for problem in problems] == [written]


@pytest.mark.parametrize("packed", ["halves", "interleaved"])
def test_gated_pairs_have_the_gradients_of_their_steps(packed):
    inputs = x, w, bias, h = [random(*shape) for shape in ((5, 24), (18, 24), (18,), (5, 9))]
    found = autotune_torch.gemm(x, w.mT, bias, h, activation="silu", packed=packed, alpha=0.5)
    z = 0.5 * (x.float() @ w.float().mT) + bias.float()
    gates, factors = z.chunk(2, -1) if packed == "halves" else (z[:, 0::2], z[:, 1::2])
    assert_gradients(found, functional.silu(gates) * factors + h.float(), inputs)


@pytest.mark.parametrize(("a", "b"), [((2, 3, 5, 8), (8, 7)), ((5, 8), (2, 8, 7)), ((2, 5, 8), (2, 8, 7))])
def test_batches_have_the_gradients_of_matmul(a, b):
    inputs = random(*a), random(*b)
    assert_gradients(autotune_torch.gemm(*inputs), torch.matmul(*(one.float() for one in inputs)), inputs)


def test_a_column_and_a_wider_result_have_gradients():
    inputs = a, b, bias = random(8, 5).mT, random(8, 7), random(5, 1).float().detach().requires_grad_()
    a.retain_grad()
    found = autotune_torch.gemm(a, b, bias, dtype=torch.float32, activation="relu")
    assert_gradients(found, torch.relu(a.float() @ b.float() + bias), inputs)


def test_a_second_derivative_is_that_of_matmul():
    a, b = random(5, 8), random(8, 7)

    def second(multiply):
        (first,) = torch.autograd.grad((multiply(a, b) ** 2).sum(), a, create_graph=True)
        return torch.autograd.grad((first**2).sum(), b)[0]

    expected = second(torch.matmul)
    torch.testing.assert_close(second(autotune_torch.gemm), expected, rtol=0.02, atol=0.02 * float(expected.max()))


def test_a_gradient_is_added_to_one_in_float32():
    """What training keeps in float32: the gradient of weights, summed over steps in place."""
    total, expected = torch.zeros(9, 24), torch.zeros(9, 24)
    for step in range(3):
        gradient, x = random(5 + step, 9).detach(), random(5 + step, 24).detach()
        dispatcher.gemm(gradient.mT, x, None, total, dtype=torch.float32, out=total)
        expected += gradient.float().mT @ x.float()
    torch.testing.assert_close(total, expected, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("dtype", ROUNDING)
def test_a_layer_is_one_graph(dtype):
    layer = autotune_torch.Linear(24, 9, dtype=dtype)
    x = random(2, 3, 24, dtype=dtype)
    torch.compiler.reset()
    found = torch.compile(layer, fullgraph=True, backend="aot_eager")(x)
    expected = functional.linear(x.float(), layer.weight.float(), layer.bias.float())
    assert_gradients(found, expected, [x, layer.weight, layer.bias])


def test_a_layer_of_float32_takes_tf32_where_pytorch_may():
    """Which rounds numbers to 1; compiled code, too, after the setting has changed."""
    layer, exact = autotune_torch.Linear(24, 8, bias=False), 1 + 2**-12
    torch.nn.init.ones_(layer.weight)
    x = torch.full((4, 24), exact)
    torch.compiler.reset()
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    before = torch.get_float32_matmul_precision()
    for precision, of_term in (("high", 1), ("highest", exact)):
        torch.set_float32_matmul_precision(precision)
        try:
            for forward in (layer, compiled):
                layer.zero_grad()
                y = forward(x)
                y.sum().backward()
                assert (y == 24 * of_term).all()
                assert (layer.weight.grad == 4 * of_term).all()
        finally:
            torch.set_float32_matmul_precision(before)


@pytest.mark.parametrize("dtype", ROUNDING)
def test_under_autocast_a_layer_casts_as_pytorchs(dtype):
    layer, plain = autotune_torch.Linear(24, 9), torch.nn.Linear(24, 9)
    plain.load_state_dict(layer.state_dict())
    x = random(5, 24, dtype=torch.float32)
    with torch.autocast("cpu", dtype=dtype):
        found, expected = layer(x), plain(x)
    assert found.dtype == dtype
    torch.testing.assert_close(found, expected, rtol=4 * ROUNDING[dtype], atol=4 * ROUNDING[dtype])
    for y in (found, expected):
        y.float().square().sum().backward()
    torch.testing.assert_close(layer.weight.grad, plain.weight.grad, rtol=0.05, atol=0.05)
