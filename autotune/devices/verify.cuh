// What verification asks of the device: compare an output with its reference, and sum up memory that a kernel
// must not change. The kernels take any grid of blocks of whole warps. The output's type, Number, what
// `to_float` needs, and report.cuh stand before this file.

// Elements that an axis has, and how far they are apart. Where a count bounds an axis, what an index along
// this one adds to the count's number, and to the position that the count bounds.
struct Axis {
  long long extent;
  long long stride;
  long long number;
  long long position;
  long long row;  // what an index adds to the row's number
};

struct CompareArguments {
  const Number* actual;
  const void* expected;   // double for compare_within, Number for compare_exact, none for compare_gaps
  const double* scale;    // what an element's error is relative to; null for |expected|
  const Number* before;   // what was there before the launch; null for poison
  const int* counts;      // elements along the axis that they bound; null if none is bounded
  const long long* rows;  // ascending, those that are judged; null for all
  long long row_count;
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

// Whether the row of an element of the tensor is one that is judged.
__device__ inline bool is_judged(const CompareArguments& arguments, long long index) {
  if (!arguments.rows) return true;
  long long row = 0;
  for (int axis = 0; axis < arguments.axes; ++axis) {
    row += index / arguments.axis[axis].stride * arguments.axis[axis].row;
    index %= arguments.axis[axis].stride;
  }
  long long low = 0, high = arguments.row_count;
  while (low < high) {
    const long long middle = (low + high) / 2;
    if (arguments.rows[middle] < row) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < arguments.row_count && arguments.rows[low] == row;
}

// Whether an element of the flat buffer is one of the tensor, or of a gap, which must be as it was.
__device__ inline bool is_inside(const CompareArguments& arguments, long long index) {
  long long number = 0, position = 0;
  for (int axis = 0; axis < arguments.axes; ++axis) {
    const long long along = index / arguments.axis[axis].stride;
    if (along >= arguments.axis[axis].extent) return false;
    index -= along * arguments.axis[axis].stride;
    number += along * arguments.axis[axis].number;
    position += along * arguments.axis[axis].position;
  }
  return index == 0 && (!arguments.counts || position < arguments.counts[number]);
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
    bool right = true;
    if (is_inside(arguments, i)) {
      if (!is_judged(arguments, i)) continue;
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
    bool right = true;
    if (is_inside(arguments, i)) {
      if (!is_judged(arguments, i)) continue;
      const bool nan = is_nan(value_of(expected[i])) && is_nan(value_of(arguments.actual[i]));
      right = nan || same_bits(arguments.actual + i, expected + i);
    } else {
      right = is_untouched(arguments, i);
    }
    if (!right) findings.add_wrong(i);
  }
  findings.write(arguments.report);
}

// The gaps alone, of an output whose elements the operator's checker judges.
extern "C" __global__ void compare_gaps(const CompareArguments arguments) {
  Findings findings;
  for (long long i = first_index(); i < arguments.size; i += index_step()) {
    if (!is_inside(arguments, i) && !is_untouched(arguments, i)) findings.add_wrong(i);
  }
  findings.write(arguments.report);
}

// Elements that no kernel wrote: `actual` holds the poison there, and `expected`, what an earlier launch
// left, the other one.
extern "C" __global__ void compare_written(const CompareArguments arguments) {
  const Number* earlier = static_cast<const Number*>(arguments.expected);
  Findings findings;
  for (long long i = first_index(); i < arguments.size; i += index_step()) {
    bool left = is_inside(arguments, i);
    for (int byte = 0; byte < static_cast<int>(sizeof(Number)); ++byte) {
      left = left && byte_of(arguments.actual + i, byte) == arguments.poison &&
             byte_of(earlier + i, byte) == 0xff - arguments.poison;
    }
    if (left) findings.add_wrong(i);
  }
  findings.write(arguments.report);
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
