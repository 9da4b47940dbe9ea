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

struct CompareArguments {
  const void* actual;  // aligned to its own type only
  const void* expected;
  Report* report;
  long long size;  // elements
  long long element_bytes;
  double bound;
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

// float32 against a float64 reference. Where the reference is NaN there is a gap between rows, and the output
// must still hold the poison (all bits set) that it started with. An infinity or a NaN anywhere else is
// wrong.
extern "C" __global__ void compare_float32(const CompareArguments arguments) {
  const float* actual = static_cast<const float*>(arguments.actual);
  const double* expected = static_cast<const double*>(arguments.expected);
  Findings findings;
  for (long long i = first_index(); i < arguments.size; i += index_step()) {
    const bool gap = expected[i] != expected[i];
    const double error = fabs(actual[i] - expected[i]);
    const bool right = gap ? __float_as_uint(actual[i]) == ~0u : error <= arguments.bound;
    if (!right) findings.add_wrong(i);
    findings.add_error(static_cast<float>(error));
  }
  findings.write(arguments.report);
}

// Any type, bit for bit.
extern "C" __global__ void compare_exact(const CompareArguments arguments) {
  const unsigned char* actual = static_cast<const unsigned char*>(arguments.actual);
  const unsigned char* expected = static_cast<const unsigned char*>(arguments.expected);
  Findings findings;
  for (long long i = first_index(); i < arguments.size; i += index_step()) {
    bool right = true;
    for (long long byte = i * arguments.element_bytes; byte < (i + 1) * arguments.element_bytes; ++byte) {
      right = right && actual[byte] == expected[byte];
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
