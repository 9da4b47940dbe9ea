#pragma once
#include "cuda/numbers.cuh"
#include "streaming/rope/angles.cuh"
// Pairs of elements of the heads of q and k are turned. A thread has the same unit of several heads of a
// token: a vector of pairs, or two vectors with the first and the second elements of pairs.

using Element = Problem::Element;
using Index = Problem::Index;
using Offset = Problem::Offset;
constexpr int width = Schedule::vector_width;
constexpr int vectors = Problem::interleaved && width > 1 ? 1 : 2;
constexpr int pairs = vectors * width / 2;
using Vector = Packed<Element, width>;

// What a thread has of each head.
struct Unit {
  int first;     // element of the first vector
  bool rotated;  // or copied, and then there is no second vector
  int pair;      // number of the first one
};

// A head of a token, and its copy that is rotated.
struct Head {
  const Element* source;
  Element* target;
};

__device__ __forceinline__ Head head_of(const Arguments& arguments, const Problem& problem, Offset token,
                                        int head) {
  if (head < problem.heads_q) {
    return {arguments.q + (token * problem.stride_q + head * problem.ldq),
            arguments.r + (token * problem.stride_r + head * problem.ldr)};
  }
  head -= problem.heads_q;
  return {arguments.k + (token * problem.stride_k + head * problem.ldk),
          arguments.s + (token * problem.stride_s + head * problem.lds)};
}

// Not by __ldg, as the output may be the input; and not by a plain load, which would not know that the
// address of either q or k is of global memory.
__device__ __forceinline__ Vector load_vector(const Element* source) {
  Vector vector;
  vector.bits = __ldca(reinterpret_cast<const Vector::Bits*>(source));
  return vector;
}

__device__ __forceinline__ void turn(float& a, float& b, float cosine, float sine) {
  const float turned = a * cosine - b * sine;
  b = a * sine + b * cosine;
  a = turned;
}

__device__ __forceinline__ void rotate(Vector (&unit)[vectors], const float (&cosines)[pairs],
                                       const float (&sines)[pairs]) {
  float values[vectors][width];
#pragma unroll
  for (int i = 0; i < vectors; ++i) to_floats(values[i], unit[i].elements);
#pragma unroll
  for (int i = 0; i < pairs; ++i) {
    if constexpr (vectors == 1) {
      turn(values[0][2 * i], values[0][2 * i + 1], cosines[i], sines[i]);
    } else {
      turn(values[0][i], values[1][i], cosines[i], sines[i]);
    }
  }
#pragma unroll
  for (int i = 0; i < vectors; ++i) from_floats(unit[i].elements, values[i]);
}

// Rotates the unit of a group of heads of a token.
__device__ __forceinline__ void rope_item(const Arguments& arguments, const Problem& problem,
                                          const Unit& unit, Index item, int groups) {
  const Offset token = item / groups;
  const int group = static_cast<int>(item % groups), heads = problem.heads_q + problem.heads_k;
  const int second = Problem::interleaved ? 1 : problem.rotated / 2;  // elements behind a unit's first vector
  Vector loaded[Schedule::heads_per_thread][vectors] = {};
#pragma unroll
  for (int i = 0; i < Schedule::heads_per_thread; ++i) {
    const int head = group + i * groups;
    if (head >= heads) break;
    const Element* source = head_of(arguments, problem, token, head).source + unit.first;
    loaded[i][0] = load_vector(source);
    if (vectors > 1 && unit.rotated) loaded[i][vectors - 1] = load_vector(source + second);
  }
  float cosines[pairs], sines[pairs];
  if (unit.rotated) {
    // While the loads are in flight.
    angles_at(cosines, sines, arguments, problem, position_of(arguments, problem, token), unit.pair);
#if conj
#  pragma unroll
    for (int i = 0; i < pairs; ++i) sines[i] = -sines[i];
#endif
  }
#pragma unroll
  for (int i = 0; i < Schedule::heads_per_thread; ++i) {
    const int head = group + i * groups;
    if (head >= heads) break;
    Element* target = head_of(arguments, problem, token, head).target + unit.first;
    if (unit.rotated) rotate(loaded[i], cosines, sines);
    store_global_whole<false>(target, loaded[i][0]);
    if (vectors > 1 && unit.rotated) store_global_whole<false>(target + second, loaded[i][vectors - 1]);
  }
}

__device__ __forceinline__ void rope_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const int rotated_units = problem.rotated / (vectors * width);
  const int units = rotated_units + (problem.head_dim - problem.rotated) / width;
  const int slots = static_cast<Index>(Schedule::threads) / units;
#if apart
  // Few warps have units of both kinds, of which each would take as long as both.
  const int rotating = slots * rotated_units, first_copied = threadIdx.x < rotating ? 0 : rotated_units;
  const int place = first_copied == 0 ? threadIdx.x : threadIdx.x - rotating;
  const int of_kind = first_copied == 0 ? rotated_units : units - rotated_units;
  const int slot = static_cast<Index>(place) / of_kind;
  const int number = static_cast<Index>(place) % of_kind + first_copied;
#else
  const int slot = threadIdx.x / units, number = threadIdx.x % units;
#endif
  if (slot >= slots) return;

  const bool rotated = number < rotated_units;
  const int copied = problem.rotated + (number - rotated_units) * width;
  const Unit unit = {rotated ? number * (Problem::interleaved ? 2 * pairs : pairs) : copied, rotated,
                     number * pairs};
  const int groups =
      (problem.heads_q + problem.heads_k + Schedule::heads_per_thread - 1) / Schedule::heads_per_thread;
  const Index items = static_cast<Index>(problem.batch) * groups;
  const Index item = static_cast<Index>(blockIdx.x) * slots + slot;
  if (item < items) rope_item(arguments, problem, unit, item, groups);
}
