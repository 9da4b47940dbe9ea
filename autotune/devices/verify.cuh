// What verification asks of the device: compare an output with its reference, and sum up memory that a kernel
// must not change. The kernels take any grid of blocks of whole warps.

typedef unsigned long long u64;

// Joined from all warps: `wrong` and `max_error` start as 0, `first` as the largest value.
struct Report {
  u64 wrong;  // elements that are wrong
  u64 first;  // index of the first of them
  unsigned int
      max_error;  // bits of the largest finite absolute error: floats from 0 up are ordered like their bits
};

// Elements that an axis has, and how far they are apart.
struct Axis {
  long long extent;
  long long stride;
};

// The output's type, Number, and what `to_float` needs stand before this file.
struct CompareArguments {
  const Number* actual;
  const void* expected;  // double for compare_within, Number for compare_exact
  const double* scale;   // what an element's error is relative to; null for |expected|
  const Number* before;  // what was there before the launch; null for poison
  Report* report;
  long long size;  // elements, gaps included
  double absolute;
  double relative;
  double largest;    // finite number of the type
  long long poison;  // each byte of it
  long long axes;    // that count
  Axis axis[5];      // the largest stride first; no two elements are in one place
};

struct ChecksumArguments {
  const u64* words;
  u64* sum;              // starts as 0
  long long size;        // words
  long long skip_begin;  // bytes from `words` that do not count: from skip_begin ...
  long long skip_end;    // ... to before skip_end
};

__device__ inline long long first_index() { return blockIdx.x * (long long)blockDim.x + threadIdx.x; }
__device__ inline long long index_step() { return gridDim.x * (long long)blockDim.x; }

// One thread's findings, joined over the warp before they go to memory.
struct Findings {
  u64 wrong = 0;
  u64 first = ~0ull;
  unsigned int max_error = 0;

  __device__ void add_wrong(long long index) {
    wrong += 1;
    first = min(first, (u64)index);
  }

  __device__ void add_error(float error) {
    const unsigned int bits = __float_as_uint(error);
    const unsigned int infinity = 0x7f800000;
    if (bits < infinity) max_error = max(max_error, bits);
  }

  __device__ void write(Report* report) {
    for (int lanes = 16; lanes > 0; lanes /= 2) {
      wrong += __shfl_xor_sync(~0u, wrong, lanes);
      first = min(first, __shfl_xor_sync(~0u, first, lanes));
      max_error = max(max_error, __shfl_xor_sync(~0u, max_error, lanes));
    }
    if (threadIdx.x % 32 != 0) return;
    atomicMax(&report->max_error, max_error);
    if (wrong > 0) {
      atomicAdd(&report->wrong, wrong);
      atomicMin(&report->first, first);
    }
  }
};

// Whether an element of the flat buffer is one of the tensor, or of a gap, which must be as it was.
__device__ inline bool is_inside(const CompareArguments& arguments, long long index) {
  for (int axis = 0; axis < arguments.axes; ++axis) {
    const long long along = index / arguments.axis[axis].stride;
    if (along >= arguments.axis[axis].extent) return false;
    index -= along * arguments.axis[axis].stride;
  }
  return index == 0;
}

template <typename T>
__device__ inline double value_of(T number) {
  return static_cast<double>(number);
}
__device__ inline double value_of(float16 number) { return to_float(number); }
__device__ inline double value_of(bfloat16 number) { return to_float(number); }
__device__ inline double value_of(float8_e4m3 number) { return to_float(number); }
__device__ inline double value_of(float8_e5m2 number) { return to_float(number); }

__device__ inline bool is_nan(double value) { return value != value; }
__device__ inline bool is_finite(double value) { return value - value == 0; }

__device__ inline unsigned char byte_of(const Number* number, int byte) {
  return reinterpret_cast<const unsigned char*>(number)[byte];
}

__device__ inline bool same_bits(const Number* a, const Number* b) {
  bool same = true;
  for (int i = 0; i < static_cast<int>(sizeof(Number)); ++i) same = same && byte_of(a, i) == byte_of(b, i);
  return same;
}

__device__ inline bool is_untouched(const CompareArguments& arguments, long long index) {
  const Number* actual = arguments.actual + index;
  if (arguments.before) return same_bits(actual, arguments.before + index);
  bool same = true;
  for (int i = 0; i < static_cast<int>(sizeof(Number)); ++i)
    same = same && byte_of(actual, i) == arguments.poison;
  return same;
}

// Equal infinities are right, NaN must meet NaN; an infinity is right as well where the tolerance reaches
// beyond the type's largest number.
__device__ inline bool is_within(const CompareArguments& arguments, double actual, double expected,
                                 double scale) {
  if (is_nan(expected)) return is_nan(actual);
  if (actual == expected) return true;
  if (is_nan(actual) || !is_finite(expected)) return false;
  const double tolerance = arguments.absolute + arguments.relative * scale;
  if (is_finite(actual)) return fabs(actual - expected) <= tolerance;
  return (actual > 0 ? expected : -expected) + tolerance > arguments.largest;
}

// Against a reference in double.
extern "C" __global__ void compare_within(const CompareArguments arguments) {
  const double* expected = static_cast<const double*>(arguments.expected);
  Findings findings;
  for (long long i = first_index(); i < arguments.size; i += index_step()) {
    bool right;
    if (is_inside(arguments, i)) {
      const double actual = value_of(arguments.actual[i]);
      const double scale = arguments.scale ? arguments.scale[i] : fabs(expected[i]);
      right = is_within(arguments, actual, expected[i], scale);
      findings.add_error(static_cast<float>(fabs(actual - expected[i])));
    } else {
      right = is_untouched(arguments, i);
    }
    if (!right) findings.add_wrong(i);
  }
  findings.write(arguments.report);
}

// Bit for bit, but for the bits of a NaN.
extern "C" __global__ void compare_exact(const CompareArguments arguments) {
  const Number* expected = static_cast<const Number*>(arguments.expected);
  Findings findings;
  for (long long i = first_index(); i < arguments.size; i += index_step()) {
    bool right;
    if (is_inside(arguments, i)) {
      const bool nan = is_nan(value_of(expected[i])) && is_nan(value_of(arguments.actual[i]));
      right = nan || same_bits(arguments.actual + i, expected + i);
    } else {
      right = is_untouched(arguments, i);
    }
    if (!right) findings.add_wrong(i);
  }
  findings.write(arguments.report);
}

// The finaliser of SplitMix64 (Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators, 2014).
__device__ inline u64 mixed(u64 x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// A sum over every word and its place, the same in whatever order the words are added.
extern "C" __global__ void checksum(const ChecksumArguments arguments) {
  u64 sum = 0;
  for (long long i = first_index(); i < arguments.size; i += index_step()) {
    const long long begin = 8 * i, end = begin + 8;
    if (arguments.skip_begin <= begin && end <= arguments.skip_end) continue;
    u64 word = arguments.words[i];
    for (long long byte = max(begin, arguments.skip_begin); byte < min(end, arguments.skip_end); ++byte) {
      word &= ~(0xffull << (8 * (byte - begin)));
    }
    sum += mixed(word + 0x9e3779b97f4a7c15ull * (i + 1));
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(~0u, sum, lanes);
  if (threadIdx.x % 32 == 0) atomicAdd(arguments.sum, sum);
}
