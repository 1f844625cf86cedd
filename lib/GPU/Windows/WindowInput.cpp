//===- WindowInput.cpp - A thread's elements of an operand ----------------===//

#include "GPU/Windows/WindowInput.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;

/// How many elements lie between the first and behind the last one.
static std::optional<int64_t> getExtent(const WindowOperand &operand) {
  int64_t extent = 1;
  for (auto [dim, stride] : llvm::enumerate(operand.strides)) {
    if (ShapedType::isDynamic(operand.getSize(dim)))
      return std::nullopt;
    extent += (operand.getSize(dim) - 1) * stride;
  }
  return extent;
}

/// All elements of `operand`, and those between them, along one dimension.
static Value flatten(ThreadEmitter e, const WindowOperand &operand,
                     std::optional<int64_t> extent) {
  MemRefType type = operand.getType();
  int64_t offset = type.getStridesAndOffset().second;
  OpFoldResult first = e.builder.getIndexAttr(offset), size;
  if (ShapedType::isDynamic(offset))
    first = memref::ExtractStridedMetadataOp::create(e.builder, e.loc,
                                                     operand.value)
                .getOffset();
  if (extent) {
    size = e.builder.getIndexAttr(*extent);
  } else {
    Value total = e.index(1);
    for (auto [dim, stride] : llvm::zip_equal(operand.dims, operand.strides)) {
      Value many =
          e.builder.createOrFold<memref::DimOp>(e.loc, operand.value, dim);
      total = e.add(total, e.mul(e.sub(many, e.index(1)), stride));
    }
    size = total;
  }
  auto layout =
      StridedLayoutAttr::get(type.getContext(), offset, ArrayRef<int64_t>(1));
  auto view = MemRefType::get({extent.value_or(ShapedType::kDynamic)},
                              type.getElementType(), layout);
  return memref::ReinterpretCastOp::create(e.builder, e.loc, view,
                                           operand.value, first, ArrayRef(size),
                                           {e.builder.getIndexAttr(1)});
}

WindowInput::WindowInput(const ThreadEmitter &emitter, const WindowOp &window,
                         const WindowOperand &operand)
    : e(emitter), window(window), operand(operand), extent(getExtent(operand)),
      flat(flatten(e, operand, extent)) {}

void WindowInput::begin(ArrayRef<Value> at) {
  counted.assign(at.begin(), at.end());
  insides.clear();
  loaded.clear();
  Value zero = e.constant(at[window.places.front()], 0);
  plain = bordered = zero;
  indices.assign(operand.getRank(), zero);
  for (int64_t dim = 0; dim < operand.getRank(); ++dim) {
    Value &index = indices[dim];
    for (auto [loop, value] : llvm::enumerate(at))
      if (int64_t factor = operand.factors[dim][loop]; factor && value)
        index = e.add(index, e.mul(value, factor));
    Value &offset = operand.hasBorder(dim) ? bordered : plain;
    offset = e.add(offset, e.mul(index, operand.strides[dim]));
  }
}

WindowPlace WindowInput::getPlace(ArrayRef<int64_t> taps, unsigned loop,
                                  int64_t number) const {
  WindowPlace place(operand.constants.begin(), operand.constants.end());
  for (int64_t dim = 0; dim < operand.getRank(); ++dim) {
    ArrayRef<int64_t> factors = operand.factors[dim];
    place[dim] += factors[loop] * number;
    for (auto [tap, index] : llvm::zip(window.taps, taps))
      place[dim] += factors[tap] * index;
  }
  return place;
}

//===----------------------------------------------------------------------===//
// Borders
//===----------------------------------------------------------------------===//

/// Whether index `constant` of the first place's in dimension `dim` is one of
/// the image; null where it is for all places.
Value WindowInput::isInside(int64_t dim, int64_t constant) {
  int64_t size = operand.getSize(dim), most = constant;
  bool isKnown = !ShapedType::isDynamic(size);
  for (auto [loop, value] : llvm::enumerate(counted)) {
    int64_t factor = value ? operand.factors[dim][loop] : 0;
    isKnown &= factor == 0 || !ShapedType::isDynamic(window.sizes[loop]);
    if (isKnown && factor != 0)
      most += factor * (window.sizes[loop] - 1);
  }
  if (isKnown && constant >= 0 && most < size)
    return Value();
  Value &inside = insides[{dim, constant}];
  if (inside)
    return inside;
  Value index = e.add(indices[dim], constant), limit;
  if (ShapedType::isDynamic(size)) {
    limit = e.builder.createOrFold<memref::DimOp>(e.loc, operand.value,
                                                  operand.dims[dim]);
    if (!index.getType().isIndex())
      limit = e.toI32(limit);
  } else {
    limit = e.constant(index, size);
  }
  return inside = e.less(index, limit);
}

