#pragma once
// Boxes of a tensor, as tensor maps describe them: which bytes of shared memory belong to which of the
// tensor.

#include <cstdint>
#include <vector>

namespace autotune_emulator {

// Sizes and addresses of bulk copies and stores are multiples of it.
constexpr int bulk_unit_bytes = 16;

struct Piece {
  char* shared;
  char* global;  // null: outside of the tensor, where a copy reads zeros
  int bytes;
};

// The twin of request.py's _Added.
enum class Added : int8_t { not_at_all, int32, int64, float32, float16, bfloat16 };

struct Box {
  std::vector<Piece> pieces;
  Added added;        // how elements of the tensor are added up
  int swizzle_bytes;  // the tile's
  bool tf32;          // whether copies round floats to TF32
};

// The box that begins at an element and its tile, which is checked. `what` names the tile in messages.
Box box_at(const void* tensor_map, const int* at, int dimensions, const void* tile, const char* what);

// A column of pixels, by a map in im2col mode, from a base pixel on, each moved by a filter's tap.
Box pixels_at(const void* tensor_map, const int* at, const int* tap, int dimensions, const void* tile,
              const char* what);

}  // namespace autotune_emulator
