"""autotune.torch.map and its like on the CPU: values and gradients are PyTorch's."""

import pytest

torch = pytest.importorskip("torch")
autotune_torch = pytest.importorskip("autotune.torch")
functional = torch.nn.functional

FUNCTIONS = {
    "gelu": functional.gelu,
    "gelu_tanh": lambda z: functional.gelu(z, approximate="tanh"),
    "quick_gelu": lambda z: z * torch.sigmoid(1.702 * z),
    "silu": functional.silu,
    "relu": functional.relu,
    "relu2": lambda z: functional.relu(z).square(),
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "exp": torch.exp,
    "identity": lambda z: z,
}


def random(*shape):
    torch.manual_seed(sum(shape))
    return (2 * torch.randn(shape)).requires_grad_()


def assert_same(found, expected, inputs):
    """Values, and gradients by weights that differ from element to element."""
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    weights = torch.randn(expected.shape)
    for gradient, truth in zip(
        *(torch.autograd.grad((y * weights).sum(), inputs) for y in (found, expected)), strict=True
    ):
        torch.testing.assert_close(gradient, truth, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_of_biased_rows(function):
    x, bias = random(3, 2, 9), random(9)
    assert_same(autotune_torch.map(x, function, bias=bias), FUNCTIONS[function](x + bias), (x, bias))


@pytest.mark.parametrize("packed", [None, "halves", "interleaved"])
def test_gated_pairs_with_a_residual_and_a_scale(packed):
    x, u, residual, scale = random(4, 18), random(4, 18), random(4, 9 if packed else 18), torch.tensor([0.375])
    gates = {"halves": x[:, :9], "interleaved": x[:, 0::2]}.get(packed, x)
    factors = {"halves": x[:, 9:], "interleaved": x[:, 1::2]}.get(packed, u)
    expected = (functional.silu(gates) * factors + residual) * scale
    given = {"packed": packed} if packed else {"factors": u}
    found = autotune_torch.map(x, "silu", residual=residual, scale=scale, **given)
    assert_same(found, expected, (x, residual) if packed else (x, u, residual))


def test_functions_by_pytorchs_names():
    x, u = random(3, 10), random(3, 10)
    assert_same(autotune_torch.gelu(x), functional.gelu(x), [x])
    assert_same(autotune_torch.gelu(x, approximate="tanh"), functional.gelu(x, approximate="tanh"), [x])
    assert_same(autotune_torch.swiglu(x, u), functional.silu(x) * u, [x, u])
    assert_same(autotune_torch.geglu(x), functional.gelu(x[:, :5]) * x[:, 5:], [x])
    assert_same(autotune_torch.residual_add(x, u), x + u, [x, u])
    for name in ("silu", "relu", "sigmoid", "tanh", "exp"):
        assert_same(getattr(autotune_torch, name)(x), FUNCTIONS[name](x), [x])
    half = autotune_torch.cast(x, torch.float16)
    assert half.dtype == torch.float16
    assert_same(half.float(), x.to(torch.float16).float(), [x])
    with pytest.raises(ValueError, match="approximate='erf': expected none or tanh"):
        autotune_torch.gelu(x, "erf")


@pytest.mark.parametrize(
    "options",
    [
        {"function": "gelu"},
        {"function": "silu", "factors": random(3, 8), "bias": random(8)},
        {"function": "silu", "packed": "halves", "residual": random(3, 4)},
        {"function": "gelu", "factors": random(3, 8).detach(), "grad": random(3, 8).detach()},
    ],
)
def test_the_operator_keeps_pytorchs_contract(options):
    x = random(3, 8)
    torch.library.opcheck(torch.ops.autotune.map.default, (x.detach() if "grad" in options else x,), options)
