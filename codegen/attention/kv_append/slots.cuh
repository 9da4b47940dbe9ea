#pragma once
// Where tokens lie in a cache of pages.

using Element = Problem::Element;  // the bits of one, which move as they are

template <typename Number>
__device__ __forceinline__ const Element* bits_of(const Number* numbers) {
  return reinterpret_cast<const Element*>(numbers);
}
template <typename Number>
__device__ __forceinline__ Element* bits_of(Number* numbers) {
  return reinterpret_cast<Element*>(numbers);
}

struct Place {
  bool there;
  int page;
  int slot;  // of the page
};

// The place of a token. A number that is no slot's goes nowhere: nothing outside of the caches is written.
__device__ __forceinline__ Place place_of(const Arguments& arguments, const Problem& problem, int token) {
  const Problem::Slot slot = arguments.slots[token];
  if (slot < 0 || slot >= problem.slot_count) return {false, 0, 0};
  const unsigned number = static_cast<unsigned>(slot), page = problem.page;
  return {true, static_cast<int>(number / page), static_cast<int>(number % page)};
}
