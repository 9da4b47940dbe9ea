"""Every kind of kernel that every operator emits: run in the emulator, compiled for every architecture, formatted."""

import re
import subprocess
from collections import defaultdict
from dataclasses import fields
from functools import partial
from itertools import chain, pairwise
from pathlib import Path

import pytest

from autotune import emulator
from autotune.codegen.model.fields import FieldRole, field_specs
from autotune.codegen.model.tensor_map import TENSOR_MAP_BYTES
from autotune.codegen.source import headers
from autotune.compiler import compile_kernel
from autotune.contract.checker import check_checker, check_reference_kernel
from autotune.contract.nvrtc import NVCC, UNOPTIMISED, compile_unoptimised
from autotune.contract.operator_cases import (
    ARCHS,
    CASES,
    NAMES,
    PECULIAR,
    PRESETS,
    PROBLEMS,
    SMALL_PROBLEMS,
    SPEC,
    anywhere,
    archs,
    cases_of,
    label,
)
from autotune.contract.pair_coverage import MOST
from autotune.devices.output_judge import SAMPLED_COUNT, SAMPLED_ROWS
from autotune.search_spaces.contract.registry import operator
from autotune.verification import scale_name

_COLUMNS = 110  # of .clang-format
_OF_CHOICE = ("batch_invariant", "bucket_rows")  # flags by which schedules are chosen: sources are the same
_FEW_BYTES, _FEW_OPERATIONS = 1 << 20, 1 << 22  # of a problem that the emulator solves at once


def _small(problem):
    operations = sum(problem.work.operations.values())
    return operations <= _FEW_OPERATIONS and sum(tensor.bytes for tensor in problem.tensors) <= _FEW_BYTES


small = pytest.mark.parametrize(("name", "problem"), SMALL_PROBLEMS, ids=label)
drawn = pytest.mark.parametrize(("name", "problem", "schedule"), CASES, ids=label)
presets = pytest.mark.parametrize(("name", "preset"), PRESETS)


@pytest.mark.parametrize("name", NAMES)
def test_drawn_cases_are_few(name):
    """Each of them is compiled twice and run, so they decide how long the tests of an operator take."""
    assert 0 < len(cases_of(name).CASES) <= MOST


@pytest.mark.parametrize("name", NAMES)
def test_drawn_cases_take_every_choice(name):
    """Words and flags that any space offers, and flags of problems: they choose kernels, and branches of sources."""
    seen = defaultdict(set)
    for case in cases_of(name).CASES:
        seen["kernel"].add(case[1].kernel)
        for field, value in chain(*(one.to_dict().items() for one in case)):
            seen[field].add(value)
    for kind in fields(operator(name).problem_type):
        if isinstance(kind.default, bool) and kind.name not in _OF_CHOICE:
            allowed = field_specs(operator(name).problem_type)[kind.name].allowed
            assert seen[kind.name] == {*(allowed or (False, True))}, kind.name
    for problem in cases_of(name).PROBLEMS.values():
        for parameter in operator(name).space(problem, SPEC).parameters if problem.work.bytes else ():
            choices = {value for value in parameter.values if isinstance(value, str | bool)}
            assert parameter.name not in seen or choices <= seen[parameter.name], (problem.key, parameter.name)


@pytest.mark.parametrize("name", NAMES)
def test_drawn_cases_have_every_kind(name):
    """All words and flags by which the problems of the tests differ in kind."""
    cases = cases_of(name)
    stated = (*cases.PROBLEMS.values(), *cases.SMALL_PROBLEMS)
    for field, spec in field_specs(operator(name).problem_type).items():
        if spec.role is FieldRole.KIND:
            seen = {getattr(problem, field) for problem, _ in cases.CASES}
            known = {getattr(problem, field) for problem in stated}
            assert {value for value in known if isinstance(value, str | bool)} <= seen, field


@drawn
def test_drawn_schedule_is_right(name, problem, schedule):
    emulator.verify(problem, operator(name).program(problem, schedule, SPEC))


