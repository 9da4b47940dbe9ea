"""letterbox: the schedule to take without measuring."""

from __future__ import annotations

from autotune.codegen.vision.letterbox.filtered.schedule import FilteredSchedule
from autotune.codegen.vision.letterbox.schedule import LetterboxSchedule
from autotune.codegen.vision.letterbox.staged.schedule import StagedSchedule
from autotune.codegen.vision.letterbox.target import Targets
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import footprint_violations

from .filtered.space import candidates as with_filters
from .space import candidates
from .staged.space import applies
from .staged.space import candidates as with_staged_rows


def default(problem: Targets, spec: DeviceSpec) -> LetterboxSchedule | StagedSchedule | FilteredSchedule:
    """Rows in shared memory, where they can be copied and there is room for them; filters where the rule has one."""
    if problem.rule.filtered:
        return next(with_filters(problem, spec))
    staged = with_staged_rows(problem, spec) if applies(problem, spec) else ()
    for schedule in staged:
        if not any(footprint_violations(spec, schedule.footprint(problem))):
            return schedule
    return next(candidates(problem, spec))
