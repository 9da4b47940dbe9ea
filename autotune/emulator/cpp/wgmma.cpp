// wgmma. Operands are read, and sums written, when a group of products is waited for.

#include "wgmma.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "accumulators.hpp"
#include "agents.hpp"
#include "emulator.hpp"
#include "matrices.hpp"
#include "memory.hpp"
#include "operands.hpp"
#include "order.hpp"
#include "position.hpp"
#include "warpgroups.hpp"

namespace autotune_emulator {
namespace {

constexpr int product_rows = 64, register_columns = 8;  // columns of A: elements of 32 bits, or two of 16

// A in registers of all threads.
struct RegisterMatrix {
  const unsigned int* registers[warpgroup_threads];
  std::vector<double> elements;  // those of a row one after another
};

struct Product {
  Matrix a;  // without units if it is in registers
  RegisterMatrix fragments;
  Matrix b;
  bool accumulates;
  int sums;  // which, by number
  int group;
};

// Registers of all threads that products add to, one after another.
struct ProductSums {
  char* registers[warpgroup_threads];
  int columns;
  bool integers;
  std::vector<double> values;  // those of a row one after another
  int products;                // under way
};

struct Warpgroup {
  int agent = none, first_thread;
  int committed = 0;  // groups so far
  std::vector<Product> products;
  std::map<int, ProductSums> sums;
  int sums_so_far = 0;
  Knowledge done;  // what the agent did, for who waits
  // What the threads that have come bring.
  unsigned long long a, b;
  const unsigned int* fragments[warpgroup_threads];  // A's, if it is in registers
  bool accumulates;
  WgmmaForm form;
  int line, pending_groups;
  char* registers[warpgroup_threads];
};

std::map<int, Warpgroup> warpgroups;

// Where register i of a thread lies in D.
std::pair<int, int> place(int thread, int i) {
  const int lane = thread % warp_threads;
  return {thread / warp_threads * 16 + lane / 4 + i / 2 % 2 * 8, i / 4 * 8 + lane % 4 * 2 + i % 2};
}

template <typename Each>
void for_each_sum(ProductSums& sums, Each each) {
  for (int thread = 0; thread < warpgroup_threads; ++thread) {
    for (int i = 0; i < sums.columns / 2; ++i) {
      const auto [row, column] = place(thread, i);
      each(sums.values[row * sums.columns + column], sums.registers[thread] + 4 * i);
    }
  }
}

int sums_of(Warpgroup& own) {
  for (auto& [number, sums] : own.sums)
    if (sums.registers[0] == own.registers[0]) return number;
  const bool integers = own.form.a == Operand::s8 || own.form.a == Operand::u8;
  const int columns = own.form.columns;
  ProductSums& sums =
      own.sums[own.sums_so_far] = {{}, columns, integers, std::vector<double>(product_rows * columns), 0};
  std::copy(std::begin(own.registers), std::end(own.registers), sums.registers);
  for_each_sum(sums, [=](double& value, const char* from) {
    int bits;
    std::memcpy(&bits, from, sizeof bits);
    value = integers ? bits : bit_cast<float>(bits);
  });
  for (char* registers : sums.registers) std::memset(registers, 0xff, 2 * columns);
  return own.sums_so_far++;
}

// Register i of a thread is in row lane / 4, or the one 8 below, and in column lane % 4, or the one 4 behind.
RegisterMatrix register_matrix(const Warpgroup& own) {
  const int bytes = element_bytes(own.form.a), of_register = 4 / bytes,
            terms = register_columns * of_register;
  RegisterMatrix found{{}, std::vector<double>(product_rows * terms)};
  std::copy(std::begin(own.fragments), std::end(own.fragments), found.registers);
  for (int thread = 0; thread < warpgroup_threads; ++thread) {
    for (int i = 0; i < 4; ++i) {
      const int lane = thread % warp_threads;
      const int row = thread / warp_threads * 16 + lane / 4 + i % 2 * 8, column = lane % 4 + i / 2 * 4;
      const char* from = reinterpret_cast<const char*>(own.fragments[thread] + i);
      for (int part = 0; part < of_register; ++part)
        found.elements[row * terms + column * of_register + part] = element(from + part * bytes, own.form.a);
    }
  }
  return found;
}

// By the last thread that comes.
void issue_product(int warpgroup) {
  Warpgroup& own = warpgroups[warpgroup];
  const WgmmaForm& form = own.form;
  const bool in_registers = own.fragments[0];
  Product product{in_registers
                      ? Matrix{}
                      : described_matrix("A", own.a, product_rows, form.a, !form.m_adjacent, own.line),
                  in_registers ? register_matrix(own) : RegisterMatrix{},
                  described_matrix("B", own.b, form.columns, form.b, !form.n_adjacent, own.line),
                  own.accumulates,
                  sums_of(own),
                  own.committed};
  ++own.sums.at(product.sums).products;
  for (const Matrix* matrix : {&product.a, &product.b}) {
    begin_bulk(running_rank(), own.agent, layout_of_swizzle(matrix->swizzle_bytes));
    for (const char* unit : matrix->units) check(unit, matrix_unit_bytes, Access::bulk_read_begin, false);
  }
  own.products.push_back(std::move(product));
}

void multiply(const Product& product, ProductSums& sums) {
  const bool in_registers = product.fragments.registers[0];
  const std::vector<double> a = in_registers ? product.fragments.elements : elements_of(product.a),
                            b = elements_of(product.b);
  const int terms = product.b.terms;
  for (int row = 0; row < product_rows; ++row) {
    const double* left = &a[row * terms];
    for (int column = 0; column < sums.columns; ++column) {
      double& value = sums.values[row * sums.columns + column];
      const double* right = &b[column * terms];
      value = sum_of_products(product.accumulates ? value : 0, left, right, terms, product.b.type);
    }
  }
}

// Gives the threads their sums, if no product adds to them any more.
void land(Warpgroup& own, const Product& product) {
  const int number = product.sums;
  ProductSums& sums = own.sums.at(number);
  for (int thread = 0; thread < warpgroup_threads; ++thread) {
    return_registers(own.first_thread + thread, sums.registers[thread]);
    return_registers(own.first_thread + thread, product.fragments.registers[thread]);
  }
  if (--sums.products > 0) return;
  for_each_sum(sums, [&](double value, char* to) {
    const int bits = sums.integers ? static_cast<int>(value) : bit_cast<int>(static_cast<float>(value));
    std::memcpy(to, &bits, sizeof bits);
  });
  own.sums.erase(number);
}

void finish_groups(int warpgroup) {
  Warpgroup& own = warpgroups[warpgroup];
  const int last = own.committed - 1 - own.pending_groups;
  begin_agent_turn(own.agent, own.done);
  size_t done = 0;
  for (; done < own.products.size() && own.products[done].group <= last; ++done) {
    const Product& product = own.products[done];
    for (const Matrix* matrix : {&product.a, &product.b})
      for (const char* unit : matrix->units) check(unit, matrix_unit_bytes, Access::bulk_read_end, false);
    multiply(product, own.sums.at(product.sums));
    land(own, product);
  }
  own.products.erase(own.products.begin(), own.products.begin() + static_cast<int64_t>(done));
  begin_turn();
}

Warpgroup& own_warpgroup() {
  Warpgroup& own = warpgroups[running_warpgroup()];
  if (own.agent != none) return own;
  own.first_thread = running_thread() - thread_in_warpgroup();
  if (thread_in_block(own.first_thread) + warpgroup_threads > block_size())
    fail("wgmma by a part of a warpgroup: the block has %d threads", block_size());
  own.agent = new_agent(running_rank(), "a wgmma");
  return own;
}

// Each thread has to know that what it multiplies is there; it looks at the first unit.
void check_first_unit(const Matrix& matrix) {
  check(matrix.units.front(), matrix_unit_bytes, Access::bulk_look, false);
}

// The running thread brings its registers, and what the others bring, too.
void come_to_product(void* d, unsigned long long a, unsigned long long b, bool accumulates,
                     const WgmmaForm& form, int line) {
  Warpgroup& own = own_warpgroup();
  take_registers(d, 2 * form.columns, "sum", line);
  check_first_unit(described_matrix("B", b, 8, form.b, !form.n_adjacent, line));
  const bool first =
      std::none_of(std::begin(own.registers), std::end(own.registers), [](char* r) { return r; });
  if (!first && (own.a != a || own.b != b || own.accumulates != accumulates))
    fail("line %d: wgmma of other operands than those of other threads of the warpgroup", line);
  own.a = a;
  own.b = b;
  own.accumulates = accumulates;
  own.form = form;
  own.line = line;
  own.registers[thread_in_warpgroup()] = static_cast<char*>(d);
  meet_warpgroup("wgmma", line, [](int warpgroup) {
    issue_product(warpgroup);
    std::fill(std::begin(warpgroups[warpgroup].registers), std::end(warpgroups[warpgroup].registers),
              nullptr);
  });
}

}  // namespace

void wgmma(void* d, unsigned long long a, unsigned long long b, bool accumulates, const WgmmaForm& form,
           int line) {
  own_warpgroup().fragments[thread_in_warpgroup()] = nullptr;
  check_first_unit(described_matrix("A", a, 8, form.a, !form.m_adjacent, line));
  come_to_product(d, a, b, accumulates, form, line);
}

void wgmma(void* d, const unsigned int (&a)[4], unsigned long long b, bool accumulates, const WgmmaForm& form,
           int line) {
  take_registers(a, sizeof a, "operand", line);
  own_warpgroup().fragments[thread_in_warpgroup()] = a;
  come_to_product(d, 0, b, accumulates, form, line);
}

void wgmma_fence() { fence_accumulators(); }

void wgmma_commit(int line) {
  own_warpgroup();
  meet_warpgroup("commit of wgmma", line, [](int warpgroup) { ++warpgroups[warpgroup].committed; });
}

void wgmma_wait(int pending_groups, int line) {
  Warpgroup& own = own_warpgroup();
  own.pending_groups = pending_groups;
  meet_warpgroup("wait for wgmma", line, finish_groups);
  acquire(own.done);
}

void drop_wgmmas() { warpgroups.clear(); }

void check_wgmmas_waited() {
  for (const auto& [number, own] : warpgroups) {
    if (own.products.empty()) continue;
    select_thread(own.first_thread);
    fail("ends while its wgmma is under way, which nobody waited for");
  }
}

}  // namespace autotune_emulator