@pytest.mark.parametrize(("name", "problem", "schedule"), PECULIAR, ids=label)
def test_peculiar_case_is_right(name, problem, schedule):
    emulator.verify(problem, operator(name).program(problem, schedule, SPEC))


@pytest.mark.parametrize(
    ("name", "problem"),
    [case for case in PROBLEMS if _small(case[1])],
    ids=label,
)
def test_default_is_right(name, problem):
    chosen = operator(name)
    emulator.verify(problem, chosen.program(problem, chosen.default(problem, SPEC), SPEC))


@presets
def test_preset_is_right(name, preset):
    """Each on the second problem, which has edges, and on the others in turn."""
    by_name, (first, second, *others) = operator(name).presets, cases_of(name).SMALL_PROBLEMS
    for problem in [second, *[first, *others][list(by_name).index(preset) :: len(by_name)]]:
        emulator.verify(problem, by_name[preset](problem))


@small
def test_reference_kernel_is_right(name, problem):
    check_reference_kernel(operator(name), problem, partial(emulator.run, seed=0))
    if operator(name).checker:
        check_checker(operator(name), problem, partial(emulator.run, seed=0))


@pytest.mark.parametrize(
    ("name", "problem", "schedule", "turn"), [(*case, turn) for turn, case in enumerate(CASES[::4])], ids=label
)
def test_drawn_schedule_compiles(name, problem, schedule, turn):
    """Each fourth one, for one architecture after the other, without the optimisations: g++ compiles all of them."""
    source = operator(name).emit(problem, schedule)
    possible = archs(source)
    compile_unoptimised(source, possible[turn % len(possible)])


@pytest.mark.parametrize(("name", "turn"), [(name, index % len(ARCHS)) for index, name in enumerate(NAMES)])
def test_drawn_schedule_compiles_optimised(name, turn):
    """For one architecture after the other."""
    arch = ARCHS[turn]
    programs = (operator(name).emit(*case) for case in cases_of(name).CASES[turn:])
    program = next(one for one in programs if arch in archs(one))
    assert compile_kernel(program, arch).resources.registers > 0


@pytest.mark.parametrize(
    ("name", "preset", "arch"), [(*case, ARCHS[turn % len(ARCHS)]) for turn, case in enumerate(PRESETS)]
)
def test_preset_compiles_without_spills(name, preset, arch):
    """For one architecture after the other."""
    source = operator(name).presets[preset](cases_of(name).SMALL_PROBLEMS[0])
    resources = compile_kernel(source, arch).resources
    assert resources.stack_bytes == resources.spill_store_bytes == resources.shared_bytes == 0


def emitted(name, problem):
    """The default's, the presets' and the reference kernel."""
    chosen = operator(name)
    sources = [preset(problem) for preset in chosen.presets.values()]
    return [chosen.emit(problem, chosen.default(problem, SPEC)), *sources, chosen.reference(problem)]


@anywhere
def test_sources_are_reproducible(name, problem):
    assert emitted(name, problem) == emitted(name, problem)


@anywhere
def test_arguments_carry_the_problem(name, problem):
    """All kernels of a problem take the same struct, but for the types of its pointers, for tensor maps, and for what a
    reference kernel takes besides.

    The sizes of one that computes the transposed problem are in another order. Launches of a composed program have
    arguments of their own; together they take the tensors.
    """
    scales = [scale_name(tensor) for tensor in problem.tensors]  # that the reference kernel may write, too
    besides = {*scales, SAMPLED_ROWS, SAMPLED_COUNT}

    def taken(source):
        return [(one.name, one.value) for one in source.arguments if one.tensor_map is None and one.name not in besides]

    programs, tensors = emitted(name, problem), {tensor.name for tensor in problem.tensors}
    pointers = dict.fromkeys([*tensors, *scales, SAMPLED_ROWS, "workspace"], 256)
    scalars = {**problem.scalars, SAMPLED_COUNT: 1}
    assert all(program.tensor_names - besides == tensors for program in programs)
    plain = [program for program in programs if program.plain]
    for source in plain:
        members, first = taken(source), taken(plain[0])
        assert [member for member, _ in members] == [member for member, _ in first]
        assert sorted(value or 0 for _, value in members) == sorted(value or 0 for _, value in first)
        packed = source.pack(pointers, scalars, lambda _, address: (address % 2**64).to_bytes(TENSOR_MAP_BYTES))
        assert {member: value for member, value in members if value is not None}.items() <= {
            member: getattr(packed, member) for member, _ in members
        }.items()


