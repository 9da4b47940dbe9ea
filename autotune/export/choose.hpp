#pragma once
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <vector>
// Which schedule serves some sizes, and what it launches. tables.hpp consists of numbers that follow from
// sizes, of trees of conditions on them, and of steps.

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

// What the terms are for some sizes, each computed when it is asked for, and to what trees lead.
struct Values {
  const long long* sizes;
  std::vector<Number> known;

  const Number& operator[](int row);
  int result(int node);  // -1 if that is nothing
};

// An operation, and the rows of two numbers.
struct Term {
  Number (*operation)(Values&, int, int);
  int left, right;
};

// A condition and the nodes that follow. A node of -1 is nothing, one of -2 - n the result n.
struct Node {
  int condition, yes, no;
};

// What a function makes of the numbers of two rows: a whole one of two whole ones.
template <typename F>
Number of_both(Values& values, int left, int right, F compute) {
  const Number a = values[left], b = values[right];
  if (a.kind == Number::integral && b.kind == Number::integral)
    return static_cast<Whole>(compute(a.whole, b.whole));
  return static_cast<double>(compute(a.real, b.real));
}

inline Whole floor_of(Whole a, Whole b) { return a / b - (a % b < 0); }
inline double floor_of(double a, double b) { return std::floor(a / b); }

inline Number size(Values& values, int place, int) { return Whole{values.sizes[place]}; }
inline Number constant(Values&, int place, int);
inline Number leads(Values& values, int node, int) { return Whole{values.result(node) >= 0}; }
inline Number result(Values& values, int node, int) {
  const int row = values.result(node);
  return row < 0 ? Number(1e30) : values[row];
}
inline Number add(Values& values, int a, int b) { return of_both(values, a, b, std::plus<>()); }
inline Number subtract(Values& values, int a, int b) { return of_both(values, a, b, std::minus<>()); }
inline Number multiply(Values& values, int a, int b) { return of_both(values, a, b, std::multiplies<>()); }
inline Number less(Values& values, int a, int b) { return of_both(values, a, b, std::less<>()); }
inline Number equal(Values& values, int a, int b) { return of_both(values, a, b, std::equal_to<>()); }
inline Number minimum(Values& values, int a, int b) { return values[less(values, b, a).real ? b : a]; }
inline Number maximum(Values& values, int a, int b) { return values[less(values, a, b).real ? b : a]; }
inline Number bitwise_and(Values& values, int a, int b) { return values[a].whole & values[b].whole; }
inline Number bitwise_or(Values& values, int a, int b) { return values[a].whole | values[b].whole; }
inline Number divide(Values& values, int a, int b) { return values[a].real / values[b].real; }
inline Number power(Values& values, int a, int b) { return std::pow(values[a].real, values[b].real); }
inline Number rint(Values& values, int a, int) { return static_cast<Whole>(std::nearbyint(values[a].real)); }
inline Number ceil(Values& values, int a, int) { return static_cast<Whole>(std::ceil(values[a].real)); }
inline Number logarithm(Values& values, int a, int base) {
  return values[base].real == 2 ? std::log2(values[a].real) : std::log(values[a].real);
}
inline Number floor_divide(Values& values, int a, int b) {
  return of_both(values, a, b, [](auto x, auto y) { return floor_of(x, y); });
}
inline Number remainder(Values& values, int a, int b) {
  return of_both(values, a, b, [](auto x, auto y) { return x - floor_of(x, y) * y; });
}

// Kinds of steps. In `words` each is followed by the rows of so many numbers.
enum Kind { put, take, map, set, launch, repeat };
constexpr int numbers_of[] = {5, 4, 33, 3, 9, 2};

}  // namespace autotune

#include "tables.hpp"

namespace autotune {

inline Number constant(Values&, int place, int) { return constants[place]; }

inline const Number& Values::operator[](int row) {
  if (known[row].kind == Number::unknown) {
    const auto [operation, left, right] = terms[row];
    known[row] = operation(*this, left, right);
  }
  return known[row];
}

inline int Values::result(int node) {
  while (node >= 0) node = (*this)[nodes[node].condition].real ? nodes[node].yes : nodes[node].no;
  return -2 - node;
}

// A step, with its numbers for some sizes.
struct Step {
  int kind;
  std::vector<Number> numbers;
};

struct Chosen {
  int schedule = -1;
  std::size_t workspace_bytes = 0;
  std::vector<Step> steps;
};

inline bool served(const Sizes& sizes) {
  bool inside = true;
  for (std::size_t one = 0; one < sizes.size(); ++one)
    inside = inside && sizes[one] >= 1 && sizes[one] <= most[one];
  return inside;
}

// What serves some sizes; a thread remembers it.
inline const Chosen& chosen(const Sizes& sizes) {
  static thread_local std::map<Sizes, Chosen> known;
  if (const auto found = known.find(sizes); found != known.end()) return found->second;
  if (known.size() == 1024) known.clear();
  Chosen& made = known[sizes];
  if (!served(sizes)) return made;
  Values values{sizes.data(), std::vector<Number>(terms.size())};
  made.schedule = values.result(serving);
  if (made.schedule < 0) return made;
  const int* word = words.data() + values.result(launched[made.schedule]);
  made.workspace_bytes = static_cast<std::size_t>(values[*word++].whole);
  for (int left = *word++; left > 0; --left) {
    Step& step = made.steps.emplace_back(Step{*word++, {}});
    for (int one = 0; one < numbers_of[step.kind]; ++one) step.numbers.push_back(values[*word++]);
  }
  return made;
}

}  // namespace autotune
