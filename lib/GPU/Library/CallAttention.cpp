//===- CallAttention.cpp - Attention to calls of cuDNN --------------------===//

#include "GPU/Library/CallAttention.h"

#include "nm/Dialect/NM/IR/AttentionLoops.h"
#include "nm/Dialect/NM/IR/Chip.h"
#include "nm/Dialect/NM/IR/ContractionLoops.h"
#include "nm/Dialect/NM/IR/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
/// Builds the arguments of one call, all of them index.
class AttentionCall {
public:
  AttentionCall(OpBuilder &builder, AttentionOp op)
      : builder(builder), loc(op.getLoc()), op(op),
        loops(getAttentionLoops(op)) {
    for (unsigned i = 0; i < kOperands; ++i)
      layouts.push_back(
          OperandLayout::get(cast<MemRefType>(op.getOperand(i).getType()),
                             getLoopsOf(op.getMap(i))));
  }

  /// Whether rows are of contiguous elements, and loops are those that the
  /// call has.
  bool canBeMade();
  SmallVector<Value> getArguments();

private:
  static constexpr unsigned kOperands = 4;

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  /// The dimension of operand `i` along `loop`.
  std::optional<int64_t> find(unsigned i, unsigned loop) const {
    const auto *at = llvm::find(layouts[i].loops, loop);
    return at == layouts[i].loops.end()
               ? std::nullopt
               : std::optional<int64_t>(at - layouts[i].loops.begin());
  }
  Value sizeOf(std::optional<unsigned> loop);
  Value strideOf(unsigned i, std::optional<unsigned> loop);

  OpBuilder &builder;
  Location loc;
  AttentionOp op;
  AttentionLoops loops;
  SmallVector<OperandLayout> layouts;
  SmallVector<memref::ExtractStridedMetadataOp> metadata;
};
} // namespace

bool AttentionCall::canBeMade() {
  auto isContiguousAlong = [&](unsigned i, unsigned loop) {
    return layouts[i].strides[*find(i, loop)] == 1;
  };
  return !op.getMask() && !op.getLengths() && loops.batches.size() <= 2 &&
         loops.rows.size() <= 2 && isContiguousAlong(0, loops.depth) &&
         isContiguousAlong(1, loops.depth) &&
         isContiguousAlong(2, loops.width) && isContiguousAlong(3, loops.width);
}

/// Whether nm's kernel is chosen for attention of at most 16 rows, whose keys
/// and values have `elements` elements. Where heads of queries with several
/// rows share keys, cuDNN's kernel takes 1.8 to 3.4 times as long, and where
/// keys and values are few, cuDNN's call takes longer
/// (docs/strategies/cublas.md).
static bool isShortOfFewRows(AttentionOperands &operands, int64_t elements) {
  constexpr int64_t kMostBytes = int64_t(16) << 20, kElementBytes = 2;
  ArrayRef<unsigned> rows = operands.loops.rows;
  bool hasSeveral = operands.getStaticSize(rows.back()) > 1,
       isShared = rows.size() > 1 && operands.getStaticSize(rows.front()) > 1;
  return (hasSeveral && isShared) ||
         elements * kElementBytes <= kMostBytes * (hasSeveral ? 3 : 1);
}

bool mlir::nm::isShortKernel(AttentionOp op) {
  constexpr int64_t kMostProducts = int64_t(1) << 32;
  ChipAttr chip = findChipAttr(op);
  if (!chip || !chip.getChip().hasWgmma || whyNoAttentionKernel(op))
    return false;
  if (isOnePart(op) || countKeyParts(op) > 1)
    return true;
  AttentionOperands operands(op);
  const AttentionLoops &loops = operands.loops;
  std::optional<int64_t> heads = operands.countStatic(loops.batches),
                         rows = operands.countStatic(loops.rows),
                         keys = operands.countStatic(loops.keys),
                         depth = operands.countStatic(loops.depth),
                         width = operands.countStatic(loops.width);
  if (!heads || !rows || !keys || !depth || !width)
    return false;
  if (operands.hasFewRows())
    return isShortOfFewRows(operands, *heads * *keys * (*depth + *width));
  int64_t products = *heads * *rows * *keys * (*depth + *width);
  return products != 0 && products <= kMostProducts * (op.getCausal() ? 2 : 1);
}

/// 1 where there is no loop.
Value AttentionCall::sizeOf(std::optional<unsigned> loop) {
  for (unsigned i = 0; loop && i < kOperands; ++i)
    if (std::optional<int64_t> dim = find(i, *loop))
      return builder.createOrFold<memref::DimOp>(loc, op.getOperand(i), *dim);
  return constant(1);
}

/// 0 where there is no loop.
Value AttentionCall::strideOf(unsigned i, std::optional<unsigned> loop) {
  std::optional<int64_t> dim = loop ? find(i, *loop) : std::nullopt;
  if (!dim)
    return constant(0);
  int64_t known = layouts[i].strides[*dim];
  return ShapedType::isDynamic(known) ? Value(metadata[i].getStrides()[*dim])
                                      : constant(known);
}

/// As nmCudnnTryAttention of lib/Runtime/Cuda/Cudnn.cpp takes them.
SmallVector<Value> AttentionCall::getArguments() {
  for (unsigned i = 0; i < kOperands; ++i)
    metadata.push_back(memref::ExtractStridedMetadataOp::create(
        builder, loc, op.getOperand(i)));
  auto nth = [](ArrayRef<unsigned> all, size_t fromBack) {
    return fromBack < all.size() ? std::optional(all[all.size() - 1 - fromBack])
                                 : std::nullopt;
  };
  std::optional<unsigned> head = nth(loops.batches, 0),
                          batch = nth(loops.batches, 1),
                          row = nth(loops.rows, 0), group = nth(loops.rows, 1);
  SmallVector<Value> arguments = {
      sizeOf(batch),      sizeOf(head),        sizeOf(group),      sizeOf(row),
      sizeOf(loops.keys), sizeOf(loops.depth), sizeOf(loops.width)};
  for (unsigned i = 0; i < kOperands; ++i)
    arguments.push_back(getAddress(builder, op.getOperand(i), metadata[i]));
  Type element = op.getOperandType(0).getElementType();
  arguments.push_back(
      constant(static_cast<int64_t>(*mlir::nm::getElementType(element))));
  for (unsigned i = 0; i < kOperands; ++i) {
    bool isOfKeys = i == 1 || i == 2;
    arguments.push_back(strideOf(i, batch));
    arguments.push_back(strideOf(i, head));
    if (!isOfKeys)
      arguments.push_back(strideOf(i, group));
    arguments.push_back(strideOf(i, isOfKeys ? loops.keys : row));
  }
  arguments.push_back(constant(
      static_cast<int64_t>(op.getScale().bitcastToAPInt().getZExtValue())));
  arguments.push_back(constant(op.getCausal()));
  return arguments;
}

Value mlir::nm::callAttention(AttentionOp op, DeclareFunction declare) {
  OpBuilder builder(op);
  AttentionCall call(builder, op);
  if (!call.canBeMade())
    return {};
  SmallVector<Value> arguments = call.getArguments();
  func::FuncOp callee =
      declare("nmCudnnTryAttention",
              builder.getFunctionType(ValueRange(arguments).getTypes(),
                                      builder.getIndexType()));
  return func::CallOp::create(builder, op.getLoc(), callee, arguments)
      .getResult(0);
}
