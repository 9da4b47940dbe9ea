#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>
// Which schedule serves some sizes, and what it launches. tables.hpp consists of numbers that follow from
// sizes, and of plans: which of them are the steps of launches. Whole numbers are exact up to 2^53, which is
// more bytes than any device has.

namespace autotune {

struct Kernel {
  const char *program, *entry;
};

// The rows for some sizes, as far as they are computed.
struct Values {
  const long long* sizes;
  std::vector<double> rows;

  double operator[](int row) const { return rows[row]; }
};

// An operation, and the rows of its operands, which are above its own.
struct Term {
  double (*operation)(const Values&, int, int, int);
  int a = 0, b = 0, c = 0;
};

inline double floor_of(double a, double b) { return std::floor(a / b); }
inline long long bits(double value) { return static_cast<long long>(value); }

inline double size(const Values& v, int place, int, int) { return static_cast<double>(v.sizes[place]); }
inline double constant(const Values&, int place, int, int);
inline double select(const Values& v, int a, int b, int c) { return v[a] != 0 ? v[b] : v[c]; }
inline double add(const Values& v, int a, int b, int) { return v[a] + v[b]; }
inline double subtract(const Values& v, int a, int b, int) { return v[a] - v[b]; }
inline double multiply(const Values& v, int a, int b, int) { return v[a] * v[b]; }
inline double divide(const Values& v, int a, int b, int) { return v[a] / v[b]; }
inline double floor_divide(const Values& v, int a, int b, int) { return floor_of(v[a], v[b]); }
inline double remainder(const Values& v, int a, int b, int) { return v[a] - floor_of(v[a], v[b]) * v[b]; }
inline double power(const Values& v, int a, int b, int) { return std::pow(v[a], v[b]); }
inline double less(const Values& v, int a, int b, int) { return v[a] < v[b]; }
inline double equal(const Values& v, int a, int b, int) { return v[a] == v[b]; }
inline double minimum(const Values& v, int a, int b, int) { return std::min(v[a], v[b]); }
inline double maximum(const Values& v, int a, int b, int) { return std::max(v[a], v[b]); }
inline double bitwise_and(const Values& v, int a, int b, int) {
  return static_cast<double>(bits(v[a]) & bits(v[b]));
}
inline double bitwise_or(const Values& v, int a, int b, int) {
  return static_cast<double>(bits(v[a]) | bits(v[b]));
}
inline double rint(const Values& v, int a, int, int) { return std::nearbyint(v[a]); }
inline double ceil(const Values& v, int a, int, int) { return std::ceil(v[a]); }
inline double logarithm(const Values& v, int a, int base, int) {
  return v[base] == 2 ? std::log2(v[a]) : std::log(v[a]);
}

// Kinds of steps; see driver.hpp.
enum Kind { put, real, take, map, set, launch, repeat };

}  // namespace autotune

#include "tables.hpp"

namespace autotune {

inline double constant(const Values&, int place, int, int) { return constants[place]; }

struct Chosen {
  int schedule = -1;
  std::size_t workspace_bytes = 0;
  std::vector<double> steps;
};

inline bool served(const Sizes& sizes) {
  for (std::size_t one = 0; one < sizes.size(); ++one)
    if (sizes[one] < least[one] || sizes[one] > most[one]) return false;
  return true;
}

// What serves some sizes; a thread remembers it.
inline const Chosen& chosen(const Sizes& sizes) {
  static thread_local std::map<Sizes, Chosen> known;
  if (const auto found = known.find(sizes); found != known.end()) return found->second;
  if (known.size() == 1024) known.clear();
  Chosen& made = known[sizes];
  if (!served(sizes)) return made;
  Values values{sizes.data(), {}};
  values.rows.reserve(terms.size());
  for (const auto& [operation, a, b, c] : terms) values.rows.push_back(operation(values, a, b, c));
  made.schedule = static_cast<int>(values[serving]);
  if (made.schedule < 0) return made;
  const auto plan = static_cast<std::size_t>(values[launched[made.schedule]]);
  made.workspace_bytes = static_cast<std::size_t>(values[words[plans[plan]]]);
  for (int word = plans[plan] + 1; word < plans[plan + 1]; ++word) made.steps.push_back(values[words[word]]);
  return made;
}

}  // namespace autotune