/// The offset of `place`, or where it is not inside, that of the image's first
/// element along the dimensions with a border.
Value WindowInput::getOffset(const WindowPlace &place, Value inside) {
  int64_t ofPlain = 0, ofBordered = 0;
  for (int64_t dim = 0; dim < operand.getRank(); ++dim)
    (operand.hasBorder(dim) ? ofBordered : ofPlain) +=
        place[dim] * operand.strides[dim];
  if (!inside)
    return e.add(e.toIndex(e.add(plain, bordered)), ofPlain + ofBordered);
  Value offset = e.orZero(e.add(bordered, ofBordered), inside);
  return e.add(e.toIndex(e.add(plain, offset)), ofPlain);
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

static llvm::MaybeAlign getAlignment(Type element, int64_t width) {
  return llvm::MaybeAlign(
      std::min<int64_t>(width * element.getIntOrFloatBitWidth() / 8, 16));
}

Value WindowInput::load(const WindowPlace &place, int64_t width) {
  Value &known = loaded[{place, width}];
  if (known)
    return known;
  Value inside;
  for (int64_t dim = 0; dim < operand.getRank(); ++dim)
    if (operand.hasBorder(dim))
      inside = e.both(inside, isInside(dim, place[dim]));
  Value offset = getOffset(place, inside);
  Type type = operand.getType().getElementType();
  if (width == 1) {
    known = memref::LoadOp::create(e.builder, e.loc, flat, offset);
  } else {
    auto vector = VectorType::get(width, type);
    known = vector::LoadOp::create(e.builder, e.loc, vector, flat, offset,
                                   /*nontemporal=*/false,
                                   getAlignment(type, width));
  }
  if (!inside)
    return known;
  Value border = operand.padded->border;
  if (width != 1)
    border =
        vector::BroadcastOp::create(e.builder, e.loc, known.getType(), border);
  return known =
             arith::SelectOp::create(e.builder, e.loc, inside, known, border);
}

/// Moves `place` to the first element of its group, and says which of them it
/// was.
WindowPlace WindowInput::takeGroup(WindowPlace place, int64_t group,
                                   int64_t &position) const {
  if (place.empty() || group == 1) {
    position = 0;
    return place;
  }
  position = llvm::mod(place.back(), group);
  place.back() -= position;
  return place;
}

void WindowInput::announce(WindowPlace place, int64_t group) {
  int64_t position;
  WindowPlace first = takeGroup(std::move(place), group, position);
  used[first].insert(position);
}

Value WindowInput::loadOfGroup(WindowPlace place, int64_t group) {
  int64_t position;
  WindowPlace first = takeGroup(std::move(place), group, position);
  const std::set<int64_t> &positions = used.at(first);
  // The narrowest aligned part of the group that has all of them.
  int64_t width = 1;
  while (*positions.begin() / width != *positions.rbegin() / width)
    width *= 2;
  int64_t start = position / width * width;
  if (!first.empty())
    first.back() += start;
  Value elements = load(first, width);
  return width == 1 ? elements : e.extract(elements, position - start);
}

void WindowInput::store(Value elements, int64_t width) {
  WindowPlace place(operand.constants.begin(), operand.constants.end());
  Value offset = getOffset(place, Value());
  if (width == 1) {
    memref::StoreOp::create(e.builder, e.loc, elements, flat, offset);
    return;
  }
  vector::StoreOp::create(
      e.builder, e.loc, elements, flat, offset, /*nontemporal=*/false,
      getAlignment(operand.getType().getElementType(), width));
}

//===----------------------------------------------------------------------===//
// All inputs
//===----------------------------------------------------------------------===//

WindowInputs::WindowInputs(const ThreadEmitter &emitter, const WindowOp &window,
                           ArrayRef<WindowOperand> operands,
                           std::optional<unsigned> left) {
  for (auto [index, operand] : llvm::enumerate(operands))
    inputs.push_back(operand.isMemref() && operand.isRead && index != left
                         ? std::optional(WindowInput(emitter, window, operand))
                         : std::nullopt);
}

bool WindowInputs::isSmall() const {
  return llvm::all_of(inputs, [](const std::optional<WindowInput> &input) {
    return !input || input->isSmall();
  });
}

void WindowInputs::begin(ArrayRef<Value> at) {
  for (std::optional<WindowInput> &input : inputs)
    if (input)
      input->begin(at);
}
