//===- NMAttributes.cpp - Attributes of the nm dialect --------------------===//

#include "VerifyStorage.h"

#include "nm/Dialect/NM/IR/ElementTypes.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;

#define GET_ATTRDEF_CLASSES
#include "nm/Dialect/NM/IR/NMAttributes.cpp.inc"

void NMDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "nm/Dialect/NM/IR/NMAttributes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Pattern
//===----------------------------------------------------------------------===//

/// Parses `2:4`.
static ParseResult parseRatio(AsmParser &parser, ::nm::Pattern &pattern) {
  return failure(parser.parseInteger(pattern.n) || parser.parseColon() ||
                 parser.parseInteger(pattern.m));
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
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("block") || parser.parseEqual() ||
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

/// Parses `, block = 1x32` and `, dim = 1`, each at most once.
static ParseResult parseEncodingFields(AsmParser &parser,
                                       ::nm::Pattern &pattern, int64_t &dim) {
  bool sawBlock = false, sawDim = false;
  while (succeeded(parser.parseOptionalComma())) {
    StringRef field;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&field))
      return failure();
    bool isBlock = field == "block";
    bool &seen = isBlock ? sawBlock : sawDim;
    if (!isBlock && field != "dim")
      return parser.emitError(loc)
             << "expected 'block' or 'dim', but got '" << field << "'";
    if (seen)
      return parser.emitError(loc) << "'" << field << "' is given twice";
    seen = true;
    if (parser.parseEqual() ||
        (isBlock ? parseBlock(parser, pattern) : parser.parseInteger(dim)))
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
                       << shape.size();
  if (ShapedType::isDynamicShape(shape))
    return emitError()
           << "expected a weight with an N:M pattern to have a static shape";
  if (failed(verifyMatrixSize(emitError, getK(shape), getN(shape))))
    return failure();
  // (C3).
  if (!isWeightElementType(elementType))
    return emitError() << "expected element type f32, f16, bf16, i8 or "
                          "f8E4M3FN, but got "
                       << elementType;
  // (C4).
  ::nm::Pattern pattern = getPattern().getPattern();
  if (pattern.bk > getK(shape) || pattern.bn > getN(shape))
    return emitError() << "expected block " << pattern.bk << "x" << pattern.bn
                       << " to fit in k x n = " << getK(shape) << "x"
                       << getN(shape) << " (k is dimension " << getDim() << ")";
  return success();
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

LogicalResult PackingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t panel, int64_t indexBits,
                                  int64_t chunkRows, int64_t chunkColumns,
                                  int64_t indexRows, int64_t colInfo) {
  // (C1) to (C4); what depends on the pattern is checked where both meet.
  if (panel < 1 || panel > ::nm::kMaxBlock)
    return emitError() << "expected panel in 1.." << ::nm::kMaxBlock
                       << ", but got " << panel;
  if (indexBits < 1 || indexBits > 8)
    return emitError() << "expected index_bits in 1..8, but got " << indexBits;
  for (auto [name, value] : {std::pair("chunk_rows", chunkRows),
                             std::pair("chunk_columns", chunkColumns),
                             std::pair("index_rows", indexRows)})
    if (value < 1 || value > ::nm::kMaxBlock)
      return emitError() << "expected " << name << " in 1.." << ::nm::kMaxBlock
                         << ", but got " << value;
  if (colInfo < 0 || colInfo > ::nm::kMaxBlock)
    return emitError() << "expected col_info in 0.." << ::nm::kMaxBlock
                       << ", but got " << colInfo;
  return success();
}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

namespace {
/// The fields of a schedule after its strategy, while it is being parsed.
struct ScheduleFields {
  SmallVector<int64_t> block, warp, thread;
  int64_t stages = 1, splitK = 1, clusterK = 1, sliceK = 1;
  PackingAttr packing;
  bool prefetch = true;
  bool pack = false;
  /// The names of those that were given.
  SmallVector<StringRef> seen;
};
} // namespace

