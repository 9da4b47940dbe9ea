"""attention_backward by wgmma: which schedules are legal, which to draw from, and which to try first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product

from autotune.codegen.attention.attention_backward.emit import statistics_blocks
from autotune.codegen.attention.attention_backward.problem import AttentionBackwardProblem
from autotune.codegen.attention.attention_backward.wgmma.schedule import ARCHITECTURE, Pass, WgmmaSchedule
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.search_spaces.attention.small import small_problems
from autotune.search_spaces.attention.tensor_maps import unmapped
from autotune.search_spaces.attention.tiles import heads_in_l2, seen_keys
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import footprint_violations, grid_violations

_Tiles = tuple[tuple[int, int, int], ...]
_ByDim = tuple[tuple[int, _Tiles], ...]
_SPECS = field_specs(WgmmaSchedule)
_USUAL = {
    name: getattr(WgmmaSchedule(), name)
    for name in ("query_consumers", "tile_keys", "query_stages", "query_blocks_per_sm")
}
_BOX_COLUMNS = 64  # of a head in shared memory
_FEW_KEYS = 256  # that a query sees, up to which passes of their own are tried first
# By the larger dimension of a head: consumers, queries, blocks of an SM of a single pass ...
_SINGLE: _ByDim = (
    (64, ((2, 128, 1), (1, 64, 2), (1, 64, 1))),
    (128, ((2, 64, 1), (1, 64, 1))),
    (256, ()),
)
# ... the same of the pass for dk and dv ...
_OF_KEYS: _ByDim = (
    (64, ((2, 128, 1), (1, 64, 2), (2, 64, 1), (3, 64, 1))),
    (128, ((2, 64, 1), (2, 80, 1), (1, 64, 1), (1, 32, 2))),
    (256, ((2, 48, 1), (2, 64, 1), (2, 32, 1), (1, 64, 1))),
)
# ... and consumers, keys, blocks of the pass for dq.
_OF_QUERIES: _ByDim = (
    (64, ((2, 128, 1), (1, 128, 2), (3, 96, 1), (1, 64, 3))),
    (128, ((2, 128, 1), (3, 64, 1), (2, 96, 1), (1, 64, 2))),
    (256, ((2, 80, 1), (2, 64, 1), (2, 48, 1), (1, 64, 1))),
)


def constraints(problem: AttentionBackwardProblem, schedule: WgmmaSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and the footprint of its first pass."""
    yield from grid_violations(statistics_blocks(problem))
    yield from _unmapped(problem)
    if schedule.ahead and min(schedule.stages, schedule.query_stages) == 1:
        yield "ahead: expected two stages or more"
    yield from schedule.key_pass(problem).violations()
    if schedule.single_pass:
        yield from _no_single_pass(problem, schedule)
    else:
        yield from schedule.query_pass(problem).violations()
        yield from footprint_violations(spec, schedule.query_pass(problem).footprint)


def _no_single_pass(problem: AttentionBackwardProblem, schedule: WgmmaSchedule) -> Iterator[str]:
    """Why there cannot be a single pass."""
    if problem.deterministic:
        yield "single_pass: adds in any order, and the problem is deterministic"
    if not schedule.together:
        yield "single_pass: expected dk and dv together"
    if not schedule.sum_columns(problem):
        yield (
            f"single_pass: {schedule.consumers} consumers cannot share out {schedule.tile_queries} queries and "
            f"{problem.head_dim} columns of dq"
        )


def _unmapped(problem: AttentionBackwardProblem) -> Iterator[str]:
    if not problem.queries:
        yield "queries 0: a tensor map has at least one"
    yield from unmapped(problem, "q", "k", "v", "dout")


def applies(problem: AttentionBackwardProblem, spec: DeviceSpec) -> bool:
    """Whether the device has wgmma, and tensor copies take the operands."""
    return ARCHITECTURE.startswith(spec.arch) and not any(_unmapped(problem))


def space(problem: AttentionBackwardProblem, spec: DeviceSpec) -> Space[WgmmaSchedule]:
    """All fields are drawn, as upper bounds: a schedule gets as much as there is room for."""
    heads = tuple(n for n in _SPECS["heads_together"].values if n < 2 * problem.all_heads)

    def build(draw: Draw) -> WgmmaSchedule:
        return fitted(problem, WgmmaSchedule.from_dict(draw), spec)

    return Space(field_parameters(WgmmaSchedule, heads_together=heads), build)


