#pragma once
#include <array>
#include <cstdint>
#include <cstring>
// What is launched for some sizes, in stream order.

namespace autotune {

struct Step {
  int entry;  // its number in `entries`; -1: set bytes of the workspace
  int program;
  int arguments;  // where its struct begins in those of the plan
  unsigned grid[3], block[3], shared_bytes;
  long long offset, bytes;  // where in the workspace, and how much
  int value;                // each byte's
};

// A tensor map as cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col take it: dimensions begin with the one
// along which elements are neighbours, whose stride is left out. In im2col mode the box is a number of
// channels and of pixels.
struct TensorMap {
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

template <typename T, int most>
struct Some {
  int count;
  std::array<T, most> items;
  void add(const T& item) { items[count++] = item; }
  const T* begin() const { return items.data(); }
  const T* end() const { return items.data() + count; }
};

// With room for so many of each.
template <int argument_bytes, int map_count, int address_count, int scalar_count, int step_count>
struct PlanOf {
  alignas(64) unsigned char arguments[argument_bytes];  // the structs of all launches
  Some<TensorMap, map_count> maps;
  Some<int, map_count> map_positions;
  Some<Address, address_count> addresses;
  Some<Scalar, scalar_count> scalars;
  Some<Step, step_count> steps;
  long long workspace_bytes;

  template <typename T>
  void put(int position, T value) {
    std::memcpy(arguments + position, &value, sizeof value);
  }
  void add(int position, const TensorMap& map) {
    map_positions.add(position);
    maps.add(map);
  }
  void add(const Address& address) { addresses.add(address); }
  void add(const Scalar& scalar) { scalars.add(scalar); }
  void add(const Step& step) { steps.add(step); }
};

}  // namespace autotune
