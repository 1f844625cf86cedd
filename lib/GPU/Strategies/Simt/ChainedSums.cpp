//===- ChainedSums.cpp - Sums of a thread in chains -----------------------===//

#include "GPU/Strategies/Simt/ChainedSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::nm;

static SmallVector<Value> zerosLike(OpBuilder &builder, ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) -> Value {
    return arith::ConstantOp::create(builder, value.getLoc(),
                                     builder.getZeroAttr(value.getType()));
  });
}

ChainedSums ChainedSums::start(OpBuilder &builder, ValueRange promoted) {
  return {zerosLike(builder, promoted), SmallVector<Value>(promoted)};
}

ChainedSums ChainedSums::unpack(ValueRange carried) {
  size_t count = carried.size() / 2;
  return {SmallVector<Value>(carried.take_front(count)),
          SmallVector<Value>(carried.drop_front(count))};
}

SmallVector<Value> ChainedSums::pack() const {
  SmallVector<Value> carried(chain);
  llvm::append_range(carried, promoted);
  return carried;
}

SmallVector<Value> ChainedSums::finish(OpBuilder &builder, Location loc) const {
  SmallVector<Value> sums;
  for (auto [total, sum] : llvm::zip_equal(promoted, chain))
    sums.push_back(arith::AddFOp::create(builder, loc, total, sum));
  return sums;
}

SmallVector<Value> ChainedSums::remainder(OpBuilder &builder, Location loc,
                                          ArrayRef<Value> sums) const {
  SmallVector<Value> remainders;
  for (auto [total, part, sum, zero] :
       llvm::zip_equal(promoted, chain, sums, zerosLike(builder, sums))) {
    Value taken = arith::SubFOp::create(builder, loc, sum, total);
    Value left = arith::SubFOp::create(builder, loc, part, taken);
    // Infinite sums leave nothing, where the difference of two is NaN.
    Value isNan = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO,
                                        left, left);
    remainders.push_back(
        arith::SelectOp::create(builder, loc, isNan, zero, left));
  }
  return remainders;
}

void ChainedSums::endChainIf(OpBuilder &builder, Location loc, Value isLast,
                             bool isCompensated) {
  auto choice = scf::IfOp::create(
      builder, loc, isLast,
      [&](OpBuilder &builder, Location loc) {
        ChainedSums next = start(builder, finish(builder, loc));
        if (isCompensated)
          next.chain = remainder(builder, loc, next.promoted);
        scf::YieldOp::create(builder, loc, next.pack());
      },
      [&](OpBuilder &builder, Location loc) {
        scf::YieldOp::create(builder, loc, pack());
      });
  *this = unpack(choice.getResults());
}
