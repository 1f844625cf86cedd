//===- Run.h - A layer, compiled and compared -------------------*- C++ -*-===//

#ifndef EMBEDDER_RUN_H
#define EMBEDDER_RUN_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

/// saturate(x · w + bias), with weights of 2:4.
struct Layer {
  static constexpr int m = 37, k = 64, n = 48;
  static constexpr float limit = 1.5f;

  Layer();

  /// The function @layer, with its weights as a constant.
  std::string text() const;
  /// Compiles `module`, which is in the LLVM dialect, runs `@layer`, and
  /// compares what it returns with sums in double.
  mlir::LogicalResult check(mlir::ModuleOp module, const char *what) const;

  std::vector<float> x, w, bias;
};

#endif // EMBEDDER_RUN_H
