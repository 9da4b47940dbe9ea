"""``autotune show``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from autotune.cli.fields import fields_of
from autotune.cli.operator_commands import problem_of
from autotune.cli.options import DeviceOption, JsonOption, WholeOption, spec_of
from autotune.cli.rendering.output import print_json, print_table

if TYPE_CHECKING:
    from autotune.codegen.model.problem import Problem
    from autotune.search_spaces.machine.device_spec import DeviceSpec


def show(
    operator: Any,
    fields: Mapping[str, Any],
    device: DeviceOption = "auto",
    whole: WholeOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the fields of problem and schedule, the search space on a device, and the presets."""
    document = _document(operator, problem_of(operator, fields), spec_of(device))
    if as_json:
        print_json(document)
    elif sys.stdout.isatty() and not whole:
        _print_brief(document)
    else:
        _print(document)


def _document(operator: Any, problem: Problem, spec: DeviceSpec) -> dict[str, Any]:
    from autotune.search_spaces.contract.sizes import space_size

    size = space_size(operator, problem, spec)
    space, default = operator.space(problem, spec), operator.default(problem, spec)
    return {
        "operator": operator.name,
        "summary": operator.summary,
        "problem": _fields(operator.problem_type, problem.to_dict()),
        "kernel": default.kernel,
        "schedule": _fields(type(default), default.to_dict()),
        "other_kernels": {
            kernel.name: _fields(kernel.schedule_type, operator.first(kernel.name, problem, spec).to_dict())
            for kernel in operator.kernels
            if kernel.name != default.kernel
        },
        "presets": list(operator.presets),
        "space": {parameter.name: parameter.values for parameter in space.parameters},
        "size": {"raw": size.raw, "legal": size.legal, "standard_error": size.standard_error},
        "key": problem.key,
        "device": spec.name,
    }


def _fields(cls: type[Any], values: dict[str, Any]) -> list[dict[str, Any]]:
    short = {name: abbreviation for abbreviation, name in getattr(cls, "short_names", dict)().items()}
    return [
        {
            "name": field.name,
            "short": short.get(field.name),
            "allowed": field.allowed,
            "value": values[field.name],
            "help": field.help,
        }
        for field in fields_of(cls)
    ]


def _print_fields(title: str, columns: tuple[str, ...], fields: list[dict[str, Any]]) -> None:
    """A line of a docstring may be of several fields: it is printed once."""
    before = [None, *(field["help"] for field in fields)]
    shown = [
        field | {"help": "as above" if field["help"] and field["help"] == last else field["help"]}
        for field, last in zip(fields, before, strict=False)
    ]
    print_table(title, columns, [[field[column] for column in columns] for field in shown], below=columns[-1])


def _print_brief(document: dict[str, Any]) -> None:
    """The default schedule first, then what there is beside it."""
    words = [f"{field['short'] or field['name']}={_word(field['value'])}" for field in document["schedule"]]
    kernel = [f"kernel={document['kernel']}"] if document["kernel"] else []
    others = ", ".join(document["other_kernels"])
    rows = [
        ("schedule", " ".join([*kernel, *words])),
        ("other kernels", others),
        ("space", _size(document)),
        ("presets", ", ".join(document["presets"])),
        ("problem", " ".join(f"--{field['name'].replace('_', '-')}" for field in document["problem"])),
    ]
    print(f"{document['operator']}: {document['summary']}\n")
    print_table(f"{document['key']} on {document['device']}", ("default", ""), [row for row in rows if row[1]])
    print("--all shows what each field means, and the values that a search tries")


def _word(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _size(document: dict[str, Any]) -> str:
    size = document["size"]
    share = 100 / size["raw"]
    error = f" ± {size['standard_error'] * share:.1f}" if size["standard_error"] else ""
    return f"{size['raw']:.3g} draws, of which {size['legal'] * share:.1f}{error} % are legal"


def _print(document: dict[str, Any]) -> None:
    print(f"{document['operator']}: {document['summary']}\n")
    _print_fields("Problem: --name value", ("name", "allowed", "value", "help"), document["problem"])
    kernel = f"kernel={document['kernel']}, " if document["kernel"] else ""
    for title, fields in (
        (f"Schedule: {kernel}NAME=VALUE, with the default for this problem", document["schedule"]),
        *(
            (f"Schedule: kernel={name}, NAME=VALUE, with what is tried first for this problem", fields)
            for name, fields in document["other_kernels"].items()
        ),
    ):
        _print_fields(title, ("name", "short", "allowed", "value", "help"), fields)
    space = [(name, " ".join(map(str, values))) for name, values in document["space"].items()]
    print_table(f"Search space of {document['key']} on {document['device']}", ("parameter", "values"), space)
    print(_size(document))
    print(f"presets: {', '.join(document['presets']) or 'none'}")
