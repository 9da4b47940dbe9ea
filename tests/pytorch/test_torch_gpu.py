"""autotune.torch on a GPU, with PyTorch's own compiler."""

import pytest

from autotune.devices.driver import cuda_device_count

torch = pytest.importorskip("torch")
autotune_torch = pytest.importorskip("autotune.torch")


pytestmark = pytest.mark.gpu

if cuda_device_count() and not torch.cuda.is_available():
    pytest.skip("this PyTorch has no CUDA", allow_module_level=True)


def random(*shape):
    return (torch.rand(*shape, device="cuda") * 2 - 1).requires_grad_()


@pytest.mark.parametrize("shapes", [((50, 330), (330, 70)), ((3, 50, 330), (330, 70)), ((3, 50, 330), (3, 330, 70))])
def test_the_operator_keeps_pytorchs_contract(shapes):
    torch.library.opcheck(torch.ops.autotune.sgemm.default, tuple(random(*shape) for shape in shapes))


def test_the_compiler_keeps_it_in_one_graph_and_its_gradients_are_right():
    @torch.compile(fullgraph=True)
    def function(a, b):
        return autotune_torch.sgemm(a * 2, b).relu()

    a, b = random(50, 330), random(330, 70)
    found, expected = function(a, b), torch.matmul(a.double() * 2, b.double()).relu().float()
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-3)
    for gradient, truth in zip(*(torch.autograd.grad(c.sum(), (a, b)) for c in (found, expected)), strict=True):
        torch.testing.assert_close(gradient, truth, rtol=0, atol=1e-3)
