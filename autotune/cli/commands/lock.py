"""``autotune lock``."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from autotune.cli.errors import BadInputError, user_input
from autotune.cli.options import DatabaseOption, DeviceOption, JsonOption, output_option, spec_of
from autotune.cli.rendering.output import print_json
from autotune.cli.suite import entries_of

if TYPE_CHECKING:
    from autotune.codegen.model.problem import Problem
    from autotune.dispatcher.calls.warming import Compiled
    from autotune.dispatcher.choice.formulation import KnownRecords
    from autotune.search_spaces.contract.operator import Operator
    from autotune.search_spaces.machine.device_spec import DeviceSpec

Wanted = list[tuple[Any, list[Any]]]  # operators, and problems of each


def lock(
    output: Annotated[Path, output_option("The lock to write.")],
    suite: Annotated[
        list[str] | None,
        typer.Option(
            "--suite",
            metavar="OPERATOR=SUITE",
            help="Lock the problems of this suite of an operator; may be given again. Default: the problems that "
            "programs called on this device model.",
        ),
    ] = None,
    device: DeviceOption = "auto",
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write which schedule serves each problem, and the digest of its machine code, to a file that programs keep to.

    Kernels are compiled into the cache. Needs no GPU.
    """
    from autotune.compiler import compiler_version
    from autotune.db import TuningDB
    from autotune.dispatcher.choice.records import read_records
    from autotune.dispatcher.lock.document import write

    spec = spec_of(device)
    wanted = _of_suites(suite) if suite else _called(spec.name)
    with TuningDB(db, create=False) as database:
        known = cache(lambda one: read_records(one, spec, database))
        compiled = [one for operator, problems in wanted for one in _compiled(operator, problems, spec, known)]
    choices = {(one.locked.operator.name, one.locked.problem): one.locked for one in compiled}
    with user_input():
        write(output, compiler_version(), spec, choices.values())
    if as_json:
        print_json({"path": str(output), "device": spec.name, "choices": len(choices)})
    else:
        print(f"{output}: {len(choices)} problems on {spec.name}")


def _of_suites(named: list[str]) -> Wanted:
    from autotune.search_spaces.contract.registry import operator

    wanted: Wanted = []
    for text in named:
        name, _, suite = text.partition("=")
        if not suite:
            raise BadInputError(f"--suite {text}: expected OPERATOR=SUITE, such as sgemm=shapes.json")
        with user_input():
            chosen = operator(name)
        wanted.append((chosen, [entry.problem for entry in entries_of(chosen, {}, Path(suite))]))
    return wanted


def _called(model: str) -> Wanted:
    """What programs called on a device model."""
    from autotune.dispatcher.choice.called import called_problems
    from autotune.search_spaces.contract.registry import operator

    wanted: dict[str, list[Problem]] = {}
    for one in called_problems(model):
        try:
            problem = operator(one.operator).problem_type.from_dict(one.problem)
        except ValueError as error:  # an older version counted it
            print(f"skipped a problem of {one.operator}: {error}", file=sys.stderr)
        else:
            wanted.setdefault(one.operator, []).append(problem)
    if not wanted:
        raise BadInputError(f"no program called a problem on {model}: run one first, or name problems by --suite")
    return [(operator(name), problems) for name, problems in wanted.items()]


def _compiled(
    operator: Operator[Any, Any], problems: list[Problem], spec: DeviceSpec, known: KnownRecords
) -> list[Compiled]:
    from autotune.dispatcher.calls.warming import compile_ahead

    found: list[Compiled] = []
    for one in compile_ahead(operator, problems, spec, known):
        found.append(one)
        print(f"{len(found)}/{len(problems)}  {operator.name} {one.problem.key}", file=sys.stderr)
    return found
