"""The result of ``autotune bench`` as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from autotune.search_spaces.machine.rates import rates_document

if TYPE_CHECKING:
    from autotune.bench import Comparison, Run, Setting
    from autotune.codegen.model.problem import Problem


def document(setting: Setting, skipped: Mapping[str, str], runs: Sequence[Run]) -> dict[str, Any]:
    """All that was measured, with what made it; docs/benchmarks.md says what each member is."""
    from autotune.bench import COPY_NAME
    from autotune.bench.summary import by_group, mean_ratios, standing
    from autotune.codegen.model.work import Unit

    published = setting.operator.published
    environment = dict(setting.device.environment)
    for baseline in setting.baselines.values():
        environment |= baseline.versions()
    groups = by_group(runs)
    return {
        "operator": setting.operator.name,
        "device": setting.device.spec.name,
        "taken_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "environment": environment,
        "rounds": setting.rounds,
        "operands": "cold",
        "peaks": {"bandwidth": setting.peaks.bandwidth, "fp32": setting.peaks.peak(Unit.FP32)},
        "baselines": {name: baseline.summary for name, baseline in setting.baselines.items()},
        "skipped": dict(skipped),
        "published": dict(published.shares) if setting.ladder and published else {},
        "geometric_means": {
            "all": mean_ratios(runs, setting.baselines),
            "groups": {name: mean_ratios(group, setting.baselines) for name, group in groups.items()},
        },
        "standings": {
            "all": standing(runs, setting.baselines, COPY_NAME).to_dict(),
            "groups": {name: standing(group, setting.baselines, COPY_NAME).to_dict() for name, group in groups.items()},
        },
        "runs": [_run(setting, run) for run in runs],
    }


def _run(setting: Setting, run: Run) -> dict[str, Any]:
    from autotune.bench import OWN
    from autotune.search_spaces.machine.roofline import roofline

    bound = roofline(run.problem, setting.peaks)
    comparison = run.comparison
    return {
        "problem": run.problem.key,
        "group": run.group,
        "fields": run.problem.to_dict(),
        "schedule": run.own.schedule.to_dict(),
        "schedule_from": run.own.source,
        "error": run.error,
        "not_taken": dict(comparison.untaken) if comparison else {},
        "roofline_seconds": bound,
        "roofline_share": bound / comparison.seconds(OWN) if comparison else None,
        "ratios": comparison.ratios(setting.baselines) if comparison else {},
        "contenders": _contenders(run.problem, comparison) if comparison else {},
    }


def _contenders(problem: Problem, comparison: Comparison) -> dict[str, Any]:
    return {
        name: {
            "seconds": comparison.seconds(name),
            "spread": comparison.spread(name),
            **rates_document(problem, comparison.seconds(name)),
            "energy": comparison.energy[name]._asdict() if name in comparison.energy else None,
        }
        for name in comparison.samples
    }
