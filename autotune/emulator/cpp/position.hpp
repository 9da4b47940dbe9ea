#pragma once
// The running launch, the thread of it that runs, and how a message names it.

#include <cstdint>
#include <vector>

#include "emulator.hpp"

namespace autotune_emulator {

constexpr int warp_threads = 32;
constexpr int block_threads = 1024, cluster_blocks = 16;  // limits
constexpr int none = -1;

// Threads are numbered in their cluster block by block, and in their block with x running fastest.
void begin_positions(int step, dim3 grid, dim3 block, int blocks_of_a_cluster);
void select_cluster(int first_block);
void select_thread(int thread);  // none: no thread runs

int running_thread();
int running_rank();
int ranks();       // blocks of a cluster
int block_size();  // threads of a block

// Of each thread of a cluster. Threads take turns often, and divisions are slow.
struct Position {
  int rank, in_block;
  uint3 index;
};
extern std::vector<Position> positions;
inline int rank_of(int thread) { return positions[thread].rank; }
inline int thread_in_block(int thread) { return positions[thread].in_block; }
inline int lane_of(int thread) { return thread_in_block(thread) % warp_threads; }

// "thread (x, y, z)", with its block unless that is the running thread's.
using Name = char[96];
void describe_thread(int thread, Name& text);

// Prints one line that names the running thread, if any, and ends the process.
[[noreturn]] __attribute__((format(printf, 1, 2))) void fail(const char* format, ...);

}  // namespace autotune_emulator
