#pragma once
// Rendezvous of the four warps of a warpgroup, which orders nothing.

namespace autotune_emulator {

constexpr int warpgroup_threads = 128;

void drop_warpgroups();  // a cluster begins

// The number of the running thread's warpgroup in its cluster, and the thread's in its warpgroup.
int running_warpgroup();
int thread_in_warpgroup();

// Comes to a line, for what `what` names. Runs `act` when all have come, by the last of them, then lets all
// go on.
void meet_warpgroup(const char* what, int line, void (*act)(int warpgroup));

}  // namespace autotune_emulator
