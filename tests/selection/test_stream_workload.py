"""What blocks of a stream schedule do where too many elements reach a sample's floor."""

from dataclasses import replace

from autotune.codegen.selection.beam_step.problem import BeamStepProblem
from autotune.codegen.selection.beam_step.schedule import BeamStepSchedule
from autotune.codegen.selection.topk.problem import TopkProblem
from autotune.codegen.selection.topk.stream.schedule import StreamSchedule
from autotune.search_spaces.contract.modelled_time import modelled_seconds
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.machine.occupancy import resident_blocks

H200 = named_device("h200")
FEW = StreamSchedule(256, 4, 4, samples=1, candidates=1024, min_blocks_per_sm=4)


def seconds(name, problem, schedule):
    return modelled_seconds(operator(name), problem, schedule, H200)


def test_candidates_that_overflow_take_longer():
    """On an H200, 512 rows of 128256 took 149 µs with 1024 candidates of a small sample, 84 µs with room for them."""
    problem = TopkProblem(512, 128256, 50)
    roomy = replace(FEW, candidates=2048, samples=2)
    assert seconds("topk", problem, FEW) > 1.4 * seconds("topk", problem, roomy)


def test_of_many_rows_few_overflow():
    """2048 rows of 151936 took 434 µs on an H200 with 1024 candidates of a small sample, 354 µs with 2048."""
    problem, eight = TopkProblem(2048, 151936, 8), replace(FEW, loads_in_flight=8)
    roomy = replace(eight, candidates=2048)
    assert 1.05 < seconds("topk", problem, eight) / seconds("topk", problem, roomy) < 1.5


def test_a_sample_within_a_vector_tells_nothing_of_a_beam_that_has_ended():
    """64 requests of four beams took an H200 379 µs so, and 80 µs with a larger sample."""
    problem = BeamStepProblem(64, 4, 128256, 8)
    few, more = (BeamStepSchedule(256, 4, 4, samples=samples, min_blocks_per_sm=4) for samples in (1, 4))
    assert seconds("beam_step", problem, few) > 1.4 * seconds("beam_step", problem, more)


def test_blocks_that_nothing_bounds_take_more_registers():
    """ptxas takes 71 to 128 registers for them, so that an SM holds one block of 512 threads."""
    footprint = StreamSchedule(512, 4, 4, candidates=2048).footprint(TopkProblem(512, 128256, 50))
    assert resident_blocks(footprint, H200) == 1
