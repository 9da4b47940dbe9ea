"""Values and gradients of autotune.torch on the CPU are PyTorch's: of map, pack, softmax, dropout, rope and reduce."""

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


def random_tensor(*shape, dtype=None):
    torch.manual_seed(sum(shape))
    return (torch.rand(*shape, dtype=dtype) * 2 - 1).requires_grad_()


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


def test_codes_are_those_of_the_plain_expression():
    torch.manual_seed(0)
    weight, x = torch.randn(7, 64), torch.randn(3, 64)
    codes, scales = autotune_torch.pack(weight, "int4", 32)
    groups = weight.view(7, 2, 32)
    expected = groups.abs().amax(-1) / 7
    assert torch.equal(scales, expected)
    q = (groups * expected.reciprocal()[..., None]).round()
    pairs = (q + 8).to(torch.uint8).view(7, 32, 2)
    assert torch.equal(codes, pairs[..., 0] | pairs[..., 1] << 4)
    y = autotune_torch.gemv(x, codes, scales=scales, group_size=32)
    torch.testing.assert_close(y, x @ (q * expected[..., None]).view(7, 64).T, rtol=1e-5, atol=1e-5)


def test_float8_codes_are_those_of_pytorchs_conversion():
    weight = torch.linspace(-1, 1, 60).view(4, 15)
    codes, scales = autotune_torch.pack(weight, "fp8", 0, scale_dtype=torch.float16)
    expected = (weight.abs().amax(-1, keepdim=True) / 448).half()
    assert torch.equal(scales, expected)
    plain = (weight * expected.float().reciprocal()).clamp(-448, 448).to(torch.float8_e4m3fn)
    assert torch.equal(codes.view(torch.uint8), plain.view(torch.uint8))


def test_log_softmax():
    x = random_tensor(3, 9)
    torch.testing.assert_close(autotune_torch.log_softmax(x), torch.log_softmax(x, -1))


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("shape", [(5, 9), (2, 1, 5, 9)])
def test_a_mask_has_the_gradient_of_what_shares_it(shape, log):
    x, mask, weights = random_tensor(2, 3, 5, 9), random_tensor(*shape), torch.randn(2, 3, 5, 9)
    function = torch.log_softmax if log else torch.softmax
    found, expected = autotune_torch.softmax(x, temperature=0.5, mask=mask, log=log), function(x / 0.5 + mask, -1)
    torch.testing.assert_close(found, expected)
    gradients = (torch.autograd.grad((y * weights).sum(), (x, mask)) for y in (found, expected))
    for gradient, truth in zip(*gradients, strict=True):
        torch.testing.assert_close(gradient, truth)


@pytest.mark.parametrize("masked", ["lengths", "causal", "mask"])
def test_what_is_masked_has_no_gradient(masked):
    """Not even of its logarithm, which is -infinity."""
    x, weights = random_tensor(2, 5, 9), torch.randn(2, 5, 9)
    lengths = torch.tensor([[1, 3, 9, 2, 5], [4, 4, 1, 9, 8]], dtype=torch.int32)
    kept = torch.rand(5, 9) < 0.6
    kept[:, 0] = True
    options, keeps = {
        "lengths": ({"lengths": lengths}, torch.arange(9) < lengths[..., None]),
        "causal": ({"causal": True}, torch.ones(5, 9, dtype=torch.bool).tril().expand(2, 5, 9)),
        "mask": ({"mask": kept}, kept.expand(2, 5, 9)),
    }[masked]
    found = autotune_torch.softmax(x, log=True, **options)
    expected = torch.log_softmax(x.masked_fill(~keeps, -torch.inf), -1)
    torch.testing.assert_close(found, expected)
    losses = (torch.where(keeps, y, 0) * weights for y in (found, expected))
    gradient, truth = (torch.autograd.grad(loss.sum(), x)[0] for loss in losses)
    torch.testing.assert_close(gradient, truth)
    assert (gradient[~keeps] == 0).all()


def test_dropout_drops_the_same_elements_of_the_gradient():
    x, bias, residual = random_tensor(3, 5, 33), random_tensor(33), random_tensor(3, 5, 33)
    y = autotune_torch.dropout(x, 0.25, 7, 1, bias=bias, residual=residual)
    kept = y != residual
    torch.testing.assert_close(y, torch.where(kept, (x + bias) / 0.75, 0.0) + residual)
    found = torch.autograd.grad(y.sum(), (x, bias, residual))
    expected = kept / 0.75
    for gradient, truth in zip(found, (expected, expected.sum((0, 1)), torch.ones_like(residual)), strict=True):
        torch.testing.assert_close(gradient, truth)


