#pragma once
// The boxes that are kept, with what is known of each. All elements of the outputs are written.
__device__ __forceinline__ void write_kept(const Arguments& arguments) {
  const long long own = blockIdx.x * static_cast<long long>(Schedule::threads) + threadIdx.x;
  if (own >= static_cast<long long>(arguments.batch) * arguments.max_output) return;
  const long long image = own / arguments.max_output;
  const bool there = own - image * arguments.max_output < arguments.kept[image];
  const long long from = there ? image * arguments.capacity + arguments.chosen[own] : 0;
  for (int side = 0; side < 4; ++side) {
    arguments.boxes[own * 4 + side] = there ? arguments.found_boxes[from * 4 + side] : 0.0f;
  }
  arguments.scores[own] = there ? arguments.found_scores[from] : 0.0f;
  arguments.ids[own] = there ? arguments.found_ids[from] : -1;
  arguments.indices[own] = there ? arguments.found_indices[from] : -1;
}
