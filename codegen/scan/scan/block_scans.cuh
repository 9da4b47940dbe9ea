#pragma once
#include "cuda/shared_memory.cuh"
#include "cuda/warp_scan.cuh"
#include "scan/scan/plain.cuh"
// Three ways to scan one element of each thread of a block, and rows that a block scans so, part by part.

// What precedes a thread's element, and all elements together.
struct BlockScan {
  Carry before, total;
};

#if method == hillis_steele
// Each step adds the element twice as far before: log2(threads) steps, in each of which all threads add
// (Hillis and Steele, Data Parallel Algorithms, 1986).
template <int threads>
__device__ __forceinline__ BlockScan scan_block(Carry own, Carry* scratch) {
  const int thread = threadIdx.x;
  scratch[thread] = own;
  for (int step = 1; step < threads; step *= 2) {
    __syncthreads();
    const Carry before = thread >= step ? scratch[thread - step] : nothing();
    __syncthreads();
    scratch[thread] = own = Join()(before, own);
  }
  __syncthreads();
  return {thread > 0 ? scratch[thread - 1] : nothing(), scratch[threads - 1]};
}
#elif method == blelloch
// Sums go up a tree, and what precedes them comes down: twice as many steps, but fewer additions than twice
// the elements (Blelloch, Prefix Sums and Their Applications, 1990). A slot left free after each 32 puts
// what the threads access at once in different banks (Harris, Sengupta and Owens, Parallel Prefix Sum (Scan)
// with CUDA, GPU Gems 3, 2007).
__device__ __forceinline__ int padded(int i) { return i + i / 32; }

template <int threads>
__device__ __forceinline__ BlockScan scan_block(Carry own, Carry* scratch) {
  const int thread = threadIdx.x;
  scratch[padded(thread)] = own;
  for (int stride = 1; stride < threads; stride *= 2) {
    __syncthreads();
    const int right = (thread + 1) * stride * 2 - 1, left = right - stride;
    if (right < threads) scratch[padded(right)] = Join()(scratch[padded(left)], scratch[padded(right)]);
  }
  __syncthreads();
  const Carry total = scratch[padded(threads - 1)];
  __syncthreads();
  if (thread == 0) scratch[padded(threads - 1)] = nothing();
  for (int stride = threads / 2; stride > 0; stride /= 2) {
    __syncthreads();
    const int right = (thread + 1) * stride * 2 - 1, left = right - stride;
    if (right < threads) {
      const Carry of_left = scratch[padded(left)];
      scratch[padded(left)] = scratch[padded(right)];
      scratch[padded(right)] = Join()(scratch[padded(right)], of_left);
    }
  }
  __syncthreads();
  return {scratch[padded(thread)], total};
}
#else
// Warps scan by shuffles, without shared memory or barriers; then a warp scans their sums.
template <int threads>
__device__ __forceinline__ BlockScan scan_block(Carry own, Carry* scratch) {
  constexpr int warps = threads / 32;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const Carry inclusive = scan_lanes<32>(own, Join());
  if (lane == 31) scratch[warp] = inclusive;
  __syncthreads();
  const Carry of_warps = scan_lanes<warps>(scratch[lane % warps], Join());
  const Carry before = from_lane<warps>(shift_lanes<warps>(of_warps, nothing()), warp);
  return {Join()(before, shift_lanes<32>(inclusive, nothing())), from_lane<warps>(of_warps, warps - 1)};
}
#endif

// The scan begins with `first`; `load` gives the carry of a column, and `store` gets the result there.
template <int threads, class Load, class Store>
__device__ __forceinline__ void scan_by_block(const Problem& problem, Number first, Load load, Store store) {
  Carry* scratch = dynamic_shared<Carry>();
  Carry before = nothing();
  for (long long begin = 0; begin < problem.columns; begin += threads) {
    const long long i = begin + threadIdx.x, column = column_of(problem, i);
    const bool exists = i < problem.columns;
    const Carry own = exists ? load(column) : nothing();
    const BlockScan scan = scan_block<threads>(own, scratch);
    if (exists) store(column, result_of(first, Join()(before, scan.before), own));
    before = Join()(before, scan.total);
    __syncthreads();
  }
}

// One block a row.
template <int threads>
__device__ __forceinline__ void scan_row(const Arguments& arguments) {
  const Problem problem(arguments);
  const Element* x = arguments.x + blockIdx.x * problem.ldx;
  Result* y = arguments.y + blockIdx.x * problem.ldy;
  const auto load = [&](long long column) {
    return carry_of(arguments, problem, column, number_of(x[column]));
  };
  const Number first = first_number(arguments);
  scan_by_block<threads>(problem, first, load, [&](long long column, Number n) { y[column] = rounded(n); });
}

// The same in double, and of the absolute values, for the scale of a sum's error: |y| + weight Σ|x|.
template <int threads>
__device__ __forceinline__ void reference_row(const Arguments& arguments, double weight) {
  scan_row<threads>(arguments);
  const Problem problem(arguments);
  const Element* x = arguments.x + blockIdx.x * problem.ldx;
  const double* y = arguments.y + blockIdx.x * problem.ldy;
  double* scale = arguments.y_scale + blockIdx.x * problem.ldy;
  const auto load = [&](long long column) {
    return carry_of(arguments, problem, column, fabs(number_of(x[column])));
  };
  const Number first = fabs(first_number(arguments));
  scan_by_block<threads>(problem, first, load, [&](long long column, Number magnitude) {
    scale[column] = fabs(y[column]) + weight * magnitude;
  });
}
