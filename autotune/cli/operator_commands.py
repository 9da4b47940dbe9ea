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
    from autotune.search_spaces.contract.operator import Operator

_CONTEXT = "context"  # the parameter of a command for its typer.Context


def operator_commands(
    function: Callable[..., None], *, alone: Callable[..., None] | None = None, **others: Callable[..., None]
) -> typer.Typer:
    """A group of commands that call ``function(operator, fields, **options)``, whose docstring is their help.

    `fields` are those of the problem's fields that the user gave, for `problem_of`; `others` are commands beside those.
    `alone` is called with the options before the command, if there is none, too.

    The operators are imported when a command is looked for, not before.
    """

    class Commands(TyperGroup):
        def list_commands(self, ctx: Any) -> list[str]:
            from autotune.search_spaces.contract.registry import OPERATORS

            return [*OPERATORS, *others]

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            if cmd_name in others:
                return _typer_command(cmd_name, others[cmd_name])
            with user_input():
                return _command(function, named_operator(cmd_name))

    if alone:
        return typer.Typer(
            cls=Commands, callback=alone, invoke_without_command=True, subcommand_metavar="[OPERATOR [OPTIONS]]"
        )
    return typer.Typer(cls=Commands, help=function.__doc__, subcommand_metavar="OPERATOR [OPTIONS]")


def named_operator(word: str) -> Operator[Any, Any]:
    """The operator that a user named, or that a file declares: ``add.py``, or ``add.py:add`` where it has several.

    Only what a user types names a file, for it is run: no name that a database or a document holds comes here.

    Raises:
        ValueError: there is no such operator.
        OSError: the file cannot be read.
    """
    from autotune.search_spaces.contract.registry import operator

    if not is_file(word):
        return operator(word)
    from autotune.own_kernels.load import declared_in

    path, _, name = word.partition(":")
    return declared_in(path, name)


def is_file(word: str) -> bool:
    """Whether a word in the place of an operator's name is that of a file."""
    return word.partition(":")[0].endswith(".py")


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
    """`problem_of_given`; `BadInputError` if there is no such problem."""
    with user_input():
        return problem_of_given(operator.problem_type, fields)


def problem_of_given(problem_type: type[Problem], fields: Mapping[str, Any]) -> Problem:
    """The problem of fields that the user gave. Sizes that they left out are the examples, made to fit the others.

    Raises:
        ValueError: there is no such problem.
    """
    from autotune.codegen.model.plain_fields import checked_fields

    examples = {field.name: field.example for field in fields_of(problem_type) if field.default is None}
    values = checked_fields(problem_type, examples | dict(fields))
    fitted = problem_type.fitted(values)
    return problem_type(**values | {name: fitted[name] for name in examples.keys() - fields.keys()})


def _with_problem_options(function: Callable[..., None], operator: Any) -> Callable[..., None]:
    """The function with a keyword argument for each problem field instead of its first two parameters."""
    fields = fields_of(operator.problem_type)
    own = list(signature(function, eval_str=True).parameters.values())[2:]
    takes_context = any(parameter.annotation is typer.Context for parameter in own)
    if not takes_context:
        own.append(Parameter(_CONTEXT, Parameter.KEYWORD_ONLY, annotation=typer.Context))

    def call(**values: Any) -> None:
        context = values[_CONTEXT] if takes_context else values.pop(_CONTEXT)
        known = {field.name: values.pop(field.name) for field in fields}
        sources = {name: context.get_parameter_source(name) for name in known}
        given = {name: value for name, value in known.items() if sources[name].name != "DEFAULT"}
        function(operator, given, **values)

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
