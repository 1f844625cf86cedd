//===- ChannelLayouts.h - Images that have their channels last --*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_LINALGTONM_CHANNELLAYOUTS_H
#define NM_LIB_CONVERSION_LINALGTONM_CHANNELLAYOUTS_H

#include "Convolution.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/SetVector.h"

namespace mlir::nm {

/// Batch, places and channels: the order of the dimensions of an image whose
/// channels are last, as those of the image in planes, batch, channels and
/// places.
SmallVector<int64_t> getChannelsLastOrder(int64_t rank);

/// Whether the pass can change the layout of what `op` makes and takes: linalg
/// ops of one result, parts of images put into others or taken out of them,
/// padding, and elementwise arithmetic.
bool hasAnyLayout(Operation *op);

/// Whether `value` can be made once more in another layout: an empty or filled
/// tensor, a constant of equal elements, or a broadcast of channels.
bool isMadeAnew(Value value);

/// Whether `op` is a convolution by one tap without strides, which takes its
/// image whole: the image has the layout of the output.
bool isPointwise(linalg::LinalgOp op);

/// The images in planes of `function` that cost least with their channels last:
/// those that tensor copies of sparse convolutions read, and all that ops
/// between convolutions make of them, unless more bytes are transposed for it
/// than without. `detects` says whether constants may be sparse filters.
llvm::SetVector<Value> findChannelsLast(func::FuncOp function, bool detects);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_LINALGTONM_CHANNELLAYOUTS_H
