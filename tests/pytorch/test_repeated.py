"""Which tensors PyTorch takes for those of an earlier call: none that a kernel would read in another way."""

import pytest
from autotune.dispatcher.calls.repeated import Repeated

torch = pytest.importorskip("torch")


def tensors():
    return [torch.empty(8, 8) for _ in range(3)]


@pytest.fixture
def repeated():
    found = Repeated()
    found.remember("case", "found", *tensors())
    return found


def test_tensors_like_those_before_are_recognised(repeated):
    for _ in range(2):
        assert repeated.find("case", *tensors()) == repeated.like("case", *tensors()[:2]) == "found"
        assert repeated.find("other", *tensors()) is repeated.like("other", *tensors()[:2]) is None


def test_many_kinds_are_told_apart(repeated):
    def kind(number):
        tensors = [torch.empty(4 + number // 2, 4 + number // 2) for _ in range(3)]
        return [tensor.T for tensor in tensors] if number % 2 else tensors

    for number in range(4):
        repeated.remember("case", number, *kind(number))
    for _ in range(2):
        assert [repeated.find("case", *kind(number)) for number in range(4)] == [0, 1, 2, 3]
        assert repeated.find("case", *tensors()) == "found"
    repeated.clear()
    assert repeated.find("case", *tensors()) is None


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
    assert repeated.find("case", *given) is None


def test_a_tensor_that_was_changed_in_place_is_another(repeated):
    given = tensors()
    assert repeated.find("case", *given)
    given[0].resize_(4, 16)
    assert repeated.find("case", *given) is None


def test_parameters_are_recognised_while_no_gradients_are_recorded():
    repeated = Repeated()
    given = [torch.empty(8, 8), torch.nn.Parameter(torch.empty(8, 8)), torch.empty(8, 8)]
    with torch.no_grad():
        repeated.remember("case", "found", *given)
        assert repeated.find("case", *given) == "found"
    assert repeated.find("case", *given) is None


def test_arrays_of_others_are_not_remembered():
    repeated = Repeated()
    repeated.remember("case", "found", *(tensor.numpy() for tensor in tensors()))
    assert repeated.like("case", *tensors()[:2]) is None
    assert repeated.find("case", *(tensor.numpy() for tensor in tensors())) is None


def test_a_tensor_that_comes_twice_is_not_remembered():
    repeated = Repeated()
    a, out = torch.empty(8, 8), torch.empty(8, 8)
    repeated.remember("case", "found", a, a, out)
    assert repeated.like("case", a, a) is repeated.find("case", a, a, out) is None
