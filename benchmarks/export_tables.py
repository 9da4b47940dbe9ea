"""How closely an export's C++ follows the dispatcher, for each operator, by the time model.

    python benchmarks/export_tables.py DEVICE SIZES CHECKED [OPERATOR...]

Exported are the shipped records of the kind that has most of them; of an operator without any, one problem. No cubins
are made. A line for each operator: problems, schedules and kernels that are exported, KiB of tables.hpp, the share of
CHECKED other sizes that are served as Python chooses, how much longer all take, and seconds.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from typing import Any

from autotune.codegen.model.fields import FieldRole, field_specs
from autotune.codegen.model.problem import Problem
from autotune.db import TuningDB
from autotune.dispatcher.choice.records import few_records
from autotune.export import Bundle, agreement, bundle_of, kernels_of
from autotune.export.tables import tables
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.registry import OPERATORS, operator
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import named_device


def largest_bundle(op: Operator[Any, Any], spec: DeviceSpec, database: TuningDB) -> Bundle:
    """The records of one kind."""
    specs = {name: one for name, one in field_specs(op.problem_type).items() if one.role is FieldRole.SIZE}
    keys = {trial.problem.key for trial in database.trials(op.name, device=spec.name)}
    records = few_records(op, spec, database, keys, within=0.05)
    kinds: defaultdict[str, list[Problem]] = defaultdict(list)
    for problem in dict.fromkeys(record.problem for record in records):
        dense = op.problem_type(**{**problem.kinds, **problem.data, **_sizes(op, problem)})
        if problem == dense:
            implied = [name for name, one in specs.items() if getattr(problem, name) == one.implied]
            kinds[str((problem.kinds, problem.data, implied))].append(problem)
    example = op.problem_type(**op.problem_type.fitted(dict.fromkeys(_names(op), 512)))
    return bundle_of(op, max(kinds.values(), key=len, default=[example]), spec, records)


def _names(op: Operator[Any, Any]) -> list[str]:
    specs = field_specs(op.problem_type).items()
    return [name for name, spec in specs if spec.role is FieldRole.SIZE and spec.implied is None]


def _sizes(op: Operator[Any, Any], problem: Problem) -> dict[str, int]:
    specs = field_specs(op.problem_type).items()
    return {name: getattr(problem, name) for name, spec in specs if spec.role is FieldRole.SIZE}


def main(device: str, sizes: str, checked: str, *names: str) -> None:
    """Print a line for each operator."""
    spec = named_device(device)
    print(f"{spec.name}, {sizes} sizes, {checked} others checked")
    print(f"{'':24}problems schedules kernels    KiB agreement  slower")
    with TuningDB() as database:
        for name in names or OPERATORS:
            begun = time.monotonic()
            exported = kernels_of(largest_bundle(operator(name), spec, database), int(sizes))
            same, slower = agreement(exported, int(checked))
            counts = (len(exported.bundle.problems), len(exported.bundle.schedules), len(exported.sources))
            numbers = "".join(f"{one:9}" for one in (*counts, len(tables(exported)) // 1024))
            print(
                f"{name:23}{numbers} {same:9.1%} {slower:7.2%} {time.monotonic() - begun:6.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
