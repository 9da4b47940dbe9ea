"""An operator's commands follow from the fields of its problem."""

from dataclasses import dataclass, replace
from enum import StrEnum

import pytest
import typer
from typer.testing import CliRunner

from autotune.cli.fields import Field, fields_of
from autotune.cli.operator_commands import operator_commands, problem_of_given
from autotune.codegen.model.fields import kind, size
from autotune.search_spaces.contract.registry import OPERATORS


class Mode(StrEnum):
    FAST = "fast"
    EXACT = "exact"
    ROUGH = "rough"


FEWER = (Mode.FAST, Mode.EXACT)


@dataclass(frozen=True)
class Reduction:
    """A problem of no operator that there is.

    Attributes:
        rows, row_length: numbers of rows and
            of words in one.
        mode: how [exactly].
    """

    rows: int = size(64)
    row_length: int = 7
    keep: bool = False
    mode: Mode = kind(Mode.FAST, allowed=FEWER)

    @classmethod
    def fitted(cls, fields):
        return {**fields, "rows": min(fields["rows"], 10 * fields.get("row_length", 7))}


def test_fields_have_types_defaults_and_what_the_docstring_says():
    text = "numbers of rows and of words in one."
    assert fields_of(Reduction) == [
        Field("rows", int, None, 64, text),
        Field("row_length", int, 7, None, text),
        Field("keep", bool, False, None, ""),
        Field("mode", Mode, Mode.FAST, None, "how [exactly].", FEWER),
    ]


def test_sizes_that_are_not_given_fit_those_that_are():
    made = problem_of_given
    given = ({}, {"row_length": 3}, {"row_length": 3, "rows": 64})
    assert [made(Reduction, fields) for fields in given] == [
        Reduction(rows, length) for rows, length in ((64, 7), (30, 3), (64, 3))
    ]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("", {}),
        (
            "--rows 3 --row-length 0 --keep --mode exact --count 2",
            {"rows": 3, "row_length": 0, "keep": True, "mode": Mode.EXACT},
        ),
    ],
)
def test_a_new_operator_needs_no_code_here(monkeypatch, arguments, expected):
    operator = replace(OPERATORS["sgemm"], name="reduction", summary="y[i] = sum of x[i][j]", problem_type=Reduction)
    monkeypatch.setitem(OPERATORS, "reduction", operator)
    calls = []

    def count(operator, fields, count=1):
        """Count."""
        calls.append((operator, fields, count))

    app = typer.Typer()
    app.add_typer(operator_commands(count), name="count")
    result = CliRunner().invoke(app, ["count", "reduction", *arguments.split()])
    assert result.exit_code == 0
    assert calls == [(operator, expected, 2 if "count" in arguments else 1)]
    help_text = CliRunner().invoke(app, ["count", "reduction", "--help"]).output
    assert all(text in help_text for text in ("how [exactly].", "y[i] = sum of x[i][j]", "fast|exact "))


@pytest.mark.parametrize(
    ("option", "why"),
    [("--stride-h", "stride_h=0: expected 1 … 4096"), ("--groups", "groups=0: expected 1 or more")],
)
def test_sizes_that_are_left_out_do_not_hide_what_is_wrong_with_a_kind(autotune, option, why):
    assert autotune("emit", "conv2d", option, "0").stderr == f"autotune: {why}\n"
