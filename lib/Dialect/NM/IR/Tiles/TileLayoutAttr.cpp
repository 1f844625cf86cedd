//===- TileLayoutAttr.cpp - Layouts of permuted buffers -------------------===//

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::nm;

/// The numbers of a BitXor, as the attribute has them.
static constexpr size_t kNumbersOfXor = 5;

static ::nm::TileLayout getTileLayout(size_t rank,
                                      ArrayRef<DenseI64ArrayAttr> order,
                                      ArrayRef<int64_t> xors,
                                      int64_t panelColumns,
                                      int64_t panelStride) {
  ::nm::TileLayout layout;
  for (DenseI64ArrayAttr bits : order)
    layout.order.emplace_back(bits.asArrayRef().begin(),
                              bits.asArrayRef().end());
  if (order.empty())
    layout.order.resize(rank);
  for (size_t i = 0; i + kNumbersOfXor <= xors.size(); i += kNumbersOfXor)
    layout.xors.push_back(
        {xors[i], xors[i + 1], xors[i + 2], xors[i + 3], xors[i + 4]});
  layout.panelColumns = panelColumns;
  layout.panelStride = panelStride;
  return layout;
}

::nm::TileLayout TileLayoutAttr::getLayout() const {
  return getTileLayout(getStrides().size(), getOrder(), getXors(),
                       getPanelColumns(), getPanelStride());
}

int64_t TileLayoutAttr::countPlaces(int64_t columns) const {
  return getPanelColumns() == 0
             ? columns
             : llvm::divideCeil(columns, getPanelColumns()) * getPanelStride();
}

StridedLayoutAttr TileLayoutAttr::getStridedLayout() const {
  return StridedLayoutAttr::get(
      getContext(), getHasDynamicOffset() ? ShapedType::kDynamic : 0,
      getStrides());
}

TileLayoutAttr TileLayoutAttr::get(MLIRContext *context,
                                   ArrayRef<int64_t> strides,
                                   bool hasDynamicOffset,
                                   const ::nm::TileLayout &layout) {
  SmallVector<DenseI64ArrayAttr> order;
  if (llvm::any_of(layout.order, [](auto &bits) { return !bits.empty(); }))
    for (const std::vector<int64_t> &bits : layout.order)
      order.push_back(DenseI64ArrayAttr::get(context, bits));
  SmallVector<int64_t> xors;
  for (const ::nm::BitXor &bits : layout.xors)
    xors.append({bits.dim, bits.bit, bits.fromDim, bits.fromBit, bits.count});
  return get(context, strides, hasDynamicOffset, order, xors,
             layout.panelColumns, layout.panelStride);
}

TileLayoutAttr TileLayoutAttr::withLeadingDim(int64_t stride) const {
  SmallVector<int64_t> strides = {stride};
  llvm::append_range(strides, getStrides());
  ::nm::TileLayout layout = getLayout();
  layout.order.insert(layout.order.begin(), std::vector<int64_t>());
  for (::nm::BitXor &bits : layout.xors) {
    ++bits.dim;
    ++bits.fromDim;
  }
  return get(getContext(), strides, getHasDynamicOffset(), layout);
}

LogicalResult TileLayoutAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> strides,
    bool, ArrayRef<DenseI64ArrayAttr> order, ArrayRef<int64_t> xors,
    int64_t panelColumns, int64_t panelStride) {
  // (C1).
  if (!order.empty() && order.size() != strides.size())
    return emitError() << "expected an order of bits for each of "
                       << strides.size() << " dimensions or for none, but got "
                       << order.size();
  if (xors.size() % kNumbersOfXor != 0)
    return emitError() << "expected " << kNumbersOfXor
                       << " numbers for each run of bits that is XORed";
  // (C1), (C2), (C4).
  ::nm::TileLayout layout =
      getTileLayout(strides.size(), order, xors, panelColumns, panelStride);
  if (::nm::Status status = layout.verify(); !status)
    return emitError() << status.error().message;
  if (panelColumns != 0 && strides.back() != 1)
    return emitError() << "expected columns of panels to be contiguous, but "
                          "got a stride of "
                       << strides.back();
  return success();
}

