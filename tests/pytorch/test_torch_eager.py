"""Which way calls of autotune.torch take: plain tensors that of eager mode, all others that of PyTorch's dispatcher."""

import pytest

torch = pytest.importorskip("torch")
autotune_torch = pytest.importorskip("autotune.torch")


def tensor(**options):
    return torch.linspace(-1, 1, 24, **options).reshape(3, 8).requires_grad_()


def test_a_mode_sees_operators():
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

    with FakeTensorMode():
        x = tensor()
        y = autotune_torch.rms_norm(x, (8,))
        y.sum().backward()
    assert isinstance(y, FakeTensor)
    assert isinstance(x.grad, FakeTensor)


def test_a_mode_sees_operators_of_plain_tensors():
    from torch.utils._python_dispatch import TorchDispatchMode

    class Seen(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func.name())
            return func(*args, **kwargs or {})

    x, seen = tensor().detach(), []
    with Seen():
        autotune_torch.softmax(x)
    assert "autotune::softmax" in seen


def test_a_fake_tensor_outside_of_its_mode_is_computed_as_one():
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

    with FakeTensorMode():
        x = tensor()
    y = autotune_torch.softmax(x)
    y.sum().backward()
    assert isinstance(y, FakeTensor)
    assert isinstance(x.grad, FakeTensor)


def test_a_transform_sees_operators():
    x = tensor().detach()
    found = torch.func.vmap(autotune_torch.softmax)(x)
    torch.testing.assert_close(found, torch.softmax(x, -1))


def test_what_has_no_second_derivative_says_so():
    x = tensor()
    (gradient,) = torch.autograd.grad(autotune_torch.softmax(x).square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="softmax_backward"):
        torch.autograd.grad(gradient.sum(), x)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_where_nothing_is_recorded_results_have_no_gradient(mode):
    with mode():
        assert autotune_torch.softmax(tensor()).grad_fn is None


def test_only_inputs_that_need_gradients_get_them():
    x, weight = tensor(), torch.ones(8)
    autotune_torch.rms_norm(x, (8,), weight).sum().backward()
    assert x.grad is not None
    assert weight.grad is None
    weight.requires_grad_()
    autotune_torch.rms_norm(x.detach(), (8,), weight).sum().backward()
    torch.testing.assert_close(weight.grad, torch.nn.functional.rms_norm(x, (8,)).sum(0).detach(), rtol=1e-4, atol=1e-4)


def test_arguments_that_the_function_lacks_are_refused():
    with pytest.raises(TypeError, match=r"softmax\(\) got an unexpected keyword argument 'out'"):
        autotune_torch.softmax(tensor(), out=tensor())
