"""Where parts of a workspace lie: parts that are never in use at the same time share memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .integers import round_up
from .launch import Region

ALIGNMENT = 256  # bytes between the beginnings of parts of a workspace


@dataclass(frozen=True)
class Lifetime:
    """The steps from the first that uses a part to the last, by number."""

    first: int
    last: int

    def overlaps(self, other: Lifetime) -> bool:
        """Whether some step lies in both."""
        return self.first <= other.last and other.first <= self.last


def laid_out(sizes: Mapping[str, int], lifetimes: Mapping[str, Lifetime], start: int = 0) -> dict[str, Region]:
    """A region for each part.

    Parts are put one after the other into the first slot of memory that is free for as long as they live. A slot is as
    large as its largest part.

    Args:
        sizes: bytes of each part by name.
        lifetimes: of the same parts.
        start: bytes ahead of the first slot.
    """
    slots: list[list[str]] = []
    for name in sorted(sizes, key=lambda name: lifetimes[name].first):
        free = (slot for slot in slots if not any(lifetimes[name].overlaps(lifetimes[other]) for other in slot))
        found = next(free, None)
        if found is None:
            slots.append([name])
        else:
            found.append(name)
    regions: dict[str, Region] = {}
    offset = round_up(start, ALIGNMENT)
    for slot in slots:
        regions |= {name: Region(offset, sizes[name], name) for name in slot}
        offset += round_up(max(sizes[name] for name in slot), ALIGNMENT)
    return regions
