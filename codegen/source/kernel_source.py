"""What the sources of all kernels of a problem state alike, and the programs that are put together from it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import FieldRole, field_specs
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule, Specialize
from autotune.codegen.model.tensor import Role, Within

from .arguments import pointer_arguments, size_arguments, sizes_of
from .headers import Constant, members_read, used_source
from .plain_program import plain_program
from .problem_struct import problem_struct
from .scheduled_source import scheduled_source

_THREADS = 128  # of a block of a kernel without a schedule
_SAMPLED = (Argument("sampled_rows", "const long long*"), Argument("sampled_count", "long long"))


def using(**types: DType) -> list[str]:
    """Lines that declare types by names."""
    return [f"using {name} = {dtype.cuda};" for name, dtype in types.items()]


def _read_by_some(members: Iterable[Argument], unread: Collection[frozenset[str]]) -> Iterator[Argument]:
    """The members that some entry reads; `unread` has those that each of them does not."""
    return (one for one in members if not all(one.name in names for names in unread))


def _without(launch: Launch, members: Iterable[Argument], unread: Collection[str]) -> Launch:
    """The launch of an entry that does not read some members of ``struct Arguments``."""
    nothing = {one.name: None if one.pointer else 0 for one in members if one.name in unread}
    return launch.taking(**nothing) if nothing else launch


class Entry(NamedTuple):
    """One more entry of a source, which calls `function` with the arguments."""

    name: str
    function: str
    blocks: int
    footprint: Footprint


@dataclass(frozen=True)
class KernelSource:
    """A problem as its kernels see it.

    Numbers and flags among the problem's kinds are members of ``struct Problem`` and names in conditions. Conditions
    name its enums, too, and their values.

    Attributes:
        entry: the kernels' name, usually the operator's.
        folder: where their .cuh files are, within codegen/.
        problem: what is computed.
        types: lines of ``struct Problem`` that declare types.
        facts: what else a source is specialised for in any case, likewise.
        conditions: what conditions in headers name besides.
        lines: more lines of ``struct Problem``, by the member that each declares: those that a source reads.
        sizes: C++ type and value of the sizes that a kernel gets; by default, of all sizes, leading dimensions and
            strides.
        workspace: whether kernels get the address of a workspace.
        scalars: the last members of ``struct Arguments``: numbers, and pointers to parts of the workspace; by default
            the problem's scalars, as floats. Of those that launches state, and no call brings, a source has what its
            entries read; an entry that does not read one gets 0, or a null pointer.
        scaled: the outputs beside which a reference writes the scales of errors.
        served: the problems that a source serves that is not specialised for a shape: equal sources say the same.
    """

    entry: str
    folder: str
    problem: Problem
    types: Sequence[str] = ()
    facts: Mapping[str, Constant] = field(default_factory=dict)
    conditions: Mapping[str, Constant] = field(default_factory=dict)
    lines: Mapping[str, str] = field(default_factory=dict)
    sizes: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    workspace: bool = False
    scalars: Sequence[Argument] | None = None
    scaled: Collection[str] = ()
    served: str = ""

    def arguments(self, *, reference: bool = False) -> tuple[Argument, ...]:
        """The members of ``struct Arguments``.

        Outputs of a reference are wide where errors are allowed; it is told which rows to compute of those that are
        judged by rows.
        """
        tensors = self.problem.tensors
        wide = [
            one.name for one in tensors if reference and one.role is not Role.INPUT and isinstance(one.judged, Within)
        ]
        scalars = [Argument(name, "float") for name in self.problem.scalars] if self.scalars is None else self.scalars
        return (
            *pointer_arguments(tensors, wide, [name for name in wide if name in self.scaled]),
            *([Argument("workspace", "void*")] if self.workspace else []),
            *size_arguments(self._sizes),
            *scalars,
            *(_SAMPLED if reference and any(one.row_axes for one in tensors) else ()),
        )

    def scheduled(
        self,
        schedule: Schedule,
        header: str = "",
        function: str = "",
        *others: Entry,
        facts: Mapping[str, Constant] | None = None,
        types: Sequence[str] = (),
        narrowed: Mapping[str, str] | None = None,
        maps: Sequence[Argument] = (),
        text: str = "",
        served: str = "",
        workspace_bytes: int = 0,
    ) -> Program:
        """The program of a schedule that is legal for the problem: one launch, and one of each of `others`.

        Args:
            schedule: whose blocks are launched, each with its footprint; none where the problem is empty.
            header: the file that has the kernel, without its ending; by default the entry's name.
            function: what the entry calls with its arguments; by default ``<entry>_block``.
            others: more entries, in the order of their launches.
            facts, types: those that follow from the schedule.
            narrowed: the C++ types of sizes that ``struct Problem`` has in other ones than ``struct Arguments``.
            maps: tensor maps, the first members of ``struct Arguments``.
            text: source that headers use, which no file has: it follows ``struct Problem``.
            served: what follows the entry's name in the title, if not the problem's key or `KernelSource.served`.
            workspace_bytes: see `Program`.
        """
        facts = {**self._facts, **(facts or {})}
        blocks, footprint = schedule.blocks(self.problem), schedule.footprint(self.problem)
        first = Entry(self.entry, function or f"{self.entry}_block", blocks, footprint)
        entries = (first, *others)
        if same := [one.name for one in entries if one.name == one.function]:
            raise ValueError(f"the entry {same[0]} calls {same[0]}: expected a function of another name")
        names = {"kernel": schedule.kernel, schedule.kernel: schedule.kernel, **schedule.constants, **facts}
        header, functions = header or self.entry, tuple(entry.function for entry in entries)
        body = self.used(header, functions, names)
        unread = self._unread(header, functions, names, text)
        members = (*maps, *_read_by_some(self.arguments(), unread))
        shape = schedule.members.get("specialize", Specialize.NONE)
        title = served or (self.problem.key if shape is Specialize.SHAPE else self._served)
        sizes = {name: ((narrowed or {}).get(name, kind), value) for name, (kind, value) in self._sizes.items()}
        lines = self._read(body)
        declared = problem_struct([*self.types, *types, *lines], facts, sizes, shape, "\n".join((body, *lines)))
        declared += f"\n\n{text}" if text else ""
        launches = tuple(
            _without(self._launched(one.footprint.launch(one.name, one.blocks)), members, names)
            for one, names in zip(entries, unread, strict=True)
        )
        written = "\n".join(
            one.footprint.entry(one.name, f"{one.function}(arguments);", tensor_maps=bool(maps)) for one in entries
        )
        source = scheduled_source(f"{self.entry}: {title}", schedule, launches[0], members, declared, body, written)
        return Program(source, members, launches, workspace_bytes, arch_suffix=footprint.arch_suffix)

    def plain(
        self,
        how: str,
        threads: int,
        call: str = "",
        header: str = "naive",
        *,
        block: int = _THREADS,
        shared_bytes: int = 0,
        reference: bool = False,
        then: Mapping[Launch, str] | None = None,
        workspace_bytes: int = 0,
    ) -> Program:
        """The program of a kernel without a schedule: one launch, and those of `then`.

        Args:
            how: what the title says of it, behind what it serves.
            threads: of the grid, rounded up to whole blocks; none where the problem is empty.
            call: the statement of the entry; by default it calls ``<entry>_naive`` with the arguments.
            header: the file that has the kernel, without its ending.
            block: threads of a block.
            shared_bytes: dynamic shared memory of a block.
            reference: whether it is the truth on a device: outputs that may have errors are double.
            then: statements of more entries, by their launches.
            workspace_bytes: see `Program`.
        """
        launch = Launch(self.entry, (ceil_div(threads, block), 1, 1), (block, 1, 1), shared_bytes)
        calls = {launch: call or f"{self.entry}_naive(arguments);", **(then or {})}
        functions = tuple(call.partition("(")[0].partition("<")[0] for call in calls.values())
        facts = {**self._facts, "reference": reference}
        body, unread = self.used(header, functions, facts), self._unread(header, functions, facts)
        members = tuple(_read_by_some(self.arguments(reference=reference), unread))
        calls = {
            _without(self._launched(launch), members, names): call
            for (launch, call), names in zip(calls.items(), unread, strict=True)
        }
        lines = self._read(body)
        read = "\n".join((body, *lines))
        declared = problem_struct([*self.types, *lines], facts, self._sizes, Specialize.NONE, read)
        return plain_program(f"{self.entry}: {self._served}{how}", members, declared, body, calls, workspace_bytes)

    def used(self, header: str, functions: tuple[str, ...], names: Mapping[str, Constant]) -> str:
        """What functions use of a file and its headers, with conditions on `names` and on the problem resolved."""
        enums = {name: value for name, value in self._kinds.items() if isinstance(value, StrEnum)}
        known: dict[str, Constant] = {str(member): str(member) for value in enums.values() for member in type(value)}
        known |= {name: str(value) for name, value in enums.items()}
        return used_source(f"{self.folder}/{header}.cuh", functions, {**known, **self.conditions, **names})

    def _unread(
        self, header: str, functions: tuple[str, ...], names: Mapping[str, Constant], text: str = ""
    ) -> list[frozenset[str]]:
        """For each function that an entry calls, the members that launches state and that it does not read."""
        stated = [one.name for one in self.scalars or () if one.value is None and one.name not in self.problem.scalars]
        if not stated:
            return [frozenset()] * len(functions)
        used = [self.used(header, (function,), names) for function in functions]
        sources = ["\n".join((one, text, *self._read(one))) for one in used]
        return [frozenset(name for name in stated if not re.search(rf"[.>]\s*{name}\b", source)) for source in sources]

    def _launched(self, launch: Launch) -> Launch:
        """The launch, of no blocks where there is nothing to compute."""
        return replace(launch, grid=(0, 1, 1)) if self.problem.empty else launch

    @cached_property
    def _sizes(self) -> Mapping[str, tuple[str, int]]:
        return self.sizes or sizes_of(self.problem)

    @cached_property
    def _kinds(self) -> dict[str, Any]:
        specs = field_specs(type(self.problem)).items()
        return {name: getattr(self.problem, name) for name, spec in specs if spec.role is FieldRole.KIND}

    @cached_property
    def _facts(self) -> dict[str, Constant]:
        plain = {name: value for name, value in self._kinds.items() if isinstance(value, int)}
        return {**self.facts, **{name: value for name, value in plain.items() if name not in self.facts}}

    @property
    def _served(self) -> str:
        return self.served or ", ".join(f"{name} {value}" for name, value in self._kinds.items())

    def _read(self, body: str) -> list[str]:
        read = members_read(body, "Problem")
        return [line for name, line in self.lines.items() if name in read]
