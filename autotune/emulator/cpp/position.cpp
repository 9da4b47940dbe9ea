#include "position.hpp"

#include <unistd.h>

#include <cstdarg>
#include <cstdio>

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace autotune_emulator {

std::vector<Position> positions;

namespace {

int cluster_ranks, threads_of_block;
uint3 block_of_rank[cluster_blocks];  // the running cluster's
int running = none, running_step = none;

uint3 coordinates(int index, const dim3& extent) {
  const unsigned int i = static_cast<unsigned int>(index);
  return {i % extent.x, i / extent.x % extent.y, i / extent.x / extent.y};
}

}  // namespace

void begin_positions(int step, dim3 grid, dim3 block, int blocks_of_a_cluster) {
  running_step = step;
  gridDim = grid;
  blockDim = block;
  cluster_ranks = blocks_of_a_cluster;
  threads_of_block = static_cast<int>(block.x * block.y * block.z);
  positions.clear();
  for (int rank = 0; rank < cluster_ranks; ++rank)
    for (int thread = 0; thread < threads_of_block; ++thread)
      positions.push_back({rank, thread, coordinates(thread, block)});
}

void select_cluster(int first_block) {
  for (int rank = 0; rank < cluster_ranks; ++rank)
    block_of_rank[rank] = coordinates(first_block + rank, gridDim);
}

void select_thread(int thread) {
  running = thread;
  if (thread == none) return;
  threadIdx = positions[thread].index;
  blockIdx = block_of_rank[rank_of(thread)];
}

int running_thread() { return running; }
int running_rank() { return rank_of(running); }
int ranks() { return cluster_ranks; }
int block_size() { return threads_of_block; }
int lane() { return lane_of(running); }

void describe_thread(int thread, Name& text) {
  const uint3 at = positions[thread].index, block = block_of_rank[rank_of(thread)];
  const int length = std::snprintf(text, sizeof text, "thread (%u, %u, %u)", at.x, at.y, at.z);
  if (running == none || rank_of(thread) != running_rank())
    std::snprintf(text + length, sizeof text - length, " of block (%u, %u, %u)", block.x, block.y, block.z);
}

void fail(const char* format, ...) {
  if (running != none) {
    Name thread;
    describe_thread(running, thread);
    std::fprintf(stderr, "block (%u, %u, %u) %s: ", blockIdx.x, blockIdx.y, blockIdx.z, thread);
  }
  va_list values;
  va_start(values, format);
  std::vfprintf(stderr, format, values);
  va_end(values);
  std::fprintf(stderr, "\n%d\n", running_step);
  _exit(2);
}

}  // namespace autotune_emulator
