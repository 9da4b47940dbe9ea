#pragma once
#include "cuda/shared_memory.cuh"
#include "cuda/tile_tickets.cuh"
#include "sorting/radix_sort/histogram.cuh"
#include "sorting/radix_sort/look_back.cuh"
#include "sorting/radix_sort/ranks.cuh"
// One pass of a sort, by one digit: each block reads a tile, sorts it in shared memory, finds where keys with
// each digit go, and writes them there. A digit that all keys of a row have in common takes no pass.

#if has_values
using Value = Problem::Value;    // that goes along with a key, until
using Result = Problem::Result;  // the last pass writes it
#endif

struct Shared {
  union {
    unsigned counts[warps * bins];
    struct {
#if has_values
      Value values[tile_keys];
#endif
      Bits keys[tile_keys];
    };
  };
  Count sums[32];
  Count sizes[bins];    // keys of the tile by digit
  Count offsets[bins];  // from a place in the tile to that in the row, by digit
  TileTicket ticket;
};

// Where a pass reads and writes.
struct Route {
  const Bits* keys;
  Bits* keys_out;
#if has_values
  const Value* values;  // null in the first pass of indices
  void* values_out;
#endif
  bool last;
};

// The last pass writes the results, and those before take turns. `left` counts passes from this one on.
__device__ __forceinline__ Route route(const Arguments& arguments, long long begin, int done, int left) {
#if writes_keys || !single_pass
  Bits* result = reinterpret_cast<Bits*>(arguments.keys_out) + begin;
#else
  Bits* result = nullptr;
#endif
#if single_pass
  Bits* spare = nullptr;
#else
  Bits* spare = reinterpret_cast<Bits*>(arguments.spare_keys) + begin;
#endif
  const bool odd = left % 2 != 0;
  Route found;
  found.keys = done == 0 ? reinterpret_cast<const Bits*>(arguments.keys) + begin : odd ? spare : result;
  found.keys_out = odd ? result : spare;
  found.last = left == 1;
#if has_values
#  if single_pass
  Value* spare_values = nullptr;
#  else
  Value* spare_values = reinterpret_cast<Value*>(arguments.spare_values) + begin;
#  endif
  Value* result_values = reinterpret_cast<Value*>(arguments.values_out) + begin;
#  if indices
  const Value* given = nullptr;
#  else
  const Value* given = reinterpret_cast<const Value*>(arguments.values) + begin;
#  endif
  found.values = done == 0 ? given : odd ? spare_values : result_values;
  found.values_out = odd ? static_cast<void*>(result_values) : spare_values;
  if (found.last) found.values_out = reinterpret_cast<Result*>(arguments.values_out) + begin;
#endif
  return found;
}

#if has_values
__device__ __forceinline__ Value value_at(const Route& route, long long at) {
#  if indices
  return route.values == nullptr ? static_cast<Value>(at) : route.values[at];
#  else
  return route.values[at];
#  endif
}

__device__ __forceinline__ void store_value(const Route& route, Count at, Value value) {
#  if widened
  if (route.last) {
    static_cast<Result*>(route.values_out)[at] = static_cast<Result>(value);
    return;
  }
#  endif
  static_cast<Value*>(route.values_out)[at] = value;
}
#endif

// Of keys that are all alike.
__device__ __forceinline__ void copy_tile(const Route& route, long long begin, int count) {
  for (int i = threadIdx.x; i < count; i += Schedule::threads) {
#if writes_keys
    route.keys_out[begin + i] = route.keys[begin + i];
#endif
#if has_values
    store_value(route, static_cast<Count>(begin + i), value_at(route, begin + i));
#endif
  }
}

