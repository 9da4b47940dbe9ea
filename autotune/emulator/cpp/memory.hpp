#pragma once
// Regions far from one another, and the check of every access.

#include <cstdint>

#include "region.hpp"

namespace autotune_emulator {

void allow_constants(const char* begin, const char* end);  // the module's, which its kernels may read
void use_static_shared(char* begin, const char* end);  // the module's; a cluster of several blocks has none
void reserve_memory(int buffers, int most_ranks, int64_t most_bytes);  // most_bytes is a buffer's
char* map_stacks(int64_t bytes);                                       // first
void map_shared(int64_t most_bytes);                                   // second, for each block of a cluster
char* map_buffer(const char* name, int64_t bytes, int64_t alignment, Use use);
char* map_sparse_buffer(const char* name, int64_t bytes, int64_t alignment, Use use, const Pieces& pieces);
void set_shared_bytes(int64_t bytes);  // the running launch's
void poison_shared();

// `at_once`: one instruction moves all the bytes, so that they must be aligned.
void check(const void* address, int64_t bytes, Access access, bool at_once);
// Whether what is there lies in the running block's own shared memory, and aligned.
void check_shared(const char* what, const void* shared, int64_t bytes, int64_t alignment);

// The block's own shared memory, as a kernel asks for that is aligned to so many bytes.
char* own_shared(int64_t alignment);
// `shared_of_rank` of what is written there.
char* in_shared_of_rank(void* shared, int rank);

}  // namespace autotune_emulator
