"""Command lines of any command for fuzz.py, derived from the app: a new command, option or operator is among them."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from random import Random
from typing import Any

from fuzz_files import Files
from fuzz_values import BAD_INPUT, DONE, FAILED, NUMBERS, ODD, Case
from typer.main import get_command

from autotune.cli.app import app

# What takes long if nothing is wrong with it: measures, tunes, compiles many kernels.
_LONG = {"tune", "record", "bench", "calibrate", "warm", "export", "lock", "stamp"}


class Command:
    """A command of the app.

    Args:
        words: its name, after those of the groups that it is in.
        parameters: as Typer has them.
    """

    def __init__(self, words: tuple[str, ...], parameters: list[Any]) -> None:
        self.words = words
        self.long = not _LONG.isdisjoint(words)
        self.arguments = [one for one in parameters if one.param_type_name == "argument"]
        self.options = [one for one in parameters if one.param_type_name == "option"]

    def drawn(self, random: Random, files: Files, output: str) -> Case:
        """A random line of it. One that takes long is wrong."""
        if random.random() < 0.05:
            return Case([*self.words, "--help"], (DONE,))
        words = [*self.words]
        for argument in self.arguments:
            if argument.required or random.random() < 0.5:
                words.append(random.choice(_right(argument, files, output)))
        for option in random.sample(self.options, random.randint(0, min(4, len(self.options)))):
            if not option.is_flag:
                values = _right(option, files, output) if random.random() < 0.7 else [*ODD[:12], *NUMBERS]
                words.insert(len(self.words), f"{option.opts[0]}={random.choice(values)}")
            elif option.name not in ("as_json", "help"):
                words.insert(len(self.words), option.opts[0])
        if any(option.name == "db" for option in self.options):
            words.insert(len(self.words), f"--db={files.other}")
        if self.long:
            return Case([*words, self._wrong(random)], (BAD_INPUT,))
        json = ["--json"] if random.random() < 0.5 and any(one.name == "as_json" for one in self.options) else []
        return Case([*words, *json], (DONE, FAILED, BAD_INPUT))

    def _wrong(self, random: Random) -> str:
        """An option that makes each line wrong."""
        numbers = [one.opts[0] for one in self.options if _kind(one) in (int, float)]
        return random.choice([f"{random.choice(numbers)}=1 2" if numbers else "--1", "--nosuch", "--nosuch=1"])


def commands() -> list[Command]:
    """All commands of the app, of each operator too."""
    return list(_inside(get_command(app), ()))


def _inside(command: Any, words: tuple[str, ...]) -> Iterator[Command]:
    if not hasattr(command, "list_commands"):
        yield Command(words, command.params)
        return
    if command.invoke_without_command and words:
        yield Command(words, command.params)
    for name in command.list_commands(None):
        yield from _inside(command.get_command(None, name), (*words, name))


def _kind(parameter: Any) -> Any:
    return parameter.type_descriptor.annotation


def _right(parameter: Any, files: Files, output: str) -> list[str]:
    """Values that are right, or look like it."""
    kind, name = _kind(parameter), parameter.name
    if name == "output" or (kind is Path and "output" in (parameter.help or "")):
        return [output]
    if name in ("device", "devices", "to"):
        return ["h200", "t4", "kernel-tuner"]
    if kind is Path:
        return [str(path) for path in (files.export, files.recording, files.suite, files.database, *files.wrong)]
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return list(kind)
    if kind in (int, float):
        return ["0", "1", "2", "64", "4096"]
    return [str(parameter.default), *(parameter.metavar or "").strip("[]").split("|"), "m64-n64-e4", "transpose"]
