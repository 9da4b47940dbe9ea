"""The space of several kernels: parameters that they share, and others that are told apart."""

from collections import Counter
from dataclasses import dataclass
from itertools import islice

import pytest

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.contract.space import Space, field_parameters
from autotune.search_spaces.contract.union_space import union_of


@dataclass(frozen=True)
class Narrow(Schedule):
    kernel = "narrow"

    threads: int = tunable(64, values=(64, 128))
    width: int = tunable(1, values=(1, 2))


@dataclass(frozen=True)
class Wide(Schedule):
    kernel = "wide"

    threads: int = tunable(64, values=(64, 128))
    width: int = tunable(4, values=(4, 8))
    stages: int = tunable(2, values=(2, 3, 4))


UNION = union_of({kind.kernel: Space(field_parameters(kind), kind.from_dict) for kind in (Narrow, Wide)})


def test_equal_parameters_are_shared_and_others_told_apart() -> None:
    names = ["kernel", "threads", "narrow.width", "wide.width", "stages"]
    assert [parameter.name for parameter in UNION.parameters] == names
    assert UNION.size == 4 + 12 == len({UNION.build(draw) for draw in UNION.all_draws()})


def test_a_draw_counts_for_its_kernel_alone() -> None:
    draw = {"kernel": "narrow", "threads": 128, "narrow.width": 2, "wide.width": 8, "stages": 4}
    assert UNION.build(draw) == Narrow(128, 2)
    assert UNION.build(UNION.draw_of(Narrow(128, 2))) == Narrow(128, 2)
    drawn = Counter(UNION.build(draw).kernel for draw in islice(UNION.random_draws(0), 100))
    assert drawn["narrow"] > 30 < drawn["wide"]


def test_values_are_kept_by_their_names_here() -> None:
    kept = UNION.keeping({"threads": (128,), "wide.width": (8,), "stages": (2, 3)})
    assert {UNION.build(draw) for draw in kept.all_draws()} >= {Narrow(128, 1), Narrow(128, 2)}
    assert kept.size == 2 + 2 and Wide(128, 8, 3) in kept and Wide(128, 4, 3) not in kept
    assert Narrow() not in UNION.keeping({"kernel": ("wide",)})
    with pytest.raises(ValueError, match="not in the search space"):
        kept.draw_of(Wide(64, 8, 3))
