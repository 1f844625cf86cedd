//===- WindowShape.cpp - What a thread makes of windows -------------------===//

#include "GPU/Windows/WindowShape.h"

#include "nm/GPU/Stage/AccessWidth.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;

static int64_t getBytes(const WindowOperand &operand) {
  return operand.getType().getElementTypeBitWidth() / 8;
}

static int64_t getOffset(const WindowOperand &operand) {
  int64_t offset = operand.getType().getStridesAndOffset().second;
  return ShapedType::isDynamic(offset) ? getOffsetFactor(operand.value)
                                       : offset;
}

/// What the place in memory of an element of `operand` is a multiple of, apart
/// from what `loop` and the last dimension's constant and taps add to it.
static int64_t getAlignment(const WindowOp &window,
                            const WindowOperand &operand, unsigned loop) {
  int64_t alignment = getOffset(operand), last = operand.getRank() - 1;
  for (int64_t dim = 0; dim <= last; ++dim)
    for (auto [other, factor] : llvm::enumerate(operand.factors[dim])) {
      bool isApart = other == loop ||
                     (dim == last && llvm::is_contained(window.taps, other));
      if (!isApart && window.sizes[other] != 1)
        alignment = std::gcd(alignment, factor * operand.strides[dim]);
    }
  for (int64_t dim = 0; dim < last; ++dim)
    alignment =
        std::gcd(alignment, operand.constants[dim] * operand.strides[dim]);
  return alignment;
}

bool mlir::nm::isAlongLast(const WindowOperand &operand, unsigned loop) {
  if (operand.getRank() == 0 || operand.strides.back() != 1)
    return false;
  for (int64_t dim = 0; dim + 1 < operand.getRank(); ++dim)
    if (operand.factors[dim][loop] != 0)
      return false;
  return operand.factors.back()[loop] != 0;
}

/// Whether the elements of `operand` along `loop` are those of a vector.
static bool isVector(const WindowOp &window, const WindowOperand &operand,
                     unsigned loop) {
  if (!isAlongLast(operand, loop) || operand.factors.back()[loop] != 1 ||
      operand.constants.back() != 0 || operand.hasBorder(operand.getRank() - 1))
    return false;
  return llvm::all_of(llvm::enumerate(operand.factors.back()), [&](auto each) {
    return each.index() == loop || each.value() == 0 ||
           window.sizes[each.index()] == 1;
  });
}

/// The inputs that have elements for each of `loop`.
static SmallVector<const WindowOperand *>
listAlong(ArrayRef<WindowOperand> inputs, unsigned loop) {
  SmallVector<const WindowOperand *> found;
  for (const WindowOperand &input : inputs)
    if (input.isMemref() && input.isRead && input.dependsOn(loop))
      found.push_back(&input);
  return found;
}

/// Elements that are loaded at once of an input whose windows are `width` times
/// as far apart as neighbours are: whole groups are inside of the image or
/// outside.
static int64_t chooseGroup(const WindowOp &window, const WindowOperand &input,
                           unsigned loop, int64_t width) {
  if (!input.isMemref() || !isAlongLast(input, loop))
    return 1;
  int64_t size = input.getSize(input.getRank() - 1);
  if (ShapedType::isDynamic(size))
    return 1;
  int64_t group = std::gcd(kMaxAccessBytes / getBytes(input),
                           width * input.factors.back()[loop]);
  group = std::gcd(group, size);
  return std::gcd(group, getAlignment(window, input, loop));
}

WindowShape mlir::nm::chooseShape(const WindowOp &window) {
  WindowShape shape;
  shape.loop = window.places.back();
  shape.groups.assign(window.inputs.size(), 1);
  int64_t size = window.sizes[shape.loop];
  const WindowOperand &stored = window.getStored();
  if (ShapedType::isDynamic(size) || !isVector(window, stored, shape.loop) ||
      !isVector(window, window.output, shape.loop))
    return shape;
  SmallVector<const WindowOperand *> along =
      listAlong(window.inputs, shape.loop);
  shape.hasVectors = llvm::all_of(along, [&](const WindowOperand *input) {
    return isVector(window, *input, shape.loop);
  });
  // The widest access of the narrowest elements, but no more of them than 16
  // bits have: those of 32 bits beside them take two accesses then.
  int64_t narrowest = getBytes(stored);
  for (const WindowOperand *input : along)
    narrowest = std::min(narrowest, getBytes(*input));
  shape.width =
      std::gcd(kMaxAccessBytes / std::max<int64_t>(narrowest, 2),
               std::gcd(size, getAlignment(window, stored, shape.loop)));
  if (!window.fill)
    shape.width =
        std::gcd(shape.width, getAlignment(window, window.output, shape.loop));
  for (const WindowOperand *input : along) {
    if (shape.hasVectors) {
      shape.width =
          std::gcd(shape.width, getAlignment(window, *input, shape.loop));
      continue;
    }
    // Windows of more than one access would take many registers.
    int64_t apart = 1;
    for (ArrayRef<int64_t> factors : input->factors)
      apart = std::max(apart, factors[shape.loop]);
    while (shape.width > 1 &&
           shape.width * apart * getBytes(*input) > kMaxAccessBytes)
      shape.width /= 2;
  }
  if (!shape.hasVectors)
    for (auto [group, input] : llvm::zip(shape.groups, window.inputs))
      group = chooseGroup(window, input, shape.loop, shape.width);
  return shape;
}

bool mlir::nm::loadsVector(const WindowOp &window, const WindowOperand &operand,
                           const WindowShape &shape) {
  return shape.width > 1 && isVector(window, operand, shape.loop) &&
         getAlignment(window, operand, shape.loop) % shape.width == 0;
}
