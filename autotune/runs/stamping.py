"""Records whose programs have changed: those that compile to the same machine code as before are confirmed.

A record counts for the machine code that was timed. No GPU is needed to see whether today's program compiles to the
same. What the old program compiled to is stored with the trial; else a checkout that emits it compiles it again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Collection, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from autotune.base.errors import InputError
from autotune.codegen.model.program import SOURCE_DIGITS
from autotune.compile_pool import CompilePool
from autotune.compiler import CompiledKernel, CompileError, compiler_version
from autotune.db.exchange import from_document, read_document
from autotune.db.freshness import changed_program, emitted
from autotune.db.pretuned import shipped_files
from autotune.db.trials import Trial
from autotune.machine_code import machine_code_digest
from autotune.search_spaces.machine.devices import device_spec

if TYPE_CHECKING:
    from autotune.db import TuningDB


class CheckoutError(InputError):
    """A folder is no checkout that compiles the programs of its shipped records; the message says why."""


class Stamped(NamedTuple):
    """An unconfirmed record of the compiler in use, and what became of it.

    Attributes:
        trial: as it was.
        reason: why it stays unconfirmed; empty if it is confirmed.
    """

    trial: Trial
    reason: str


def stamp(
    db: TuningDB, operator: str | None = None, device: str | None = None, before: Path | None = None
) -> Iterator[Stamped]:
    """Confirm measured records of the compiler in use whose programs have changed, but not their machine code.

    A confirmed record is stored once more, with the digest of today's program. The old trial stays for versions that
    emit the old program, until it is pruned.

    Args:
        db: the database.
        operator, device: whose records; those of all if None.
        before: a checkout that emits the programs of its shipped records, and compiles them again. What it finds goes
            before what is stored, which a version may have stored that told machine code by other means.

    Raises:
        CheckoutError: the checkout does not.
        CompilerMissingError: there is no compiler.
    """
    own = compiler_version()
    records = [one for one in db.shippable(operator, device) if one.compiler == own and changed_program(one)]
    former = _codes_of(before, {one.program_digest for one in records}) if before and records else {}
    with CompilePool() as pool:
        records = [
            replace(one, machine_code_digest=former.get(one.program_digest, one.machine_code_digest)) for one in records
        ]
        for record, attempt in [(record, _Attempt(record, pool)) for record in records]:
            reason = attempt.reason()
            if record.machine_code_digest:
                db.record(record if reason else replace(record, program_digest=attempt.program_digest))
            yield Stamped(record, reason)


class _Attempt:
    """Today's program of a record, which is being compiled if it may make the same machine code."""

    program_digest = ""

    def __init__(self, record: Trial, pool: CompilePool) -> None:
        self._record = record
        self._kernel: Future[CompiledKernel] | None = None
        self._reason = changed_program(record)
        try:
            program = emitted(record)
        except ValueError:
            return
        self.program_digest = program.digest
        if program.digest[SOURCE_DIGITS:] != record.program_digest[SOURCE_DIGITS:]:
            self._reason = "its launches are others today"
        elif not record.machine_code_digest:
            self._reason = "its machine code is not known"
        else:
            self._kernel = pool.submit(program, device_spec(record.device.limits).arch)

    def reason(self) -> str:
        """Why the record stays unconfirmed; empty if it need not."""
        if self._kernel is None:
            return self._reason
        try:
            same = machine_code_digest(self._kernel.result()) == self._record.machine_code_digest
        except CompileError as error:
            return f"does not compile today: {error}"
        return "" if same else "compiles to other machine code today"


def _codes_of(checkout: Path, programs: Collection[str]) -> dict[str, str]:
    """The digests of the machine code of a checkout's shipped programs, by those of some of its programs."""
    module = checkout.joinpath(*__name__.split(".")).with_suffix(".py")
    if not module.is_file():
        raise CheckoutError(f"{checkout} is no checkout of autotune that can compile its records: it lacks {module}")
    environment = {name: value for name, value in os.environ.items() if name != "AUTOTUNE_PRETUNED"}
    ended = subprocess.run(
        [sys.executable, "-m", __name__],
        cwd=checkout,
        env=environment | {"PYTHONPATH": str(checkout.resolve())},
        input=json.dumps(sorted(programs)),
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        last = ended.stderr.strip().rpartition("\n")[2]
        raise CheckoutError(f"{checkout} does not compile its records: {last}")
    codes: dict[str, str] = json.loads(ended.stdout)
    return codes


def shipped_codes(programs: Collection[str]) -> dict[str, str]:
    """By digest of a program, that of the machine code: of those that are shipped, emitted today, and among some."""
    shipped = chain.from_iterable(from_document(read_document(file.path)) for file in shipped_files())
    wanted = {one.program_digest: one for one in shipped if one.program_digest in programs and not changed_program(one)}
    codes = {}
    with CompilePool() as pool:
        kernels = {one: pool.submit(emitted(of), device_spec(of.device.limits).arch) for one, of in wanted.items()}
        for one, kernel in kernels.items():
            with suppress(CompileError):  # it cannot be compared
                codes[one] = machine_code_digest(kernel.result())
    return codes


if __name__ == "__main__":
    print(json.dumps(shipped_codes(json.load(sys.stdin))))
