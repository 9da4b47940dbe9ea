#include "agents.hpp"

#include <cstring>

#include "position.hpp"

namespace autotune_emulator {
namespace {

int counts[cluster_blocks];
const char* names[cluster_blocks][most_agents];

}  // namespace

void drop_agents() { std::memset(counts, 0, sizeof counts); }

int new_agent(int rank, const char* name) {
  if (counts[rank] == most_agents)
    fail("more than %d mbarriers, warpgroups that multiply and threads that store in a block", most_agents);
  names[rank][counts[rank]] = name;
  return counts[rank]++;
}

const char* agent_name(int rank, int agent) { return names[rank][agent]; }

}  // namespace autotune_emulator
