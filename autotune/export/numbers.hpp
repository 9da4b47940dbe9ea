#pragma once
// Python's integer division in C++.

namespace autotune {

__extension__ typedef __int128 Wide;  // for products of sizes that take more than 63 bits

template <class T>
constexpr T floor_div(T value, T divisor) {
  return value / divisor - (value % divisor < 0);
}

template <class T>
constexpr T floor_mod(T value, T divisor) {
  return value - floor_div(value, divisor) * divisor;
}

template <class T>
constexpr T ceil_div(T value, T divisor) {
  return value / divisor + (value % divisor > 0);
}

}  // namespace autotune
