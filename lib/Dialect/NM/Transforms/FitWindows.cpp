//===- FitWindows.cpp - Unstructured weights to N:M ones ------------------===//

#include "nm/Dialect/NM/Transforms/DenseFallback.h"
#include "nm/Dialect/NM/Transforms/DescribeProduct.h"
#include "nm/Dialect/NM/Transforms/Passes.h"
#include "nm/Dialect/NM/Transforms/UnstructuredWeights.h"
#include "nm/Dialect/NM/Transforms/WeightOrigin.h"

#include "nm/Dialect/NM/IR/ConstantWeights.h"
#include "nm/Format/Unstructured.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <algorithm>

namespace mlir::nm {
#define GEN_PASS_DEF_NMFITWINDOWS
#include "nm/Dialect/NM/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

namespace {
/// The dense elements of constant unstructured weights.
struct DenseConstant {
  std::vector<char> bytes;
  ::nm::DenseView view;

  static std::optional<DenseConstant> get(SparseProductOpInterface op);
};
} // namespace

std::optional<DenseConstant> DenseConstant::get(SparseProductOpInterface op) {
  std::optional<ConstantArray> values = ConstantArray::get(op.getValues()),
                               indices = ConstantArray::get(op.getIndices());
  if (!values || !indices)
    return std::nullopt;
  int64_t k = op.getStaticK(), n = op.getStaticN();
  if (k == 0 || n == 0)
    return std::nullopt;
  auto *bits = reinterpret_cast<const uint8_t *>(indices->getBytes().data());
  ::nm::ElementType type = values->getElementType();
  if (k > kMostConstantBytes / (n * ::nm::elementSize(type)) ||
      !::nm::verifyIndices(bits, op.getPattern(), k, n, "indices"))
    return std::nullopt;
  DenseConstant dense;
  dense.bytes.resize(k * n * ::nm::elementSize(type));
  dense.view = ::nm::DenseView::rowMajor(dense.bytes.data(), type, k, n);
  ::nm::decompress(
      {values->getBytes().data(), bits, type, op.getPattern(), k, n},
      dense.bytes.data(), n, 1);
  return dense;
}

/// The number of weights that `op` keeps at most, of which `dense` are known.
static int64_t countKept(SparseProductOpInterface op,
                         const std::optional<DenseConstant> &dense) {
  return dense ? ::nm::countNonZeros(dense->view)
               : op.getValuesType().getDimSize(1);
}

int64_t mlir::nm::countKept(SparseProductOpInterface op) {
  return ::countKept(op, DenseConstant::get(op));
}

namespace {
/// How a kernel has single weights of a window.
struct WindowForm {
  std::vector<int64_t> sizes;
  /// Whether a bit for each row says where they are, if so takes less than
  /// their positions.
  bool hasBits = false;
  /// The kept weights of a window are a multiple of this number.
  int64_t step = 1;
};
} // namespace

/// The pattern of units of the block of `given` whose windows, of sizes of
/// `form`, have what they keep at most, in the fewest bytes.
static ::nm::Pattern fitPattern(const ::nm::DenseView &dense,
                                const ::nm::Pattern &given,
                                const WindowForm &form) {
  std::vector<int64_t> most = ::nm::mostKeptOf(dense, form.sizes, given);
  ::nm::Pattern best;
  double bestBits = 0;
  for (auto [m, kept] : llvm::zip(form.sizes, most)) {
    int64_t n = std::max<int64_t>(kept, 1);
    n = std::min<int64_t>(llvm::alignTo(n, form.step), m);
    ::nm::Pattern pattern{n, m, given.bk, given.bn};
    auto places = double(n * pattern.indexBits());
    if (form.hasBits)
      places = std::min(places, double(m));
    double bits =
        (1 - pattern.sparsity()) * (double(8 * ::nm::elementSize(dense.type)) +
                                    places / double(n * given.bk * given.bn));
    if (bestBits != 0 && bits >= bestBits)
      continue;
    best = pattern;
    bestBits = bits;
  }
  return best;
}

/// The windows that are tried for units of `rows` rows. Bits of positions take
/// less in short windows, and what is most of a window less in long ones.
/// Tensor cores take those of 32 single weights, and of 8-bit weights, of which
/// an even number is kept, those of 64 and 128, too (see nm/Format/Bitmap.h).
static WindowForm listWindows(SparseProductOpInterface op) {
  int64_t rows = op.getPattern().bk, k = op.getStaticK();
  if (rows == 1 && op.getPattern().bn == 1) {
    if (op.getValuesType().getElementTypeBitWidth() == 8 && isa<SpMMOp>(*op))
      return {{32, 64, 128}, /*hasBits=*/true, /*step=*/2};
    if (op.getStaticM() == 1)
      return {{32, 64, 128, 256}};
    return {{32}};
  }
  WindowForm form;
  for (int64_t units : {2, 4, 8, 16, 32})
    if (form.sizes.empty() || units * rows <= k)
      form.sizes.push_back(units);
  return form;
}

/// From so many kept weights of 32 on, a bitmap and values take as much memory
/// as dense weights do.
static constexpr double kLeastSparsity = 2.5 / 32;

/// Gives `op`, of unstructured weights, of which `constant` are known, weights
/// with a pattern that its kernel can have on a GPU. Returns why it is that
/// one.
static std::string fitWindows(SparseProductOpInterface op,
                              const std::optional<DenseConstant> &constant,
                              bool isLoaded) {
  ::nm::Pattern dense =
      getDensePattern(std::min(op.getStaticN(), ::nm::kMaxBlock));
  if (!constant) {
    makeDense(op, dense);
    std::string skipped =
        isLoaded
            ? ", whose zeros simt_columns, gemv_columns and mma_bitmap skip "
              "where that is faster"
            : "";
    return "dense weights" + skipped +
           ": where they are kept is not known when it is compiled; weights "
           "with the encoding of an N:M pattern that holds, "
           "as nm.check names it, are packed when they are loaded";
  }
  ::nm::Pattern pattern =
      fitPattern(constant->view, op.getPattern(), listWindows(op));
  if (pattern.sparsity() < kLeastSparsity) {
    makeDense(op, dense);
    return "dense weights: some windows of " + std::to_string(pattern.m) +
           " keep " + std::to_string(pattern.n);
  }
  makeDense(op, pattern);
  return "pattern " + pattern.str() + ", the most that a window keeps";
}

/// Says on `op` how its weights, if they are constant, could be walked along.
static void setEllSteps(SparseProductOpInterface op,
                        const std::optional<DenseConstant> &constant) {
  constexpr int64_t kMostRows = 16;
  int64_t m = op.getStaticM();
  if (!constant || ShapedType::isDynamic(m) || m > kMostRows ||
      op.getStaticK() > ::nm::EllForm::kMostRows)
    return;
  SmallVector<int64_t> steps;
  for (int64_t bits : ::nm::EllForm::kBits) {
    ::nm::EllSteps ell = ::nm::countEllSteps(constant->view, bits);
    llvm::append_values(steps, ell.most, ell.total);
  }
  op->setDiscardableAttr(kEllStepsAttr,
                         DenseI64ArrayAttr::get(op->getContext(), steps));
}

namespace {
struct NMFitWindows : mlir::nm::impl::NMFitWindowsBase<NMFitWindows> {
  using NMFitWindowsBase::NMFitWindowsBase;

  void runOnOperation() override {
    SmallVector<SparseProductOpInterface> products;
    getOperation()->walk([&](SparseProductOpInterface op) {
      if (op.getPattern().isUnstructured() && op.hasPureTensorSemantics())
        products.push_back(op);
    });
    Builder builder(&getContext());
    for (SparseProductOpInterface op : products) {
      // Asked before format ops take the place of what was loaded.
      bool isLoaded = areWeightsLoaded(op);
      std::optional<DenseConstant> constant = DenseConstant::get(op);
      int64_t kept = ::countKept(op, constant);
      std::string reason = fitWindows(op, constant, isLoaded);
      if (isLoaded)
        op->setDiscardableAttr(kKeptAttr, builder.getI64IntegerAttr(kept));
      setEllSteps(op, constant);
      op->emitRemark() << "unstructured weights get " << reason;
    }
  }
};
} // namespace
