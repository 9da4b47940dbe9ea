// FlashInfer's decoding of pages, compiled by nvcc for the types and numbers that are defined ahead of it.
#include <flashinfer/utils.cuh>

#include <vector>

#undef DISPATCH_GQA_GROUP_SIZE  // compiles one kernel in place of seven
#define DISPATCH_GQA_GROUP_SIZE(number, GROUP_SIZE, ...) \
  {                                                      \
    constexpr size_t GROUP_SIZE = DECODED_GROUP;         \
    __VA_ARGS__                                          \
  }
#include <flashinfer/attention/decode.cuh>
#include <flashinfer/attention/default_decode_params.cuh>
#include <flashinfer/attention/scheduler.cuh>
#include <flashinfer/attention/variants.cuh>

using Params = flashinfer::BatchDecodeParams<Element, Element, Element, int>;
using Variant = flashinfer::DefaultAttention<false, (WINDOW > 0), (SOFTCAP > 0), false>;

constexpr auto positions = flashinfer::PosEncodingMode::kNone;
constexpr size_t sums_bytes = 256 << 20, plan_bytes = 16 << 20;  // as its Python takes, twice

// What FlashInfer plans on the host for the lengths of a batch.
struct Plan {
  void* scratch = nullptr;
  void* locked = nullptr;  // pages of the host
  flashinfer::DecodePlanInfo info;
};

// Makes a plan, and FlashInfer's form of the pages behind it in `scratch`.
inline cudaError_t make_plan(Plan& plan, void* scratch, const int* lengths, const int* table, long long batch,
                             long long columns, long long heads, long long page, cudaStream_t stream) {
  std::vector<int> keys(batch), pages(batch * columns), begin{0}, last, used;
  cudaStreamSynchronize(stream);
  cudaMemcpy(keys.data(), lengths, keys.size() * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(pages.data(), table, pages.size() * sizeof(int), cudaMemcpyDeviceToHost);
  for (long long i = 0; i < batch; ++i) {
    const int* own = pages.data() + i * columns;
    const long long count = (keys[i] + page - 1) / page;
    used.insert(used.end(), own, own + count);
    begin.push_back(static_cast<int>(used.size()));
    last.push_back(static_cast<int>(keys[i] - (count - 1) * page));
  }
  int* target = reinterpret_cast<int*>(static_cast<char*>(scratch) + sums_bytes + plan_bytes);
  for (const auto& one : {begin, last, used}) {
    cudaMemcpy(target, one.data(), one.size() * sizeof(int), cudaMemcpyHostToDevice);
    target += one.size();
  }
  if (plan.locked == nullptr) cudaMallocHost(&plan.locked, plan_bytes);
  const auto estimate =
      flashinfer::BatchDecodeWithPagedKVCacheWorkEstimationDispatched<DECODED_GROUP, DECODED_DIM, positions,
                                                                      Variant, Params>;
  const cudaError_t status = flashinfer::DecodePlan<DECODED_DIM, positions, Variant, Params>(
      scratch, sums_bytes, static_cast<char*>(scratch) + sums_bytes, plan.locked, plan_bytes, plan.info,
      begin.data(), batch, heads, page, false, stream, estimate);
  plan.scratch = scratch;
  return status;
}

// With `scratch` null it writes the bytes that are needed there. The first call plans. Returns a cudaError_t.
extern "C" int driver_call(void* scratch, size_t* bytes, Element* q, Element* k, Element* v, Element* o,
                           int* lengths, int* table, long long batch, long long columns, long long heads,
                           long long page, void* stream) {
  static Plan plan;
  const cudaStream_t queue = static_cast<cudaStream_t>(stream);
  *bytes = sums_bytes + plan_bytes + (2 * batch + 1 + batch * columns) * sizeof(int);
  if (scratch == nullptr) {
    plan.scratch = nullptr;
    return cudaSuccess;
  }
  if (plan.scratch != scratch) {
    const cudaError_t status = make_plan(plan, scratch, lengths, table, batch, columns, heads, page, queue);
    if (status != cudaSuccess) return status;
  }
  char* planned = static_cast<char*>(scratch) + sums_bytes;
  const auto part = [&](auto* type, long long offset) {
    return reinterpret_cast<decltype(type)>(planned + offset);
  };
  int* begin = part(static_cast<int*>(nullptr), plan_bytes);
  int *last = begin + batch + 1, *used = last + batch;
  flashinfer::paged_kv_t<Element, int> pages(heads / DECODED_GROUP, page, DECODED_DIM, batch,
                                             flashinfer::QKVLayout::kNHD, k, v, used, begin, last);
  Params params(q, nullptr, pages, o, nullptr, nullptr, heads, heads * DECODED_DIM, DECODED_DIM, WINDOW - 1,
                SOFTCAP, SCALE, 1.0f, 1e4f);
  params.padded_batch_size = plan.info.padded_batch_size;
  params.request_indices = part(params.request_indices, plan.info.request_indices_offset);
  params.kv_tile_indices = part(params.kv_tile_indices, plan.info.kv_tile_indices_offset);
  params.o_indptr = part(params.o_indptr, plan.info.o_indptr_offset);
  params.kv_chunk_size_ptr = part(params.kv_chunk_size_ptr, plan.info.kv_chunk_size_ptr_offset);
  Element* sums = nullptr;
  float* tops = nullptr;
  if (plan.info.split_kv) {
    sums = reinterpret_cast<Element*>(static_cast<char*>(scratch) + plan.info.v_offset);
    tops = reinterpret_cast<float*>(static_cast<char*>(scratch) + plan.info.s_offset);
    params.block_valid_mask = part(params.block_valid_mask, plan.info.block_valid_mask_offset);
  }
  return flashinfer::BatchDecodeWithPagedKVCacheDispatched<DECODED_DIM, positions, Variant>(
      params, sums, tops, false, queue);
}
