#pragma once
#include "cuda/shared_memory.cuh"
#include "sorting/keys.cuh"
// Passes of three launches: each thread counts the digits of a piece of a row, a block for each row turns the
// counts into places, and each thread moves the keys of its piece. The table of a row has a count for each
// piece, digit by digit: so places ascend by digits first, and then by pieces.

using Count = Problem::Count;
#if has_values
using Result = Problem::Result;
#endif

struct Piece {
  long long row;
  long long begin, end;  // columns
  Count* counts;         // of the first digit
  long long pieces;      // of a row: counts of the next digit are as many further on
};

__device__ __forceinline__ long long pieces_of(const Arguments& arguments, const Problem& problem) {
  return (problem.columns + arguments.piece_keys - 1) / arguments.piece_keys;
}

__device__ __forceinline__ bool has_piece(const Arguments& arguments, const Problem& problem, Piece& piece) {
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  piece.pieces = pieces_of(arguments, problem);
  const long long number = thread % piece.pieces;
  piece.row = thread / piece.pieces;
  piece.begin = number * arguments.piece_keys;
  const long long end = piece.begin + arguments.piece_keys;
  piece.end = end < problem.columns ? end : problem.columns;
  piece.counts = static_cast<Count*>(arguments.table) + piece.row * bins * piece.pieces + number;
  return piece.row < problem.rows;
}

__device__ __forceinline__ void count_piece(const Arguments& arguments) {
  const Problem problem(arguments);
  Piece piece;
  if (!has_piece(arguments, problem, piece)) return;
  const Bits* keys = static_cast<const Bits*>(arguments.source) + piece.row * problem.columns;
  for (int digit = 0; digit < bins; ++digit) piece.counts[digit * piece.pieces] = 0;
  for (long long i = piece.begin; i < piece.end; ++i) {
    ++piece.counts[digit_of(ordered(keys[i]), arguments.shift) * piece.pieces];
  }
}

// Each count becomes the sum of those before it.
template <int threads>
__device__ __forceinline__ void scan_counts(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long size = bins * pieces_of(arguments, problem), of_thread = (size + threads - 1) / threads;
  Count* table = static_cast<Count*>(arguments.table) + blockIdx.x * size;
  Count* sums = dynamic_shared<Count>();
  const long long begin = threadIdx.x * of_thread, end = begin + of_thread < size ? begin + of_thread : size;
  Count sum = 0;
  for (long long i = begin; i < end; ++i) sum += table[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  Count before = 0;
  for (unsigned thread = 0; thread < threadIdx.x; ++thread) before += sums[thread];
  for (long long i = begin; i < end; ++i) {
    const Count count = table[i];
    table[i] = before;
    before += count;
  }
}

__device__ __forceinline__ void move_piece(const Arguments& arguments) {
  const Problem problem(arguments);
  Piece piece;
  if (!has_piece(arguments, problem, piece)) return;
  const long long first = piece.row * problem.columns;
  const Bits* keys = static_cast<const Bits*>(arguments.source) + first;
  Bits* target = static_cast<Bits*>(arguments.target) + first;
#if has_values
  const Result* values = static_cast<const Result*>(arguments.source_values);
  Result* target_values = static_cast<Result*>(arguments.target_values) + first;
#endif
  for (long long i = piece.begin; i < piece.end; ++i) {
    const Bits key = keys[i];
    const Count place = piece.counts[digit_of(ordered(key), arguments.shift) * piece.pieces]++;
    target[place] = key;
#if indices
    target_values[place] = values == nullptr ? static_cast<Result>(i) : values[first + i];
#elif has_values
    target_values[place] = values[first + i];
#endif
  }
}
