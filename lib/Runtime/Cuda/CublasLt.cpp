//===- CublasLt.cpp - Products of cuBLASLt --------------------------------===//

#include "Cuda/CublasLt.h"

#include "Cuda/StreamMemory.h"
#include "Deterministic.h"
#include "FastestCall.h"
#include "nm/Support/CublasLibrary.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

using namespace nm;
using namespace nm::cublas;
using namespace nm::cuda;

std::optional<CublasLt> CublasLt::find(void *library) {
  std::optional<LtFunctions> functions = LtFunctions::find(library);
  if (!functions)
    return std::nullopt;
  CublasLt blas;
  blas.functions = *functions;
  return blas;
}

bool ColumnMajorProduct::isOfIntegers() const { return compute == kComputeI32; }

bool ColumnMajorProduct::usesTensorCores() const {
  return compute == kComputeTF32 || isOfIntegers() ||
         left.type == dataType(ElementType::F16) ||
         left.type == dataType(ElementType::BF16) ||
         left.type == dataType(ElementType::F8E4M3);
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Parts of k may be summed in memory of this size: what cuBLAS itself takes on
/// a Hopper GPU.
static constexpr uint64_t kMostWorkspace = uint64_t(32) << 20;
/// Algorithms that the library is asked for, the one that it takes to be the
/// fastest first: on an H200 the fastest was among the first eight, and takes
/// up to a quarter less than the first.
static constexpr int kMostAlgorithms = 8;
/// Plans that a thread keeps.
static constexpr size_t kMostPlans = 64;

namespace {
/// The descriptors of one product, and the algorithms that make it, which are
/// looked for once: that takes longer than small products.
struct Plan {
  explicit Plan(const LtFunctions &functions) : functions(functions) {}
  Plan(const Plan &) = delete;
  ~Plan() {
    for (LtFunctions::Descriptor layout : {left, right, result})
      if (layout)
        functions.destroyLayout(layout);
    if (product)
      functions.destroyProduct(product);
  }

  /// Fills the plan in; returns cuBLAS' status.
  int create(void *handle, const ColumnMajorProduct &wanted);
  int setBias(const void *bias) {
    return functions.setProduct(product, kProductBias, &bias, sizeof bias);
  }

  const LtFunctions &functions;
  LtFunctions::Descriptor product = nullptr, left = nullptr, right = nullptr,
                          result = nullptr;
  /// The one that is taken, and then those that may be faster, which have not
  /// been timed.
  std::vector<LtFunctions::Found> found;
  /// The status of the search.
  int status = kStatusNotSupported;

private:
  int createLayout(LtFunctions::Descriptor &layout,
                   const ColumnMajorMatrix &matrix, int64_t rows,
                   int64_t columns, int64_t batches);
  int createProduct(const ColumnMajorProduct &wanted);
  int findAlgorithm(void *handle, const ColumnMajorProduct &wanted);
};
} // namespace

/// The bytes that `address` is a multiple of, at most 256, which the library
/// takes addresses to be aligned to where it is not told.
static uint32_t alignmentOf(const void *address) {
  auto bits = reinterpret_cast<uintptr_t>(address) | 256;
  return uint32_t(bits & (~bits + 1));
}

/// Whether the algorithm is chosen by what it takes: on the tensor cores,
/// unless NM_CUBLAS_SEARCH is 0, or nothing may be measured at run time. There
/// are few there, and they differ.
static bool mayChoose(const ColumnMajorProduct &product) {
  static const bool isForbidden = [] {
    const char *text = std::getenv("NM_CUBLAS_SEARCH");
    return text && std::string_view(text) == "0";
  }();
  return !isForbidden && !isDeterministic() && product.usesTensorCores();
}

int Plan::createLayout(LtFunctions::Descriptor &layout,
                       const ColumnMajorMatrix &matrix, int64_t rows,
                       int64_t columns, int64_t batches) {
  if (matrix.op == kTranspose)
    std::swap(rows, columns);
  if (int code =
          functions.createLayout(&layout, matrix.type, uint64_t(rows),
                                 uint64_t(columns), int64_t(matrix.leading)))
    return code;
  auto count = int32_t(batches);
  int64_t stride = matrix.batch;
  if (int code =
          functions.setLayout(layout, kLayoutBatches, &count, sizeof count))
    return code;
  return functions.setLayout(layout, kLayoutBatchStride, &stride,
                             sizeof stride);
}

int Plan::createProduct(const ColumnMajorProduct &wanted) {
  constexpr int kScaleF32 = 0, kScaleI32 = 10;
  int scale = wanted.isOfIntegers() ? kScaleI32 : kScaleF32;
  if (int code = functions.createProduct(&product, wanted.compute, scale))
    return code;
  constexpr uint32_t kDefaultEpilogue = 1;
  uint32_t kind =
      wanted.epilogue == 0 ? kDefaultEpilogue : uint32_t(wanted.epilogue);
  for (auto [attribute, value, size] :
       {std::tuple<int, const void *, size_t>(kProductOpOfA, &wanted.left.op,
                                              sizeof wanted.left.op),
        {kProductOpOfB, &wanted.right.op, sizeof wanted.right.op},
        {kProductEpilogue, &kind, sizeof kind}})
    if (int code = functions.setProduct(product, attribute, value, size))
      return code;
  if (wanted.fastAccum) {
    constexpr int8_t kFast = 1;
    if (int code = functions.setProduct(product, kProductFastAccum, &kFast,
                                        sizeof kFast))
      return code;
  }
  // How it is aligned decides between algorithms.
  return wanted.bias ? setBias(wanted.bias) : 0;
}

int Plan::findAlgorithm(void *handle, const ColumnMajorProduct &wanted) {
  LtFunctions::Descriptor preference = nullptr;
  if (int code = functions.createPreference(&preference))
    return code;
  // CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE: parts of sums stay f32.
  constexpr uint32_t kReductions = 2;
  int code = functions.setPreference(preference, kPreferWorkspace,
                                     &kMostWorkspace, sizeof kMostWorkspace);
  if (code == 0)
    code = functions.setPreference(preference, kPreferReductions, &kReductions,
                                   sizeof kReductions);
  const void *addresses[] = {wanted.left.data, wanted.right.data, wanted.data,
                             wanted.data};
  for (int i = 0; i < 4 && code == 0; ++i) {
    uint32_t alignment = alignmentOf(addresses[i]);
    code = functions.setPreference(preference, kPreferAlignments[i], &alignment,
                                   sizeof alignment);
  }
  int count = 0;
  found.resize(mayChoose(wanted) ? kMostAlgorithms : 1);
  if (code == 0)
    code = functions.findAlgorithms(handle, product, left, right, result,
                                    result, preference, int(found.size()),
                                    found.data(), &count);
  functions.destroyPreference(preference);
  found.resize(size_t(code == 0 ? count : 0));
  if (code == 0)
    code = count == 0 ? kStatusNotSupported : found.front().status;
  return code;
}

int Plan::create(void *handle, const ColumnMajorProduct &wanted) {
  int code =
      createLayout(left, wanted.left, wanted.rows, wanted.k, wanted.batches);
  if (code == 0)
    code = createLayout(right, wanted.right, wanted.k, wanted.columns,
                        wanted.batches);
  if (code == 0)
    code = createLayout(result, wanted.result, wanted.rows, wanted.columns,
                        wanted.batches);
  if (code == 0)
    code = createProduct(wanted);
  if (code == 0)
    code = findAlgorithm(handle, wanted);
  return code;
}

/// What a plan depends on.
using Key = std::array<int64_t, 23>;

static Key keyOf(void *handle, const ColumnMajorProduct &product) {
  Key key = {int64_t(reinterpret_cast<uintptr_t>(handle)),
             product.rows,
             product.columns,
             product.k,
             product.batches,
             product.compute,
             product.epilogue,
             alignmentOf(product.data),
             alignmentOf(product.bias),
             product.result.type,
             product.fastAccum};
  size_t next = 11;
  for (const ColumnMajorMatrix *matrix :
       {&product.left, &product.right, &product.result}) {
    key[next++] = matrix->leading;
    key[next++] = matrix->batch;
    if (matrix == &product.result)
      continue;
    key[next++] = matrix->type;
    key[next++] = matrix->op;
    key[next++] = alignmentOf(matrix->data);
  }
  return key;
}

/// The thread's plan for products like `product`.
static Plan &planFor(const LtFunctions &functions, void *handle,
                     const ColumnMajorProduct &product) {
  static thread_local std::map<Key, std::unique_ptr<Plan>> plans;
  Key key = keyOf(handle, product);
  auto known = plans.find(key);
  if (known != plans.end())
    return *known->second;
  // Sizes that change with each call would otherwise be kept forever.
  if (plans.size() >= kMostPlans)
    plans.clear();
  auto plan = std::make_unique<Plan>(functions);
  plan->status = plan->create(handle, product);
  return *plans.emplace(key, std::move(plan)).first->second;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Queues the product by an algorithm of `plan`, with memory for its parts;
/// returns cuBLAS' status.
static int multiplyBy(const LtFunctions::Found &found, const Plan &plan,
                      void *handle, const ColumnMajorProduct &product,
                      Address workspace, Stream stream) {
  const float factors[] = {0, 1};
  const int32_t integers[] = {0, 1};
  auto factor = [&](bool one) -> const void * {
    return product.isOfIntegers() ? static_cast<const void *>(&integers[one])
                                  : &factors[one];
  };
  return plan.functions.multiply(
      handle, plan.product, factor(true), product.left.data, plan.left,
      product.right.data, plan.right, factor(product.accumulate), product.data,
      plan.result, product.data, plan.result, found.algorithm.data(),
      reinterpret_cast<void *>(workspace), found.workspaceBytes, stream);
}

/// Calls `body` with memory of `bytes` on `stream`, which is given back behind
/// what it queues there, and returns what it returns.
template <typename Body>
static auto withWorkspace(const ContextScope &scope, uint64_t bytes,
                          Stream stream, Body body)
    -> decltype(body(Address())) {
  if (bytes == 0)
    return body(Address());
  Result<Address> memory = allocateOnStream(scope, bytes, stream);
  if (!memory)
    return memory.error();
  auto result = body(*memory);
  if (Status freed = freeOnStream(scope, *memory, stream); !freed)
    return freed.error();
  return result;
}

/// Puts the fastest algorithm in place of all that were found.
static Status chooseAlgorithm(Plan &plan, const ContextScope &scope,
                              void *handle, const ColumnMajorProduct &product,
                              Stream stream) {
  Result<size_t> fastest = findFastestCall(
      scope, stream, plan.found.size(),
      [&](size_t i, Stream on) -> Result<bool> {
        const LtFunctions::Found &found = plan.found[i];
        return withWorkspace(scope, found.workspaceBytes, on,
                             [&](Address workspace) -> Result<bool> {
                               return multiplyBy(found, plan, handle, product,
                                                 workspace, on) == 0;
                             });
      });
  if (!fastest)
    return fastest.error();
  plan.found = {plan.found[*fastest]};
  return Status::success();
}

Result<int> CublasLt::multiply(const ContextScope &scope, void *handle,
                               const ColumnMajorProduct &product,
                               Stream stream) const {
  Plan &plan = planFor(functions, handle, product);
  if (plan.status != 0)
    return plan.status;
  if (int code = product.bias ? plan.setBias(product.bias) : 0)
    return code;
  // Each algorithm that is timed would add to D.
  if (plan.found.size() > 1 && !product.accumulate && canWaitFor(scope, stream))
    if (Status status = chooseAlgorithm(plan, scope, handle, product, stream);
        !status)
      return status.error();
  const LtFunctions::Found &found = plan.found.front();
  return withWorkspace(scope, found.workspaceBytes, stream,
                       [&](Address workspace) -> Result<int> {
                         return multiplyBy(found, plan, handle, product,
                                           workspace, stream);
                       });
}
