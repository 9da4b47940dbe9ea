"""What all NVIDIA GPUs have in common, as far as they are served."""

WARP = 32  # threads
WARPGROUP = 4 * WARP
SCHEDULERS = 4  # warps of an SM that issue at once
BANKS = 32  # words that shared memory delivers at once
WORD_BYTES = 4  # a register, and a word of a bank
LEAST_COPY = 4  # bytes of cp.async
WIDEST_ACCESS = 16  # bytes of a load or store of a thread
SECTOR_BYTES = 32  # what L2 and device memory read or write at once
MOST_ARGUMENT_BYTES = 32764  # of a launch, since CUDA 12.1 and sm_70
LINE_BYTES = 128  # a line of a cache, and what all banks deliver at once
