//===- JitProduct.h - Compiles one product in process -----------*- C++ -*-===//

#ifndef NM_TEST_UNIT_CONVERSION_JITPRODUCT_H
#define NM_TEST_UNIT_CONVERSION_JITPRODUCT_H

#include "nm/Format/ElementType.h"
#include "nm/Format/PackedForm.h"
#include "nm/Format/Pattern.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class ExecutionEngine;
class MLIRContext;
} // namespace mlir

namespace nm::test {

/// A product on memrefs, and how it is to be expanded.
struct Product {
  Pattern pattern;
  ElementType type = ElementType::F32;
  ElementType result = ElementType::F32;
  int64_t batches = 1, m = 1, n = 1, k = 1;
  /// nm.spmv in place of nm.spmm.
  bool isVector = false;
  bool isBatched = false;
  bool transposeA = false;
  bool transposeC = false;
  bool dynamicM = false;
  std::optional<PanelPacking> packing;
  /// A schedule, as `#nm.vector<…>`, or empty.
  std::string schedule;

  std::vector<int64_t> shapeOfA() const;
  std::vector<int64_t> shapeOfC() const;
  /// A function @f with the product, the shapes as above.
  std::string ir() const;
};

/// `product` after `passes` and the lowering to LLVM, compiled for this host.
class JitProduct {
public:
  /// Prints what went wrong and has no code where that fails.
  JitProduct(const Product &product, const std::string &passes);
  ~JitProduct();

  explicit operator bool() const { return engine != nullptr; }
  void run(void *a, void *values, void *indices, void *c) const;

private:
  std::vector<int64_t> shapes[4];
  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<mlir::ExecutionEngine> engine;
};

/// Whether this host has the x86 features that `bits` of vectors need.
bool hostHasVectors(int64_t bits);

} // namespace nm::test

#endif // NM_TEST_UNIT_CONVERSION_JITPRODUCT_H
