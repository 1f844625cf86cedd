//===- OperandSource.cpp - What warpgroups multiply -----------------------===//

#include "GPU/Strategies/Warpgroup/OperandSource.h"

#include "nm/GPU/Strategies/Warpgroup/WarpgroupRoles.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::MmaShape;

LogicalResult OperandSource::verifySums(SpMMOp op, const GpuTile &tile,
                                        int64_t sumsOfElement,
                                        std::optional<int64_t> rows) {
  ::nm::ScheduleFields schedule = getSchedule(op);
  int64_t m = schedule.warpgroupM, n = schedule.warpgroupN,
          elements = m + (sumsOfElement - 1) * rows.value_or(m),
          sums = elements * n / ::nm::kWarpgroupThreads;
  int64_t most = std::min(::nm::kMaxRegisters, ::nm::kRegisters / tile.threads);
  if (auto role = op->getParentOfType<WarpsOp>()) {
    most = role.getRegisters().value_or(most);
    if (role.getOrdered() && sumsOfElement == 1)
      return role.emitOpError()
             << "expected promoted sums for 'ordered', but its "
                "products are not waited for";
  }
  if (sums + ::nm::kLeastOtherRegisters <= most)
    return success();
  return op.emitOpError() << "expected at most "
                          << most - ::nm::kLeastOtherRegisters
                          << " sums of a thread of " << tile.threads
                          << ", but a warpgroup's tile of " << m << " x " << n
                          << " has " << sums;
}

/// What all lanes of a warp have, in a form that shows it: wgmma takes its
/// descriptors from registers that a warp shares.
static Value makeUniform(ThreadEmitter &emitter, Value value) {
  Value word = emitter.toI32(value);
  Value first = NVVM::ShflOp::create(
      emitter.builder, emitter.loc, word.getType(), emitter.i32(-1), word,
      emitter.i32(0), emitter.i32(MmaShape::kLanes - 1), NVVM::ShflKind::idx,
      /*return_value_and_is_valid=*/UnitAttr());
  return emitter.toIndex(first);
}

Value WarpgroupTile::begin(OpBuilder &builder, Location loc) {
  ThreadEmitter emitter{builder, loc};
  thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  Value group =
      makeUniform(emitter, emitter.div(thread, ::nm::kWarpgroupThreads));
  int64_t groupsM = tile.m / warpgroupM;
  groupM = emitter.rem(group, groupsM);
  groupN = emitter.div(group, groupsM);
  return group;
}

WgmmaSums WarpgroupTile::getFragment(ThreadEmitter &emitter,
                                     ArrayRef<Value> sums) const {
  WgmmaSums fragment;
  fragment.sums = sums;
  fragment.warpgroupM = warpgroupM;
  fragment.group =
      emitter.add(emitter.mul(groupN, tile.m / warpgroupM), groupM);
  fragment.thread = emitter.rem(thread, ::nm::kWarpgroupThreads);
  fragment.warp = emitter.div(fragment.thread, MmaShape::kLanes);
  fragment.lane = emitter.rem(fragment.thread, MmaShape::kLanes);
  fragment.m = emitter.mul(groupM, warpgroupM);
  fragment.groupN = emitter.mul(groupN, warpgroupN);
  fragment.n =
      emitter.add(fragment.groupN, emitter.mul(fragment.warp, MmaShape::kM));
  return fragment;
}

SmallVector<Type> OperandSource::typesOf(const SumsPart &part) const {
  Type block = LLVM::LLVMStructType::getLiteral(
      sum.getContext(), SmallVector<Type>(part.sumsPerBlock(), sum));
  return SmallVector<Type>(part.blocks, block);
}
