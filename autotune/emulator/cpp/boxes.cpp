#include "boxes.hpp"

#include <algorithm>
#include <cstring>

#include "emulator.hpp"

#include "../../codegen/cuda/swizzle.cuh"
#include "memory.hpp"
#include "position.hpp"

namespace autotune_emulator {
namespace {

constexpr int swizzle_unit_bytes = 16;  // that a swizzle permutes
constexpr int swizzle_period = 1024, tile_alignment = 128;
constexpr int most_dimensions = 5, most_image_dimensions = 3;

// The twin of request.py's _TensorMap.
struct TensorMap {
  char* address;
  int64_t shape[most_dimensions], strides[most_dimensions];  // strides in bytes
  int32_t box[most_dimensions];
  int8_t dimensions, element_bytes;
  Added added;
  uint8_t swizzle_bytes;
  bool tf32, im2col, ahead;  // ahead: it begins ahead of the tensor
  int16_t lower[most_image_dimensions], upper[most_image_dimensions];

  // In im2col mode the box is a number of pixels, of channels, and steps along the image's dimensions.
  int step(int dimension) const { return box[2 + dimension]; }
};

TensorMap read_tensor_map(const void* encoded, int dimensions, bool im2col) {
  TensorMap map;
  std::memcpy(&map, encoded, sizeof map);
  if (reinterpret_cast<uintptr_t>(encoded) % 64 != 0)
    fail("a tensor map at an address that is not a multiple of 64");
  if (reinterpret_cast<uintptr_t>(map.address) % swizzle_unit_bytes != 0)
    fail("a tensor map of an address that is not a multiple of %d", swizzle_unit_bytes);
  if (map.dimensions != dimensions)
    fail("a copy of a box of %d dimensions by a tensor map of %d", dimensions, map.dimensions);
  if (map.im2col != im2col)
    fail("a copy of %s by a tensor map of %s", im2col ? "pixels" : "a box", im2col ? "boxes" : "pixels");
  return map;
}

// The bytes of a unit of the box that lie in a row of the tensor, null if the row lies outside; either may
// begin or end it.
void add_unit(std::vector<Piece>& pieces, char* row, int64_t row_bytes, int64_t first_byte, char* shared) {
  const auto clamped = [=](int64_t byte) {
    return std::clamp<int64_t>(byte, 0, row == nullptr ? 0 : row_bytes);
  };
  const int64_t begin = clamped(first_byte), end = clamped(first_byte + swizzle_unit_bytes);
  const int before = end > begin ? static_cast<int>(begin - first_byte) : swizzle_unit_bytes;
  const int valid = static_cast<int>(end - begin);
  if (before > 0) pieces.push_back({shared, nullptr, before});
  if (valid == 0) return;
  pieces.push_back({shared + before, row + begin, valid});
  const int after = swizzle_unit_bytes - before - valid;
  if (after > 0) pieces.push_back({shared + before + valid, nullptr, after});
}

// Moves an address to a place along a dimension; false where that is outside of the tensor.
bool move_to(const TensorMap& map, int dimension, int64_t place, char*& address) {
  if (place < 0 || place >= map.shape[dimension]) return false;
  address += place * map.strides[dimension];
  return true;
}

// Where a row of the box lies in the tensor, before its first column; null outside.
char* row_of_box(const TensorMap& map, const int* at, int64_t row) {
  char* address = map.address;
  for (int dimension = map.dimensions - 2; dimension >= 0; --dimension) {
    const int64_t place = at[dimension] + row % map.box[dimension];
    row /= map.box[dimension];
    if (!move_to(map, dimension, place, address)) return nullptr;
  }
  return address;
}

// Where the channels of a pixel lie in the tensor; null outside. `at` has a base pixel, `tap` how far the
// pixel is from it along each dimension of the image.
char* pixel_at(const TensorMap& map, const int* at, const int* tap) {
  char* address = map.address;
  for (int dimension = 0; dimension < map.dimensions - 1; ++dimension) {
    const int64_t place = int64_t{at[dimension]} + (dimension > 0 ? tap[dimension - 1] : 0);
    if (!move_to(map, dimension, place, address)) return nullptr;
  }
  return address;
}

// From a base pixel to the next: along the last dimension of the image first, at last to the next image.
void to_next_pixel(const TensorMap& map, int* at) {
  for (int dimension = map.dimensions - 2; dimension > 0; --dimension) {
    const int own = dimension - 1;
    at[dimension] += map.step(own);
    if (at[dimension] < map.shape[dimension] + map.upper[own]) return;
    at[dimension] = map.lower[own];
  }
  ++at[0];
}

void add_row(Box& box, const TensorMap& map, char* global, int64_t first_channel, int64_t row, int row_bytes,
             const void* tile) {
  const int last = map.dimensions - 1;
  for (int byte = 0; byte < row_bytes; byte += swizzle_unit_bytes) {
    const auto offset = static_cast<unsigned>(row * row_bytes + byte);
    char* const shared = static_cast<char*>(const_cast<void*>(tile)) + swizzled(offset, map.swizzle_bytes);
    add_unit(box.pieces, global, map.shape[last] * map.element_bytes,
             first_channel * map.element_bytes + byte, shared);
  }
}

}  // namespace

Box pixels_at(const void* tensor_map, const int* at, const int* tap, int dimensions, const void* tile,
              const char* what) {
  const TensorMap map = read_tensor_map(tensor_map, dimensions, true);
  const int last = dimensions - 1, row_bytes = map.box[1] * map.element_bytes;
  check_shared(what, tile, int64_t{map.box[0]} * row_bytes,
               map.swizzle_bytes > 0 ? swizzle_period : tile_alignment);
  int base[most_dimensions] = {};
  std::copy(at, at + last, base);
  for (int own = 0; own < last - 1; ++own) {
    const int place = at[own + 1];
    if (place < map.lower[own] || place >= map.shape[own + 1] + map.upper[own])
      fail("a base pixel at %d along dimension %d of an image, expected %d to %lld", place, own,
           map.lower[own], static_cast<long long>(map.shape[own + 1] + map.upper[own] - 1));
    if (tap[own] < 0) fail("a tap at %d along dimension %d of an image, expected 0 or more", tap[own], own);
  }
  Box box{{}, map.added, map.swizzle_bytes, map.tf32};
  for (int pixel = 0; pixel < map.box[0]; ++pixel) {
    add_row(box, map, pixel_at(map, base, tap), at[last], pixel, row_bytes, tile);
    to_next_pixel(map, base);
  }
  return box;
}

Box box_at(const void* tensor_map, const int* at, int dimensions, const void* tile, const char* what) {
  const TensorMap map = read_tensor_map(tensor_map, dimensions, false);
  const int last = dimensions - 1;
  const int box_row_bytes = map.box[last] * map.element_bytes;
  int64_t rows = 1;
  for (int dimension = 0; dimension < last; ++dimension) rows *= map.box[dimension];
  check_shared(what, tile, rows * box_row_bytes, map.swizzle_bytes > 0 ? swizzle_period : tile_alignment);
  if (map.ahead && row_of_box(map, at, 0) == nullptr)
    fail("a box that begins outside of a tensor map, which begins ahead of its tensor");
  Box box{{}, map.added, map.swizzle_bytes, map.tf32};
  for (int64_t row = 0; row < rows; ++row) {
    add_row(box, map, row_of_box(map, at, row), at[last], row, box_row_bytes, tile);
  }
  return box;
}

}  // namespace autotune_emulator
