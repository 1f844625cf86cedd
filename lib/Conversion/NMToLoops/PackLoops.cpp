//===- PackLoops.cpp - nm.pack as loops -----------------------------------===//

#include "Patterns.h"
#include "WeightAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
/// Emits the packing of one weight.
class PackLoops {
public:
  PackLoops(LoopEmitter &emitter, PackOp op)
      : emitter(emitter), op(op), pattern(op.getPattern().getPattern()),
        panel(op.getPacking().getPanel()),
        bits(op.getPacking().getIndexBits()) {}

  void emit() {
    packValues();
    packIndices();
  }

private:
  void packValues() {
    emitter.forEachInParallel(
        emitter.sizes(op.getPackedValues()), [&](ValueRange position) {
          Value column =
              emitter.add(emitter.mul(position[0], panel), position[2]);
          Value element =
              emitter.loadOrZero(op.getValues(), {position[1], column});
          emitter.store(element, op.getPackedValues(), position);
        });
  }

  /// Fields of one unit row share bytes, so rows are what runs in parallel.
  void packIndices() {
    SmallVector<Value> sizes = emitter.sizes(op.getPackedIndices());
    Value zero = emitter.zero(emitter.builder.getI8Type());
    Value groups = emitter.index(op.getPacking().getPacking().groups(pattern));
    Value blocks = emitter.size(op.getIndices(), 1);
    emitter.forEachInParallel({sizes[0], sizes[1]}, [&](ValueRange row) {
      emitter.forEach(sizes[2], [&](ValueRange byte) {
        emitter.store(zero, op.getPackedIndices(), {row[0], row[1], byte[0]});
      });
      Value firstBlock = emitter.div(emitter.mul(row[0], panel), pattern.bn);
      emitter.forEach(groups, [&](ValueRange group) {
        Value block = emitter.add(firstBlock, group[0]);
        emitter.onlyIf(emitter.less(block, blocks), [&] {
          Value index = emitter.load(op.getIndices(), {row[1], block});
          storeField(row[0], row[1], group[0], emitter.byteToIndex(index));
        });
      });
    });
  }

  /// Sets the bits of one index in bytes that are zero there.
  void storeField(Value panelNumber, Value unitRow, Value group, Value index) {
    OpBuilder &builder = emitter.builder;
    IndexField field = IndexField::at(emitter, bits, group);
    Value word =
        builder.createOrFold<arith::ShLIOp>(emitter.loc, index, field.shift);
    setBits({panelNumber, unitRow, field.byte}, word);
    if (!fieldsStraddleBytes(bits))
      return;
    Value straddles = emitter.less(emitter.index(8 - bits), field.shift);
    emitter.onlyIf(straddles, [&] {
      setBits({panelNumber, unitRow, emitter.add(field.byte, 1)},
              emitter.div(word, 256));
    });
  }

  void setBits(ArrayRef<Value> at, Value word) {
    OpBuilder &builder = emitter.builder;
    Value low = arith::IndexCastUIOp::create(builder, emitter.loc,
                                             builder.getI8Type(), word);
    Value before = emitter.load(op.getPackedIndices(), at);
    emitter.store(emitter.either(before, low), op.getPackedIndices(), at);
  }

  LoopEmitter &emitter;
  PackOp op;
  ::nm::Pattern pattern;
  int64_t panel, bits;
};

struct PackToLoops : OpRewritePattern<PackOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(PackOp op,
                                PatternRewriter &rewriter) const override {
    if (const char *reason = whyNoLoops(op))
      return rewriter.notifyMatchFailure(op, reason);
    LoopEmitter emitter(rewriter, op.getLoc());
    PackLoops(emitter, op).emit();
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void mlir::nm::populatePackLoops(RewritePatternSet &patterns) {
  patterns.add<PackToLoops>(patterns.getContext());
}
