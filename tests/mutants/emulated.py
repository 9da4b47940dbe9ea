"""The contract's cases whose source has a line of CUDA, and a process that verifies them in a mutated tree."""

import pickle
import sys
from functools import cache
from itertools import zip_longest
from threading import Lock
from typing import Any

_MOST = 4
_emitting = Lock()  # which takes seconds, once
Case = tuple[str, Any, Any]  # operator, problem, schedule


def cases_with(code: str) -> list[Case]:
    """A few of them, the smallest of each operator in turn."""
    by_operator: dict[str, list[Case]] = {}
    with _emitting:
        emitted = _emitted()
    for case, source in emitted:
        if code in source:
            by_operator.setdefault(case[0], []).append(case)
    turns = zip_longest(*by_operator.values())
    return [case for turn in turns for case in turn if case][:_MOST]


@cache
def _emitted() -> list[tuple[Case, str]]:
    from autotune.contract.operator_cases import CASES
    from autotune.search_spaces.contract.registry import operator

    cases = sorted(CASES, key=lambda case: sum(case[1].work.operations.values()))
    return [(case, operator(case[0]).emit(*case[1:]).source) for case in cases]


def main() -> int:
    """Verify the cases that standard input has; the exit code is pytest's."""
    from autotune import emulator
    from autotune.compiler import CompileError
    from autotune.search_spaces.contract.registry import operator
    from autotune.search_spaces.machine.devices import named_device

    for name, problem, schedule in pickle.load(sys.stdin.buffer):
        try:
            emulator.verify(problem, operator(name).program(problem, schedule, named_device("h200")))
        except emulator.EmulatorError as error:
            print(f"FAILED {name} {problem.key}: {error}")
            return 1
        except (CompileError, emulator.HostCompilerMissingError) as error:
            print(f"ERROR CompileError: {error}")
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
