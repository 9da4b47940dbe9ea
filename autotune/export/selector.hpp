#pragma once
#include <algorithm>
#include <cmath>
// Which kernel serves a size: the record of this very size, else the nearest one. A record's time is transferred
// by the blocks of the fullest SM and their steps along k: compile without contraction (-ffp-contract=off)
// where the CPU has FMA.

namespace autotune {

struct Device {
  int sm_count;
  int registers_per_sm;
  double peak_flops;      // per second
  double bandwidth;       // bytes per second
  double fixed_seconds;   // of any kernel
  double shared_seconds;  // the same where blocks share tiles
  double hiding;          // the rate of the exponential by which registers in use hide latency
  double doubt;           // of a time's logarithm, for each e-fold between sizes
  double farthest;        // ratio of two sizes beyond which a record does not serve
};

struct Size {
  long long m, n, k;
};

struct Record {
  Size size;
  double seconds;
  bool modelled;  // not measured
  bool own_only;  // compiled for its size alone
  int registers;  // of a block
  int block_m, block_n, block_k;
  int grid_blocks;                   // 0: one cluster for each tile
  int cluster_k;                     // blocks of a cluster, which share its tiles along k
  int vector_a, vector_b, vector_c;  // words of an access to global memory
  int own_kernel;                    // for its own size
  int larger_kernel;                 // for all others that are larger than a tile in each dimension
  int any_kernel;                    // for all others
};

inline long long divide_up(long long value, long long divisor) { return (value + divisor - 1) / divisor; }

inline long long tiles(const Record& record, const Size& size) {
  return divide_up(size.m, record.block_m) * divide_up(size.n, record.block_n);
}

// Bytes of scratch: where clusters share tiles, each has two places for a tile's sum, and each place two
// counters.
inline long long workspace_bytes(int grid_blocks, int cluster_k, int block_m, int block_n,
                                 long long all_tiles) {
  const long long clusters = grid_blocks / cluster_k;
  if (clusters == 0 || all_tiles % clusters == 0) return 0;
  return 16LL * grid_blocks + 8LL * clusters * block_m * block_n;
}

// For dense row-major operands: A has rows of row_a words, and so on.
inline bool legal(const Record& record, const Size& size, long long row_a, long long row_b) {
  constexpr long long int_max = 2147483647;
  if (row_a % record.vector_a || row_b % record.vector_b || size.n % record.vector_c) return false;
  const long long all = tiles(record, size), steps = divide_up(size.k, record.block_k);
  const long long clusters = record.grid_blocks / record.cluster_k;
  return all * record.cluster_k <= int_max && clusters <= all * steps &&
         std::min(all, 2 * clusters) * steps <= int_max &&
         workspace_bytes(record.grid_blocks, record.cluster_k, record.block_m, record.block_n, all) <=
             (1LL << 30);
}

inline double log_ratio(long long size, long long known) {
  return std::fabs(std::log(static_cast<double>(std::max(1LL, size)) / std::max(1LL, known)));
}

// How long an SM works on blocks of so many registers, in times of a block at the peak rate.
inline double busy(const Device& device, long long blocks, int registers) {
  if (registers == 0) return static_cast<double>(blocks);
  const auto hidden = [&](long long resident) {
    const double used = static_cast<double>(resident * registers);
    return 1 - std::exp(-device.hiding * used / device.registers_per_sm);
  };
  const long long resident = std::max(1, device.registers_per_sm / registers);
  const long long waves = blocks / resident, rest = blocks % resident;
  const double full = resident / hidden(resident);
  return waves * full + (rest ? rest / hidden(rest) : 0.0);
}

inline double fixed_seconds(const Device& device, const Record& record, const Size& size) {
  const long long clusters = record.grid_blocks / record.cluster_k;
  const bool shared = clusters && tiles(record, size) % clusters;
  return shared ? device.shared_seconds : device.fixed_seconds;
}

inline double transferred_seconds(const Device& device, const Record& record, const Size& size) {
  const auto blocks = [&](const Size& any) {
    const long long grid = record.grid_blocks ? record.grid_blocks : tiles(record, any) * record.cluster_k;
    return divide_up(grid, device.sm_count);
  };
  const auto steps = [&](const Size& any) {
    const long long along_k = divide_up(any.k, record.block_k);
    const long long clusters = record.grid_blocks / record.cluster_k;
    return divide_up(clusters ? divide_up(tiles(record, any) * along_k, clusters) : along_k,
                     record.cluster_k);
  };
  const long long here = blocks(size), there = blocks(record.size);
  const double longer = static_cast<double>(steps(size)) / std::max(1LL, steps(record.size));
  const double slower =
      busy(device, here, record.registers) / std::max(1.0, busy(device, there, record.registers));
  const double more = longer * std::max(static_cast<double>(here) / std::max(1LL, there), slower);
  const double begin = fixed_seconds(device, record, size),
               began = fixed_seconds(device, record, record.size);
  const double fixed = std::min(began, record.seconds);
  return fixed * (begin / began) + (record.seconds - fixed) * more;
}

// The record that serves a size of 1 to 1048576; -1 if none is near and legal.
inline int select(const Device& device, const Record* records, int count, bool transpose_a, bool transpose_b,
                  const Size& size) {
  const double flops = static_cast<double>(2 * size.m * size.n * size.k);
  const long long words = size.m * size.k + size.k * size.n + size.m * size.n;
  const double moved = static_cast<double>(4 * words);
  const double least = std::max(std::max(flops / device.peak_flops, moved / device.bandwidth), 1e-9);
  int best = -1;
  bool best_exact = false;
  double best_distance = 0;
  for (int i = 0; i < count; ++i) {
    const Record& record = records[i];
    const double ratios[] = {log_ratio(size.m, record.size.m), log_ratio(size.n, record.size.n),
                             log_ratio(size.k, record.size.k)};
    if (*std::max_element(ratios, ratios + 3) > std::log(device.farthest) ||
        !legal(record, size, transpose_a ? size.m : size.k, transpose_b ? size.k : size.n))
      continue;
    const bool exact = size.m == record.size.m && size.n == record.size.n && size.k == record.size.k;
    if (record.own_only && !exact) continue;
    double squares = 0;
    for (double ratio : ratios) squares += ratio * ratio;
    const double distance =
        std::log(transferred_seconds(device, record, size) / least) + device.doubt * std::sqrt(squares);
    const bool nearer = exact != best_exact ? exact : distance < best_distance;
    if (best < 0 || (record.modelled != records[best].modelled ? !record.modelled : nearer)) {
      best = i;
      best_exact = exact;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace autotune
