#include "grid.hpp"

#include <vector>

#include "accumulators.hpp"
#include "agents.hpp"
#include "async_copies.hpp"
#include "bulk_stores.hpp"
#include "mbarriers.hpp"
#include "memory.hpp"
#include "named_barriers.hpp"
#include "order.hpp"
#include "position.hpp"
#include "register_pool.hpp"
#include "threads.hpp"
#include "warpgroups.hpp"
#include "wgmma.hpp"

namespace autotune_emulator {

void run_grid(uint32_t ends) {
  begin_launch();
  const uint32_t clusters = gridDim.x * gridDim.y * gridDim.z / ranks();
  std::vector<int> order(ends > 0 && clusters / 2 > ends ? 2 * ends : clusters);
  arrange(order);
  for (const uint32_t number : order) {
    const uint32_t cluster = number < ends ? number : clusters - static_cast<uint32_t>(order.size()) + number;
    select_cluster(cluster * ranks());
    begin_cluster();
    poison_shared();
    drop_async_copies();
    drop_agents();
    drop_mbarriers();
    drop_named_barriers();
    drop_bulk_stores();
    drop_warpgroups();
    drop_wgmmas();
    drop_accumulators();
    drop_register_counts();
    run_threads();
    check_bulk_copies_landed();
    check_wgmmas_waited();
    end_bulk_stores();
  }
}

}  // namespace autotune_emulator
