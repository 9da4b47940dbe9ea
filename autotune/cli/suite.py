"""Files with many problems."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from .errors import BadInputError, user_input
from .operator_commands import problem_of, problem_of_given

if TYPE_CHECKING:
    from autotune.codegen.model.problem import Problem

_LABEL = "group"

SuiteOption = Annotated[
    Path | None,
    typer.Option(
        "--suite",
        help="Use each problem of this file, a JSON list of objects, or of one of the operator's suites, such as gemm. "
        "Fields that an object leaves out come from the options.",
    ),
]


class Entry(NamedTuple):
    """A problem, and the label of its group; empty if it has none."""

    problem: Problem
    group: str = ""


def entries_of(operator: Any, fields: Mapping[str, Any], suite: Path | None) -> list[Entry]:
    """The problems of a suite, or without one the problem of these fields."""
    if suite is None:
        return [Entry(problem_of(operator, fields))]
    shipped = operator.suites
    path = suite if suite.exists() else shipped.get(str(suite), suite)
    return _read_suite(path, operator.problem_type, fields, list(shipped))


def _read_suite(path: Path, problem_type: type[Problem], fields: Mapping[str, Any], shipped: list[str]) -> list[Entry]:
    """The problems of a JSON list of objects, each with the fields that differ from `fields`.

    A member ``group`` is the label.
    """
    from autotune.codegen.model.fields import FieldRole, field_specs
    from autotune.db.exchange import read_document

    with user_input():
        try:
            entries = read_document(path)
        except OSError as error:
            suites = f", or the suite {' or '.join(shipped)}" if shipped else ""
            raise BadInputError(f"{path}: {error.strerror}; expected a JSON list of problems{suites}") from error
        if not (isinstance(entries, list) and entries and all(isinstance(entry, dict) for entry in entries)):
            sizes = [name for name, spec in field_specs(problem_type).items() if spec.role is FieldRole.SIZE]
            example = json.dumps([dict.fromkeys(sizes[:2], 1024)])
            raise BadInputError(f"{path}: expected a JSON list of problems such as {example}")
        return [
            _entry(problem_type, {**fields, **entry}, f"{path}, problem {number}")
            for number, entry in enumerate(entries, 1)
        ]


def _entry(problem_type: type[Problem], values: dict[str, Any], location: str) -> Entry:
    group = str(values.pop(_LABEL, ""))
    try:
        return Entry(problem_of_given(problem_type, values), group)
    except ValueError as error:
        raise BadInputError(f"{location}: {error}") from error
