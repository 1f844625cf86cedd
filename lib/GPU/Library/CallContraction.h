//===- CallContraction.h - Computed operands to calls -----------*- C++ -*-===//

#ifndef NM_LIB_GPU_LIBRARY_CALLCONTRACTION_H
#define NM_LIB_GPU_LIBRARY_CALLCONTRACTION_H

#include "nm/Dialect/NM/IR/Contractions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"

namespace mlir::nm {

/// Declares a function of the runtime, and gives it.
using DeclareFunction =
    llvm::function_ref<func::FuncOp(StringRef name, FunctionType type)>;

/// Makes a call of cuBLAS of `op`, on memrefs, and loops for where the library
/// cannot be loaded or refuses the product.
void callContraction(ContractOp op, DeclareFunction declare);

/// The fill of `c`, which `op` adds to, with zeros before `op`, where `c` is
/// not used in between.
linalg::FillOp findZeroFill(Operation *op, Value c);

/// The address of the first element of `memref`, which `metadata` is of, as an
/// index.
Value getAddress(OpBuilder &builder, Value memref,
                 memref::ExtractStridedMetadataOp metadata);

/// Makes `op`, on memrefs, the loops that define it.
void expandContraction(ContractOp op);

} // namespace mlir::nm

#endif // NM_LIB_GPU_LIBRARY_CALLCONTRACTION_H
