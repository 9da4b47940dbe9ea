#pragma once
#include "attention/attention_backward/seeing_queries.cuh"
#include "cuda/numbers.cuh"
#include "cuda/row_reduce.cuh"
#include "cuda/shared_memory.cuh"
// The gradients of attention: a block for each row of dq, for each key of dk and dv, and for each sink.

__device__ __forceinline__ float natural_power(float x) { return expf(x); }
__device__ __forceinline__ double natural_power(double x) { return exp(x); }
__device__ __forceinline__ float hyperbolic_tangent(float x) { return tanhf(x); }
__device__ __forceinline__ double hyperbolic_tangent(double x) { return tanh(x); }

// What is written: the number, or its rounding to the output's type.
__device__ __forceinline__ void store(double* target, double value) { *target = value; }
__device__ __forceinline__ void store(float* target, double value) { *target = static_cast<float>(value); }
template <typename Result>
__device__ __forceinline__ void store(Result* target, double value) {
  *target = from_float<Result>(static_cast<float>(value));
}

// Weights and gradients of scores are rounded as operands of tensor cores are, but for a reference.
__device__ __forceinline__ double as_operand(double x) { return x; }
__device__ __forceinline__ float as_operand(float x) { return to_float(from_float<Problem::Element>(x)); }

template <typename Number>
__device__ __forceinline__ Number dot(const Problem::Element* a, const Problem::Element* b, int elements) {
  Number sum = 0;
  for (int i = 0; i < elements; ++i) sum += Number(to_float(a[i])) * Number(to_float(b[i]));
  return sum;
}

// The sequence that a row of the queries of a head is of, or of its keys.
__device__ __forceinline__ Sequence sequence_at(const Arguments& arguments, const Problem& problem, int batch,
                                                int place, bool of_keys) {
  int index = batch;
#if segmented
  const int* offsets = of_keys ? offsets_of_keys(arguments) : arguments.offsets;
  while (offsets[index + 1] <= place) ++index;
#endif
  return Sequence(arguments, problem, index);
}

// δ of a query, Σ dO·O, or with `sizes` the sum of the sizes of these products.
template <typename Number>
__device__ __forceinline__ Number delta_of(const Arguments& arguments, const Problem& problem,
                                           long long sequence, int head, int query, bool sizes = false) {
  const Problem::Element* o =
      arguments.o + sequence * problem.stride_o_b + query * problem.stride_o_s + head * problem.stride_o_h;
  const Problem::Element* dout = arguments.dout + sequence * problem.stride_dout_b +
                                 query * problem.stride_dout_s + head * problem.stride_dout_h;
  Number sum = 0;
  for (int i = 0; i < Problem::value_dim; ++i) {
    const Number term = Number(to_float(o[i])) * Number(to_float(dout[i]));
    sum += sizes ? fabs(term) : term;
  }
  return sum;
}

// What a pair of a query and a key, which it sees, contributes.
template <typename Number>
struct Pair {
  Number weight;    // p
  Number gradient;  // of the score, dS
#if reference
  double size;  // that of dS, if nothing cancelled, with as much as sums of FP32 may be off by
  double lost;  // of a weight that is too small for its type
#endif

  __device__ __forceinline__ Pair(const Arguments& arguments, const Problem& problem, long long sequence,
                                  const Sequence& own, int head, int query, int key, Number scale) {
    const int served = head / problem.group;
    const Number lse = arguments.lse[(sequence * problem.heads + head) * problem.queries + query];
    const Problem::Element* dout = arguments.dout + sequence * problem.stride_dout_b +
                                   query * problem.stride_dout_s + head * problem.stride_dout_h;
    Number score = scale * dot<Number>(arguments.q + sequence * problem.stride_q_b +
                                           query * problem.stride_q_s + head * problem.stride_q_h,
                                       arguments.k + sequence * problem.stride_k_b +
                                           key * problem.stride_k_t + served * problem.stride_k_g,
                                       Problem::head_dim);
    Number slope = 1;
#if softcap
    const Number cap = arguments.softcap, bent = hyperbolic_tangent(score / cap);
    score = cap * bent;
    slope = 1 - bent * bent;
#endif
    bool seen = lse != -infinity();
#if scored || masked
    const int q = query - own.query_base, k = key - own.key_base;
#endif
#if scored
    slope = Problem::slope_of(score, arguments, own.number, head, q, k);
    score = Problem::score_of(score, arguments, own.number, head, q, k);
#endif
#if masked
    seen = seen && Problem::sees(arguments, own.number, head, q, k);
#endif
    const Number product = dot<Number>(
        dout,
        arguments.v + sequence * problem.stride_v_b + key * problem.stride_v_t + served * problem.stride_v_g,
        Problem::value_dim);
    const Number delta = delta_of<Number>(arguments, problem, sequence, head, query);
    const Number power = seen ? natural_power(score - lse) : Number(0);
    weight = as_operand(power);
    gradient = seen ? as_operand(slope * power * (product - delta)) : Number(0);
#if reference
    lost = seen ? Problem::flushed : 0;
    const double cancelled = delta_of<Number>(arguments, problem, sequence, head, query, true) / 256;
    size = seen ? fabs(slope) * power * (fabs(product) + fabs(delta) + cancelled) + lost : 0;
#endif
  }
};

