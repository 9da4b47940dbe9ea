#pragma once
// What is launched for some sizes, in stream order.

namespace autotune {

struct Step {
  int entry;  // its number in `entries`; -1: set bytes of the workspace
  unsigned grid[3], block[3], shared_bytes;
  long long offset, bytes;  // of the workspace
  int value;                // of each byte
};

}  // namespace autotune
