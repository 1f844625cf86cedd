//===- NMAttributes.cpp - Attributes of the nm dialect --------------------===//

#include "ScheduleSyntax.h"
#include "VerifyStorage.h"

#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/ScheduleFields.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::nm;

/// The source is a part of the mnemonic, which the dialect parses.
static ParseResult parseSource(AsmParser &, std::optional<SourceKind> &) {
  return success();
}

/// Prints what the generated mnemonic lacks of the source's.
static void printSource(AsmPrinter &printer, std::optional<SourceKind> source) {
  if (!source)
    return;
  StringRef name = stringifySourceKind(*source);
  if (!name.consume_front(WarpgroupScheduleAttr::getMnemonic()))
    name.consume_front(MmaScheduleAttr::getMnemonic());
  printer << name;
}

static FailureOr<::nm::SparseOperand::Order>
parseSparseOrder(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  if (std::optional<::nm::SparseOperand::Order> order = ::nm::parseOrder(word))
    return *order;
  return parser.emitError(loc)
         << "expected one of mma, wgmma, wgmma_pairs, but got '" << word << "'";
}

#define GET_ATTRDEF_CLASSES
#include "nm/Dialect/NM/IR/NMAttributes.cpp.inc"

void NMDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "nm/Dialect/NM/IR/NMAttributes.cpp.inc"
      >();
}

/// `attribute`, a schedule without its source, with `source`.
template <typename AttrTy>
static Attribute addSource(DialectAsmParser &parser, SMLoc loc,
                           Attribute attribute, SourceKind source) {
  auto schedule = dyn_cast_or_null<AttrTy>(attribute);
  if (!schedule)
    return {};
  ::nm::GivenFields given = getGivenFields(schedule);
  given.source = static_cast<::nm::SourceKind>(source);
  return getSchedule<AttrTy>([&] { return parser.emitError(loc); },
                             parser.getContext(), given);
}

Attribute NMDialect::parseAttribute(DialectAsmParser &parser, Type type) const {
  SMLoc loc = parser.getCurrentLocation();
  StringRef mnemonic, ofWarps = MmaScheduleAttr::getMnemonic();
  Attribute attribute;
  bool isGenerated =
      generatedAttributeParser(parser, &mnemonic, type, attribute).has_value();
  // A schedule has the generated mnemonic until its source is added.
  if (auto schedule = dyn_cast_or_null<ScheduleAttrInterface>(attribute))
    mnemonic = schedule.getStrategyName();
  std::optional<SourceKind> source = symbolizeSourceKind(mnemonic);
  if (!source && (!isGenerated || mnemonic == ofWarps)) {
    parser.emitError(loc) << "unknown attribute `" << mnemonic
                          << "` in dialect `" << getNamespace() << "`";
    return {};
  }
  if (source && mnemonic.starts_with(ofWarps))
    return addSource<MmaScheduleAttr>(
        parser, loc, MmaScheduleAttr::parse(parser, type), *source);
  if (source)
    return addSource<WarpgroupScheduleAttr>(
        parser, loc,
        isGenerated ? attribute : WarpgroupScheduleAttr::parse(parser, type),
        *source);
  return attribute;
}

void NMDialect::printAttribute(Attribute attribute,
                               DialectAsmPrinter &printer) const {
  (void)generatedAttributePrinter(attribute, printer);
}

//===----------------------------------------------------------------------===//
// Pattern
//===----------------------------------------------------------------------===//

/// Parses `= 100` behind `kept`.
static ParseResult parseKept(AsmParser &parser, ::nm::Pattern &pattern) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseEqual() || parser.parseInteger(pattern.n))
    return failure();
  if (pattern.n == 0)
    return parser.emitError(loc)
           << "expected kept to be at least 1, but got 0; leave it out for any "
              "number of weights";
  return success();
}

/// Parses `2:4`, or `unstructured`.
static ParseResult parseRatio(AsmParser &parser, ::nm::Pattern &pattern) {
  if (succeeded(parser.parseOptionalKeyword("unstructured"))) {
    pattern = ::nm::Pattern::unstructured();
    return success();
  }
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseInteger(pattern.n) || parser.parseColon() ||
      parser.parseInteger(pattern.m))
    return failure();
  // Which fields of unstructured weights have, and their text has not.
  if (pattern.m == 0)
    return parser.emitError(loc)
           << "expected 1 <= M <= " << ::nm::kMaxWindowUnits
           << " in pattern N:M, but got M = 0";
  return success();
}

/// Parses `1x32`. The token is `1` followed by the identifier `x32`, which only
/// the parser of dimension lists takes apart.
static ParseResult parseBlock(AsmParser &parser, ::nm::Pattern &pattern) {
  SmallVector<int64_t, 2> block;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseDimensionList(block, /*allowDynamic=*/false,
                                /*withTrailingX=*/false))
    return failure();
  if (block.size() != 2)
    return parser.emitError(loc)
           << "expected a block of the form bk x bn, such as 1x32, but got "
           << block.size() << " sizes";
  pattern.bk = block[0];
  pattern.bn = block[1];
  return success();
}

