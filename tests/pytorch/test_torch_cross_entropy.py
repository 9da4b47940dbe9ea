"""cross_entropy in PyTorch: its gradients."""

import pytest

torch = pytest.importorskip("torch")
autotune_torch = pytest.importorskip("autotune.torch")
IGNORED = -100


def logits_and_targets(*shape, dtype=torch.float32):
    torch.manual_seed(sum(shape))
    target = torch.randint(0, shape[-1], shape[:-1])
    target.view(-1)[1] = IGNORED
    return (4 * torch.randn(*shape)).to(dtype).requires_grad_(), target


def expected(x, target, smoothing=0.0, square=0.0, cap=0.0):
    z = x.float().reshape(-1, x.shape[-1])
    z = cap * torch.tanh(z / cap) if cap else z
    loss = torch.nn.functional.cross_entropy(z, target.reshape(-1), reduction="none", label_smoothing=smoothing)
    loss = loss + square * (target.reshape(-1) != IGNORED) * torch.logsumexp(z, -1) ** 2
    return loss.reshape(target.shape)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float16, 4e-3)])
@pytest.mark.parametrize(("smoothing", "square", "cap"), [(0.0, 0.0, 0.0), (0.1, 0.01, 5.0)])
def test_gradients_are_those_of_pytorch(smoothing, square, cap, dtype, tolerance):
    x, target = logits_and_targets(2, 3, 37, dtype=dtype)
    found = autotune_torch.cross_entropy(x, target, label_smoothing=smoothing, lse_square_scale=square, softcap=cap)
    truth = expected(x, target, smoothing, square, cap)
    torch.testing.assert_close(found, truth, rtol=1e-5, atol=1e-5)
    weights = torch.rand(2, 3)
    for reduce in (lambda loss: loss.sum(), lambda loss: (loss * weights).sum(), lambda loss: loss.mT[1].mean()):
        gradients = (torch.autograd.grad(reduce(loss), x, retain_graph=True)[0] for loss in (found, truth))
        torch.testing.assert_close(*gradients, rtol=tolerance, atol=tolerance)


def test_log_sum_exp_is_only_computed_for_gradients(problems):
    x, target = logits_and_targets(5, 9)
    autotune_torch.cross_entropy(x.detach(), target)
    autotune_torch.cross_entropy(x, target)
    assert [problem.lse for problem in problems] == [False, True]
