#pragma once
#include "selection/row.cuh"
// What a block selects from: a part of a row, or the entries that several blocks left of it. `for_each` gives
// each entry from a floor on, which is more than 0, to one thread, and `sample` entries that are evenly
// spaced, 0 where there is none.

constexpr int threads = Schedule::threads;
constexpr int sampled = Schedule::samples * width;  // entries of a thread's sample

// The vectors of a row from `first` to `end`.
struct RowPart {
  const Row& row;
  int first, end;

  __device__ __forceinline__ int begin_column() const {
    const int column = row.column(first);
    return column > 0 ? column : 0;
  }
  // How many entries there are.
  __device__ __forceinline__ int count() const {
    const int beyond = row.column(end);
    const int last = beyond < row.length ? beyond : row.length;
    return last > begin_column() ? last - begin_column() : 0;
  }

  // Takes the entries that reach a floor with their places in this part, among all threads of the block.
  template <class Take>
  __device__ __forceinline__ void for_each(Entry floor, Take take) const {
    const int begin = begin_column();
    const float bound = value_of(key_of_entry(floor));
    elements<threads>([&](Element element, int column) {
      if (passes(element, bound)) {
        const Entry entry = entry_of(key_of(element), column);
        if (entry >= floor) take(entry, column - begin);
      }
    });
  }

  // Takes all elements with their columns, among so many neighbouring threads.
  template <int lanes, class Take>
  __device__ __forceinline__ void elements(Take take) const {
    constexpr int tile = lanes * Schedule::loads_in_flight;
    for (int tile_first = first; tile_first < end; tile_first += tile) {
      const int own = tile_first + threadIdx.x % lanes;
      Vector vectors[Schedule::loads_in_flight];
      if (tile_first + tile <= end && row.has(row.column(tile_first)) &&
          row.has(row.column(tile_first + tile) - 1)) {
#pragma unroll
        for (int i = 0; i < Schedule::loads_in_flight; ++i) vectors[i] = row.load(own + i * lanes);
#pragma unroll
        for (int i = 0; i < Schedule::loads_in_flight; ++i) {
          const int column = row.column(own + i * lanes);
#pragma unroll
          for (int j = 0; j < width; ++j) {
            take(vectors[i].elements[j], column + j);
          }
        }
      } else {
#if short_edges
#  pragma unroll 1
        for (int vector = own; vector < end && vector < tile_first + tile; vector += lanes) {
          const Vector loaded = row.load_inside(vector);
#  pragma unroll
          for (int j = 0; j < width; ++j) {
            if (row.has(row.column(vector) + j)) take(loaded.elements[j], row.column(vector) + j);
          }
        }
        continue;
#endif
#pragma unroll
        for (int i = 0; i < Schedule::loads_in_flight; ++i) {
          if (own + i * lanes < end) vectors[i] = row.load_inside(own + i * lanes);
        }
#pragma unroll
        for (int i = 0; i < Schedule::loads_in_flight; ++i) {
          const int column = row.column(own + i * lanes);
#pragma unroll
          for (int j = 0; j < width; ++j) {
            if (own + i * lanes < end && row.has(column + j)) {
              take(vectors[i].elements[j], column + j);
            }
          }
        }
      }
    }
  }

#if samples > 0
  __device__ __forceinline__ void sample(Entry (&entries)[sampled]) const {
    Vector vectors[Schedule::samples];
    int chosen[Schedule::samples];
#  pragma unroll
    for (int i = 0; i < Schedule::samples; ++i) {
      const long long number = static_cast<long long>(end - first) * (threadIdx.x + i * threads);
      chosen[i] = first + static_cast<int>(number / (threads * Schedule::samples));
      vectors[i] = row.load_inside(chosen[i]);
    }
#  pragma unroll
    for (int i = 0; i < sampled; ++i) {
      const int column = row.column(chosen[i / width]) + i % width;
      entries[i] = row.has(column) ? entry_of(key_of(vectors[i / width].elements[i % width]), column) : 0;
    }
  }
#endif
};

// One of so many parts of a row that are equal, but for the last ones.
template <int parts>
__device__ __forceinline__ RowPart part_of(const Row& row, int part) {
  const int of_part = (row.vectors() + parts - 1) / parts;
  const int first = part * of_part < row.vectors() ? part * of_part : row.vectors();
  return {row, first, row.vectors() - first < of_part ? row.vectors() : first + of_part};
}

// Entries that other blocks left in global memory, with zeros among them.
struct PartialResults {
  const Entry* entries;
  int length;

  __device__ __forceinline__ int count() const { return length; }

  template <class Take>
  __device__ __forceinline__ void for_each(Entry floor, Take take) const {
#pragma unroll 4
    for (int i = threadIdx.x; i < length; i += threads) {
      const Entry entry = __ldcg(entries + i);
      if (entry >= floor) take(entry, i);
    }
  }

#if samples > 0
  __device__ __forceinline__ void sample(Entry (&found)[sampled]) const {
#  pragma unroll
    for (int i = 0; i < sampled; ++i) {
      const long long number = static_cast<long long>(length) * (threadIdx.x + i * threads);
      found[i] = __ldcg(entries + static_cast<int>(number / (threads * sampled)));
    }
  }
#endif
};
