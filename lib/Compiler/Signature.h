//===- Signature.h - What callers see of a function -------------*- C++ -*-===//

#ifndef NM_LIB_COMPILER_SIGNATURE_H
#define NM_LIB_COMPILER_SIGNATURE_H

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::nm {

/// A tensor that crosses the boundary, as the manifest has it.
struct TensorInfo {
  std::string dtype;
  SmallVector<int64_t> shape;
  /// As in `8:32, block = 1x32, dim = 1`; empty for none.
  std::string encoding;
  /// What memory must be aligned to, in bytes; 0 for no more than the element.
  int64_t alignment = 0;
  /// Whether the function updates this argument in place: a memref.
  bool isUpdated = false;
};

/// Dimension `dim` of argument `arg`.
struct DimRef {
  int64_t arg;
  int64_t dim;

  bool operator<(const DimRef &other) const {
    return std::tie(arg, dim) < std::tie(other.arg, other.dim);
  }
};

/// A size: a number or that of an argument's dimension.
using DimSource = std::variant<int64_t, DimRef>;

struct Signature {
  std::string name;
  std::vector<TensorInfo> args;
  std::vector<TensorInfo> results;
  /// One list for each result, one entry for each dimension.
  std::vector<std::vector<DimSource>> resultDims;
  /// Argument dimensions that must have the same size.
  std::vector<std::vector<DimRef>> equalDims;
};

/// A tensor or memref type as the manifest has it; none for types that the
/// runtime cannot pass.
std::optional<TensorInfo> getTensorInfo(Type type);

/// The functions that callers outside of the module see.
SmallVector<func::FuncOp> getEntryPoints(ModuleOp module);

/// Makes sizes plain to getSignature: no calls, and no elementwise ops, through
/// which sizes are not followed.
void buildSizeAnalysis(OpPassManager &pm);

/// Reads the signature of `function`, which is on tensors still; an error at
/// the function where the runtime could not call it.
FailureOr<Signature> getSignature(func::FuncOp function);

} // namespace mlir::nm

#endif // NM_LIB_COMPILER_SIGNATURE_H
