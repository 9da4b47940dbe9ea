"""sampling's problems for the contract."""

from autotune.codegen.selection.sampling.cluster.schedule import ClusterSchedule
from autotune.codegen.selection.sampling.problem import DTYPES, Logits, Pairs, SamplingProblem, Source
from autotune.codegen.selection.sampling.schedule import SamplingSchedule

MOST = 5

FLOAT32, FLOAT16, BFLOAT16 = DTYPES
ODD, FLAT = Logits.ODD, Logits.FLAT
ALL = {"top_k": True, "top_p": True, "min_p": True}

SMALL_PROBLEMS = (
    SamplingProblem(3, 256),
    SamplingProblem(12, 133, BFLOAT16, **ALL, pairs=Pairs.ROWS, logits=ODD, ldx=137),
    SamplingProblem(4, 300, FLOAT16, temperatures=False, top_p=True, pairs=Pairs.ONE, ldx=304, align_x=4),
    SamplingProblem(12, 200, FLOAT32, temperatures=False, top_k=True, min_p=True, source=Source.PROBS, logits=ODD),
)
BLOCKS = SamplingSchedule(256, 4, 2, 2048, 1)
CLUSTER = ClusterSchedule(256, 4, 2, 2048, 1, cluster=2)
# What is kept fits, or does not: then digits of the floor are summed, with and without equal logits.
OWN_CASES = [
    (SamplingProblem(3, 5000, top_p=True, ldx=5003), BLOCKS),
    (SamplingProblem(2, 5000, top_p=True, logits=FLAT), BLOCKS),
    (SamplingProblem(12, 2100, BFLOAT16, top_p=True, logits=ODD), BLOCKS.replace(vector_width=8)),
    (SamplingProblem(2, 5000, **ALL, pairs=Pairs.ROWS), BLOCKS),
    (SamplingProblem(12, 2100, FLOAT16, temperatures=False, **ALL, source=Source.PROBS, logits=ODD), BLOCKS),
    (SamplingProblem(3, 5000, top_p=True, ldx=5003), CLUSTER.replace(cluster=4)),
    (SamplingProblem(2, 5000, temperatures=False, top_p=True, logits=FLAT), CLUSTER),
    (SamplingProblem(12, 2100, BFLOAT16, **ALL, pairs=Pairs.ROWS, logits=ODD), CLUSTER.replace(vector_width=8)),
    (SamplingProblem(12, 1500, FLOAT16, temperatures=False, **ALL, source=Source.PROBS, logits=ODD), CLUSTER),
    (SamplingProblem(4, 90, min_p=True), CLUSTER.replace(cluster=16)),
]
