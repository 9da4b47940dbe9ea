#pragma once
#if rotary_dim > 0
#  include "cuda/numbers.cuh"
#endif
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

// Tokens and their cache: k and keys, or v and values, with what lies between two of each.
struct Tokens {
  const Element* source;
  long long token, head;
  Stored* cache;
  long long page, slot, cached_head;
#if cache != plain
  ScalePointer scales;
  long long scaled_head;
#endif
#if token_scales
  long long scaled_page, scaled_slot;
#endif

  __device__ __forceinline__ Move move(Place place, int token_number, int head_number) const {
    Move found;
    found.source = source + token_number * token + head_number * head;
    found.target = cache + place.page * page + place.slot * slot + head_number * cached_head;
#if cache != plain
    found.scale = scales + head_number * scaled_head;
#endif
#if token_scales
    found.scale += place.page * scaled_page + place.slot * scaled_slot;
#endif
    return found;
  }
};

__device__ __forceinline__ Tokens keys_of(const Arguments& arguments, const Problem& problem) {
  Tokens tokens;
  tokens.source = reinterpret_cast<const Element*>(arguments.k);
  tokens.token = problem.stride_k_t, tokens.head = problem.stride_k_g;
  tokens.cache = reinterpret_cast<Stored*>(arguments.keys);
  tokens.page = problem.stride_keys_p, tokens.slot = problem.stride_keys_s;
  tokens.cached_head = problem.stride_keys_g;
#if cache != plain
  tokens.scales = arguments.kscale;
  tokens.scaled_head = problem.stride_kscale_w;
#endif
#if token_scales
  tokens.scaled_page = problem.stride_kscale_u, tokens.scaled_slot = problem.stride_kscale_v;
#endif
  return tokens;
}

__device__ __forceinline__ Tokens values_of(const Arguments& arguments, const Problem& problem) {
  Tokens tokens;
  tokens.source = reinterpret_cast<const Element*>(arguments.v);
  tokens.token = problem.stride_v_t, tokens.head = problem.stride_v_g;
  tokens.cache = reinterpret_cast<Stored*>(arguments.values);
  tokens.page = problem.stride_values_p, tokens.slot = problem.stride_values_s;
  tokens.cached_head = problem.stride_values_g;
#if cache != plain
  tokens.scales = arguments.vscale;
  tokens.scaled_head = problem.stride_vscale_w;
#endif
#if token_scales
  tokens.scaled_page = problem.stride_vscale_u, tokens.scaled_slot = problem.stride_vscale_v;
#endif
  return tokens;
}
#if cache != plain

#  if cache == fp8
constexpr float largest_code = 448.0f;
#  else
constexpr float largest_code = 127.0f;
#  endif
#  if dtype == float16
constexpr float largest_number = 65504.0f;
#  else
constexpr float largest_number = 3.3895314e38f;
#  endif

// By which the largest number of a head becomes the largest code. An infinite one counts as the largest of
// all: others keep what is left beside it.
__device__ __forceinline__ float scale_of(float largest) {
  return (largest > largest_number ? largest_number : largest) / largest_code;
}

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
