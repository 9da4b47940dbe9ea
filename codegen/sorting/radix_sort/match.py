"""How the lanes of a warp find the places of their keys."""

from __future__ import annotations

from enum import StrEnum

DIGIT_BITS = (4, 5, 6, 7, 8)  # bits of a digit


class Match(StrEnum):
    """How lanes with the same digit find each other."""

    BALLOTS = "ballots"
    MATCH_ANY = "match_any"


class Advance(StrEnum):
    """How a warp's places of a digit advance: by an atomic of one lane, or a load of all and a store of one."""

    ATOMIC = "atomic"
    LOAD_STORE = "load_store"
