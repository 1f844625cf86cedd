//===- ProductRun.h - Running a prepared product ----------------*- C++ -*-===//

#ifndef NM_LIB_TORCH_PRODUCTRUN_H
#define NM_LIB_TORCH_PRODUCTRUN_H

#include "ProductTable.h"
#include "Tensor.h"

namespace nm::torch {

/// Runs the product of weight `number` that was prepared for inputs like `x`.
/// Returns whether `result` holds the product. Without a bias `values` is given
/// as `bias`.
bool runProduct(const Tensor &x, const Tensor &values, const Tensor &indices,
                const Tensor &bias, int64_t number, Tensor &result);

/// Has runProduct run `product` for inputs as the last that this thread missed
/// for the weight. Returns whether the product was added.
bool addMissedProduct(int64_t weight, Product &product);

} // namespace nm::torch

#endif // NM_LIB_TORCH_PRODUCTRUN_H
