#pragma once
#include "cuda/shared_memory.cuh"
#include "matmul/sgemm/epilogue.cuh"
#include "matmul/sgemm/work.cuh"
// Adding up the pieces of a tile that several clusters share. Each cluster leaves its part in the workspace;
// of every `fan_in` neighbours the last to finish adds up theirs, and of those the last adds up all: always
// in the order of the clusters, so the result does not depend on who was last. Each block of a cluster does
// so for its share of the tile.
//
// The workspace holds two counters for each place and rank, then the places: two for each cluster, one for a
// piece that its tile begins with, one for another.

class FixUp {
  static constexpr int fan_in = 16;
  static constexpr int place_words = Schedule::block_m * Schedule::block_n;

  // Pieces whose batches are under way together.
  static constexpr int words_under_way =
      threads * Schedule::min_blocks_per_sm <= 256 ? 128 : 64;  // in registers
  static constexpr int pieces_that_fit = words_under_way / (Output::batch_size * Output::width);
  static constexpr int pieces = pieces_that_fit < fan_in ? pieces_that_fit : fan_in;

 public:
  __device__ __forceinline__ FixUp(void* workspace, Sharers sharers)
      : sharers_(sharers),
        counters_(static_cast<int*>(workspace)),
        places_(static_cast<float*>(workspace) + 4 * gridDim.x + tile_thread() * Output::width),
        group_first_((static_cast<int>(cluster_index()) - sharers.first) / fan_in * fan_in),
        groups_((sharers.count + fan_in - 1) / fan_in) {}

  // Leaves this block's share of its cluster's part, which `load` gives; true in the one block that can
  // add_up() that share of all parts afterwards.
  template <class Load>
  __device__ __forceinline__ bool leave(Load load) const {
    store(static_cast<int>(cluster_index()) - sharers_.first, load);
    const int count = min(fan_in, sharers_.count - group_first_);
    if (!is_last(counter(group_first_), count)) return false;
    if (groups_ == 1) return true;
    store(group_first_,
          [&](Output::Batch& batch, int first) { add_up(batch, first, group_first_, 1, count); });
    return is_last(counter(0) + 2 * gridDim.x, groups_);
  }

  // The vectors of the whole tile from `first` on.
  __device__ __forceinline__ void add_up(Output::Batch& batch, int first) const {
    if (groups_ == 1) {
      add_up(batch, first, 0, 1, sharers_.count);
    } else {
      add_up(batch, first, 0, fan_in, groups_);
    }
  }

 private:
  // The place of the sharer with an index among them.
  __device__ __forceinline__ int place(int index) const {
    return 2 * (sharers_.first + index) + (index == 0);
  }
  __device__ __forceinline__ int* counter(int index) const {
    return counters_ + place(index) * Schedule::cluster_k + cluster_rank();
  }
  __device__ __forceinline__ float* words_at(int index, int vector) const {
    return places_ + static_cast<long long>(place(index)) * place_words +
           vector * (tile_threads * Output::width);
  }

  template <class Load>
  __device__ __forceinline__ void store(int index, Load load) const {
    for_each_batch([&](int first) {
      Output::Batch batch;
      load(batch, first);
#pragma unroll
      for (int i = 0; i < Output::batch_size; ++i) {
        store_vector_l2<Output::width>(words_at(index, first + i), batch.words[i]);
      }
    });
  }

  // True in the last of `count` blocks to count. What all threads of all of them wrote before, all threads of
  // that one may read: barriers and the fences of one thread are cumulative (PTX ISA, causality order).
  static __device__ __forceinline__ bool is_last(int* counter, int count) {
    __syncthreads();
    bool last = false;
    if (threadIdx.x == 0) {
      __threadfence();
      last = atomicAdd(counter, 1) == count - 1;
      if (last) *counter = 0;  // fit for the next launch
      __threadfence();
    }
    return __syncthreads_or(last);
  }

  // Sums over the sharers with indices begin, begin + step, …
  __device__ __forceinline__ void add_up(Output::Batch& batch, int first, int begin, int step,
                                         int count) const {
    batch = {};
    for (int done = 0; done < count; done += pieces) {
      Output::Batch parts[pieces] = {};
#pragma unroll
      for (int piece = 0; piece < pieces; ++piece) {
        if (done + piece >= count) continue;
#pragma unroll
        for (int i = 0; i < Output::batch_size; ++i) {
          const float* words = words_at(begin + (done + piece) * step, first + i);
          load_vector_l2<Output::width>(parts[piece].words[i], words);
        }
      }
#pragma unroll
      for (int piece = 0; piece < pieces; ++piece) add(batch, parts[piece]);
    }
  }

  static __device__ __forceinline__ void add(Output::Batch& batch, const Output::Batch& part) {
#pragma unroll
    for (int i = 0; i < Output::batch_size; ++i) {
#pragma unroll
      for (int word = 0; word < Output::width; ++word) batch.words[i][word] += part.words[i][word];
    }
  }

  Sharers sharers_;
  int* counters_;
  float* places_;
  int group_first_;
  int groups_;
};
