#pragma once
// Which of 32 boxes in order are kept, given which of them suppress which: a box is kept once all that might
// suppress it are known to be dead, and dead once one of them is known to be kept. Each round decides the
// first open box at least, and most of the others; a loop over boxes would take 32.

// `dead` are those that are out already, and `killers` those ahead of the lane's box that overlap it. All
// lanes of a warp get the same mask.
__device__ __forceinline__ unsigned survivors_of(unsigned dead, unsigned killers) {
  constexpr unsigned all_lanes = 0xffffffffu;
  unsigned kept = 0;
  while ((kept | dead) != all_lanes) {
    const bool open = !((kept | dead) >> threadIdx.x % 32 & 1);
    const unsigned now_kept = __ballot_sync(all_lanes, open && (killers & ~dead) == 0);
    dead |= __ballot_sync(all_lanes, open && (killers & kept) != 0);
    kept |= now_kept;
  }
  return kept;
}
