"""Which tensors PyTorch takes for those of an earlier call: none that a kernel would read in another way."""

import pytest

from autotune.dispatcher.calls.fast_path import Memory, Recognised, allocator, comparison, recording

torch = pytest.importorskip("torch")


def tensors():
    return [torch.empty(8, 8) for _ in range(3)]


def remembered(case, given):
    """A memory of one call."""
    memory = Memory()
    remember(memory, case, given)
    return memory


def remember(memory, case, given):
    memory.remember(Recognised(case, comparison(given), recording(given)), given)


@pytest.fixture
def memory():
    return remembered("case", tensors())


def found(memory, case, given):
    call = memory.find(case, given)
    return call and call.case


def expected(memory):
    return memory.recent[memory.ahead]


def searches(memory, order):
    """For how many calls of an order the memory looked; the others were those that it expected."""
    count = 0
    for case in order:
        if expected(memory).case == case:
            memory.recent.appendleft(expected(memory))
        else:
            assert memory.find(case, tensors())
            count += 1
    return count


def test_tensors_like_those_before_are_recognised(memory):
    for _ in range(2):
        assert found(memory, "case", tensors()) == "case"
        assert found(memory, "other", tensors()) is None
    assert expected(memory).alike(*tensors())


@pytest.mark.parametrize("order", ["a", "ab", "aabaac", "abcbcbcbd" * 3, "abbbbbbbbc", "ab" * 60 + "c"])
def test_an_order_that_repeats_is_expected(order):
    memory = Memory()
    for case in {*order, "x"}:
        remember(memory, case, tensors())
    searches(memory, "axaa")
    searches(memory, order * 2)
    assert searches(memory, order * 3) == 0
    memory.clear()
    assert not expected(memory).alike(*tensors())


def test_an_order_that_changes_is_learned_anew():
    memory = Memory()
    for case in "abcdefg":
        remember(memory, case, tensors())
    for order in ("abcabd", "efegefg", "abcabd"):
        searches(memory, order * 2)
        assert searches(memory, order * 2) == 0


def test_many_kinds_are_told_apart(memory):
    def kind(number):
        tensors = [torch.empty(4 + number // 2, 4 + number // 2) for _ in range(3)]
        return [tensor.T for tensor in tensors] if number % 2 else tensors

    for number in range(4):
        remember(memory, number, kind(number))
    for _ in range(2):
        assert [found(memory, number, kind(number)) for number in range(4)] == [0, 1, 2, 3]
        assert found(memory, "case", tensors()) == "case"
    memory.clear()
    assert found(memory, "case", tensors()) is None
    assert not expected(memory).alike(*tensors())


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
@pytest.mark.parametrize("index", range(3))
def test_tensors_of_another_kind_are_not(memory, other, index):
    memory.find("case", tensors())
    given = tensors()
    given[index] = other()
    assert memory.find("case", given) is None
    assert not expected(memory).alike(*given)


def test_a_tensor_that_was_changed_in_place_is_another(memory):
    given = tensors()
    assert memory.find("case", given)
    given[0].resize_(4, 16)
    assert memory.find("case", given) is None


def test_parameters_are_recognised_while_no_gradients_are_recorded():
    given = [torch.empty(8, 8), torch.nn.Parameter(torch.empty(8, 8)), torch.empty(8, 8)]
    with torch.no_grad():
        memory = remembered("case", given)
        assert memory.find("case", given)
    assert memory.find("case", given) is None


def test_what_cannot_be_compared_has_no_comparison():
    assert comparison([tensor.numpy() for tensor in tensors()]) is None
    twice = torch.empty(8, 8)
    assert comparison([twice, twice]) is None


def test_an_option_that_is_a_list_is_not_recognised(memory):
    assert memory.find([0], tensors()) is None


@pytest.mark.parametrize("shape", [(), (0, 3), (1, 64), (64, 1), (2, 1, 3)])
def test_new_outputs_are_row_major(shape):
    like = torch.empty(shape, dtype=torch.bfloat16)
    one = allocator([like])()
    several = allocator([like, like])()
    for made in (one, *several):
        assert (made.shape, made.stride(), made.dtype) == (like.shape, like.stride(), like.dtype)
    assert len(several) == 2
