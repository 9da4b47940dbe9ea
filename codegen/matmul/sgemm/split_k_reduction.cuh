#pragma once
#include "cuda/tickets.cuh"
#include "matmul/sgemm/tile_scheduler.cuh"

// The reduction of a tile that several clusters share. Each cluster stores its partial sums in the workspace.
// Of every `fan_in` neighbours the last to finish adds up theirs, and of those the last adds up all. The
// order of additions is that of the clusters, so the result does not depend on who was last. Each block of a
// cluster does so for its part of the tile.
//
// The workspace holds two counters for each slot and rank, then the slots. Each cluster has two slots: one
// for a work unit that its tile begins with, one for another.
class SplitKReduction {
  static constexpr int fan_in = 16;
  static constexpr int slot_elements = Schedule::block_m * Schedule::block_n;

  // Partial sums whose fragments are loaded together, as registers allow.
  static constexpr int elements_in_flight = threads * Schedule::min_blocks_per_sm <= 256 ? 128 : 64;
  static constexpr int partials_that_fit = elements_in_flight / (Output::fragment_vectors * Output::width);
  static constexpr int partials = partials_that_fit < fan_in ? partials_that_fit : fan_in;

 public:
  __device__ __forceinline__ SplitKReduction(void* workspace, Peers peers)
      : peers_(peers),
        counters_(static_cast<int*>(workspace)),
        slots_(static_cast<float*>(workspace) + 4 * gridDim.x + tile_thread() * Output::width),
        group_first_((static_cast<int>(cluster_index()) - peers.first) / fan_in * fan_in),
        groups_((peers.count + fan_in - 1) / fan_in) {}

  // Stores this block's part of its cluster's sums, which `load` gives. True in the one block that can then
  // reduce() that part.
  template <class Load>
  __device__ __forceinline__ bool store_partials(Load load) const {
    store(static_cast<int>(cluster_index()) - peers_.first, load);
    const int count = min(fan_in, peers_.count - group_first_);
    if (!is_last_block(counter(group_first_), count)) return false;
    if (groups_ == 1) return true;
    store(group_first_,
          [&](Output::Fragment& fragment, int first) { reduce(fragment, first, group_first_, 1, count); });
    return is_last_block(counter(0) + 2 * gridDim.x, groups_);
  }

  // The vectors of the whole tile from `first` on.
  __device__ __forceinline__ void reduce(Output::Fragment& fragment, int first) const {
    if (groups_ == 1) {
      reduce(fragment, first, 0, 1, peers_.count);
    } else {
      reduce(fragment, first, 0, fan_in, groups_);
    }
  }

 private:
  // The slot of a peer.
  __device__ __forceinline__ int slot(int peer) const { return 2 * (peers_.first + peer) + (peer == 0); }
  __device__ __forceinline__ int* counter(int peer) const {
#if cluster_k > 1
    return counters_ + slot(peer) * Schedule::cluster_k + cluster_rank();
#else
    return counters_ + slot(peer);
#endif
  }
  __device__ __forceinline__ float* address(int peer, int vector) const {
    return slots_ + static_cast<long long>(slot(peer)) * slot_elements +
           vector * (tile_threads * Output::width);
  }

  template <class Load>
  __device__ __forceinline__ void store(int peer, Load load) const {
    for_each_fragment([&](int first) {
      Output::Fragment fragment;
      load(fragment, first);
#pragma unroll
      for (int i = 0; i < Output::fragment_vectors; ++i) {
        store_vector_l2<Output::width>(address(peer, first + i), fragment.elements[i]);
      }
    });
  }

  // Sums over the peers begin, begin + step, …
  __device__ __forceinline__ void reduce(Output::Fragment& fragment, int first, int begin, int step,
                                         int count) const {
    fragment = {};
    for (int done = 0; done < count; done += partials) {
      Output::Fragment parts[partials] = {};
#pragma unroll
      for (int part = 0; part < partials; ++part) {
        if (done + part >= count) continue;
#pragma unroll
        for (int i = 0; i < Output::fragment_vectors; ++i) {
          const float* elements = address(begin + (done + part) * step, first + i);
          load_vector_l2<Output::width>(parts[part].elements[i], elements);
        }
      }
#pragma unroll
      for (int part = 0; part < partials; ++part) add(fragment, parts[part]);
    }
  }

  static __device__ __forceinline__ void add(Output::Fragment& fragment, const Output::Fragment& part) {
#pragma unroll
    for (int i = 0; i < Output::fragment_vectors; ++i) {
#pragma unroll
      for (int j = 0; j < Output::width; ++j) fragment.elements[i][j] += part.elements[i][j];
    }
  }

  Peers peers_;
  int* counters_;
  float* slots_;
  int group_first_;
  int groups_;
};
