#pragma once
#include "cuda/named_barrier.cuh"
#include "cuda/vector.cuh"
#include "matmul/gemm/wgmma/stages.cuh"
// Tiles that blocks share along k: each of them leaves its sums in the workspace, and the last one to do so
// adds up those of all, in the order of blocks, so the result does not depend on who was last.
//
// The workspace holds 16 bytes for each block, a counter in all, then the sums of each.

// Vectors of four sums of a product. If clusters share a tile, each block has added up those of its own
// cluster for its part of the columns.
constexpr int sum_vectors = stored_columns / 8;

// The number of this block in its cluster: the part of the columns that it stores.
__device__ __forceinline__ int stored_part() { return blockIdx.x % Schedule::cluster_k; }

// Where the sums of a peer, and of this thread, are: the vectors of all threads are side by side.
__device__ __forceinline__ float* peer_sums(void* workspace, const Peers& peers, int peer) {
  constexpr long long tile_elements = Schedule::block_m * Schedule::block_n;
  const int thread = threadIdx.x - warpgroup_threads;
  const int part = stored_part() * (Schedule::block_m * stored_columns);
  return static_cast<float*>(workspace) + 4 * Schedule::grid_blocks + (peers.first + peer) * tile_elements +
         part + 4 * thread;
}

// True in the consumers of the last block of those which share a tile; what the others wrote before, they may
// read. The counter is 0 before and afterwards. As `is_last_block` of cuda/tickets.cuh, while the producer
// goes on.
__device__ __forceinline__ bool is_last_peer(void* workspace, const Peers& peers) {
  int& is_last = Stages::barriers().is_last;
  named_barrier(sums_barrier, consumer_threads);
  if (threadIdx.x == warpgroup_threads) {
    int* counter = static_cast<int*>(workspace) + peers.first * Schedule::cluster_k + stored_part();
    __threadfence();
    is_last = atomicAdd(counter, 1) == peers.count - 1;
    if (is_last) *counter = 0;
    __threadfence();
  }
  named_barrier(sums_barrier, consumer_threads);
  return is_last;
}

// Leaves the sums in the workspace. True in the one block of those which share the tile that then has all of
// them, added up.
__device__ __forceinline__ bool add_up(StoredSums& sums, void* workspace, const Peers& peers) {
  float* own = peer_sums(workspace, peers, static_cast<int>(cluster_index()) - peers.first);
#pragma unroll
  for (int i = 0; i < products_m * sum_vectors; ++i) {
    alignas(16) float vector[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) vector[j] = sums.d[i / sum_vectors][i % sum_vectors * 4 + j];
    store_vector_l2<4>(own + i * (4 * consumer_threads), vector);
  }
  if (!is_last_peer(workspace, peers)) return false;
  sums = {};
  constexpr int peers_in_flight = Schedule::cluster_k > 1 ? 8 : 1;
#pragma unroll peers_in_flight
  for (int peer = 0; peer < peers.count; ++peer) {
    const float* theirs = peer_sums(workspace, peers, peer);
#pragma unroll
    for (int i = 0; i < products_m * sum_vectors; ++i) {
      alignas(16) float vector[4];
      load_vector_l2<4>(vector, theirs + i * (4 * consumer_threads));
#pragma unroll
      for (int j = 0; j < 4; ++j) sums.d[i / sum_vectors][i % sum_vectors * 4 + j] += vector[j];
    }
  }
  return true;
}
