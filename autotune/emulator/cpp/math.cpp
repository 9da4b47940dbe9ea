// Functions that a GPU computes with an error. Seeds 0 and 1 round the exact result; every other seed adds an
// error of its own, which goes up to the stated bound and depends on the argument alone.

#include "math.hpp"

#include <algorithm>
#include <cmath>

#include "emulator.hpp"

namespace autotune_emulator {
namespace {

constexpr double pi = 3.14159265358979323846;
uint32_t error_seed;

double exact(Function function, double value) {
  switch (function) {
    case Function::exp:
      return std::exp(value);
    case Function::exp2:
      return std::exp2(value);
    case Function::log:
      return std::log(value);
    case Function::rsqrt:
      return 1 / std::sqrt(value);
    case Function::tanh:
      return std::tanh(value);
    case Function::erf:
      return std::erf(value);
    case Function::reciprocal:
      return 1 / value;
    case Function::sinpi:
      return sinpi(value);
    case Function::cospi:
      return cospi(value);
  }
  return value;
}

// From -1 to 1; half of all values lie at one of the ends.
double drawn(Function function, float value) {
  uint64_t hash = bit_cast<uint32_t>(value) + (static_cast<uint64_t>(function) << 32);
  hash = (hash ^ error_seed * uint64_t{0x9e3779b97f4a7c15}) * uint64_t{0xbf58476d1ce4e5b9};
  hash = (hash ^ hash >> 31) * uint64_t{0x94d049bb133111eb};
  const double uniform = static_cast<double>(hash >> 33) * std::ldexp(4.0, -31) - 2;  // from -2 to 2
  return std::fmin(std::fmax(uniform, -1), 1);
}

}  // namespace

void inject_errors(uint32_t seed) { error_seed = seed < 2 ? 0 : seed; }

double sinpi(double value) {
  const double within = std::remainder(value, 2.0);  // exact, and -1 to 1
  const double folded = std::fabs(within) > 0.5 ? std::copysign(1.0, within) - within : within;
  return std::sin(pi * folded);
}

double cospi(double value) { return sinpi(0.5 - std::fabs(std::remainder(value, 2.0))); }

float inexact(Function function, float value, int ulp) {
  const double result = exact(function, value);
  const float rounded = static_cast<float>(result);
  if (error_seed == 0 || result == 0 || !std::isfinite(rounded)) return rounded;
  // To round to float adds up to half a unit.
  const double unit = std::ldexp(1.0, std::max(std::ilogb(result), -126) - 23);
  return static_cast<float>(result + drawn(function, value) * (ulp - 0.5) * unit);
}

}  // namespace autotune_emulator
