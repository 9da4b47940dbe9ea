"""Plans: for each problem on each device a loaded kernel, so that a repeated call only fills in values and launches."""

from __future__ import annotations

import os
import warnings
from threading import Lock
from typing import Any

from autotune.base.log import logger
from autotune.codegen.model.problem import Problem
from autotune.compiler import CompileError
from autotune.dispatcher.arrays.views import HOST
from autotune.dispatcher.choice.background import tune_in_background
from autotune.dispatcher.choice.called import note
from autotune.dispatcher.choice.choose import Choice
from autotune.dispatcher.choice.records import warn_without_records
from autotune.dispatcher.choice.rule import Rule
from autotune.dispatcher.targets.base import CaptureError, LaunchError, Target
from autotune.dispatcher.targets.factory import target
from autotune.search_spaces.contract.operator import Operator

from .arguments import Names, Values
from .chosen import Chosen, tell
from .first_call import measure
from .launcher import Launcher, Loaded
from .serving import Serving


class Plan:
    """A kernel for one problem on one device, loaded, with all arguments packed but those of a call.

    The kernel may be another operator's, if that computes the same and promises to be faster.

    A driver refuses some kernels only when they are launched: until one has been launched, the plan may go on to the
    next choice.

    Args:
        one_shape: whether a kernel for the problem's shape alone may be compiled, which takes seconds.

    Attributes:
        operator, problem: what it computes, as stated for the kernel.
        loaded: the choice that serves, with its kernel.
        unmeasured: whether its first call is to measure candidates; see `settings.configure`.
        calls: how often; of threads that call at once, one may count for both.

    Raises:
        CompileError, LaunchError: not even the default schedule could be compiled and loaded.
        LockError: see `settings.configure`.
    """

    __slots__ = (
        "_choices",
        "_launchers",
        "_one_shape",
        "_pointers",
        "_serving",
        "_target",
        "calls",
        "loaded",
        "operator",
        "problem",
        "unmeasured",
    )

    def __init__(self, operator: Operator[Any, Any], problem: Problem, where: Target, one_shape: bool) -> None:
        self._serving = Serving(operator, problem, where)
        stated = self._serving.formulation
        self.operator, self.problem, self._pointers = stated.operator, stated.problem, stated.pointers
        self.calls = 0
        self.unmeasured = False
        self._target = where
        self._one_shape = one_shape
        self._launchers: dict[Names, Launcher] = {}
        self._choices = stated.choices
        self.loaded = self._next()

    @property
    def choice(self) -> Choice:
        """The schedule that serves, and why."""
        return self.loaded.chosen.choice

    @property
    def measures(self) -> bool:
        """Whether a first call may measure."""
        return self._serving.measures

    def launcher(self, names: Names) -> Launcher:
        """What launches with values for the problem's arguments of these names; the same one for the same names."""
        kernels = tuple(self._pointers.get(name, name) for name in names)
        return self._launchers.get(names) or self._launchers.setdefault(names, Launcher(self, kernels))

    def fall_back(self, loaded: Loaded, error: LaunchError) -> None:
        """Go on to the next choice, unless another thread has; raise the error if there is no reason to."""
        if loaded.proven:
            raise error
        with _creating:
            if self.loaded is not loaded:
                return
            self._skip(loaded.chosen.choice, error)
            self.loaded = self._next()
        tell(self.loaded.chosen)

    def measure(self, stream: int, names: Names, values: Values) -> None:
        """Let what is fastest for the operands of this call serve from now on, unless the stream is being captured."""
        with _creating:
            if not self.unmeasured or self._target.capturing(stream):
                return
            self.unmeasured = False
            self.loaded = measure(self, self._target, stream, names, values) or self.loaded
        tell(self.loaded.chosen)

    def _next(self) -> Loaded:
        """The next choice that compiles and loads."""
        for choice in self._choices:
            for preferred in self._shape_specialized(choice), choice:
                loaded = self.load(preferred) if preferred else None
                if loaded:
                    logger.info("%s serves", loaded.chosen)
                    return loaded
        raise LaunchError(f"{self.operator.name} {self.problem.key}: the default schedule was refused before")

    def _shape_specialized(self, choice: Choice) -> Choice | None:
        """The choice with a shape-specialised kernel, if that is wanted or compiled already."""
        special = choice.shape_specialized
        if special == choice or self.problem.served_as is not None:
            return None
        program = self.operator.program(self.problem, special.schedule, self._target.spec)
        return special if self._one_shape or self._target.compiled(program) else None

    def load(self, choice: Choice) -> Loaded | None:
        """A choice with its kernel; None, with a warning, if it does not compile or load."""
        try:
            return self._serving.loaded(choice)
        except (CompileError, LaunchError) as error:
            self._skip(choice, error)
            return None

    def _skip(self, choice: Choice, error: Exception) -> None:
        """Warn that a choice does not serve; of the last one there is, raise what was wrong."""
        if self._serving.last(choice):
            raise error
        skipped = f"{self.operator.name} {self.problem.key}: skipped {choice.origin}: {error}"
        warnings.warn(skipped, RuntimeWarning, stacklevel=2)


_plans: dict[tuple[str, Problem, int], Plan] = {}
_creating = Lock()


def _begin_anew() -> None:
    """Forget, in a process that was just forked, what only its parent may use: a CUDA context, and a lock in use."""
    global _creating
    _creating = Lock()
    _plans.clear()
    target.cache_clear()


os.register_at_fork(after_in_child=_begin_anew)


def plan_for(
    operator: Operator[Any, Any], problem: Problem, device: int, stream: int | None = None, one_shape: bool = False
) -> Plan:
    """The plan of a problem on a device, which is made once for all threads.

    Args:
        stream: where it is going to be launched, if that is known.
        one_shape: see `Plan`.

    Raises:
        CaptureError: the stream is being captured, and there is no plan yet.
        CompileError, LaunchError, LockError: see `Plan`.
        DeviceError: there is no usable driver.
    """
    key = (operator.name, problem, device)
    if plan := _plans.get(key):
        return plan
    with _creating:
        if plan := _plans.get(key):
            return plan
        plan = _plans[key] = _made(operator, problem, device, stream, one_shape)
    tell(plan.loaded.chosen)
    return plan


def _made(operator: Operator[Any, Any], problem: Problem, device: int, stream: int | None, one_shape: bool) -> Plan:
    where = target(device)
    if stream is not None and where.capturing(stream):
        raise CaptureError(
            f"{operator.name} {problem.key} has no kernel yet, and stream {stream:#x} is being captured: "
            f"compile it by autotune warm {operator.name}, and call dispatcher.warm before the capture"
        )
    plan = Plan(operator, problem, where, one_shape)
    emulated = device == HOST
    untuned = plan.choice.rule not in (Rule.LOCK, Rule.BASELINE, Rule.EXACT) and not emulated
    plan.unmeasured = untuned and plan.choice.rule is not Rule.FIRST_CALL and plan.measures
    note(plan.operator.name, where.spec.name, plan, untuned=untuned, at_once=not emulated)
    if untuned:
        warn_without_records(plan.operator, where.spec)
        tune_in_background(plan.operator.name, where.spec.name)
    return plan


def all_chosen() -> list[Chosen]:
    """What serves each problem that this process called."""
    return [plan.loaded.chosen for plan in tuple(_plans.values())]
