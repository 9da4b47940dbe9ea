#pragma once
// Which of 64 boxes in order are kept, given which of them suppress which: a box is kept once all that might
// suppress it are known to be dead, and dead once one of them is known to be kept. Each round decides the
// first open box at least, and most of the others; a loop over boxes would take 64.

// `dead` are those that are out already, and `killers[i]` those ahead of box i that overlap it. Each warp
// that takes part gets the same mask.
__device__ __forceinline__ unsigned long long survivors_of(unsigned long long dead,
                                                           const unsigned long long* killers) {
  constexpr unsigned all_lanes = 0xffffffffu;
  const int lane = threadIdx.x % 32;
  const unsigned long long of_lane[2] = {killers[lane], killers[lane + 32]};
  unsigned long long kept = 0;
  while ((kept | dead) != ~0ull) {
    unsigned long long now_kept = 0, now_dead = 0;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const bool open = !((kept | dead) >> (lane + 32 * half) & 1);
      const unsigned free = __ballot_sync(all_lanes, open && (of_lane[half] & ~dead) == 0);
      const unsigned hit = __ballot_sync(all_lanes, open && (of_lane[half] & kept) != 0);
      now_kept |= static_cast<unsigned long long>(free) << 32 * half;
      now_dead |= static_cast<unsigned long long>(hit) << 32 * half;
    }
    kept |= now_kept;
    dead |= now_dead;
  }
  return kept;
}

// Of two warps, in `votes`, what each thread says; with a barrier.
__device__ __forceinline__ unsigned long long vote_of_tile(unsigned* votes, bool said) {
  const unsigned vote = __ballot_sync(0xffffffffu, said);
  if (threadIdx.x % 32 == 0) votes[threadIdx.x / 32] = vote;
  __syncthreads();
  return static_cast<unsigned long long>(votes[1]) << 32 | votes[0];
}