//===----------------------------------------------------------------------===//
// As a layout of memrefs
//===----------------------------------------------------------------------===//

/// Bits `bit` to `bit + count - 1` of an index.
static AffineExpr getBits(AffineExpr index, int64_t bit, int64_t count) {
  return index.floorDiv(int64_t(1) << bit) % (int64_t(1) << count);
}

/// `index` with bits that are XORed: for single bits that is addition modulo 2.
static AffineExpr applyXor(AffineExpr index, AffineExpr from,
                           const ::nm::BitXor &bits) {
  AffineExpr result = index;
  for (int64_t i = 0; i < bits.count; ++i) {
    AffineExpr bit = getBits(index, bits.bit + i, 1),
               other = getBits(from, bits.fromBit + i, 1);
    result =
        result + ((bit + other) % 2 - bit) * (int64_t(1) << (bits.bit + i));
  }
  return result;
}

static AffineExpr applyMoves(AffineExpr index, ArrayRef<::nm::BitMove> moves) {
  AffineExpr place = getAffineConstantExpr(0, index.getContext());
  for (const ::nm::BitMove &move : moves) {
    int64_t first = llvm::countr_zero(static_cast<uint64_t>(move.mask));
    int64_t count = llvm::countr_one(static_cast<uint64_t>(move.mask) >> first);
    AffineExpr bits = move.mask < 0 ? index.floorDiv(int64_t(1) << first)
                                    : getBits(index, first, count);
    place = place + bits * (int64_t(1) << (first + move.shift));
  }
  return place;
}

AffineMap TileLayoutAttr::getAffineMap() const {
  MLIRContext *context = getContext();
  ::nm::TileLayout layout = getLayout();
  auto rank = static_cast<unsigned>(getStrides().size());
  SmallVector<AffineExpr> indices;
  for (unsigned dim = 0; dim < rank; ++dim)
    indices.push_back(getAffineDimExpr(dim, context));
  for (const ::nm::BitXor &bits : layout.xors)
    indices[bits.dim] =
        applyXor(indices[bits.dim], indices[bits.fromDim], bits);
  AffineExpr address = getHasDynamicOffset()
                           ? getAffineSymbolExpr(0, context)
                           : getAffineConstantExpr(0, context);
  for (unsigned dim = 0; dim < rank; ++dim) {
    AffineExpr place = applyMoves(indices[dim], layout.movesOf(dim));
    if (layout.panelColumns != 0 && dim + 1 == rank)
      place = place.floorDiv(layout.panelColumns) * layout.panelStride +
              place % layout.panelColumns;
    address = address + place * getStrides()[dim];
  }
  return AffineMap::get(rank, getHasDynamicOffset() ? 1 : 0, address);
}

/// Whoever takes a buffer for plain rows would read others' elements.
bool TileLayoutAttr::isIdentity() const { return false; }

LogicalResult TileLayoutAttr::getStridesAndOffset(ArrayRef<int64_t>,
                                                  SmallVectorImpl<int64_t> &,
                                                  int64_t &) const {
  return failure();
}

LogicalResult TileLayoutAttr::verifyLayout(
    ArrayRef<int64_t> shape,
    function_ref<InFlightDiagnostic()> emitError) const {
  // (C3).
  if (shape.size() != getStrides().size())
    return emitError() << "expected a tile layout of " << shape.size()
                       << " strides, but got " << *this;
  return verifyPanels(shape, emitError);
}

/// (C4).
LogicalResult TileLayoutAttr::verifyPanels(
    ArrayRef<int64_t> shape,
    function_ref<InFlightDiagnostic()> emitError) const {
  // Of a size that is not known, nothing is.
  if (getPanelColumns() == 0 || ShapedType::isDynamic(shape.back()))
    return success();
  if (shape.back() % getPanelColumns() != 0)
    return emitError() << "expected whole panels of " << getPanelColumns()
                       << " columns, but got " << shape.back();
  auto isBeyondPanel = [&](int64_t size, int64_t stride) {
    int64_t places;
    return !ShapedType::isDynamic(size) &&
           (llvm::MulOverflow(size, stride, places) ||
            places > getPanelStride());
  };
  // Panels are within a row of the dimensions that are farther apart.
  for (auto [size, stride] : llvm::zip(shape.drop_back(), getStrides()))
    if (stride < getPanelStride() ? isBeyondPanel(size, stride)
                                  : stride < countPlaces(shape.back()))
      return emitError() << "expected panels that do not overlap, but got "
                         << *this;
  return success();
}

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

