"""Commands about an operator: one for each operator, with the fields of its problem as options.

An operator that is new in the registry has its commands at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from .errors import user_input
from .fields import Field, fields_of

if TYPE_CHECKING:
    from autotune.codegen.model.problem import Problem


def operator_commands(
    function: Callable[..., None], *, alone: Callable[..., None] | None = None, **others: Callable[..., None]
) -> typer.Typer:
    """A group of commands that call ``function(operator, fields, **options)``, whose docstring is their help.

    `fields` are the values of the problem's fields, for `problem_of`; `others` are commands beside those. `alone` is
    called with the options before the command, if there is none, too.

    The operators are imported when a command is looked for, not before.
    """

    class Commands(TyperGroup):
        def list_commands(self, ctx: Any) -> list[str]:
            from autotune.search_spaces.contract.registry import OPERATORS

            return [*OPERATORS, *others]

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            from autotune.search_spaces.contract.registry import operator

            if cmd_name in others:
                return _typer_command(cmd_name, others[cmd_name])
            with user_input():
                return _command(function, operator(cmd_name))

    if alone:
        return typer.Typer(
            cls=Commands, callback=alone, invoke_without_command=True, subcommand_metavar="[OPERATOR [OPTIONS]]"
        )
    return typer.Typer(cls=Commands, help=function.__doc__, subcommand_metavar="OPERATOR [OPTIONS]")


def _command(function: Callable[..., None], operator: Any) -> TyperCommand:
    from rich.markup import escape

    summary = escape(operator.summary)
    texts = {"help": f"{summary}\n\n{function.__doc__}", "short_help": summary}
    return _typer_command(operator.name, _with_problem_options(function, operator), **texts)


def _typer_command(name: str, function: Callable[..., None], **texts: str) -> TyperCommand:
    app = typer.Typer(add_completion=False)
    app.command(name, **texts)(function)  # type: ignore[arg-type]
    command = typer.main.get_command(app)
    assert isinstance(command, TyperCommand)
    return command


def problem_of(operator: Any, fields: Mapping[str, Any]) -> Problem:
    """The problem of these fields, which the user gave; `BadInputError` if there is no such problem."""
    with user_input():
        problem: Problem = operator.problem_type.from_dict(fields)
        return problem


def default_fields(operator: Any) -> dict[str, Any]:
    """What the problem's options are if the user gives none."""
    return {field.name: _default(field) for field in fields_of(operator.problem_type)}


def _with_problem_options(function: Callable[..., None], operator: Any) -> Callable[..., None]:
    """The function with a keyword argument for each problem field instead of its first two parameters."""
    fields = fields_of(operator.problem_type)

    def call(**values: Any) -> None:
        given = {field.name: values.pop(field.name) for field in fields}
        function(operator, given, **values)

    own = list(signature(function, eval_str=True).parameters.values())[2:]
    # Typer reads the parameters from here.
    call.__dict__["__signature__"] = Signature([*own, *map(_option, fields)])
    return call


def _option(field: Field) -> Parameter:
    from rich.markup import escape

    # Of an enum with choices, the problem refuses the others: Typer would accept and list all members.
    metavar = "|".join(map(str, field.choices)) or None
    option = typer.Option(help=escape(field.help), metavar=metavar, rich_help_panel="Problem")
    return Parameter(
        field.name,
        Parameter.KEYWORD_ONLY,
        default=_default(field),
        annotation=Annotated[str if field.choices and issubclass(field.kind, StrEnum) else field.kind, option],
    )


def _default(field: Field) -> Any:
    return field.example if field.default is None else field.default
