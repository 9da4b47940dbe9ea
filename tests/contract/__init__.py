"""The suite that every operator passes: of this repository's tests, and of ``pytest --autotune-operator NAME``."""

from autotune.search_spaces.contract.registry import OPERATORS

_chosen: list[str] = []


def choose(names: list[str]) -> None:
    """Have the suite be one of these operators alone; to be called before its modules are imported."""
    _chosen[:] = names


def tested() -> list[str]:
    """The names of the operators that the suite is of: all, if none were chosen."""
    return _chosen or list(OPERATORS)
