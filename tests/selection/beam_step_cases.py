"""beam_step's problems for the contract."""

from autotune.codegen.selection.beam_step.problem import BeamStepProblem, Pattern
from autotune.codegen.selection.beam_step.schedule import BeamStepSchedule

MOST = 4
TIES = Pattern.TIE_HEAVY
SMALL_PROBLEMS = (
    BeamStepProblem(2, 3, 256, 3),
    BeamStepProblem(3, 4, 133, 8, TIES, ldx=137, align_x=4),
    BeamStepProblem(1, 1, 40, 40),
)
# Blocks that keep all, sample, or count digits, one or two for each beam; sums of more than are compared at once.
BLOCKS = BeamStepSchedule(128, 4, 2, 1, 1024, 1)
OWN_CASES = [
    (BeamStepProblem(2, 2, 5003, 5, ldx=5004), BLOCKS),
    (BeamStepProblem(1, 3, 5000, 200, TIES), BLOCKS.replace(splits=2)),
    (BeamStepProblem(2, 2, 2500, 1000, TIES), BLOCKS.replace(samples=0)),
]