static ParseResult parseIntegers(AsmParser &parser,
                                 SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(values.emplace_back());
  });
}

/// Parses `1:2 with 0:2 for 3`.
static ParseResult parseXor(AsmParser &parser, SmallVectorImpl<int64_t> &xors) {
  int64_t dim, bit, fromDim, fromBit, count;
  if (parser.parseInteger(dim) || parser.parseColon() ||
      parser.parseInteger(bit) || parser.parseKeyword("with") ||
      parser.parseInteger(fromDim) || parser.parseColon() ||
      parser.parseInteger(fromBit) || parser.parseKeyword("for") ||
      parser.parseInteger(count))
    return failure();
  xors.append({dim, bit, fromDim, fromBit, count});
  return success();
}

/// Parses `[64, 4096]`.
static ParseResult parsePanels(AsmParser &parser,
                               SmallVectorImpl<int64_t> &panels) {
  SMLoc loc = parser.getCurrentLocation();
  if (parseIntegers(parser, panels))
    return failure();
  if (panels.size() == 2 && panels[0] >= 1)
    return success();
  return parser.emitError(loc)
         << "expected the columns of a panel, at least one, and how far panels "
            "are apart";
}

static ParseResult parseField(AsmParser &parser, bool &hasDynamicOffset,
                              SmallVectorImpl<DenseI64ArrayAttr> &order,
                              SmallVectorImpl<int64_t> &xors,
                              SmallVectorImpl<int64_t> &panels) {
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name) || parser.parseEqual())
    return failure();
  if (name == "offset") {
    hasDynamicOffset = true;
    return parser.parseQuestion();
  }
  if (name == "order")
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
      SmallVector<int64_t> bits;
      if (parseIntegers(parser, bits))
        return failure();
      order.push_back(DenseI64ArrayAttr::get(parser.getContext(), bits));
      return success();
    });
  if (name == "xor")
    return parser.parseCommaSeparatedList(
        AsmParser::Delimiter::Square, [&] { return parseXor(parser, xors); });
  if (name == "panels")
    return parsePanels(parser, panels);
  return parser.emitError(loc)
         << "expected 'offset', 'panels', 'order' or 'xor', but got '" << name
         << "'";
}

Attribute TileLayoutAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> strides, xors, panels;
  SmallVector<DenseI64ArrayAttr> order;
  bool hasDynamicOffset = false;
  if (parser.parseLess() || parseIntegers(parser, strides))
    return {};
  while (succeeded(parser.parseOptionalComma()))
    if (parseField(parser, hasDynamicOffset, order, xors, panels))
      return {};
  if (parser.parseGreater())
    return {};
  panels.resize(2, 0);
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    ArrayRef<int64_t>(strides), hasDynamicOffset,
                    ArrayRef<DenseI64ArrayAttr>(order), ArrayRef<int64_t>(xors),
                    panels[0], panels[1]);
}

void TileLayoutAttr::print(AsmPrinter &printer) const {
  printer << "<[" << getStrides() << "]";
  if (getHasDynamicOffset())
    printer << ", offset = ?";
  if (getPanelColumns() != 0)
    printer << ", panels = [" << getPanelColumns() << ", " << getPanelStride()
            << "]";
  if (!getOrder().empty()) {
    printer << ", order = [";
    llvm::interleaveComma(getOrder(), printer, [&](DenseI64ArrayAttr bits) {
      printer << "[" << bits.asArrayRef() << "]";
    });
    printer << "]";
  }
  if (!getXors().empty()) {
    printer << ", xor = [";
    llvm::interleaveComma(
        getLayout().xors, printer, [&](const ::nm::BitXor &bits) {
          printer << bits.dim << ":" << bits.bit << " with " << bits.fromDim
                  << ":" << bits.fromBit << " for " << bits.count;
        });
    printer << "]";
  }
  printer << ">";
}
