"""The names of states, in the database and for users."""

from enum import StrEnum


class Status(StrEnum):
    """How a trial ended; only `OK` trials can be best."""

    OK = "ok"
    ILLEGAL = "illegal"
    COMPILE_ERROR = "compile_error"
    LAUNCH_ERROR = "launch_error"
    WRONG = "wrong"
    TIMEOUT = "timeout"
    CRASHED = "crashed"


class TimeSource(StrEnum):
    """Where a time comes from; a modelled one never beats or shadows a measured one."""

    MEASURED = "measured"
    MODELLED = "modelled"


class Objective(StrEnum):
    """What a run minimises of a launch: its seconds, or the joules that the whole board uses meanwhile."""

    TIME = "time"
    ENERGY = "energy"


class Outcome(StrEnum):
    """How a run ended that could say so."""

    DONE = "done"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