@anywhere
def test_launch_fits_any_device(name, problem):
    for source in emitted(name, problem):
        assert source.empty == problem.empty, source.title
        assert source.workspace_bytes >= 0
        for launch in source.launches:
            module = source.modules[launch.module]
            tensor_maps = any(argument.tensor_map for argument in module.arguments)
            parameter = f"const {'__grid_constant__ ' if tensor_maps else ''}Arguments arguments"
            assert 0 < launch.threads <= 1024
            assert launch.grid[0] % launch.cluster[0] == 0
            assert 0 <= launch.shared_bytes <= SPEC.shared_per_block
            assert f"__global__ void __launch_bounds__({launch.threads}" in module.source
            assert f" {launch.entry}({parameter})" in module.source


@pytest.mark.parametrize("name", NAMES)
def test_drawn_sources_declare_their_launches(name):
    """CUDA refuses other threads and clusters; a wrong minimum of blocks costs registers or occupancy."""
    for problem, schedule in cases_of(name).CASES:
        program, declared = operator(name).emit(problem, schedule), []
        for launch in program.launches:
            cluster = f" __cluster_dims__({launch.cluster[0]}, 1, 1)\n   " if launch.cluster != (1, 1, 1) else ""
            head, tail = (re.escape(text) for text in (f"({launch.threads}, ", f"){cluster}"))
            found = re.search(
                rf"__global__ void __launch_bounds__{head}(\d+){tail}\s+{launch.entry}\(const ",
                program.modules[launch.module].source,
            )
            assert found, schedule
            declared.append(int(found[1]))
        assert schedule.footprint(problem).min_blocks_per_sm in declared, schedule  # but for launches ahead of its own


@pytest.fixture(params=NAMES)
def readable(request, tmp_path):
    """Files with a kernel of each kind."""
    cases = cases_of(request.param)
    programs = [operator(request.param).emit(*case) for case in cases.CASES[:6]]
    programs += [program for problem in cases.SMALL_PROBLEMS for program in emitted(request.param, problem)]
    sources = {part.source: part for program in programs for part in program.parts}
    for index, text in enumerate(sources):
        (tmp_path / f"{index}.cu").write_text(text)
    return {tmp_path / f"{index}.cu": program for index, program in enumerate(sources.values())}


def _origin(line):
    """The files under codegen/ that have a line."""
    files = Path(headers.__file__).parents[1].rglob("*.cuh")
    return " ".join(str(path) for path in files if line in path.read_text(encoding="utf-8")) or "the emitter"


def test_source_is_laid_out_as_its_files_are(readable):
    """clang-format checks the files under codegen/; what is left out of them leaves no gaps and no long lines."""
    for path in readable:
        lines = path.read_text().split("\n")
        long = [f"{_origin(line)}: {line}" for line in lines if len(line) > _COLUMNS]
        assert long == [], f"lines of more than {_COLUMNS} columns"
        assert [line for line in lines if line != line.rstrip()] == [], "lines that end with blanks"
        assert all(line or following for line, following in pairwise(lines[:-1])), "two blank lines"


@pytest.mark.skipif(NVCC is None, reason="needs nvcc")
def test_nvcc_accepts_the_text(readable, tmp_path):
    for path, program in list(readable.items())[:1]:
        command = [NVCC, "-ptx", *UNOPTIMISED, f"-arch=sm_90{program.arch_suffix}", path, "-o", tmp_path / "o"]
        completed = subprocess.run(command, capture_output=True, text=True)
        assert completed.returncode == 0, completed.stderr
