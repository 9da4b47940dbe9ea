"""dropout and rope in PyTorch on the CPU: schemas and gradients."""

import pytest

torch = pytest.importorskip("torch")
autotune_torch = pytest.importorskip("autotune.torch")


def random(*shape, dtype=None):
    torch.manual_seed(sum(shape))
    return (torch.rand(*shape, dtype=dtype) * 2 - 1).requires_grad_()


def test_dropout_drops_the_same_elements_of_the_gradient():
    x, bias, residual = random(3, 5, 33), random(33), random(3, 5, 33)
    y = autotune_torch.dropout(x, 0.25, 7, 1, bias=bias, residual=residual)
    kept = y != residual
    torch.testing.assert_close(y, torch.where(kept, (x + bias) / 0.75, 0.0) + residual)
    found = torch.autograd.grad(y.sum(), (x, bias, residual))
    expected = kept / 0.75
    for gradient, truth in zip(found, (expected, expected.sum((0, 1)), torch.ones_like(residual)), strict=True):
        torch.testing.assert_close(gradient, truth)


def test_dropout_keeps_pytorchs_contract():
    state = torch.tensor([1, 2])
    torch.library.opcheck(torch.ops.autotune.dropout.default, (random(5, 8), 0.5, 7), {"state": state})
    torch.library.opcheck(torch.ops.autotune.dropout.default, (random(5, 8), 0.5, 7), {"bias": random(8)})


def rotated(x, theta=100.0):
    """Halves turned by the angles of positions 2, 3, …, in PyTorch."""
    half = x.shape[-1] // 2
    angles = (2 + torch.arange(x.shape[-3]))[:, None, None] * theta ** (-torch.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return torch.cat((a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()), -1)


@pytest.mark.parametrize("used", ["both", "q", "k"])
def test_rope_has_the_gradients_of_pytorch(used):
    q, k = random(2, 3, 4, 8), random(2, 3, 2, 8)
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
        torch.ops.autotune.rope.default, (random(3, 4, 8), random(3, 2, 8), positions, torch.rand(5, 8)), {"conj": True}
    )
