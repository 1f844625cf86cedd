//===- SplitWeight.cpp - Packed weights that each call makes --------------===//

#include "Cuda/SplitWeight.h"

#include "Cuda/CudaModule.h"
#include "Cuda/SplitWeightKernel.h"
#include "Cuda/StreamMemory.h"

#include <limits>
#include <string_view>

using namespace nm;
using namespace nm::cuda;

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

static bool contains(const std::string &text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// The bytes that a column has of an index row of `rows` rows, two bits each;
/// 0 where the kernel has no such index rows.
static int64_t bytesOfIndex(int64_t rows) {
  int64_t bytes = rows / 4;
  if (rows < 4 || rows % 4 != 0)
    return 0;
  if (bytes > 2)
    bytes = (bytes + 3) / 4 * 4;
  return 16 % bytes == 0 || bytes % 16 == 0 ? bytes : 0;
}

/// The sizes of the panels of values [panels, chunks, 4 * panel].
static int64_t panelOf(const Tensor &values) { return values.shape[2] / 4; }

/// The rows of an index row of indices [panels, index rows, bytes].
static int64_t rowsOfIndex(int64_t chunks, int64_t indexRows) {
  return indexRows == 0 ? 0 : chunks * 4 / indexRows;
}

bool cuda::canSplitWeight(const TensorType &type, const PackedWeightInfo &from,
                          const PackedWeightInfo &to) {
  if (!type.encoding || type.element != ElementType::F32 ||
      type.encoding->pattern.str() != "2:4")
    return false;
  if (!contains(to.layout, "#nm.sparse_operand<wgmma_pairs, splits = 3>") ||
      to.lists || to.values.element != ElementType::BF16)
    return false;
  // Rows in the order of a panel, in chunks of four; 2 bits are the least.
  if (!contains(from.layout, "#nm.packing<panel = ") ||
      !contains(from.layout, ", index_bits = 2, chunk_rows = 4, index_rows = "))
    return false;
  for (const char *other : {"chunk_columns", "tile_rows", "col_info", "splits"})
    if (contains(from.layout, other))
      return false;
  if (from.lists || from.values.element != ElementType::F32 ||
      from.values.shape.size() != 3 || from.indices.shape.size() != 3)
    return false;
  int64_t chunks = from.values.shape[1], panel = from.values.shape[2] / 4;
  int64_t bytes = bytesOfIndex(rowsOfIndex(chunks, from.indices.shape[1]));
  // The kernel counts in 32 bits.
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  return bytes != 0 && from.indices.shape[2] == panel * bytes &&
         to.values.shape[0] * to.values.shape[1] * to.values.shape[2] < kMost;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static uintptr_t addressOf(const Tensor &tensor) {
  return reinterpret_cast<uintptr_t>(tensor.data);
}

static Status launchSplit(const ContextScope &scope, Stream stream,
                          const Weight &weight, uintptr_t splits,
                          uintptr_t metadata) {
  static RuntimeKernel ofRuntime(kSplitWeightPtx, "nm_split_weight");
  Result<Kernel *> kernel = ofRuntime.get();
  if (!kernel)
    return kernel.error();
  const Weight &from = *weight.madeOf;
  uintptr_t values = addressOf(from.values), indices = addressOf(from.indices);
  int64_t chunks = from.values.shape[1], indexRows = from.indices.shape[1];
  int64_t sizes[] = {weight.keptRows,
                     weight.columns,
                     panelOf(from.values),
                     chunks,
                     indexRows,
                     rowsOfIndex(chunks, indexRows),
                     bytesOfIndex(rowsOfIndex(chunks, indexRows)),
                     weight.values.shape[1]};
  std::vector<void *> params = {&values, &indices, &splits, &metadata};
  for (int64_t &size : sizes)
    params.push_back(&size);
  LaunchShape shape{{weight.values.shape[0] * weight.values.shape[1], 1, 1},
                    {NM_SPLIT_WEIGHT_THREADS, 1, 1},
                    {0, 0, 0},
                    /*sharedBytes=*/0};
  return (*kernel)->launch(scope, shape, stream, params.data(),
                           /*extra=*/nullptr);
}

Result<Weight> MadeWeights::make(const Weight &weight) {
  // As far apart as the driver's allocations are.
  constexpr int64_t kAlignment = 512;
  int64_t bytes =
      (weight.values.bytes() + kAlignment - 1) / kAlignment * kAlignment;
  Result<Address> address =
      allocateOnStream(scope, bytes + weight.indices.bytes(), stream);
  if (!address)
    return address.error();
  taken.push_back(*address);
  if (Status status =
          launchSplit(scope, stream, weight, *address, *address + bytes);
      !status)
    return status.error();
  Weight made = weight;
  made.values.data = reinterpret_cast<void *>(*address);
  made.indices.data = reinterpret_cast<void *>(*address + bytes);
  return made;
}

MadeWeights::~MadeWeights() {
  for (Address address : taken)
    (void)freeOnStream(scope, address, stream);
}