static void printPattern(AsmPrinter &printer, const ::nm::Pattern &pattern) {
  printer << pattern.str();
}

LogicalResult PatternAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t n, int64_t m, int64_t bk,
                                  int64_t bn) {
  // (C1), (C2).
  if (::nm::Status status = ::nm::Pattern{n, m, bk, bn}.verify(); !status)
    return emitError() << status.error().message;
  return success();
}

Attribute PatternAttr::parse(AsmParser &parser, Type) {
  ::nm::Pattern pattern;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseRatio(parser, pattern))
    return {};
  bool hasMore = succeeded(parser.parseOptionalComma());
  if (hasMore && pattern.isUnstructured() &&
      succeeded(parser.parseOptionalKeyword("kept"))) {
    if (parseKept(parser, pattern))
      return {};
    hasMore = succeeded(parser.parseOptionalComma());
  }
  if (hasMore && (parser.parseKeyword("block") || parser.parseEqual() ||
                  parseBlock(parser, pattern)))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<PatternAttr>(loc, parser.getContext(), pattern.n,
                                        pattern.m, pattern.bk, pattern.bn);
}

void PatternAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printPattern(printer, getPattern());
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

/// Parses `, block = 1x32`, `, dim = 1`, and `, kept = 100` of unstructured
/// weights, each at most once.
static ParseResult parseEncodingFields(AsmParser &parser,
                                       ::nm::Pattern &pattern, int64_t &dim) {
  SmallVector<StringRef, 3> fields = {"block", "dim"};
  if (pattern.isUnstructured())
    fields.insert(fields.begin(), "kept");
  SmallVector<StringRef, 3> seen;
  while (succeeded(parser.parseOptionalComma())) {
    StringRef field;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&field))
      return failure();
    if (!llvm::is_contained(fields, field))
      return parser.emitError(loc)
             << "expected '" << llvm::join(ArrayRef(fields).drop_back(), "', '")
             << "' or 'dim', but got '" << field << "'";
    if (llvm::is_contained(seen, field))
      return parser.emitError(loc) << "'" << field << "' is given twice";
    seen.push_back(field);
    if (field == "kept") {
      if (parseKept(parser, pattern))
        return failure();
      continue;
    }
    if (parser.parseEqual() || (field == "block" ? parseBlock(parser, pattern)
                                                 : parser.parseInteger(dim)))
      return failure();
  }
  return success();
}

Attribute EncodingAttr::parse(AsmParser &parser, Type) {
  ::nm::Pattern pattern;
  int64_t dim = 0;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseRatio(parser, pattern) ||
      parseEncodingFields(parser, pattern, dim) || parser.parseGreater())
    return {};
  auto patternAttr = parser.getChecked<PatternAttr>(
      loc, parser.getContext(), pattern.n, pattern.m, pattern.bk, pattern.bn);
  if (!patternAttr)
    return {};
  return parser.getChecked<EncodingAttr>(loc, parser.getContext(), patternAttr,
                                         dim);
}

void EncodingAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printPattern(printer, getPattern().getPattern());
  if (getDim() != 0)
    printer << ", dim = " << getDim();
  printer << ">";
}

LogicalResult EncodingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   PatternAttr pattern, int64_t dim) {
  // (C2).
  if (dim != 0 && dim != 1)
    return emitError() << "expected dim to be 0 or 1, but got " << dim;
  return success();
}

LogicalResult EncodingAttr::verifyEncoding(
    ArrayRef<int64_t> shape, Type elementType,
    function_ref<InFlightDiagnostic()> emitError) const {
  // The parser asks before it reports an element type that it cannot parse.
  if (!elementType)
    return failure();
  // (C1).
  if (shape.size() != 2)
    return emitError() << "expected a weight with an N:M pattern to have rank "
                          "2, but got rank "
                       << shape.size()
                       << (shape.size() == 4
                               ? "; a filter is tensor.expand_shape of the "
                                 "matrix that carries it"
                               : "");
  if (ShapedType::isDynamicShape(shape))
    return emitError()
           << "expected a weight with an N:M pattern to have a static shape";
  if (llvm::is_contained(shape, 0))
    return emitError() << "expected a weight with elements, but got k x n = "
                       << getK(shape) << "x" << getN(shape);
  if (failed(verifyMatrixSize(emitError, getK(shape), getN(shape))))
    return failure();
  // (C3).
  if (!isWeightElementType(elementType))
    return emitError() << "expected element type " << kWeightElementTypes
                       << ", but got " << elementType;
  // (C4).
  ::nm::Pattern pattern = getPattern().getPattern();
  if (pattern.bk > getK(shape) || pattern.bn > getN(shape))
    return emitError() << "expected block " << pattern.bk << "x" << pattern.bn
                       << " to fit in k x n = " << getK(shape) << "x"
                       << getN(shape) << " (k is dimension " << getDim() << ")";
  if (::nm::Status status = pattern.verifySize(getK(shape), getN(shape));
      !status)
    return emitError() << status.error().message;
  return success();
}
