"""autotune.torch.softmax with masks: values and gradients are PyTorch's."""

import pytest

torch = pytest.importorskip("torch")
autotune_torch = pytest.importorskip("autotune.torch")


def random(*shape):
    torch.manual_seed(sum(shape))
    return (torch.rand(*shape) * 2 - 1).requires_grad_()


def test_log_softmax():
    x = random(3, 9)
    torch.testing.assert_close(autotune_torch.log_softmax(x), torch.log_softmax(x, -1))


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("shape", [(5, 9), (2, 1, 5, 9)])
def test_a_mask_has_the_gradient_of_what_shares_it(shape, log):
    x, mask, weights = random(2, 3, 5, 9), random(*shape), torch.randn(2, 3, 5, 9)
    function = torch.log_softmax if log else torch.softmax
    found, expected = autotune_torch.softmax(x, temperature=0.5, mask=mask, log=log), function(x / 0.5 + mask, -1)
    torch.testing.assert_close(found, expected)
    gradients = (torch.autograd.grad((y * weights).sum(), (x, mask)) for y in (found, expected))
    for gradient, truth in zip(*gradients, strict=True):
        torch.testing.assert_close(gradient, truth)


@pytest.mark.parametrize("masked", ["lengths", "causal", "mask"])
def test_what_is_masked_has_no_gradient(masked):
    """Not even of its logarithm, which is -infinity."""
    x, weights = random(2, 5, 9), torch.randn(2, 5, 9)
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
