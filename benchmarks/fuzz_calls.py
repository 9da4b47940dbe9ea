"""Calls of the Python API for fuzz.py, most of them wrong."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout, suppress
from copy import deepcopy
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
from fuzz_files import changed, trials
from fuzz_values import ODD

from autotune import dispatcher
from autotune.bench.dispatch.example_call import problem_of_sizes
from autotune.cli.app import run
from autotune.codegen.model.problem import Problem
from autotune.db import TuningDB
from autotune.db.exchange import from_document, to_document
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.registry import OPERATORS
from autotune.tuner import TuneOptions

VALUES: list[Any] = [*ODD, None, True, 0, -1, 1, 64, 2**31, 10**30, 1.5, float("nan"), float("inf"), b"x", [], {}, (1,)]
ARRAYS: list[Any] = [
    np.ones((8, 8), np.float32), np.ones((8, 9), np.float32), np.ones(8, np.float32), np.ones((2, 8, 8), np.float32),
    np.ones((8, 8)), np.ones((8, 8), np.int32), np.ones((8, 8), np.float16), np.ones((0, 8), np.float32),
    np.ones((8, 8), np.complex64), np.ones((8, 8), object), np.ones((8, 8), ">f4"), np.ones((9, 8), np.float32)[::2],
    np.ones((8, 8), np.float32)[::-1], np.broadcast_to(np.float32(1), (8, 8)), [[1.0]], 1.0, None, "x",
]  # fmt: skip
COMPLETED = ["tune", "emit", "report", "tune --device", "db best --run", "runs show", "lock"]


def calls(random: Random, folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Random calls with the names that findings give them."""
    names = list(OPERATORS)
    document = to_document(trials("transpose", 64, 3))
    database = TuningDB(str(folder / "calls.sqlite3"))
    while True:
        name = random.choice(names)
        operator = OPERATORS[name]
        values = [random.choice(VALUES) for _ in range(4)]
        problem = _problem(operator, random)
        stated = problem.to_dict() | {random.choice(list(problem.to_dict())): values[0]}
        schedule_type = random.choice(operator.schedule_types)
        schedule = schedule_type().to_dict()
        schedule[random.choice(list(schedule))] = values[1]
        arrays = [random.choice(ARRAYS) for _ in range(random.randint(0, 3))]
        wrong = deepcopy(document)
        changed(wrong, random)
        makers: list[tuple[str, Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = [
            ("problem", operator.problem_type.from_dict, (stated,), {}),
            ("problem", operator.problem_type, tuple(values[: random.randint(0, 4)]), {}),
            ("schedule", operator.schedule, (schedule,), {}),
            ("parse", schedule_type.parse, ([f"{a}={b}" for a, b in pairwise(values)],), {}),
            ("options", TuneOptions, (), {random.choice(["trials", "seconds", "sampler", "seed", "study"]): values[0]}),
            ("merge", database.merge, (wrong,), {}),
            ("read", from_document, (wrong,), {}),
            ("trials", database.trials, (), {random.choice(["operator", "key", "device"]): random.choice(ODD)}),
            (name, getattr(dispatcher, name), tuple(arrays), {}),
            (f"plan {name}", dispatcher.plan, (name, *arrays), {}),
            ("explain", dispatcher.explain, (name, *arrays), {}),
            ("complete", completed, (random.choice(COMPLETED), name, random.choice(ODD)), {}),
        ]  # fmt: skip
        label, call, arguments, options = random.choice(makers)
        yield f"{label}{arguments!r:.300}{options or ''}", partial(call, *arguments, **options)


def completed(*words: str) -> None:
    """What a shell offers for the last of some words."""
    line = " ".join(["autotune", *words])
    asked = {"_AUTOTUNE_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    with patch.dict(os.environ, asked), redirect_stdout(io.StringIO()), suppress(SystemExit):
        run([])


def _problem(operator: Operator[Any, Any], random: Random) -> Problem:
    """A small problem."""
    return problem_of_sizes(operator.problem_type, lambda *_: random.choice([1, 8, 64]))
