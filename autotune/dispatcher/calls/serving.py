"""What may serve a problem on a target: what a lock says, else what the rules of choice find."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Any

from autotune.codegen.model.problem import Problem
from autotune.dispatcher.choice.choose import Choice
from autotune.dispatcher.choice.first_calls import kept
from autotune.dispatcher.choice.formulation import Formulation, formulation_of, locked_formulation
from autotune.dispatcher.choice.records import Record, records
from autotune.dispatcher.choice.rule import Rule
from autotune.dispatcher.lock.document import LockError
from autotune.dispatcher.settings import lock_in_force, settings, strictly_locked
from autotune.dispatcher.targets.base import Target
from autotune.search_spaces.contract.operator import Operator

from .arguments import Template
from .chosen import Chosen
from .launcher import Loaded
from .machine_code import LockedCode, MachineCode


class Serving:
    """What may serve a problem, as the settings are now.

    Attributes:
        formulation: the choices, best first.
        measures: whether a first call without a record may measure. Under a lock it may not, nor what is served as
            another problem: that must not depend on how fast this one is.

    Raises:
        LockError: a strict lock has nothing for the problem.
    """

    def __init__(self, operator: Operator[Any, Any], problem: Problem, where: Target) -> None:
        self._where = where
        self._locked: Callable[[], MachineCode] = MachineCode
        self._strict = strictly_locked()
        free = lock_in_force() is None and problem.served_as is None
        self.measures = free and settings.tune == "first-call"
        self.formulation = self._from_lock(operator, problem) or self._found(operator, problem)

    def loaded(self, choice: Choice) -> Loaded:
        """A choice with its kernel.

        Raises:
            CompileError, LaunchError: there is no such kernel here.
            LockError: see `LockedCode`.
        """
        operator, problem, where = self.formulation.operator, self.formulation.problem, self._where
        program = operator.program(problem, choice.schedule, where.spec)
        code = self._locked() if choice.rule is Rule.LOCK else MachineCode()
        if choice.baseline:
            kernel = where.substitute(problem, operator.substitutes[choice.baseline])
        else:
            kernel = where.load(problem, program, code)
        digest = "" if choice.baseline else program.digest
        chosen = Chosen(operator.name, problem, where.spec.name, choice, digest, code.cubins, code.compiled)
        return Loaded(chosen, Template(program, kernel, where.encoder, operator.default_scalars))

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
        found = formulation_of(operator, problem, self._where.spec, self._records, baseline)
        return self._with_first_call(found) if settings.tune == "first-call" else found

    def _with_first_call(self, found: Formulation) -> Formulation:
        """With what an earlier first call found to be fastest, ahead of all but the problem's own record."""
        first, against = next(found.choices), settings.never_worse_than or ""
        measured = first.rule in (Rule.BASELINE, Rule.EXACT)
        known = None if measured else kept(found.operator, found.problem, self._where.spec, against)
        return found._replace(choices=chain(filter(None, [known]), [first], found.choices))

    def _records(self, operator: Operator[Any, Any]) -> Sequence[Record]:
        return records(operator, self._where.spec)
