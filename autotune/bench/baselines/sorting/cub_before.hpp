// The order of keys, for sorts and merges that compare them: NaN, of either sign, is larger than all numbers.
struct Before {
  template <typename Number>
  __host__ __device__ static bool is_less(Number a, Number b) {
#if FLOATING
    return a < b || (b != b && a == a);
#else
    return a < b;
#endif
  }

  __host__ __device__ bool operator()(const Key& a, const Key& b) const {
#if LARGEST_FIRST
    return is_less(static_cast<Number>(b), static_cast<Number>(a));
#else
    return is_less(static_cast<Number>(a), static_cast<Number>(b));
#endif
  }
};
