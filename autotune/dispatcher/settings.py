"""Settings of the dispatcher, for all calls of a program."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Settings:
    """The settings; see `configure`.

    Attributes:
        background: whether problems without a record are tuned in another process.
        device: the GPU that tunes; None for any that is idle.
        never_worse_than: the baseline that serves if it was faster than the record; None if no baseline may serve.
    """

    background: bool = False
    device: int | None = None
    never_worse_than: str | None = None


settings = Settings()


def configure(*, tune: str = "never", device: int | None = None, never_worse_than: str | None = None) -> None:
    """Set what else the dispatcher may do. Arguments that are left out are reset to their defaults.

    Problems that have a plan already keep it.

    Args:
        tune: ``never``; or ``background``: a call whose problem has no record starts ``autotune tune --untuned`` in
            another process, one at a time. The next process uses the result.
        device: the ordinal of the GPU that tunes; by default an idle one of the same model.
        never_worse_than: a baseline that some operators can call in place of a kernel, such as ``cublas``. It computes
            the problems for which ``autotune bench <operator> --record`` found it faster than the record. By default no
            baseline serves.

    Raises:
        TypeError, ValueError: another value.
    """
    if tune not in ("never", "background"):
        raise ValueError(f"tune={tune!r}: expected 'never' or 'background'")
    if never_worse_than is not None and never_worse_than not in (known := _substitutes()):
        raise ValueError(f"never_worse_than={never_worse_than!r}: expected {', '.join(map(repr, known))} or None")
    if device is not None and type(device) is not int:
        raise TypeError(f"device={device!r}: expected the number of a GPU, or None")
    if device is not None and device < 0:
        raise ValueError(f"device={device}: expected the number of a GPU, 0 or more, or None")
    settings.background = tune == "background"
    settings.device = device
    settings.never_worse_than = never_worse_than


def _substitutes() -> list[str]:
    from autotune.search_spaces.contract.registry import OPERATORS

    return sorted({name for operator in OPERATORS.values() for name in operator.substitutes})