static ParseResult parseSizes(AsmParser &parser, SmallVector<int64_t> &sizes) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(sizes.emplace_back());
  });
}

/// Parses `true` or `false`.
static ParseResult parseBool(AsmParser &parser, bool &value) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  value = word == "true";
  if (value || word == "false")
    return success();
  return parser.emitError(loc)
         << "expected true or false, but got '" << word << "'";
}

static ParseResult parseScheduleField(AsmParser &parser,
                                      ScheduleFields &fields) {
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name) || parser.parseEqual())
    return failure();
  if (llvm::is_contained(fields.seen, name))
    return parser.emitError(loc) << "'" << name << "' is given twice";
  fields.seen.push_back(name);
  if (name == "block")
    return parseSizes(parser, fields.block);
  if (name == "warp")
    return parseSizes(parser, fields.warp);
  if (name == "thread")
    return parseSizes(parser, fields.thread);
  if (name == "stages")
    return parser.parseInteger(fields.stages);
  if (name == "split_k")
    return parser.parseInteger(fields.splitK);
  if (name == "cluster_k")
    return parser.parseInteger(fields.clusterK);
  if (name == "slice_k")
    return parser.parseInteger(fields.sliceK);
  if (name == "pack")
    return parseBool(parser, fields.pack);
  if (name == "packing")
    return parser.parseCustomAttributeWithFallback(fields.packing);
  if (name == "prefetch")
    return parseBool(parser, fields.prefetch);
  return parser.emitError(loc)
         << "expected 'block', 'warp', 'thread', 'stages', 'split_k', "
            "'cluster_k', 'slice_k', 'packing', 'prefetch' or 'pack', but got '"
         << name << "'";
}

Attribute ScheduleAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseLess() || parser.parseKeyword(&name))
    return {};
  std::optional<Strategy> strategy = symbolizeStrategy(name);
  if (!strategy) {
    parser.emitError(loc)
        << "expected a strategy (loops, vector, simt, gemv, "
           "mma_sync, mma_sp, wgmma, wgmma_sp, cublas), but got '"
        << name << "'";
    return {};
  }
  ScheduleFields fields;
  while (succeeded(parser.parseOptionalComma()))
    if (parseScheduleField(parser, fields))
      return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<ScheduleAttr>(
      loc, parser.getContext(), *strategy, fields.block, fields.warp,
      fields.thread, fields.stages, fields.splitK, fields.clusterK,
      fields.sliceK, fields.packing, fields.prefetch, fields.pack);
}

static void printSizes(AsmPrinter &printer, StringRef name,
                       ArrayRef<int64_t> sizes) {
  if (sizes.empty())
    return;
  printer << ", " << name << " = [";
  llvm::interleaveComma(sizes, printer.getStream());
  printer << "]";
}

void ScheduleAttr::print(AsmPrinter &printer) const {
  printer << "<" << stringifyStrategy(getStrategy());
  printSizes(printer, "block", getBlock());
  printSizes(printer, "warp", getWarp());
  printSizes(printer, "thread", getThread());
  if (getStages() != 1)
    printer << ", stages = " << getStages();
  if (getSplitK() != 1)
    printer << ", split_k = " << getSplitK();
  if (getClusterK() != 1)
    printer << ", cluster_k = " << getClusterK();
  if (getSliceK() != 1)
    printer << ", slice_k = " << getSliceK();
  if (getPack())
    printer << ", pack = true";
  if (getPacking()) {
    printer << ", packing = ";
    printer.printStrippedAttrOrType(getPacking());
  }
  if (!getPrefetch())
    printer << ", prefetch = false";
  printer << ">";
}

/// The longest side of a warp's or a thread's tile, which is unrolled; no chip
/// has the registers for more.
static constexpr int64_t kMaxTile = 1024;
/// The most buffers of a pipeline, and the most parts of k.
static constexpr int64_t kMaxParts = 1 << 16;
/// The most warps of a block.
static constexpr int64_t kMaxWarps = 32;
/// The most blocks of a cluster that every chip with clusters has.
static constexpr int64_t kMaxCluster = 8;

