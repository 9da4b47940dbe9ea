#pragma once

// A sum of many terms, compensated for its rounding errors (Kahan, Further remarks on reducing truncation
// errors, 1965). Registers hold so few vectors that a plain sum does.
struct RunningSum {
  float sum;
  float lost;

#if hold == registers
  __device__ __forceinline__ void add(float term) { sum += term; }
#else
  __device__ __forceinline__ void add(float term) {
    const float exact = __fadd_rn(term, -lost);
    const float next = __fadd_rn(sum, exact);
    lost = __fadd_rn(__fadd_rn(next, -sum), -exact);
    sum = next;
  }
#endif

  __device__ __forceinline__ void scale(float factor) {
    sum *= factor;
    lost *= factor;
  }
};