def test_dropout_keeps_pytorchs_contract():
    state = torch.tensor([1, 2])
    torch.library.opcheck(torch.ops.autotune.dropout.default, (random_tensor(5, 8), 0.5, 7), {"state": state})
    torch.library.opcheck(torch.ops.autotune.dropout.default, (random_tensor(5, 8), 0.5, 7), {"bias": random_tensor(8)})


def rotated(x, theta=100.0):
    """Halves turned by the angles of positions 2, 3, …, in PyTorch."""
    half = x.shape[-1] // 2
    angles = (2 + torch.arange(x.shape[-3]))[:, None, None] * theta ** (-torch.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return torch.cat((a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()), -1)


@pytest.mark.parametrize("used", ["both", "q", "k"])
def test_rope_has_the_gradients_of_pytorch(used):
    q, k = random_tensor(2, 3, 4, 8), random_tensor(2, 3, 2, 8)
    found = autotune_torch.rope(q, k, offset=2, theta=100.0)
    expected = rotated(q), rotated(k)
    torch.testing.assert_close(found, expected)
    chosen = {"both": (0, 1), "q": (0,), "k": (1,)}[used]
    sums = (sum((results[place] ** 3).sum() for place in chosen) for results in (found, expected))
    gradients = (torch.autograd.grad(total, [(q, k)[place] for place in chosen]) for total in sums)
    for gradient, truth in zip(*gradients, strict=True):
        torch.testing.assert_close(gradient, truth)


def test_rope_keeps_pytorchs_contract():
    positions = torch.tensor([4, 0, 2])
    torch.library.opcheck(
        torch.ops.autotune.rope.default,
        (random_tensor(3, 4, 8), random_tensor(3, 2, 8), positions, torch.rand(5, 8)),
        {"conj": True},
    )


REDUCTIONS = {
    "sum": torch.sum,
    "mean": torch.mean,
    "l2": lambda x, dim: torch.linalg.vector_norm(x, dim=dim),
    "max": lambda x, dim: x.max() if dim is None else x.max(dim).values,
    "min": lambda x, dim: x.min() if dim is None else x.min(dim).values,
}


@pytest.mark.parametrize("dim", [None, -1, 0])
@pytest.mark.parametrize("op", REDUCTIONS)
def test_values_and_gradients(op, dim):
    x = random_tensor(3, 5, 7)
    assert_same(autotune_torch.reduce(x, op, dim), REDUCTIONS[op](x, dim=dim), [x])


@pytest.mark.parametrize("dim", [None, -1, 0])
def test_values_and_gradients_of_two_arrays(dim):
    x, other = random_tensor(3, 5, 7), random_tensor(5, 3, 7).detach().reshape(3, 5, 7).requires_grad_()
    axes = (0, 1, 2) if dim is None else dim
    assert_same(autotune_torch.reduce(x, "dot", dim, other=other), (x * other).sum(axes), [x, other])
    distance = torch.linalg.vector_norm(x - other, dim=dim)
    assert_same(autotune_torch.reduce(x, "dist", dim, other=other), distance, [x, other])


@pytest.mark.parametrize("op", REDUCTIONS)
def test_values_and_gradients_of_segments(op):
    x, offsets = random_tensor(40), torch.tensor([0, 7, 8, 40])
    expected = torch.stack([REDUCTIONS[op](part, dim=0) for part in x.split([7, 1, 32])])
    assert_same(autotune_torch.reduce(x, op, offsets=offsets), expected, [x])


def test_segments_without_elements_have_no_gradient():
    x, offsets = random_tensor(5), torch.tensor([0, 0, 5, 5], dtype=torch.int32)
    for op in ("max", "mean"):
        y = autotune_torch.reduce(x, op, offsets=offsets)
        (gradient,) = torch.autograd.grad(y[1], x)
        assert gradient.sum() == pytest.approx(1)


def test_a_norm_of_zeros_has_no_gradient():
    x = torch.zeros(3, 4, requires_grad=True)
    (gradient,) = torch.autograd.grad(autotune_torch.reduce(x, "l2", 1).sum(), x)
    assert torch.equal(gradient, torch.zeros(3, 4))


def test_an_index_has_no_gradient():
    x = random_tensor(3, 4)
    index = autotune_torch.reduce(x, "argmin", 1)
    assert torch.equal(index, x.argmin(1))
    assert not index.requires_grad


@pytest.mark.parametrize(
    ("op", "others"), [("dot", {"other": torch.rand(8)}), ("min", {"offsets": torch.tensor([0, 3, 3, 8])})]
)
def test_further_arrays_keep_pytorchs_contract(op, others):
    torch.library.opcheck(torch.ops.autotune.reduce.default, (random_tensor(8), op, None), others)
