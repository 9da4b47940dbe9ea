"""The commands put together, and what becomes of their errors: one line on stderr and an exit code."""

from __future__ import annotations

import logging
import os
import signal
import sys
import warnings
from collections.abc import Callable
from typing import Annotated, NoReturn

import typer
from typer.main import get_command

from autotune.base.log import show_messages, slow
from autotune.base.version import own_version

from .commands.adapt import adapt
from .commands.bench import bench
from .commands.bench_dispatch import bench_dispatch
from .commands.bench_model import bench_model
from .commands.bench_search import bench_search
from .commands.bench_spaces import bench_spaces
from .commands.bench_torch import bench_torch
from .commands.cache import app as cache
from .commands.calibrate import app as calibrate
from .commands.convert import convert
from .commands.database import app as database
from .commands.devices import devices
from .commands.doctor import doctor
from .commands.emit import emit
from .commands.explain import explain
from .commands.export import export
from .commands.lock import lock
from .commands.new import app as new
from .commands.occupancy import app as occupancy
from .commands.profile import profile
from .commands.record import record
from .commands.reduce import reduce
from .commands.replay import replay
from .commands.report import report
from .commands.runs import app as runs
from .commands.show import show
from .commands.stamp import stamp
from .commands.tune import tune
from .commands.upkeep import backup, prune
from .commands.warm import app as warm
from .errors import INTERRUPTED, exit_code, one_line
from .operator_commands import operator_commands
from .printable import escape_what_streams_lack, open_closed_streams, printable
from .rendering.output import Teller


def _alone(function: Callable[..., None]) -> typer.Typer:
    """A command as a Typer without a name: help lists commands in the order in which Typers are added."""
    single = typer.Typer()
    single.command()(function)
    return single


app = typer.Typer(pretty_exceptions_enable=False)
app.add_typer(operator_commands(tune), name="tune")
app.add_typer(_alone(adapt))
app.add_typer(operator_commands(emit), name="emit")
app.add_typer(operator_commands(show), name="show")
app.add_typer(occupancy, name="occupancy")
app.add_typer(operator_commands(explain), name="explain")
app.add_typer(warm, name="warm")
app.add_typer(_alone(lock))
app.add_typer(operator_commands(export), name="export")
app.add_typer(
    operator_commands(
        bench,
        search=bench_search,
        spaces=bench_spaces,
        model=bench_model,
        dispatch=bench_dispatch,
        torch=bench_torch,
    ),
    name="bench",
)
app.add_typer(operator_commands(profile), name="profile")
app.add_typer(operator_commands(record), name="record")
app.add_typer(_alone(convert))
app.add_typer(_alone(replay))
app.add_typer(_alone(devices))
app.add_typer(calibrate, name="calibrate")
database.command()(reduce)
database.command()(prune)
database.command()(stamp)
database.command()(backup)
app.add_typer(runs, name="runs")
app.add_typer(_alone(report))
app.add_typer(database, name="db")
app.add_typer(cache, name="cache")
app.add_typer(new, name="new")
app.add_typer(_alone(doctor))


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"autotune {own_version()}")
        raise typer.Exit


@app.callback()
def _root(
    show_version: Annotated[
        bool, typer.Option("--version", help="Show the version.", is_eager=True, callback=_print_version)
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="Say on stderr what is compiled or cached, and which record is taken."),
    ] = False,
) -> None:
    """Generate CUDA kernels, find the fastest schedule of a problem on a device, and store it in a database."""
    slow.handlers = [] if verbose else [Teller()]
    slow.setLevel(logging.INFO)
    if verbose:
        show_messages()


def run(arguments: list[str]) -> int:
    """Run one command line.

    Returns:
        0 done, 1 failed, 2 bad input, 130 interrupted.
    """
    try:
        # Help and Ctrl-C bring an exit code, a command that is done brings None.
        words = arguments or ["--help"]
        code: int = get_command(app).main(words, prog_name="autotune", standalone_mode=False, obj=arguments) or 0
    except Exception as error:
        if os.environ.get("AUTOTUNE_DEBUG"):
            raise
        print(f"autotune: {printable(one_line(error))}", file=sys.stderr)
        return exit_code(error)
    if code == INTERRUPTED:
        print("autotune: interrupted", file=sys.stderr)
    return code


def main() -> NoReturn:
    """The console entry point."""
    # Matrices are small, and compilers have the CPUs: with those busy, threads made a proposal take 3 times as long.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    open_closed_streams()
    escape_what_streams_lack()
    warnings.showwarning = lambda message, *_: print(f"autotune: {printable(str(message))}", file=sys.stderr)
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # a second Ctrl-C, while the first one ends the command
        code = INTERRUPTED
    # A Ctrl-C from here on finds nothing to keep, and the interpreter would answer it with a traceback.
    signal.signal(signal.SIGINT, lambda *_: os._exit(code))
    sys.exit(code)