// A row of a gradient: the sum of factors times rows of an operand. Each thread has some columns.
template <int threads, int elements, typename Number>
struct RowSum {
  static constexpr int columns = (elements + threads - 1) / threads;
  Number sums[columns] = {};
#if reference
  double sizes[columns] = {};
#endif

  __device__ __forceinline__ void add(Number factor, Number size, const Problem::Element* row) {
    for (int i = 0; i < columns && i * threads + threadIdx.x < elements; ++i) {
      const Number value = to_float(row[i * threads + threadIdx.x]);
      sums[i] += factor * value;
#if reference
      sizes[i] += size * fabs(value);
#endif
    }
  }

  template <typename Result>
  __device__ __forceinline__ void write(Result* row, Number scale) const {
    for (int i = 0; i < columns && i * threads + threadIdx.x < elements; ++i)
      store(row + i * threads + threadIdx.x, scale * sums[i]);
  }

#if reference
  __device__ __forceinline__ void write_scale(double* row, Number scale) const {
    for (int i = 0; i < columns && i * threads + threadIdx.x < elements; ++i)
      row[i * threads + threadIdx.x] = scale * (sizes[i] + fabs(sums[i]));
  }
#endif
};

template <typename Number>
__device__ __forceinline__ Number scale_of(const Arguments& arguments) {
  return arguments.scale == 0.0f ? Number(Problem::usual_scale) : Number(arguments.scale);
}

// What threads leave for each other: of a pair each.
template <int threads, typename Number>
struct Factors {
  Number weights[threads];
  Number gradients[threads];
#if reference
  double sizes[threads];  // of gradients
  double losses[threads];
#endif

  __device__ __forceinline__ void set(const Pair<Number>& pair) {
    weights[threadIdx.x] = pair.weight;
    gradients[threadIdx.x] = pair.gradient;
#if reference
    sizes[threadIdx.x] = pair.size;
    losses[threadIdx.x] = pair.lost;
#endif
  }
  __device__ __forceinline__ Number size(int i) const {
#if reference
    return sizes[i];
#else
    return gradients[i];
#endif
  }
  // That of a weight, if nothing cancelled.
  __device__ __forceinline__ Number weight_size(int i) const {
#if reference
    return weights[i] + losses[i];
#else
    return weights[i];
#endif
  }
};

// A row of dq.
template <int threads, typename Number>
__device__ __forceinline__ void query_row(const Arguments& arguments, const Problem& problem, long long row,
                                          Factors<threads, Number>& factors) {
  const int head = row % problem.heads, query = row / problem.heads % problem.queries;
  const long long sequence = row / problem.heads / problem.queries;
  const Problem::Element* k =
      arguments.k + sequence * problem.stride_k_b + head / problem.group * problem.stride_k_g;
  const Sequence own = sequence_at(arguments, problem, sequence, query, false);
  const int first = own.key_base + own.first_key(query - own.query_base);
  const int end = own.key_base + own.keys_end(query - own.query_base);
  const Number scale = scale_of<Number>(arguments);
  RowSum<threads, Problem::head_dim, Number> dq;
  for (int base = first; base < end; base += threads) {
    const int key = base + static_cast<int>(threadIdx.x);
    __syncthreads();
    if (key < end) factors.set(Pair<Number>(arguments, problem, sequence, own, head, query, key, scale));
    __syncthreads();
    for (int i = 0; i < min(threads, end - base); ++i)
      dq.add(factors.gradients[i], factors.size(i), k + (base + i) * problem.stride_k_t);
  }
  const long long place =
      sequence * problem.stride_dq_b + query * problem.stride_dq_s + head * problem.stride_dq_h;
  dq.write(arguments.dq + place, scale);
#if reference
  dq.write_scale(arguments.dq_scale + place, scale);
#endif
}