def fitted(problem: AttentionBackwardProblem, schedule: WgmmaSchedule, spec: DeviceSpec) -> WgmmaSchedule:
    """The schedule with no more of anything than there are registers and shared memory for."""
    found = _with_room(problem, schedule, spec)
    return replace(found, ahead=found.ahead and min(found.stages, found.query_stages) > 1)


def _with_room(problem: AttentionBackwardProblem, schedule: WgmmaSchedule, spec: DeviceSpec) -> WgmmaSchedule:
    def key_pass(tried: WgmmaSchedule) -> bool:
        wrong = any(_no_single_pass(problem, tried)) if tried.single_pass else False
        return not wrong and _fits(tried.key_pass(problem), spec)

    def query_pass(tried: WgmmaSchedule) -> bool:
        return _fits(tried.query_pass(problem), spec)

    if schedule.single_pass:
        single = replace(schedule, together=True, **_USUAL)
        if found := _first(single, ("min_blocks_per_sm", "consumers", "tile_queries", "stages"), key_pass):
            return found
        schedule = replace(schedule, single_pass=False)
    of_keys = "together", "min_blocks_per_sm", "consumers", "tile_queries", "stages"
    schedule = _first(schedule, of_keys, key_pass) or schedule
    of_queries = "query_blocks_per_sm", "query_consumers", "tile_keys", "query_stages"
    return _first(schedule, of_queries, query_pass) or schedule


def _fits(part: Pass, spec: DeviceSpec) -> bool:
    return not any(part.violations()) and not any(footprint_violations(spec, part.footprint))


def _first(
    schedule: WgmmaSchedule, names: Sequence[str], fits: Callable[[WgmmaSchedule], bool]
) -> WgmmaSchedule | None:
    """Of schedules with less, the first that fits: the values of the last names are lessened first."""
    given = [(getattr(schedule, name), sorted(_SPECS[name].values, reverse=True)) for name in names]
    lesser = ([value for value in values if value <= most] for most, values in given)
    tried = (replace(schedule, **dict(zip(names, values, strict=True))) for values in product(*lesser))
    return next(filter(fits, tried), None)


def candidates(problem: AttentionBackwardProblem, spec: DeviceSpec) -> Iterator[WgmmaSchedule]:
    """A single pass first, if keys are many, no column of dq is padded, and it may be added up in any order."""
    few = seen_keys(problem, 1, 1) <= _FEW_KEYS
    single = [] if problem.deterministic else list(_single_passes(problem, spec))
    several = list(_two_passes(problem, spec, few))
    padded = problem.head_dim % _BOX_COLUMNS > 0
    yield from several + single if few or padded else single + several


def _single_passes(problem: AttentionBackwardProblem, spec: DeviceSpec) -> Iterator[WgmmaSchedule]:
    together = heads_in_l2(problem, spec)
    for consumers, queries, blocks in _of_dim(_SINGLE, problem):
        wanted = WgmmaSchedule(consumers, queries, single_pass=True, heads_together=together, min_blocks_per_sm=blocks)
        found = fitted(problem, wanted, spec)
        if found.single_pass:
            yield from (replace(found, ahead=False), found)  # up to 6 % faster with two consumers on an H200


def _two_passes(problem: AttentionBackwardProblem, spec: DeviceSpec, few: bool) -> Iterator[WgmmaSchedule]:
    """With several blocks on an SM first, if queries see few keys: they hide each other's first and last steps."""
    together = heads_in_l2(problem, spec)
    of_keys, of_queries = (
        sorted(tiles, key=lambda tile: -tile[2] if few else 0)
        for tiles in (_of_dim(_OF_KEYS, problem), _of_dim(_OF_QUERIES, problem))
    )
    for consumers, queries, blocks in of_keys:
        for query_consumers, keys, query_blocks in of_queries:
            wanted = WgmmaSchedule(
                consumers,
                queries,
                query_consumers=query_consumers,
                tile_keys=keys,
                heads_together=together,
                min_blocks_per_sm=blocks,
                query_blocks_per_sm=query_blocks,
            )
            yield fitted(problem, wanted, spec)


def _of_dim(tiles: _ByDim, problem: AttentionBackwardProblem) -> _Tiles:
    widest = max(problem.head_dim, problem.value_elements)
    return next(some for dim, some in tiles if widest <= dim)


def checks(
    problem: AttentionBackwardProblem, schedule: WgmmaSchedule
) -> list[tuple[AttentionBackwardProblem, WgmmaSchedule]]:
    """See `small_problems`."""
    rows = max(schedule.block_queries, schedule.tile_queries)
    keys = max(schedule.block_keys, schedule.tile_keys)
    return [(one, schedule) for one in small_problems(problem, rows, keys, WIDEST_ACCESS)]
