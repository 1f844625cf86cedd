//===- Run.h - A layer, compiled and compared -------------------*- C++ -*-===//

#ifndef EMBEDDER_RUN_H
#define EMBEDDER_RUN_H

#include "mlir/IR/BuiltinOps.h"

#include <atomic>
#include <string>
#include <vector>

/// saturate(x · w + bias), with weights of 2:4.
struct Layer {
  static constexpr int m = 37, k = 64, n = 48;
  static constexpr float limit = 1.5f;

  Layer();

  /// The function @layer, with its weights as a constant.
  std::string text() const;
  /// The function @layer and a function @main, which calls @layer on the
  /// layer's inputs and returns the largest difference from what it should be.
  std::string program() const;
  /// Compiles `module`, which is in the LLVM dialect, runs `@layer`, and
  /// compares what it returns with sums in double. Parallel loops are run by
  /// this compiler's own runtime, which counts them in `loops`, if that is
  /// given, else by nm's.
  mlir::LogicalResult check(mlir::ModuleOp module, const char *what,
                            std::atomic<int64_t> *loops = nullptr) const;

  std::vector<float> x, w, bias;

private:
  /// What @layer should return.
  std::vector<double> expected() const;
};

#endif // EMBEDDER_RUN_H
