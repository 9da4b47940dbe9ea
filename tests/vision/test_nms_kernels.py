"""What is hard for the kernels of nms: chains, ties, boxes without area, odd scores; and bugs planted in them."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from planted import check_caught
from vision.nms_cases import BUCKETS, CHUNKS, CLUSTER, CLUSTERED, DENSE, FLOAT16, LARGE, TILES

from autotune import dispatcher
from autotune.codegen.vision.nms.problem import Classes, NmsProblem
from autotune.emulator import verify
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.vision.nms import OPERATOR

SPEC = named_device("h200")
NAN, INF = np.nan, np.inf
UNIT = (0, 0, 2, 2)


def program(problem, schedule=LARGE):
    return OPERATOR.program(problem, schedule, SPEC)


def of(boxes, scores=None, iou_threshold=0.5, score_threshold=-INF):
    """A problem whose image has these boxes, the first one with the highest score if none are given."""
    boxes = np.array(boxes, np.float32).reshape(-1, 4)
    scores = np.arange(len(boxes), 0, -1) if scores is None else scores
    given = {"boxes": boxes.ravel(), "scores": np.array(scores, np.float32)}

    class Given(NmsProblem):
        @property
        def scalars(self):
            return {"iou_threshold": iou_threshold, "score_threshold": score_threshold}

        def inputs(self, seed):
            return {name: array.copy() for name, array in given.items()}

    return Given(len(boxes), len(boxes))


def chain(links):
    """Boxes of which each overlaps the next one by three fifths, and the one behind that by a third."""
    return [(i, 0, i + 4, 1) for i in range(links)]


LISTS = {
    "a dead box kills none": (of(chain(3)), [0, 2]),
    "a chain over tiles": (of(chain(130)), list(range(0, 130, 2))),
    "a chain whose kept end a tile": (of([(500, 0, 504, 1), *chain(130)]), [0, *range(1, 131, 2)]),
    "all the same": (of([UNIT] * 200), [0]),
    "exactly the threshold": (of([(0, 0, 2, 1), (0, 0, 1, 1), (0, 0, 2, 1.25)]), [0, 1]),
    "a little more": (of([(0, 0, 2, 1), (0, 0, 1, 1)], iou_threshold=0.49999997), [0]),
    "threshold 0": (of([UNIT, (2, 0, 4, 2), (1, 1, 3, 3), (1, 0, 1, 2)], iou_threshold=0), [0, 1, 3]),
    "threshold 1": (of([UNIT, UNIT, UNIT], iou_threshold=1), [0, 1, 2]),
    "below 0": (of([UNIT, (9, 9, 10, 10)], iou_threshold=-1), [0]),
    "without area": (of([(1, 1, 1, 1), (1, 1, 1, 1), (0, 0, 2, 2)]), [0, 1, 2]),
    "turned round": (of([(2, 2, 0, 0), UNIT, (2, 2, 0, 0)]), [0, 1, 2]),
    "reversed along x": (of([(2, 0, 0, 2), UNIT]), [0, 1]),
    "infinite": (of([(-INF, -INF, INF, INF), UNIT, UNIT, (-INF, 0, INF, 1)]), [0, 1, 3]),
    "not a number": (of([(NAN, 0, 2, 2), UNIT, (0, 0, 2, NAN)]), [0, 1, 2]),
    "far away": (of([(1e7, 1e7, 1e7 + 2, 1e7 + 2), (1e7, 1e7, 1e7 + 2, 1e7 + 2), UNIT]), [0, 2]),
    "scores": (of([(i, 0, i + 1, 1) for i in range(7)], [-0.0, NAN, INF, 0.0, -INF, 5, -NAN]), [2, 5, 0, 3, 4]),
    "equal scores": (of([UNIT, (5, 0, 7, 2), UNIT, (5, 0, 7, 2)], [1, 2, 1, 2]), [1, 0]),
    "low scores": (of([UNIT, (3, 0, 5, 2), (6, 0, 8, 2)], [0.5, 0.25, 0.125], score_threshold=0.25), [0, 1]),
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_that_are_easy_to_get_wrong(name):
    problem, kept = LISTS[name]
    found = problem.reference(problem.inputs(0), problem.scalars)
    assert found["indices"][: found["kept"][0]].tolist() == kept
    for schedule in (LARGE, CLUSTER, TILES):
        verify(problem, program(problem, schedule), seeds=(2,))


def test_the_reference_is_the_definition_in_exact_numbers():
    problem = NmsProblem(150, 150, crowding=DENSE, classes=Classes.INT64)
    given = problem.views(problem.inputs(3))
    boxes, scores, classes = given["boxes"][0], given["scores"][0], given["classes"][0]
    plain = [i for i in range(150) if np.isfinite(boxes[i]).all() and scores[i] >= 0.125]
    area = [[] if i not in plain else _area(boxes[i]) for i in range(150)]
    kept = []
    for i in sorted(plain, key=lambda i: (-scores[i], i)):
        if not any(classes[i] == classes[j] and _overlap(boxes[i], boxes[j], area[i] + area[j]) for j in kept):
            kept.append(i)
    found = problem.reference(problem.inputs(3), problem.scalars)
    finite = [i for i in found["indices"][: found["kept"][0]].tolist() if i in plain]
    assert finite == kept


def _area(box):
    left, top, right, bottom = (Fraction(float(number)) for number in box)
    return (right - left) * (bottom - top)


def _overlap(a, b, areas):
    """Whether two boxes overlap by more than a half."""
    width, height = (max(0, Fraction(float(min(a[i + 2], b[i + 2]) - max(a[i], b[i])))) for i in (0, 1))
    return bool(areas - width * height) and width * height / (areas - width * height) > Fraction(1, 2)


def test_boxes_in_another_order_are_kept_all_the_same():
    random = np.random.default_rng(0)
    boxes = np.concatenate([corner := random.integers(0, 30, (90, 2)), corner + 8], 1).astype(np.float32)
    scores = random.permutation(90).astype(np.float32)
    order = random.permutation(90)
    indices, kept = dispatcher.nms(boxes, scores)
    others, as_many = dispatcher.nms(boxes[order], scores[order])
    assert kept == as_many
    assert order[others[:as_many]].tolist() == indices[:kept].tolist()


def test_classes_are_compared_as_numbers():
    boxes, scores = np.array([UNIT] * 3, np.float32), np.array([3, 2, 1], np.float32)
    indices, kept = dispatcher.batched_nms(boxes, scores, np.array([7, 7 + 2**32, 7]), 0.5)
    assert indices[:kept].tolist() == [0, 1]


@pytest.mark.parametrize("ids", [(7,), (7, 262, 517), (-1, 2**40, 0, 254)], ids=["one", "of one bucket", "far apart"])
def test_classes_of_any_numbers_have_buckets(ids):
    class Given(NmsProblem):
        def inputs(self, seed):
            random = np.random.default_rng(seed)
            return {**super().inputs(seed), "classes": random.choice(np.array(ids), self.candidates)}

    problem = Given(300, 300, classes=Classes.INT64, crowding=DENSE)
    for schedule in (BUCKETS, CLUSTERED):
        verify(problem, program(problem, schedule), seeds=(2,))


def test_buckets_are_of_classes():
    assert list(OPERATOR.violations(NmsProblem(300, 300), BUCKETS, SPEC)) == ["boxes of one class: expected classes"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"boxes": np.zeros((3, 5), np.float32)}, r"boxes has shape \(3, 5\): expected \(…, boxes, 4\)"),
        ({"scores": np.zeros(2, np.float32)}, r"scores has dtype float32 and shape \(2,\): expected float32 of shape"),
        ({"classes": np.zeros(3, np.float32)}, "classes has dtype float32: nms takes int64, int32"),
        ({"counts": np.zeros(1, np.int32)}, r"counts has dtype int32 and shape \(1,\): expected int32 of shape \(\)"),
        ({"max_output": -1}, "max_output=-1: expected 0 or more"),
    ],
)
def test_what_a_call_refuses(given, said):
    usual = {"boxes": np.zeros((3, 4), np.float32), "scores": np.zeros(3, np.float32)}
    with pytest.raises((TypeError, ValueError), match=said):
        dispatcher.nms(**usual | given)


SPREAD, CROWDED = NmsProblem(200, 200), NmsProblem(200, 200, crowding=DENSE, classes=Classes.INT64)
BUGS = {
    "a box that is dead kills": (LISTS["a dead box kills none"][0], "(killers & kept) != 0", "killers != 0"),
    "a box of another tile that is dead kills": (
        LISTS["a chain over tiles"][0],
        "(others & kept[earlier]) != 0",
        "true",
    ),
    "a box of another tile is not waited for": (
        LISTS["a chain whose kept end a tile"][0],
        "open && free &&",
        "open &&",
    ),
    "a box waits for none": (SPREAD, "(killers & ~dead) == 0", "(killers & kept) == 0"),
    "boxes of earlier chunks kill none": (SPREAD, "i < with_others", "i < 0"),
    "boxes of earlier tiles kill none": (SPREAD, "left != 0 && !dies", "left < 0"),
    "a tile's boxes do not wait": (SPREAD, "killers &= (1u << lane) - 1", "killers = 0"),
    "the threshold kills": (LISTS["threshold 0"][0], " > threshold;", " >= threshold;"),
    "boxes side by side share nothing": (LISTS["below 0"][0], "threshold < 0.0f || ", ""),
    "what is close to the threshold is not divided": (
        LISTS["a little more"][0],
        "overlap.shared) <= 0.0f)",
        "overlap.shared) <= 1e-6f)",
    ),
    "an area is not that of another class": (CROWDED, "boxes.ids[i] == other.id", "true"),
    "classes of 32 bits": (CROWDED, "boxes.ids[i] == other.id", "int(boxes.ids[i]) == int(other.id)"),
    "zeros differ": (LISTS["scores"][0], "__float_as_uint(score + 0.0f)", "__float_as_uint(score)"),
    "comparisons are not waited for": (SPREAD, "kept, test);\n    barrier_of_blocks();", "kept, test);"),
    "more than there is room for": (replace(SPREAD, max_output=70), "if (place >= most) return;", ""),
    "neighbours are sorted in one direction": (SPREAD, "(first & size) == 0, swaps", "size != 0, swaps"),
}


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bugs_are_caught(bug):
    problem, right, wrong = BUGS[bug]
    check_caught(problem, program(problem), right, wrong, seeds=(0, 2))


CHUNK = NmsProblem(300, 300, crowding=DENSE, classes=Classes.INT64)
BUGS_OF_CHUNKS = {
    "what is kept of a chunk drops none behind it": (CHUNK, "if (lane == 0 && dies != 0)", "if (false)"),
    "the masks of one tile only": (CHUNK, "pairs_of_tiles(tiles) * tile; i += sweeping", "tile; i += sweeping"),
    "a chunk begins to count anew": (CHUNK, "arguments.first == 0 ? 0 : arguments.kept[image]", "0"),
    "what is left out is there": (CHUNK, "arguments.dead[own] = ~there;", "arguments.dead[own] = 0;"),
    "all pairs are of the first tile": (
        CHUNK,
        "TilePair{row, column} : TilePair{tiles - 1 - row",
        "TilePair{row, 0} : TilePair{tiles - 1 - row",
    ),
}


@pytest.mark.parametrize("bug", BUGS_OF_CHUNKS)
def test_bugs_of_chunks_are_caught(bug):
    problem, right, wrong = BUGS_OF_CHUNKS[bug]
    check_caught(problem, program(problem, CHUNKS), right, wrong, seeds=(0, 2))


def spaced(step, candidates):
    """A problem whose three classes have numbers that are so far apart."""

    class Spaced(NmsProblem):
        def inputs(self, seed):
            found = super().inputs(seed)
            return {**found, "classes": step * found["classes"]}

    return Spaced(candidates, candidates, crowding=DENSE, classes=Classes.INT32)


ONE_BUCKET = spaced(255, 300)
FEW = NmsProblem(400, 400, 2, crowding=DENSE, classes=Classes.INT32)
BUGS_OF_BUCKETS = {
    "a class of a bucket is all of it": (
        ONE_BUCKET,
        "boxes.ids[i] == other.id",
        "true",
    ),
    "those that do not count are of a class": (FEW, "arguments.keys[index] == 0 ? bucket_count : ", ""),
    "those of earlier chunks kill none": (
        FEW,
        "all = (kept + tile",
        "all = (0 + tile",
    ),
    "what a window keeps drops none behind it": (ONE_BUCKET, "atomicOr(bucket.dead + own, dies)", "0"),
    "the first buckets have all slots": (spaced(100, 200), "slot -= __popc(those);", "slot = 0;"),
    "a kept box stays where it was": (FEW, "bucket.boxes.set(kept + rank, shared.own.get(box));", ""),
    "an empty class begins nowhere": (
        FEW,
        "for (int i = before + 1; i <= bucket; ++i)",
        "for (int i = bucket; i <= bucket; ++i)",
    ),
    "a part begins at the first rank": (
        NmsProblem(1400, 1400, classes=Classes.INT32),
        "most + ahead + rank",
        "most + rank",
    ),
    "more than there is room for": (replace(FEW, max_output=3), "if (ahead + rank < most)", "if (true)"),
    "the chunk is overwritten while it is read": (
        FEW,
        "load_chunk(shared, bucket, first, some);\n    barrier_of_blocks();",
        "load_chunk(shared, bucket, first, some);",
    ),
}


@pytest.mark.parametrize("bug", BUGS_OF_BUCKETS)
def test_bugs_of_buckets_are_caught(bug):
    problem, right, wrong = BUGS_OF_BUCKETS[bug]
    check_caught(problem, program(problem, BUCKETS), right, wrong, seeds=(0, 2))


def test_16_bit_boxes_are_widened_first():
    """In 16 bits, sides of half a unit and areas beyond 65504 would be lost."""
    boxes = np.array([(0, 0, 600, 600), (0, 0, 600, 299)], np.float16)
    indices, kept = dispatcher.nms(boxes, np.array([1, 0.5], np.float16), 0.49)
    assert boxes.dtype == FLOAT16
    assert indices[:kept].tolist() == [0]


@pytest.mark.parametrize(
    ("device", "problem", "cluster"),
    [
        ({}, NmsProblem(100, 100), 1),
        ({}, NmsProblem(1000, 1000), 16),
        ({}, NmsProblem(1000, 300, 2), 8),
        ({"sm_count": 114}, NmsProblem(1000, 1000), 8),  # of eight groups, each may have fewer than 16 SMs
        ({"compute_capability": (12, 0)}, NmsProblem(1000, 1000), 8),
    ],
)
def test_untuned_clusters_surely_run(device, problem, cluster):
    assert OPERATOR.default(problem, replace(SPEC, **device)).cluster == cluster
