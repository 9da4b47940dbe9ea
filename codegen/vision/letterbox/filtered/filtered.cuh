#pragma once
#include "cuda/shared_memory.cuh"
#include "vision/letterbox/filter.cuh"
#include "vision/letterbox/part.cuh"
// A block for each part of a target. Some rows of the picture at a time become rows of the part's columns, in
// shared memory. Then each row of the part adds those of them that make it.

constexpr int threads_y = Schedule::threads_y, together = Schedule::together, rows = Schedule::rows;
constexpr int tile_width = Schedule::threads_x, tile_height = threads_y * rows;
constexpr int threads = tile_width * threads_y, narrowed = threads_y * together;

struct Shared {
  Place place;
  Filter columns[tile_width];
  Filter rows[tile_height];
  float levels[narrowed][3][tile_width];
};

// Rows of the picture from `begin` on, `together` of each thread; those from `end` on are not needed.
__device__ __forceinline__ void narrow_rows(Shared& shared, const Picture& picture, int begin, int end) {
  const int column = static_cast<int>(threadIdx.x) % tile_width;
  const int own = static_cast<int>(threadIdx.x) / tile_width * together;
  const Filter across = shared.columns[column];
  if (across.count == 0 || begin + own >= end) return;
  const unsigned char* pixels[together];
#pragma unroll
  for (int row = 0; row < together; ++row) {
    const int from = begin + own + row;
    pixels[row] = picture.at(from < end ? from : end - 1, across.first);
  }
  float sums[together][3] = {};
  for (int i = 0; i < across.count; ++i) {
    const float weight = across.weight(i);
#pragma unroll
    for (int row = 0; row < together; ++row) {
#pragma unroll
      for (int channel = 0; channel < 3; ++channel) {
        sums[row][channel] = with_level(sums[row][channel], weight, pixels[row][source_of(channel)]);
      }
      pixels[row] += picture.column;
    }
  }
#pragma unroll
  for (int row = 0; row < together; ++row) {
#pragma unroll
    for (int channel = 0; channel < 3; ++channel) {
      shared.levels[own + row][channel][column] = sums[row][channel] / across.total;
    }
  }
}

// Adds to a pixel of the target what it has of the rows from `begin` on.
__device__ __forceinline__ void add_rows(float (&sums)[3], const Shared& shared, const Filter& down,
                                         int column, int begin) {
  const int after = down.first + down.count;
  const int end = after < begin + narrowed ? after : begin + narrowed;
  for (int row = down.first > begin ? down.first : begin; row < end; ++row) {
    const float weight = down.weight(row - down.first);
#pragma unroll
    for (int channel = 0; channel < 3; ++channel) {
      sums[channel] = with_level(sums[channel], weight, shared.levels[row - begin][channel][column]);
    }
  }
}

__device__ __forceinline__ void letterbox_filtered(const Arguments& arguments) {
  Shared& shared = *dynamic_shared<Shared>();
  const Part part = part_of<tile_width, tile_height>(arguments);
  const Picture picture = placed_picture(arguments, part, shared.place);
  const Place& place = shared.place;
  for (int i = threadIdx.x; i < tile_width; i += threads) {
    shared.columns[i] = filter_of(part.x + i - place.left, place.width, picture.width, place.across);
  }
  for (int i = threadIdx.x; i < tile_height; i += threads) {
    shared.rows[i] = filter_of(part.y + i - place.top, place.height, picture.height, place.down);
  }
  __syncthreads();
  const int column = static_cast<int>(threadIdx.x) % tile_width;
  const int row = static_cast<int>(threadIdx.x) / tile_width;
  const bool has_column = shared.columns[column].count > 0;
  // The first and the last row of the part that the picture has.
  const int top = place.top > part.y ? place.top - part.y : 0;
  const int remaining = place.top + place.height - part.y;
  const int bottom = (remaining < tile_height ? remaining : tile_height) - 1;
  float sums[rows][3] = {};
  if (top <= bottom) {
    const int end = shared.rows[bottom].first + shared.rows[bottom].count;
    for (int begin = shared.rows[top].first; begin < end; begin += narrowed) {
      narrow_rows(shared, picture, begin, end);
      __syncthreads();
#pragma unroll
      for (int i = 0; i < rows; ++i) {
        if (has_column) add_rows(sums[i], shared, shared.rows[i * threads_y + row], column, begin);
      }
      __syncthreads();
    }
  }
  if (part.x + column >= arguments.width) return;
#pragma unroll
  for (int i = 0; i < rows; ++i) {
    const int own = i * threads_y + row;
    if (part.y + own >= arguments.height) break;
    const Filter& filter = shared.rows[own];
    Element numbers[3][1];
#pragma unroll
    for (int channel = 0; channel < 3; ++channel) {
      const bool inside = has_column && filter.count > 0;
      const float level = inside ? level_of(sums[i][channel], filter) : arguments.pad;
      numbers[channel][0] = number_of(arguments, level, channel);
    }
    store_pixels(arguments, part.image, part.y + own, part.x + column, numbers);
  }
}
