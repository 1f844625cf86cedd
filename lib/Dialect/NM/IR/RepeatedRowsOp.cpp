//===- RepeatedRowsOp.cpp - Rows of groups that overlap -------------------===//

#include "nm/Dialect/NM/IR/PatchesOp.h"

#include "VerifyStorage.h"

using namespace mlir;
using namespace mlir::nm;

Value RepeatedRowsOp::getViewSource() { return getA(); }

::nm::WindowTiles RepeatedRowsOp::getTiles() {
  auto type = cast<ShapedType>(getA().getType());
  return {{int64_t(getWindows())}, type.getDimSize(type.getRank() - 2)};
}

LogicalResult RepeatedRowsOp::verify() {
  constexpr int64_t kLeastWindow = 4;
  auto windows = int64_t(getWindows());
  // (C1).
  if (windows % ::nm::OverlappingGroups::kStep != 0 || windows < kLeastWindow)
    return emitOpError() << "expected windows of an even number of rows, "
                         << kLeastWindow << " or more, but got " << windows;
  // (C2).
  auto from = cast<ShapedType>(getA().getType()),
       to = cast<ShapedType>(getResult().getType());
  int64_t kDim = from.getRank() - 2;
  if (kDim < 0 || from.isDynamicDim(unsigned(kDim)))
    return emitOpError() << "expected an A [k x m] of a known k, but got "
                         << from;
  SmallVector<int64_t> shape(from.getShape());
  shape[size_t(kDim)] = getTiles().rows();
  if (to.getShape() != ArrayRef<int64_t>(shape))
    return emitOpError() << "expected a result of " << getTiles().rows()
                         << " rows of " << from << ", but got " << to;
  // (C3).
  auto memory = dyn_cast<MemRefType>(from), matrix = dyn_cast<MemRefType>(to);
  bool isAlike = bool(memory) == bool(matrix) &&
                 from.getElementType() == to.getElementType();
  if (isAlike && memory)
    isAlike = memory.getStridesAndOffset() == matrix.getStridesAndOffset() &&
              memory.getMemorySpace() == matrix.getMemorySpace();
  if (isAlike)
    return success();
  return emitOpError() << "expected an A and a result of one element type, "
                          "both tensors, or both memrefs of one memory space "
                          "and the same strides, but got "
                       << from << " and " << to;
}
