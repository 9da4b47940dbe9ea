#pragma once
#include "cuda/cluster.cuh"
#include "cuda/tickets.cuh"
#include "epilogue/activation.cuh"
#include "matmul/gemv/main_loop.cuh"
#if shared_x
#  include "matmul/gemv/shared_x.cuh"
#endif
// y = activation(alpha·W·x + bias) + beta·y. A block has block_n outputs of each vector. It may share them
// with the blocks of its cluster, and with other clusters: each takes every so many tiles along k. The sums
// are added up in a fixed order: those of the warps, then of the cluster's blocks, then of the clusters, by
// the last one to finish.

constexpr int outputs = Problem::m * block_n;  // those of a block
constexpr int partitions = Schedule::cluster * Schedule::splits;

// What a block computes.
struct Part {
  unsigned group;  // the group of outputs
  int batch, first_n;
  int split, rank;  // among the blocks that share them

  explicit __device__ __forceinline__ Part(const Problem& problem) {
    const unsigned cluster = blockIdx.x / Schedule::cluster;
    rank = blockIdx.x % Schedule::cluster;
    split = cluster % Schedule::splits;
    group = cluster / Schedule::splits;
#if batched
    const unsigned groups_n = (problem.n - 1u) / block_n + 1;
    batch = group / groups_n;
    first_n = group % groups_n * block_n;
#else
    batch = 0;
    first_n = group * block_n;
#endif
  }
};

// Behind the tiles of W in shared memory: `parts` sums of each output.
__device__ __forceinline__ float* block_sums(unsigned char* shared) {
#if stages > 1
  shared += Schedule::stages * loads * strips * Schedule::threads * sizeof(Vector);
#  if shared_x
  shared += Schedule::stages * SharedX::tile_elements * sizeof(Element);
#  endif
#endif
  return reinterpret_cast<float*>(shared);
}

// All products of a block's tiles, summed over its warps.
__device__ __forceinline__ void sum_tiles(const Arguments& arguments, const Problem& problem,
                                          const Part& part, unsigned char* shared) {
#if weights == plain
  const Element* w = arguments.w + part.batch * problem.stride_w;
#else
  const QuantisedRows w = rows_of_batch(arguments, problem, part.batch);
#endif
  const Element* x = arguments.x + part.batch * problem.stride_x;
  ThreadSums sums(problem, w, x, part.first_n);
  const int first_k = (part.split * Schedule::cluster + part.rank) * block_k;
#if shared_x
  add_tiles_with_x(sums, SharedX(x, problem.ldx, shared), first_k, partitions * block_k, problem.k, shared);
#else
  add_tiles(sums, first_k, partitions * block_k, problem.k, shared);
#endif
  sums.store(block_sums(shared));
  __syncthreads();
}

// The sum of `count` values, `step` apart, in their order.
template <int count>
__device__ __forceinline__ float sum_of(const float* values, int step) {
  float sum = values[0];
#pragma unroll
  for (int i = 1; i < count; ++i) sum += values[i * step];
  return sum;
}

// Calls `visit` with each output that is left to this thread, if `blocks` share those of a block.
template <int blocks, class Visit>
__device__ __forceinline__ void for_each_output(int rank, Visit visit) {
  constexpr int step = blocks * Schedule::threads;
#pragma unroll
  for (int round = 0; round < (outputs + step - 1) / step; ++round) {
    const int output = round * step + rank * Schedule::threads + static_cast<int>(threadIdx.x);
#if transpose_y
    if (output < outputs) visit(output % Problem::m * block_n + output / Problem::m);  // neighbours in y
#else
    if (output < outputs) visit(output);
#endif
  }
}

// Calls `visit` with each output that is left to this block, and with its sum over the cluster.
template <class Visit>
__device__ __forceinline__ void for_each_sum(float* shared, int rank, Visit visit) {
#if cluster > 1
  for_each_output<1>(0, [&](int i) { shared[i] = sum_of<parts>(shared + i, outputs); });
  cluster_barrier();
  for_each_output<Schedule::cluster>(rank, [&](int i) {
    float sums[Schedule::cluster];
#  pragma unroll
    for (int other = 0; other < Schedule::cluster; ++other) sums[other] = shared_of_rank(shared, other)[i];
    visit(i, sum_of<Schedule::cluster>(sums, 1));
  });
  cluster_barrier();  // no block ends while others read its sums
#else
  for_each_output<1>(0, [&](int i) { visit(i, sum_of<parts>(shared + i, outputs)); });
#endif
}

// Stores an output by its sum.
__device__ __forceinline__ void store_output(const Arguments& arguments, const Problem& problem,
                                             const Part& part, int output, float sum) {
  const int n = part.first_n + output % block_n;
#if edge_n
  if (n >= problem.n) return;
#endif
#if transpose_y
  Element* y = arguments.y + part.batch * problem.stride_y + n * problem.ldy + output / block_n;
#else
  Element* y = arguments.y + part.batch * problem.stride_y + output / block_n * problem.ldy + n;
#endif
  float own_bias = 0.0f, before = 0.0f;
#if weights != plain && group_size == 0
  sum *= to_float(arguments.scales[part.batch * problem.stride_scales + n]);
#endif
#if bias
  own_bias = to_float(arguments.bias[n]);
#endif
#if beta_nonzero
  before = to_float(*y);
#endif
  *y = from_float<Element>(finished(arguments, problem, sum, own_bias, before));
}

__device__ __forceinline__ void gemv_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const Part part(problem);
  unsigned char* shared = dynamic_shared<unsigned char>();
  sum_tiles(arguments, problem, part, shared);
#if splits > 1
  // The workspace has the sums of each split of each group, then the counters.
  const long long clusters = gridDim.x / Schedule::cluster;
  float* all_sums = static_cast<float*>(arguments.workspace);
  float* sums = all_sums + static_cast<long long>(part.group) * Schedule::splits * outputs;
  int* counters = reinterpret_cast<int*>(all_sums + clusters * outputs);
  for_each_sum(block_sums(shared), part.rank,
               [&](int i, float sum) { __stcg(sums + part.split * outputs + i, sum); });
  if (!is_last_block(counters + part.group * Schedule::cluster + part.rank, Schedule::splits)) return;
  for_each_output<Schedule::cluster>(part.rank, [&](int i) {
    float of_splits[Schedule::splits];
#  pragma unroll
    for (int split = 0; split < Schedule::splits; ++split)
      of_splits[split] = __ldcg(sums + split * outputs + i);
    store_output(arguments, problem, part, i, sum_of<Schedule::splits>(of_splits, 1));
  });
#else
  for_each_sum(block_sums(shared), part.rank,
               [&](int i, float sum) { store_output(arguments, problem, part, i, sum); });
#endif
}
