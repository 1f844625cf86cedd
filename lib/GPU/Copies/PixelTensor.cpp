//===- PixelTensor.cpp - Images that tensor copies read -------------------===//

#include "GPU/Copies/PixelTensor.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

std::optional<PixelTensor> PixelTensor::find(Value tensor, int64_t channels) {
  auto patches = tensor.getDefiningOp<PatchesOp>();
  if (!patches)
    return std::nullopt;
  std::optional<PixelBoxes> boxes = findPixelBoxes(patches, channels);
  if (!boxes)
    return std::nullopt;
  return PixelTensor(patches, std::move(*boxes));
}

Value PixelTensor::createMap(OpBuilder &builder, Location loc, int64_t places,
                             int64_t channels, bool isSwizzled) {
  SmallVector<int64_t> box(size_t(patches.getImageType().getRank()), 1);
  box.end()[-2] = places;
  box.back() = channels;
  auto type = VectorType::get({16}, builder.getI64Type());
  return TensorMapOp::create(builder, loc, type, patches.getImage(),
                             builder.getDenseI64ArrayAttr(box),
                             isSwizzled ? builder.getUnitAttr() : UnitAttr(),
                             builder.getDenseI64ArrayAttr(boxes.lower),
                             builder.getDenseI64ArrayAttr(boxes.upper),
                             builder.getDenseI64ArrayAttr(boxes.steps));
}

/// The index of each loop.
SmallVector<Value> PixelTensor::splitByLoops(ThreadEmitter &emitter,
                                             ArrayRef<Value> at) {
  ArrayRef<int64_t> loops = patches.getLoops();
  SmallVector<Value> indices(loops.size());
  for (auto [group, place] : llvm::enumerate(at)) {
    SmallVector<unsigned> ofGroup = patches.getLoopsOf(unsigned(group));
    Value left = place;
    for (unsigned loop : llvm::reverse(ofGroup)) {
      if (loop == ofGroup.front())
        indices[loop] = left;
      else
        std::tie(left, indices[loop]) = emitter.split(left, loops[loop]);
    }
  }
  return indices;
}

PixelTensor::Operands PixelTensor::locate(ThreadEmitter &emitter,
                                          ArrayRef<Value> at) {
  SmallVector<Value> indices = splitByLoops(emitter, at);
  AffineMap map = patches.getMap();
  int64_t dims = map.getNumResults();
  auto firstOfK = unsigned(indices.size() - size_t(patches.getGroups().back()));
  Type i16 = emitter.builder.getI16Type();
  Operands operands;
  for (int64_t dim = dims; dim-- > 0;) {
    SmallVector<int64_t> factors = getFactors(map, unsigned(dim));
    Value place = emitter.index(factors.back()), tap = emitter.index(0);
    for (auto [loop, index] : llvm::enumerate(indices)) {
      if (factors[loop] == 0)
        continue;
      // A channel is a coordinate.
      Value &sum = loop >= firstOfK && dim + 1 < dims ? tap : place;
      sum = emitter.add(sum, emitter.mul(index, factors[loop]));
    }
    operands.coordinates.push_back(emitter.toI32(place));
    if (dim != 0 && dim + 1 < dims)
      operands.offsets.push_back(
          arith::IndexCastUIOp::create(emitter.builder, emitter.loc, i16, tap));
  }
  return operands;
}
