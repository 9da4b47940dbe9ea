#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>
// What is launched for some sizes, and of what tables.hpp consists.

namespace autotune {

__extension__ typedef __int128 Whole;  // for products of sizes that take more than 63 bits

struct Number {
  Whole whole = 0;
  double real = 0;
  enum { unknown, integral, fractional } kind = unknown;

  constexpr Number() = default;
  constexpr Number(Whole value) : whole(value), real(static_cast<double>(value)), kind(integral) {}
  constexpr Number(double value) : real(value), kind(fractional) {}
};

// What a function makes of two numbers: a whole one of two whole ones.
template <typename F>
Number of_both(const Number& a, const Number& b, F compute) {
  if (a.kind == Number::integral && b.kind == Number::integral)
    return static_cast<Whole>(compute(a.whole, b.whole));
  return static_cast<double>(compute(a.real, b.real));
}

inline Whole floor_of(Whole a, Whole b) { return a / b - (a % b < 0); }
inline double floor_of(double a, double b) { return std::floor(a / b); }

using Operation = Number (*)(const Number&, const Number&);
inline Number add(const Number& a, const Number& b) { return of_both(a, b, std::plus<>()); }
inline Number subtract(const Number& a, const Number& b) { return of_both(a, b, std::minus<>()); }
inline Number multiply(const Number& a, const Number& b) { return of_both(a, b, std::multiplies<>()); }
inline Number less(const Number& a, const Number& b) { return of_both(a, b, std::less<>()); }
inline Number equal(const Number& a, const Number& b) { return of_both(a, b, std::equal_to<>()); }
inline Number maximum(const Number& a, const Number& b) { return less(a, b).real ? b : a; }
inline Number bitwise_and(const Number& a, const Number& b) { return a.whole & b.whole; }
inline Number divide(const Number& a, const Number& b) { return a.real / b.real; }
inline Number power(const Number& a, const Number& b) { return std::pow(a.real, b.real); }
inline Number nearest(const Number& a, const Number&) { return static_cast<Whole>(std::nearbyint(a.real)); }
inline Number ceiling(const Number& a, const Number&) { return static_cast<Whole>(std::ceil(a.real)); }
inline Number logarithm(const Number& a, const Number& base) {
  return base.real == 2 ? std::log2(a.real) : std::log(a.real);
}
inline Number floor_divide(const Number& a, const Number& b) {
  return of_both(a, b, [](auto x, auto y) { return floor_of(x, y); });
}
inline Number remainder(const Number& a, const Number& b) {
  return of_both(a, b, [](auto x, auto y) { return x - floor_of(x, y) * y; });
}

// An operation on the numbers of two rows. Without one, `left` is the place of a size or, behind those, of a
// constant.
struct Term {
  Operation operation;
  int left, right;
};
constexpr Operation given = nullptr;

// A condition and the nodes that follow. A node of -1 is nothing, one of -2 - n the result n.
struct Node {
  int condition, yes, no;
};

// Trees: to where its launches begin in `words`, and to the row of its time by the time model.
struct Schedule {
  int plan, seconds;
};

// A record of a schedule, and the tree to the row of its distance.
struct Record {
  int schedule, distance;
};

// What `words` say: each is followed by its operands, rows of terms where they follow from sizes.
enum Word { put, take, map, set, launch, repeat };

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
  int tensor;         // whose address it is encoded for, its number among what a call brings
  int type, swizzle;  // CUtensorMapDataType, CUtensorMapSwizzle
  int rank, im2col;
  std::uint64_t shape[5], strides[5];  // in elements; in bytes
  std::uint32_t box[5], steps[5];      // steps: elements from one to the next that is copied
  int lower[3], upper[3];              // corners of the base pixels' box, in im2col mode
  long long offset;                    // bytes from the address to where the tensor begins
};

// An address or a scalar that a call brings, by number: where it is put, its bytes, and what is added.
struct Taken {
  int position, number, bytes;
  long long offset;
};

struct alignas(64) Line {
  unsigned char bytes[64];
};

struct Plan {
  std::vector<Line> arguments;  // the structs of all launches, at multiples of 64 bytes
  std::vector<TensorMap> maps;
  std::vector<Taken> taken;
  std::vector<Step> steps;
  long long workspace_bytes = 0;

  unsigned char* at(int position) { return arguments.data()->bytes + position; }
  void put(int position, int bytes, const void* value, long long offset = 0) {
    std::memcpy(at(position), value, bytes);
    std::uint64_t address;
    if (offset) {
      std::memcpy(&address, at(position), sizeof address);
      address += offset;
      std::memcpy(at(position), &address, sizeof address);
    }
  }
};

}  // namespace autotune