static LogicalResult verifySizes(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef name, ArrayRef<int64_t> sizes,
                                 size_t rank, int64_t most) {
  if (!sizes.empty() && sizes.size() != rank)
    return emitError() << "expected " << rank << " sizes in '" << name
                       << "', but got " << sizes.size();
  for (int64_t size : sizes)
    if (size < 1 || size > most)
      return emitError() << "expected sizes in '" << name << "' to be in 1.."
                         << most << ", but got " << size;
  return success();
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   Strategy strategy, ArrayRef<int64_t> block,
                                   ArrayRef<int64_t> warp,
                                   ArrayRef<int64_t> thread, int64_t stages,
                                   int64_t splitK, int64_t clusterK,
                                   int64_t sliceK, PackingAttr packing,
                                   bool prefetch, bool pack) {
  // (C1).
  if (failed(verifySizes(emitError, "block", block, 3, ::nm::kMaxSize)) ||
      failed(verifySizes(emitError, "warp", warp, 2, kMaxTile)) ||
      failed(verifySizes(emitError, "thread", thread, 2, kMaxTile)))
    return failure();
  // (C2).
  if (stages < 1 || stages > kMaxParts)
    return emitError() << "expected stages in 1.." << kMaxParts << ", but got "
                       << stages;
  if (splitK < 1 || splitK > kMaxParts)
    return emitError() << "expected split_k in 1.." << kMaxParts << ", but got "
                       << splitK;
  if (sliceK < 1 || sliceK > kMaxWarps)
    return emitError() << "expected slice_k in 1.." << kMaxWarps << ", but got "
                       << sliceK;
  // (C5).
  if (clusterK < 1 || clusterK > kMaxCluster)
    return emitError() << "expected cluster_k in 1.." << kMaxCluster
                       << ", but got " << clusterK;
  if (splitK % clusterK != 0)
    return emitError() << "expected cluster_k to divide split_k, " << splitK
                       << ", but got " << clusterK;
  if (clusterK > 1 && strategy != Strategy::Simt &&
      strategy != Strategy::Cublas)
    return emitError() << "expected strategy simt with cluster_k, but got "
                       << stringifyStrategy(strategy);
  // (C3).
  if (!prefetch && strategy != Strategy::Simt && strategy != Strategy::Cublas)
    return emitError() << "expected strategy simt with prefetch = false, but "
                          "got "
                       << stringifyStrategy(strategy);
  // (C4).
  if (packing && packing.getColInfo() != 0)
    return emitError()
           << "expected 'pack = true', from which col_info follows, "
              "but got "
           << packing;
  if (!pack)
    return success();
  if (strategy != Strategy::Simt)
    return emitError() << "expected strategy simt with 'pack', but got "
                       << stringifyStrategy(strategy);
  if (block.empty() || !packing)
    return emitError() << "expected 'block' and 'packing' with 'pack'";
  return success();
}

PackingAttr ScheduleAttr::getPackingOf(const ::nm::Pattern &pattern) const {
  if (!getPack() || !getPacking())
    return getPacking();
  ::nm::PanelPacking packing = getPacking().getPacking();
  // A panel narrower than a unit has the unit to itself.
  int64_t columns =
      packing.panel < pattern.bn ? packing.panel : packing.columnStep(pattern);
  packing.colInfo = llvm::alignTo(getBlock()[1], columns);
  return PackingAttr::get(getContext(), packing);
}

ScheduleAttr ScheduleAttr::withPack(bool pack) const {
  return get(getContext(), getStrategy(), getBlock(), getWarp(), getThread(),
             getStages(), getSplitK(), getClusterK(), getSliceK(), getPacking(),
             getPrefetch(), pack);
}
