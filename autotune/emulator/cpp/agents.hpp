#pragma once
// Agents act in the place of the threads of a block: each mbarrier has one that copies.

namespace autotune_emulator {

constexpr int most_agents = 64;  // a block's

void drop_agents();                         // a cluster begins
int new_agent(int rank, const char* name);  // its number in its block; the name stands in messages
const char* agent_name(int rank, int agent);

}  // namespace autotune_emulator