// A row of dk and one of dv: what all heads of q give that the head of k and v serves.
template <int threads, typename Number>
__device__ __forceinline__ void key_row(const Arguments& arguments, const Problem& problem, long long row,
                                        Factors<threads, Number>& factors) {
  const int kv_heads = problem.heads / problem.group;
  const int served = row % kv_heads, key = row / kv_heads % problem.keys;
  const long long sequence = row / kv_heads / problem.keys;
  const Sequence own = sequence_at(arguments, problem, sequence, key, true);
  const int first = own.query_base + first_query(own, key - own.key_base);
  const int end = own.query_base + queries_end(own, key - own.key_base);
  const Number scale = scale_of<Number>(arguments);
  RowSum<threads, Problem::head_dim, Number> dk;
  RowSum<threads, Problem::value_dim, Number> dv;
  for (int head = served * problem.group; head < (served + 1) * problem.group; ++head) {
    const Problem::Element* q = arguments.q + sequence * problem.stride_q_b + head * problem.stride_q_h;
    const Problem::Element* dout =
        arguments.dout + sequence * problem.stride_dout_b + head * problem.stride_dout_h;
    for (int base = first; base < end; base += threads) {
      const int query = base + static_cast<int>(threadIdx.x);
      __syncthreads();
      if (query < end) factors.set(Pair<Number>(arguments, problem, sequence, own, head, query, key, scale));
      __syncthreads();
      for (int i = 0; i < min(threads, end - base); ++i) {
        dk.add(factors.gradients[i], factors.size(i), q + (base + i) * problem.stride_q_s);
        dv.add(factors.weights[i], factors.weight_size(i), dout + (base + i) * problem.stride_dout_s);
      }
    }
  }
  const long long of_dk =
      sequence * problem.stride_dk_b + key * problem.stride_dk_t + served * problem.stride_dk_g;
  const long long of_dv =
      sequence * problem.stride_dv_b + key * problem.stride_dv_t + served * problem.stride_dv_g;
  dk.write(arguments.dk + of_dk, scale);
  dv.write(arguments.dv + of_dv, 1);
#if reference
  dk.write_scale(arguments.dk_scale + of_dk, scale);
  dv.write_scale(arguments.dv_scale + of_dv, 1);
#endif
}

#if sinks
// The gradient of a head's sink.
template <int threads, typename Number>
__device__ __forceinline__ void naive_sinks(const Arguments& arguments) {
  const Problem problem(arguments);
  Number* scratch = dynamic_shared<Number>();
  const int head = blockIdx.x;
  const int sequences = problem.all_heads / problem.heads;
  const Number sink = arguments.sinks[head];
  Number sum = 0, size = 0;
  for (int sequence = 0; sequence < sequences; ++sequence) {
    for (int query = threadIdx.x; query < problem.queries; query += threads) {
      const Number lse =
          arguments.lse[(static_cast<long long>(sequence) * problem.heads + head) * problem.queries + query];
      if (lse == -infinity()) continue;
      const Number weight = natural_power(sink - lse);
      sum -= weight * delta_of<Number>(arguments, problem, sequence, head, query);
#  if reference
      size += weight * delta_of<Number>(arguments, problem, sequence, head, query, true);
#  endif
    }
  }
  sum = reduce_row<threads>(sum, Sum(), scratch);
#  if reference
  __syncthreads();
  size = reduce_row<threads>(size, Sum(), scratch);
#  endif
  if (threadIdx.x == 0) {
    store(arguments.dsinks + head, sum);
#  if reference
    arguments.dsinks_scale[head] = size;
#  endif
  }
}
#endif

// Calls `compute(row)` for the block's row of one kind, whose numbers go from `first` on; as a reference, for
// each so many of those that are listed.
template <class Compute>
__device__ __forceinline__ void for_rows(const Arguments& arguments, long long first, long long rows,
                                         Compute compute) {
#if reference
  for (long long i = blockIdx.x; i < arguments.sampled_count; i += gridDim.x) {
    const long long row = arguments.sampled_rows[i] - first;
    if (row < 0 || row >= rows) continue;
    __syncthreads();  // before the next row
    compute(row);
  }
#else
  compute(blockIdx.x);
#endif
}

template <int threads, typename Number>
__device__ __forceinline__ void naive_queries(const Arguments& arguments) {
  const Problem problem(arguments);
  auto& factors = *dynamic_shared<Factors<threads, Number>>();
  const long long rows = static_cast<long long>(problem.all_heads) * problem.queries;
  for_rows(arguments, 0, rows, [&](long long row) { query_row(arguments, problem, row, factors); });
}

template <int threads, typename Number>
__device__ __forceinline__ void naive_keys(const Arguments& arguments) {
  const Problem problem(arguments);
  auto& factors = *dynamic_shared<Factors<threads, Number>>();
  const long long first = static_cast<long long>(problem.all_heads) * problem.queries;
  const long long rows = static_cast<long long>(problem.all_heads) / problem.group * problem.keys;
  for_rows(arguments, first, rows, [&](long long row) { key_row(arguments, problem, row, factors); });
}
