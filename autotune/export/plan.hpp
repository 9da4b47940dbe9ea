#pragma once
#include <cstdint>
// What is launched for some sizes, in stream order.

namespace autotune {

struct Step {
  int entry;  // its number in `entries`; -1: set bytes of the workspace
  unsigned grid[3], block[3], shared_bytes;
  long long offset, bytes;  // of the workspace
  int value;                // of each byte
};

// A tensor map as cuTensorMapEncodeTiled takes it: dimensions begin with the one along which elements are
// neighbours, whose stride is left out.
struct TensorMap {
  int tensor;         // whose address it is encoded for, its number among those that a call brings
  int type, swizzle;  // CUtensorMapDataType, CUtensorMapSwizzle
  unsigned rank;
  std::uint64_t shape[5], strides[5];  // in elements; in bytes
  std::uint32_t box[5];
  long long offset;  // bytes from the address to where the tensor begins
};

}  // namespace autotune