// `begins` are the places of the digits in the row. `whole`: the tile has all of its keys; else those that
// lack are counted as the last ones of the last digit, and as this is the row's last tile, no other one asks.
template <bool whole>
__device__ __forceinline__ void move_tile(const Route& route, const Count* begins, const LookBack& words,
                                          unsigned tile, int count, int shift, Shared& shared) {
  const int thread = threadIdx.x;
  const long long begin = static_cast<long long>(tile) * tile_keys;
  const Bits* source = route.keys + begin + first_key();
  Bits keys[items];
  unsigned places[items];
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const bool inside = whole || first_key() + i * 32 < count;
    keys[i] = inside ? source[i * 32] : 0;
  }
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const bool inside = whole || first_key() + i * 32 < count;
    places[i] = inside ? digit_of(ordered(keys[i]), shift) : bins - 1;
  }
  unsigned* counts = shared.counts + thread / 32 * bins;
  count_digits(counts, places);
  __syncthreads();
  const bool has_digit = thread < bins;
  const Count size = has_digit ? count_of(shared.counts, thread) : 0;
  if (has_digit && tile > 0) words.leave_count(tile, thread, size);
  const Count first = sum_before(size, shared.sums);
  if (has_digit) {
    const Count before = tile == 0 ? begins[thread] : 0;
    if (tile == 0) words.leave_total(tile, thread, before + size);
    shared.sizes[thread] = size;
    shared.offsets[thread] = before - first;
    place_warps(shared.counts, thread, static_cast<unsigned>(first));
  }
  __syncthreads();
  rank_keys(counts, places);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < items; ++i) shared.keys[places[i]] = keys[i];
#if has_values
  Value values[items];
#  pragma unroll
  for (int i = 0; i < items; ++i) {
    const bool inside = whole || first_key() + i * 32 < count;
    values[i] = inside ? value_at(route, begin + first_key() + i * 32) : Value{};
  }
#  pragma unroll
  for (int i = 0; i < items; ++i) shared.values[places[i]] = values[i];
#endif
  if (tile > 0 && thread < bins * lookers) {
    constexpr int digits = 32 / lookers;  // of a warp
    const int digit = thread / 32 * digits + thread % digits;
    const Count before = words.total_before(tile, digit);
    if (thread % 32 < digits) {
      shared.offsets[digit] += before;
      words.leave_total(tile, digit, before + shared.sizes[digit]);
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const int place = i * Schedule::threads + thread;
    const Bits key = shared.keys[place];
    const Count target = shared.offsets[digit_of(ordered(key), shift)] + place;
    if (!whole && place >= count) break;
#if writes_keys
    route.keys_out[target] = key;
#else
    if (!route.last) route.keys_out[target] = key;
#endif
#if has_values
    store_value(route, target, shared.values[place]);
#endif
  }
}

__device__ __forceinline__ void sort_tile(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long tiles = (problem.columns + tile_keys - 1) / tile_keys;
  const Workspace workspace(arguments.workspace, problem.rows, tiles);
  Shared& shared = *dynamic_shared<Shared>();
  if (threadIdx.x == 0) shared.ticket = draw_tile(workspace.tickets, gridDim.x);
#if one_row
  const unsigned row = 0, varying = workspace.varying[row];
  __syncthreads();
  const unsigned tile = shared.ticket.tile;
#else
  __syncthreads();
  const unsigned row = shared.ticket.tile / static_cast<unsigned>(tiles);
  const unsigned tile = shared.ticket.tile % static_cast<unsigned>(tiles), varying = workspace.varying[row];
#endif
  const int pass = (arguments.shift - Problem::begin_bit) / Problem::digit_bits;
  const int done = __popc(varying & ((1u << pass) - 1)), left = __popc(varying) - done;
  const long long begin = static_cast<long long>(tile) * tile_keys, rest = problem.columns - begin;
  const int count = static_cast<int>(rest < tile_keys ? rest : tile_keys);
  const long long first = row * problem.columns;
  if (varying >> pass & 1) {
    const Route way = route(arguments, first, done, left);
    const Count* begins = workspace.begins + row * static_cast<long long>(all_bins) + pass * bins;
    const LookBack words(workspace.words + row * tiles * bins, shared.ticket.epoch);
    if (count == tile_keys) {
      move_tile<true>(way, begins, words, tile, count, arguments.shift, shared);
    } else {
      move_tile<false>(way, begins, words, tile, count, arguments.shift, shared);
    }
  } else if (varying == 0 && pass == 0) {
    copy_tile(route(arguments, first, 0, 1), begin, count);
  }
}
