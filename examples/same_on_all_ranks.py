"""Two ranks that compute by the same kernels, or stop: each compares the fingerprint of its choices with the other's.

Ranks that choose by themselves may differ: one has other records, another cache or another compiler. Then their sums
differ in the last bits, and what is captured, allocated or exchanged by the kernels' sizes does not fit together.
``--differ`` shows it: rank 1 has a kernel that was compiled ahead, as if ``autotune warm`` had run on its node alone.
Under a lock (``AUTOTUNE_LOCK=autotune.lock``) that cannot happen.

PyTorch's process group, over gloo, compares them; without PyTorch, a pipe does.
"""

import argparse
import multiprocessing
import sys
import tempfile
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from autotune import dispatcher
from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.dispatcher.arrays.views import HOST

try:
    import torch.distributed as distributed
except ImportError:
    distributed = None

RANKS = 2


def everybodys(own: list[str], rank: int, other: Connection, meeting: str) -> list[list[str]]:
    """What each rank has, by its number."""
    if distributed is None:
        other.send(own)
        return [own, other.recv()] if rank == 0 else [other.recv(), own]
    found: list[list[str]] = [[]] * RANKS
    distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=RANKS)
    distributed.all_gather_object(found, own)
    distributed.destroy_process_group()
    return found


def work(rank: int, other: Connection, meeting: str, differ: bool) -> None:
    """Compute, and stop if another rank did so by other kernels."""
    chosen: list[str] = []
    dispatcher.on_choice(lambda one: chosen.append(f"{one}: {one.choice.schedule.summary}"))
    if differ and rank == 1:
        dispatcher.warm([TransposeProblem(40, 33, lda=33, ldb=40, align_a=16, align_b=16)], device=HOST)
    x = np.ones((40, 33), np.float32)
    dispatcher.transpose(x)
    dispatcher.softmax(x)
    ranks = everybodys([dispatcher.fingerprint(), *chosen], rank, other, meeting)
    if len({fingerprint for fingerprint, *_ in ranks}) > 1:
        alone = sorted(set(chosen) - set(ranks[1 - rank]))
        sys.exit("\n".join([f"rank {rank}: the ranks differ; here alone:", *alone]))
    print(f"rank {rank}: {len(chosen)} choices, fingerprint {ranks[rank][0][:16]}")


def main() -> None:
    """Start the ranks, and fail if one of them does."""
    parser = argparse.ArgumentParser(description="Compare what two ranks choose.")
    parser.add_argument("--differ", action="store_true", help="let rank 1 have a kernel of its own")
    differ = parser.parse_args().differ
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        meeting = str(Path(folder) / "meeting")
        ranks = [spawn.Process(target=work, args=(rank, end, meeting, differ)) for rank, end in enumerate(spawn.Pipe())]
        for rank in ranks:
            rank.start()
        for rank in ranks:
            rank.join()
    sys.exit(any(rank.exitcode for rank in ranks))


if __name__ == "__main__":
    main()
