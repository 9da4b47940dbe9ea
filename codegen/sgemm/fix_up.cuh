#pragma once
#include "cuda/shared_memory.cuh"
#include "sgemm/epilogue.cuh"
#include "sgemm/work.cuh"
// Adding up the pieces of a tile that several clusters share. Each cluster leaves its part in the workspace;
// of every `fan_in` neighbours the last to finish adds up theirs, and of those the last adds up all: always
// in the order of the clusters, so the result does not depend on who was last. The blocks of rank 0 do it.
//
// The workspace holds two counters for each place, then the places: two for each cluster, one for a piece
// that its tile begins with, one for another.

class FixUp {
  static constexpr int fan_in = 16;
  static constexpr int place_words = Schedule::block_m * Schedule::block_n;

 public:
  static constexpr int batch_size = Output::vectors % 8 == 0 ? 8 : 1;  // loads that are under way together
  using Batch = Output::Batch<batch_size>;

  __device__ __forceinline__ FixUp(void* workspace, Sharers sharers)
      : sharers_(sharers),
        counters_(static_cast<int*>(workspace)),
        places_(static_cast<float*>(workspace) + 4 * cluster_count() +
                threadIdx.x % tile_threads * Output::width),
        group_first_((static_cast<int>(cluster_index()) - sharers.first) / fan_in * fan_in),
        groups_((sharers.count + fan_in - 1) / fan_in) {}

  // Leaves this cluster's part, which the threads of the first part along k hold; true in the one block that
  // can add_up() all of them afterwards.
  __device__ __forceinline__ bool leave(const Accumulators& sum, float alpha) const {
    store<1>(static_cast<int>(cluster_index()) - sharers_.first,
             [&](Output::Batch<1>& batch, int first) { scale(batch, sum, first, alpha); });
    const int count = min(fan_in, sharers_.count - group_first_);
    if (!is_last(counters_ + place(group_first_), count)) return false;
    if (groups_ == 1) return true;
    store<batch_size>(group_first_,
                      [&](Batch& batch, int first) { add_up(batch, first, group_first_, 1, count); });
    return is_last(counters_ + 2 * cluster_count() + place(0), groups_);
  }

  // The vectors of the whole tile from `first` on.
  __device__ __forceinline__ void add_up(Batch& batch, int first) const {
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
  __device__ __forceinline__ float* words_at(int index, int vector) const {
    return places_ + static_cast<long long>(place(index)) * place_words +
           vector * (tile_threads * Output::width);
  }

  template <int size, class Load>
  __device__ __forceinline__ void store(int index, Load load) const {
    if (k_part() != 0) return;
#pragma unroll
    for (int first = 0; first < Output::vectors; first += size) {
      Output::Batch<size> batch;
      load(batch, first);
#pragma unroll
      for (int i = 0; i < size; ++i) {
        store_vector_l2<Output::width>(words_at(index, first + i), batch.words[i]);
      }
    }
  }

  // True in the last of `count` blocks to count.
  static __device__ __forceinline__ bool is_last(int* counter, int count) {
    __threadfence();
    __syncthreads();
    int* last = dynamic_shared<int>();
    if (threadIdx.x == 0) {
      *last = atomicAdd(counter, 1) == count - 1;
      if (*last) *counter = 0;  // fit for the next launch
    }
    __syncthreads();
    const bool result = *last;
    __syncthreads();  // before tiles overwrite it
    __threadfence();
    return result;
  }

  // Sums over the sharers with indices begin, begin + step, …
  __device__ __forceinline__ void add_up(Batch& batch, int first, int begin, int step, int count) const {
    batch = {};
#pragma unroll 4
    for (int other = 0; other < count; ++other) {
#pragma unroll
      for (int i = 0; i < batch_size; ++i) {
        alignas(16) float part[Output::width];
        load_vector_l2<Output::width>(part, words_at(begin + other * step, first + i));
#pragma unroll
        for (int word = 0; word < Output::width; ++word) batch.words[i][word] += part[word];
      }
    }
  }

  Sharers sharers_;
  int* counters_;
  float* places_;
  int group_first_;
  int groups_;
};
