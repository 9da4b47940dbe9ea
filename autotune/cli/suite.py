"""Files with many problems to tune."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import BadInputError, user_input

if TYPE_CHECKING:
    from ..codegen.problem import Problem

_LABEL = "group"


def read_suite(path: Path, problem_type: type[Problem], fields: Mapping[str, Any]) -> list[Problem]:
    """The problems of a JSON list of objects, each with the fields that differ from `fields`.

    A member ``group`` is a label for people.
    """
    from ..db.exchange import read_document

    with user_input():
        try:
            entries = read_document(path)
        except OSError as error:
            raise BadInputError(f"{path}: {error.strerror}; expected a file with a JSON list of problems") from error
        if not (isinstance(entries, list) and entries and all(isinstance(entry, dict) for entry in entries)):
            raise BadInputError(f'{path}: expected a JSON list of problems such as [{{"m": 1024, "n": 1024}}]')
        return [
            _problem(problem_type, {**fields, **entry}, f"{path}, problem {number}")
            for number, entry in enumerate(entries, 1)
        ]


def _problem(problem_type: type[Problem], values: dict[str, Any], place: str) -> Problem:
    values.pop(_LABEL, None)
    try:
        return problem_type.from_dict(values)
    except ValueError as error:
        raise BadInputError(f"{place}: {error}") from error
