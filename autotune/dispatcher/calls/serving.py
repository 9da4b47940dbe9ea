"""What may serve a problem on a target: what a lock says, else what the rules of choice find."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from autotune.codegen.model.problem import Problem
from autotune.dispatcher.choice.choose import Choice, Rule
from autotune.dispatcher.choice.formulation import Formulation, formulation_of, locked_formulation
from autotune.dispatcher.choice.records import Record, records
from autotune.dispatcher.lock.document import LockError
from autotune.dispatcher.settings import lock_in_force, settings, strictly_locked
from autotune.dispatcher.targets.base import Target
from autotune.search_spaces.contract.operator import Operator

from .machine_code import LockedCode, MachineCode


class Serving:
    """What may serve a problem, as the settings are now.

    Attributes:
        formulation: the choices, best first.

    Raises:
        LockError: a strict lock has nothing for the problem.
    """

    def __init__(self, operator: Operator[Any, Any], problem: Problem, where: Target) -> None:
        self._where = where
        self._locked: Callable[[], MachineCode] = MachineCode
        self._strict = strictly_locked()
        self.formulation = self._from_lock(operator, problem) or self._found(operator, problem)

    def code(self, choice: Choice) -> MachineCode:
        """What gives the machine code of a choice."""
        return self._locked() if choice.rule is Rule.LOCK else MachineCode()

    def last(self, choice: Choice) -> bool:
        """Whether no choice may follow this one."""
        return choice.rule is Rule.DEFAULT or (choice.rule is Rule.LOCK and self._strict)

    def _from_lock(self, operator: Operator[Any, Any], problem: Problem) -> Formulation | None:
        """What the lock says; None if there is none, and with a warning if it says nothing."""
        lock = lock_in_force()
        if lock is None:
            return None
        try:
            serving = lock.serving(operator, problem, self._where.spec)
        except LockError as error:
            if self._strict:
                raise
            warnings.warn(str(error), RuntimeWarning, stacklevel=2)
            return None
        self._locked = partial(LockedCode, lock, serving.locked, self._strict)
        return locked_formulation(serving, self._where.spec, self._records, self._strict)

    def _found(self, operator: Operator[Any, Any], problem: Problem) -> Formulation:
        substitute = operator.substitutes.get(settings.never_worse_than or "")
        baseline = settings.never_worse_than if substitute and substitute.library in self._where.libraries else None
        return formulation_of(operator, problem, self._where.spec, self._records, baseline)

    def _records(self, operator: Operator[Any, Any]) -> Sequence[Record]:
        return records(operator, self._where.spec)
