"""The result of ``autotune bench`` as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from autotune.search_spaces.machine.rates import copy_rate, duration, peak_share, rate

if TYPE_CHECKING:
    from autotune.bench import Comparison, Run, Setting


_EXPENDABLE = ("group", "spread", "schedule", "rate")  # in the table of a suite, where a terminal is narrow


class Table(NamedTuple):
    """What `print_table` and `print_markdown` take."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    expendable: Sequence[str] = ()


def tables(setting: Setting, runs: Sequence[Run], *, suite: bool) -> list[Table]:
    """A row for each contender of one problem, or a row for each problem of a suite and two for each group."""
    if suite:
        return [_problems(setting, runs), _means(setting, runs), _standings(setting, runs)]
    return [_contenders(setting, run, run.comparison) for run in runs if run.comparison]


def print_markdown(table: Table) -> None:
    """Print a table as Markdown."""
    print(f"**{table.title}**\n")
    for row in (table.columns, ["---"] * len(table.columns), *table.rows):
        cells = [str(cell).replace("|", r"\|") for cell in row]
        print(f"| {' | '.join(cells)} |")
    print()


def _contenders(setting: Setting, run: Run, comparison: Comparison) -> Table:
    columns = ["contender", "median", "spread", "rate", "autotune is"]
    rows = [
        [
            name,
            duration(comparison.seconds(name)),
            f"{comparison.spread(name):.1%}",
            _rate(setting, run, name, comparison.seconds(name)),
            f"{comparison.ratio(name):.3f}×",
        ]
        for name in comparison.samples
    ]
    if setting.energy:
        columns += ["energy", "power"]
        rows = [row + _energy(comparison, name) for row, name in zip(rows, comparison.samples, strict=True)]
    measured = [name for name in setting.baselines if name in comparison.samples]
    if setting.ladder and measured:
        added, shares = _shares(setting, comparison, measured[0])
        columns += added
        rows = [row + cells for row, cells in zip(rows, shares, strict=True)]
    return Table(_title(setting, run.problem.key), columns, rows)


def _rate(setting: Setting, run: Run, name: str, seconds: float) -> str:
    """That of what bounds the problem; of a baseline that is not verified, of the bytes that the problem moves."""
    if name in setting.baselines and not setting.baselines[name].verified:
        return copy_rate(run.problem, seconds)
    return rate(run.problem, setting.peaks, seconds)


def _shares(setting: Setting, comparison: Comparison, first: str) -> tuple[list[str], list[list[str]]]:
    """Each contender's share of the first baseline's rate, here and, if there is something, as published."""
    columns, rows = [f"of {first}"], [[f"{comparison.ratio(first, to=name):.1%}"] for name in comparison.samples]
    if published := setting.operator.published:
        columns.append(f"published ({published.device})")
        for name, row in zip(comparison.samples, rows, strict=True):
            row.append(f"{published.shares[name]:.1%}" if name in published.shares else "")
    return columns, rows


def _problems(setting: Setting, runs: Sequence[Run]) -> Table:
    measured = [*_versus(setting), *(("energy", "power") if setting.energy else ())]
    columns = ["group", "problem", "schedule", "median", "spread", "rate", "of roofline", *measured, "error"]
    return Table(_title(setting), columns, [_problem(setting, run) for run in runs], _EXPENDABLE)


def _problem(setting: Setting, run: Run) -> list[str]:
    from autotune.bench import OWN

    head = [run.group, run.problem.key, run.own.source]
    if run.comparison is None:
        return [*head, *[""] * (4 + len(setting.baselines) + 2 * setting.energy), run.error]
    seconds, ratios = run.comparison.seconds(OWN), run.comparison.ratios(setting.baselines)
    return [
        *head,
        duration(seconds),
        f"{run.comparison.spread(OWN):.1%}",
        rate(run.problem, setting.peaks, seconds),
        f"{peak_share(run.problem, setting.peaks, seconds):.1%}",
        *(f"{ratios[name]:.3f}" if name in ratios else _lacking(run.comparison, name) for name in setting.baselines),
        *(_energy(run.comparison, OWN) if setting.energy else ()),
        run.error,
    ]


def _lacking(comparison: Comparison, name: str) -> str:
    return "–" if name in comparison.untaken else ""


def _energy(comparison: Comparison, name: str) -> list[str]:
    """The energy of a launch and the average power, or dashes."""
    found = comparison.energy.get(name)
    return [f"{found.joules * 1e3:.3g} mJ", f"{found.watts:.0f} W"] if found else ["–", "–"]


def _means(setting: Setting, runs: Sequence[Run]) -> Table:
    from autotune.bench.summary import mean_ratios

    rows: list[list[Any]] = []
    for name, group in _groups(runs).items():
        means = mean_ratios(group, setting.baselines)
        rows.append([name, len(group), *(f"{means[one]:.3f}" if one in means else "" for one in setting.baselines)])
    return Table("Geometric means", ["group", "problems", *_versus(setting)], rows)


def _standings(setting: Setting, runs: Sequence[Run]) -> Table:
    from autotune.bench import COPY_NAME
    from autotune.bench.summary import standing

    rows = []
    for name, group in _groups(runs).items():
        found = standing(group, setting.baselines, COPY_NAME)
        ahead, near = f"{found.ahead} of {found.against}", f"{found.large_near} of {found.large}"
        rows.append([name, _ratio(found.mean), _ratio(found.least), ahead, _ratio(found.large_least), near])
    columns = ["group", "× fastest", "least", "1.00 or more", "× copy, least", "0.95 or more"]
    return Table("Against the fastest baseline, and from 256 MiB on against the copy", columns, rows)


def _groups(runs: Sequence[Run]) -> dict[str, Sequence[Run]]:
    """The runs that were measured of each group, and all of them."""
    from autotune.bench.summary import by_group

    measured = [run for run in runs if run.comparison]
    return {**by_group(runs), **({"all": measured} if measured else {})}


def _ratio(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.3f}"


def _versus(setting: Setting) -> list[str]:
    return [f"× {name}" for name in setting.baselines]


def _title(setting: Setting, *words: str) -> str:
    return " ".join([setting.operator.name, *words, "on", setting.device.spec.name]) + ", cold operands"
