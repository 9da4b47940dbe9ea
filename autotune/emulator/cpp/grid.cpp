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

void run_grid() {
  begin_launch();
  std::vector<int> order(gridDim.x * gridDim.y * gridDim.z / ranks());
  arrange(order);
  for (const int cluster : order) {
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
