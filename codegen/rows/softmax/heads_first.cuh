#pragma once
// The number of a row where those that share a row of a mask follow each other: of a mask that L2 cannot
// keep, each row is read once from device memory, and not once for each head.

__device__ __forceinline__ long long placed_row(const Problem& problem, long long place) {
  if (place >= problem.rows) return place;
  const unsigned at = static_cast<unsigned>(place), heads = static_cast<unsigned>(problem.heads);
  const unsigned queries = static_cast<unsigned>(problem.queries), of_mask = at / heads, head = at % heads;
  const unsigned block = of_mask / queries * heads + head;
  return static_cast<long long>(block) * queries + of_mask % queries;
}
