//===- MmaFields.cpp - Fields that strategies of mma share ----------------===//

#include "GPU/Strategies/Mma/MmaFields.h"

#include "nm/GPU/Stage/AccessWidth.h"
#include "nm/GPU/Stage/LateLoads.h"
#include "nm/GPU/Stage/RowBytes.h"
#include "nm/Schedule/SumChains.h"
#include "nm/Support/Warp.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;

int64_t mlir::nm::countTileRows(const ::nm::ScheduleFields &fields, int64_t k,
                                int64_t step) {
  step *= fields.sliceK;
  return std::min(llvm::alignTo(fields.blockK, step), llvm::alignTo(k, step));
}

/// Elements that rows of A start at multiples of, in the layout that the
/// product has it in.
static int64_t getRowAlignmentOfA(const ScheduleRequest &request) {
  SparseProductOpInterface op = request.op;
  const ::nm::GpuProduct &product = request.product;
  auto matrix = dyn_cast<SpMMOp>(*op);
  bool isAsItIs = product.strideOfA == 0 && matrix &&
                  matrix.getTransposeA() == product.isMMajor;
  return isAsItIs ? getRowAlignment(op.getA()) : product.factorOfRows();
}

/// The bytes of a tile of A that each thread loads to registers; 0 where
/// asynchronous copies take it.
static int64_t countLoadedBytes(const ScheduleRequest &request,
                                int64_t tileRows, bool isTransposed,
                                int64_t threads,
                                const ::nm::ScheduleFields &fields) {
  constexpr int64_t kAccessBytes = 16;
  const ::nm::GpuProduct &product = request.product;
  int64_t bytes = ::nm::elementSize(product.type),
          contiguous = product.isMMajor ? fields.blockM : tileRows;
  // Blocks that copy an image are chosen such that threads hold what they load.
  if (product.hasImage)
    return 0;
  int64_t width = std::gcd(kAccessBytes / bytes,
                           std::gcd(getRowAlignmentOfA(request), contiguous));
  if (!isTransposed && width * bytes >= ::nm::kAsyncRowBytes)
    return 0;
  return ::nm::bytesOfLoads(fields.blockM * tileRows, width, bytes, threads);
}

void mlir::nm::completeMmaFields(const ScheduleRequest &request,
                                 const ::nm::GivenFields &given, int64_t rows,
                                 int64_t tileRows, bool isTransposed,
                                 ::nm::ScheduleFields &fields) {
  if (fields.warpM == 0 || fields.warpN == 0 || fields.blockK == 0)
    return;
  // Sums of integers are exact.
  if (!given.promote)
    fields.promote =
        ::nm::isFloat(request.product.type) && rows > ::nm::kLongSumRows &&
        ::nm::hasMmaPromotion(fields.warpM * fields.warpN / ::nm::kWarpSize);
  if (given.lateLoads)
    return;
  int64_t threads = fields.blockM / fields.warpM *
                    (fields.blockN / fields.warpN) * fields.sliceK *
                    ::nm::kWarpSize;
  int64_t bytes =
      countLoadedBytes(request, tileRows, isTransposed, threads, fields);
  fields.lateLoads = bytes != 0 && ::nm::wantsLateLoads(threads, bytes);
}
