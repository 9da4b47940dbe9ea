"""filter_tokens' problems for the contract."""

from autotune.codegen.selection.filter_tokens.problem import FilterTokensProblem, Result
from autotune.codegen.selection.sampling.problem import DTYPES, Logits, Source
from autotune.codegen.selection.sampling.schedule import SamplingSchedule

MOST = 4
FLOAT32, FLOAT16, BFLOAT16 = DTYPES
ALL = {"top_k": True, "top_p": True, "min_p": True}
ODD = Logits.ODD
SMALL_PROBLEMS = (
    FilterTokensProblem(3, 256, top_k=True),
    FilterTokensProblem(12, 133, BFLOAT16, **ALL, result=Result.MASKED, logits=ODD, ldx=137),
    FilterTokensProblem(12, 300, FLOAT16, False, top_k=True, min_p=True, source=Source.PROBS, logits=ODD, align_x=4),
)
BLOCKS = SamplingSchedule(256, 4, 2, 2048, 1)
OWN_CASES = [
    (FilterTokensProblem(3, 2500, **ALL, ldx=2503, ldy=2501), BLOCKS),
    (FilterTokensProblem(12, 900, BFLOAT16, top_p=True, logits=ODD), BLOCKS),  # equal logits across a floor
    (FilterTokensProblem(2, 5000, top_p=True, logits=Logits.FLAT), BLOCKS),  # what is kept does not fit
    (FilterTokensProblem(12, 2500, FLOAT16, False, top_p=True, source=Source.PROBS, logits=ODD), BLOCKS),
    (FilterTokensProblem(12, 300, FLOAT32, top_k=True, logits=ODD, result=Result.MASKED), BLOCKS),
]
