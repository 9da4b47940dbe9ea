#pragma once
#include "cuda/packed.cuh"
#if cache != plain
#  include "cuda/narrow.cuh"
#  include "cuda/row_reduce.cuh"
#endif
// Where tokens lie in a cache of pages, and what is stored there: the bits of elements, or codes.

using Element = Problem::Element;
using Stored = Problem::Stored;

struct Place {
  bool there;
  int page;
  int slot;  // of the page
};

// The place of a token. What leads to no slot goes nowhere: nothing outside of the caches is written.
__device__ __forceinline__ Place place_of(const Arguments& arguments, const Problem& problem, int token) {
#if by_request
  const unsigned request = token / problem.fresh, length = arguments.lengths[request], page = problem.page;
  const unsigned number = length + token % problem.fresh, room = problem.room, pages = problem.pages;
  if (length >= room || number >= room) return {false, 0, 0};
#  if by_table
  const unsigned own = arguments.table[request * static_cast<long long>(problem.columns) + number / page];
#  else
  const unsigned own = request;
#  endif
  return {own < pages, static_cast<int>(own), static_cast<int>(number % page)};
#else
  const Problem::Slot slot = arguments.slots[token];
  if (slot < 0 || slot >= problem.slot_count) return {false, 0, 0};
  const unsigned number = static_cast<unsigned>(slot), page = problem.page;
  return {true, static_cast<int>(number / page), static_cast<int>(number % page)};
#endif
}

#if token_scales
using ScalePointer = float*;
#else
using ScalePointer = const float*;
#endif

// A head of k or of v on its way to a cache.
struct Move {
  const Element* source;
  Stored* target;
#if cache != plain
  ScalePointer scale;
#endif
};

__device__ __forceinline__ Move move_of_key(const Arguments& arguments, const Problem& problem, Place place,
                                            int token, int head) {
  Move move;
  move.source =
      reinterpret_cast<const Element*>(arguments.k) + token * problem.stride_k_t + head * problem.stride_k_g;
  move.target = reinterpret_cast<Stored*>(arguments.keys) + place.page * problem.stride_keys_p +
                place.slot * problem.stride_keys_s + head * problem.stride_keys_g;
#if token_scales
  move.scale = arguments.kscale + place.page * problem.stride_kscale_u +
               place.slot * problem.stride_kscale_v + head * problem.stride_kscale_w;
#elif cache != plain
  move.scale = arguments.kscale + head * problem.stride_kscale_w;
#endif
  return move;
}

__device__ __forceinline__ Move move_of_value(const Arguments& arguments, const Problem& problem, Place place,
                                              int token, int head) {
  Move move;
  move.source =
      reinterpret_cast<const Element*>(arguments.v) + token * problem.stride_v_t + head * problem.stride_v_g;
  move.target = reinterpret_cast<Stored*>(arguments.values) + place.page * problem.stride_values_p +
                place.slot * problem.stride_values_s + head * problem.stride_values_g;
#if token_scales
  move.scale = arguments.vscale + place.page * problem.stride_vscale_u +
               place.slot * problem.stride_vscale_v + head * problem.stride_vscale_w;
#elif cache != plain
  move.scale = arguments.vscale + head * problem.stride_vscale_w;
#endif
  return move;
}
#if cache != plain

#  if cache == fp8
constexpr float largest_code = 448.0f;
#  else
constexpr float largest_code = 127.0f;
#  endif

// Numbers as codes of a scale; all are 0 where that is.
template <int width>
__device__ __forceinline__ Packed<Stored, width> stored(const Packed<Element, width>& numbers, float scale) {
  Packed<Stored, width> codes;
#  pragma unroll
  for (int i = 0; i < width; ++i) {
    const float number = to_float(numbers.elements[i]);
    codes.elements[i] = from_float_saturated<Stored>(scale == 0.0f ? 0.0f : number / scale);
  }
  return codes;
}
#endif
