"""nms's problems for the contract."""

from autotune.codegen.vision.nms.block.schedule import BlockSchedule
from autotune.codegen.vision.nms.boxes import Crowding
from autotune.codegen.vision.nms.buckets.schedule import BucketsSchedule
from autotune.codegen.vision.nms.chunks.schedule import ChunksSchedule
from autotune.codegen.vision.nms.problem import DTYPES, Classes, NmsProblem

MOST = 10  # cases of three kernels

FLOAT32, FLOAT16, BFLOAT16 = DTYPES
DENSE = Crowding.DENSE

PROBLEMS = {
    "candidates200-maxoutput60-float32": NmsProblem(200, 60),
    "candidates100-maxoutput100-images3-float16-int64-counted-dense": NmsProblem(
        100, 100, 3, FLOAT16, Classes.INT64, True, DENSE
    ),
    "candidates100000-maxoutput100000-float32-int64": NmsProblem(100000, 100000, classes=Classes.INT64),
    "candidates0-maxoutput5-float32": NmsProblem(0, 5),
    "candidates5-maxoutput5-images0-float32": NmsProblem(5, 5, 0),
    "candidates5-maxoutput0-float32": NmsProblem(5, 0),
    "candidates65-maxoutput9-bfloat16-int32-alignboxes2": NmsProblem(
        65, 9, dtype=BFLOAT16, classes=Classes.INT32, align_boxes=2
    ),
}
SMALL_PROBLEMS = (
    NmsProblem(128, 128),
    NmsProblem(97, 20, 3, FLOAT16, Classes.INT64, True, align_boxes=4),
    NmsProblem(200, 300, 2, BFLOAT16, Classes.INT32, crowding=DENSE, align_boxes=2),
)
# Tiles that are full, short, and one box long; what is kept within one chunk and over several, by one block and by a
# cluster.
SMALL, LARGE = BlockSchedule(64, 64), BlockSchedule(128, 256, 128)
CLUSTER = BlockSchedule(64, 256, 128, 2)
TILES, CHUNKS = ChunksSchedule(64, 64, 3, 64), ChunksSchedule(128, 64, 2, 128)
BUCKETS, CLUSTERED = BucketsSchedule(64, 64, 1, 128, 3), BucketsSchedule(128, 128, 2, 256, 2)
OWN_CASES = [
    (NmsProblem(64, 64, 2, counted=True), SMALL),
    (NmsProblem(63, 5, crowding=DENSE), SMALL),
    (NmsProblem(65, 70, 2, FLOAT16, Classes.INT64), LARGE),
    (NmsProblem(256, 256, classes=Classes.INT64), LARGE),
    (NmsProblem(1, 1), SMALL),
    (NmsProblem(201, 150, 2, classes=Classes.INT32), CLUSTER),
    (NmsProblem(257, 257, crowding=DENSE), TILES),
    (NmsProblem(200, 90, 3, FLOAT16, Classes.INT64, True), CHUNKS),
    (NmsProblem(400, 400, classes=Classes.INT32), CHUNKS),
    (NmsProblem(700, 700, classes=Classes.INT64), CLUSTERED),
    (NmsProblem(300, 90, 3, FLOAT16, Classes.INT64, True), BUCKETS),
    (NmsProblem(0, 5, 2, classes=Classes.INT32), BUCKETS),
]
