#pragma once
// A chain of addresses through memory: a load waits for the one before it. The `nodes`, a power of two, are
// `pitch` addresses apart and follow each other as the numbers of a linear congruential generator, which
// meets each of them once (Knuth, TAOCP 3.2.1.2, theorem A).

__device__ __forceinline__ void link_nodes_block(const Arguments& arguments) {
  const unsigned threads = gridDim.x * blockDim.x;
  for (unsigned node = blockIdx.x * blockDim.x + threadIdx.x; node < arguments.nodes; node += threads) {
    const unsigned next = (node * 1664525u + 1013904223u) & (arguments.nodes - 1);
    unsigned long long* place = arguments.chain + static_cast<long long>(node) * arguments.pitch;
    *place = reinterpret_cast<unsigned long long>(arguments.chain +
                                                  static_cast<long long>(next) * arguments.pitch);
  }
}

__device__ __forceinline__ void follow_chain_block(const Arguments& arguments) {
  const unsigned long long* node = arguments.chain;
#pragma unroll 8
  for (int step = 0; step < arguments.steps; ++step)
    node = reinterpret_cast<const unsigned long long*>(__ldg(node));
  *arguments.end = node - arguments.chain;
}
