#pragma once
#include <cstdint>
#include <cstring>
#include <vector>
// What is launched for some sizes, and the arithmetic by which it follows from them.

namespace autotune {

__extension__ typedef __int128 Wide;  // for products of sizes that take more than 63 bits

template <class T>
constexpr Wide wide(T value) {
  return value;
}

template <class T>
constexpr double real(T value) {
  return static_cast<double>(value);
}

// Python's // and %: rounded down.
template <class T, class U>
constexpr auto floor_div(T value, U divisor) {
  return value / divisor - (value % divisor < 0);
}

template <class T, class U>
constexpr auto floor_mod(T value, U divisor) {
  return value - floor_div(value, divisor) * divisor;
}

struct Step {
  int program,
      entry;      // their numbers in `programs` and `entries`; an entry of -1: set bytes of the workspace
  int arguments;  // where its struct begins in those of the plan
  unsigned grid[3], block[3], shared_bytes;
  long long offset, bytes;  // where in the workspace, and how much
  int value;                // each byte's
};

// A tensor map as cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col take it: dimensions begin with the one
// along which elements are neighbours, whose stride is left out. In im2col mode the box is a number of
// channels and of pixels.
struct TensorMap {
  int position;       // in the arguments
  int tensor;         // whose address it is encoded for, its number among those that a call brings
  int type, swizzle;  // CUtensorMapDataType, CUtensorMapSwizzle
  unsigned rank;
  std::uint64_t shape[5], strides[5];  // in elements; in bytes
  std::uint32_t box[5];
  long long offset;  // bytes from the address to where the tensor begins
  bool im2col;
  int lower[3], upper[3];  // corners of the base pixels' box, in im2col mode
  std::uint32_t steps[5];  // elements from one to the next that is copied
};

// What a call brings, by number, and the bytes of the arguments where it is put.
struct Address {
  int position, tensor;
  long long offset;
};
struct Scalar {
  int position, scalar, bytes;
};

struct alignas(64) Line {
  unsigned char bytes[64];
};

struct Plan {
  std::vector<Line> arguments;  // the structs of all launches, at multiples of 64 bytes
  std::vector<TensorMap> maps;
  std::vector<Address> addresses;
  std::vector<Scalar> scalars;
  std::vector<Step> steps;
  long long workspace_bytes = 0;

  // Makes room for so many lines of arguments, and returns where they begin.
  int more(int lines) {
    const std::size_t begin = arguments.size() * sizeof(Line);
    arguments.resize(arguments.size() + lines);
    return static_cast<int>(begin);
  }
  unsigned char* at(int position) { return arguments.data()->bytes + position; }
  template <typename T>
  void put(int position, T value) {
    std::memcpy(at(position), &value, sizeof value);
  }
  void set(long long offset, long long bytes, int value) {
    steps.push_back({0, -1, 0, {}, {}, 0, offset, bytes, value});
  }
  void launch(int program, int entry, int at, const unsigned (&grid)[3], const unsigned (&block)[3],
              unsigned shared_bytes) {
    steps.push_back({program,
                     entry,
                     at,
                     {grid[0], grid[1], grid[2]},
                     {block[0], block[1], block[2]},
                     shared_bytes,
                     0,
                     0,
                     0});
  }
};

}  // namespace autotune
