#pragma once
// A fiber for each thread of a cluster.

#include <cstdint>
#include <vector>

namespace autotune_emulator {

// Fibers that call `entry`, as many as the largest cluster has threads.
void make_threads(void (*entry)(), int most, uint32_t seed);
void run_threads();  // the running cluster's, until all have ended

// Numbers in the order that the seed says: 0 goes up, 1 goes down, every other one is random.
void arrange(std::vector<int>& order);

// The running thread waits until another one wakes those who wait for the same; if none does, `complain` ends
// the process with a message.
using Complaint = void (*)(const void* awaited, int line);
void sleep_on(const void* awaited, int line, Complaint complain);
void wake(const void* awaited);

// What all 32 lanes of a warp do together, with what each of them brings.
struct Joint {
  const char* name;
  void (*act)(void* const* brought);
};
void meet_whole_warp(const Joint& joint, void* own, int line);

}  // namespace autotune_emulator
