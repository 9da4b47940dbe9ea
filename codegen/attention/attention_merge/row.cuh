#pragma once
// Where a row lies.

struct Row {
  int batch;
  int query;
  int head;
  long long logarithm;  // where its logarithms are

  __device__ __forceinline__ Row(const Problem& problem, int number) {
    head = number % problem.heads;
    const int of_batch = number / problem.heads;
    query = of_batch % problem.queries;
    batch = of_batch / problem.queries;
    logarithm = (batch * static_cast<long long>(problem.heads) + head) * problem.queries + query;
  }
};
