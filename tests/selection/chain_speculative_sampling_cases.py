"""chain_speculative_sampling's problems for the contract."""

from autotune.codegen.selection.chain_speculative_sampling.problem import ChainSpeculativeSamplingProblem
from autotune.codegen.selection.chain_speculative_sampling.schedule import ChainSpeculativeSamplingSchedule
from autotune.codegen.selection.sampling.problem import Pairs

MOST = 4
SMALL_PROBLEMS = (
    ChainSpeculativeSamplingProblem(8, 3, 256),
    ChainSpeculativeSamplingProblem(5, 4, 131, Pairs.ROWS),
    ChainSpeculativeSamplingProblem(7, 1, 40, Pairs.ONE),
)
OWN_CASES = [
    (ChainSpeculativeSamplingProblem(6, 2, 3000), ChainSpeculativeSamplingSchedule(128, 2)),
    (ChainSpeculativeSamplingProblem(3, 40, 9), ChainSpeculativeSamplingSchedule(1024)),
]
