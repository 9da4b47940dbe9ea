"""Which tensors PyTorch takes for those of an earlier call: none that a kernel would read in another way."""

import pytest

from autotune.dispatcher.repeated import Repeated

torch = pytest.importorskip("torch")


def tensors():
    return [torch.empty(8, 8) for _ in range(3)]


@pytest.fixture
def repeated():
    found = Repeated()
    found.remember("key", "found", *tensors())
    return found


def test_tensors_like_those_before_are_recognised(repeated):
    assert repeated.find("key", *tensors()) == repeated.latest("key") == "found"
    assert repeated.find("other", *tensors()) is repeated.latest("other") is None


@pytest.mark.parametrize(
    "other",
    [
        lambda: torch.empty(8, 9),
        lambda: torch.empty(8, 8).T,
        lambda: torch.empty(8, 16)[:, :8],
        lambda: torch.empty(8, 8, dtype=torch.int32),
        lambda: torch.empty(8, 8, device="meta"),
        lambda: torch.empty(8, 8, requires_grad=True),
        lambda: torch.empty(8, 8, dtype=torch.complex64).conj().imag,
        lambda: torch.nn.Parameter(torch.empty(8, 8), requires_grad=False),
        lambda: torch.empty(8, 8).numpy(),
        lambda: None,
    ],
)
@pytest.mark.parametrize("place", range(3))
def test_tensors_of_another_kind_are_not(repeated, other, place):
    given = tensors()
    given[place] = other()
    assert repeated.find("key", *given) is None


def test_a_tensor_that_was_changed_in_place_is_another(repeated):
    given = tensors()
    assert repeated.find("key", *given)
    given[0].resize_(4, 16)
    assert repeated.find("key", *given) is None


def test_parameters_are_recognised_while_no_gradients_are_recorded():
    repeated = Repeated()
    given = [torch.empty(8, 8), torch.nn.Parameter(torch.empty(8, 8)), torch.empty(8, 8)]
    with torch.no_grad():
        repeated.remember("key", "found", *given)
        assert repeated.find("key", *given) == "found"
    assert repeated.find("key", *given) is None


def test_arrays_of_others_are_not_remembered():
    repeated = Repeated()
    repeated.remember("key", "found", *(tensor.numpy() for tensor in tensors()))
    assert repeated.latest("key") is None
