//===- ProductCase.cpp - One drawn nm.spmm or nm.spmv ---------------------===//

#include "ProductCase.h"

#include <numeric>

using namespace nm;
using namespace nm::test;

//===----------------------------------------------------------------------===//
// Draws
//===----------------------------------------------------------------------===//

static ElementType drawOutputType(ElementType type, Random &random) {
  if (type == ElementType::I8)
    return ElementType::I32;
  // 8-bit floats are storage types only.
  if (isFloat8(type) || random.chance(0.3))
    return ElementType::F32;
  return type;
}

ProductCase ProductCase::draw(int64_t number, ElementType type, bool isVector,
                              Random &random) {
  ProductCase drawn;
  drawn.number = number;
  drawn.isVector = isVector;
  drawn.type = type;
  drawn.outputType = drawOutputType(type, random);
  drawn.pattern = random.pattern();
  drawn.k = random.sizeOfK(drawn.pattern);
  drawn.n = random.sizeOfN(drawn.pattern);
  if (number & 1)
    drawn.packing = random.packing(drawn.pattern);
  if (!isVector) {
    drawn.transposeA = number & 2;
    drawn.transposeC = number & 4;
    for (int64_t dim = 0; dim < number % 3; ++dim)
      drawn.batch.push_back(random.integer(1, 3));
    drawn.m = random.chance(0.2) ? 1 : random.integer(1, 40);
    drawn.dynamic = random.chance(0.5);
    // An empty product is legal where m is dynamic.
    if (drawn.dynamic && random.chance(0.03))
      drawn.m = 0;
  }
  for (Layout *layout : {&drawn.layoutA, &drawn.layoutValues,
                         &drawn.layoutIndices, &drawn.layoutC})
    *layout = random.layout();
  return drawn;
}

void ProductCase::drawEpilogue(Random &random) {
  if (!random.chance(0.5))
    return;
  epilogue = EpilogueCase::draw(type, !isVector, random);
  transposeResidual = !isVector && random.chance(0.3);
  for (const EpilogueCase::Operand &operand : epilogue->operands)
    epilogueLayouts.push_back(
        operand.kind == EpilogueCase::TensorScale ? Layout() : random.layout());
  // Sums of i8 are beyond f16.
  outputType = static_cast<ElementType>(
      random.oneOf({int64_t(ElementType::F32), int64_t(ElementType::BF16),
                    int64_t(type == ElementType::I8 ? ElementType::F32
                                                    : ElementType::F16)}));
}

void ProductCase::drawVectorSchedule(int64_t lanes, Random &random) {
  // Strategy vector leaves weights in chunks to the loops.
  if (packing)
    packing = PanelPacking{packing->panel,
                           packing->hasBitmaps() ? 8 : packing->indexBits};
  if (random.chance(0.4))
    return;
  // The longer side of the thread tile is the one that vectors run along.
  int64_t along = lanes * random.integer(1, 3);
  int64_t across = random.integer(1, 6);
  bool alongM = random.chance(0.5);
  if (random.chance(0.2))
    along = random.integer(1, 20);
  auto list = [](const std::vector<int64_t> &sizes) {
    std::string text;
    for (int64_t size : sizes)
      text += (text.empty() ? "" : ", ") + std::to_string(size);
    return "[" + text + "]";
  };
  schedule =
      "block = " +
      list({random.integer(1, 64), random.integer(1, 128),
            random.integer(1, 256)}) +
      ", thread = " + (alongM ? list({along, across}) : list({across, along}));
}

void ProductCase::drawShuffled(Random &random) {
  pattern.bn = 1;
  pattern.bk = number % 4 == 0 ? 2 : 1;
  k = random.sizeOfK(pattern);
  n = random.sizeOfN(pattern);
  registerColumns = 1 + number % 8;
  packing = PanelPacking{random.integer(registerColumns, 40),
                         std::max<int64_t>(1, pattern.indexBits())};
  schedule = "thread = [" + std::to_string(16 * random.integer(1, 5)) + ", " +
             std::to_string(registerColumns) + "]";
}

void ProductCase::drawAmxSchedule(Random &random, int64_t chunkRows) {
  int64_t panel = 16 * random.integer(1, 4);
  if (random.chance(0.4))
    pattern = {1, 1, 1, random.integer(1, 2) * panel};
  else
    pattern.bn = random.integer(1, 2) * panel;
  // Of i8, units of an odd height, of pairs and of quads are copied each in its
  // own way.
  if (type == ElementType::I8 && pattern.n < pattern.m && number % 3 != 0)
    pattern.bk = 2 * (number % 3);
  // Units of an odd height are unrolled, and few.
  if (pattern.bk % 2 != 0 && pattern.keptRows() > 128)
    ++pattern.bk;
  k = random.sizeOfK(pattern);
  n = random.sizeOfN(pattern);
  packing = PanelPacking{panel, 8, chunkRows, 1,
                         chunkRows / std::gcd(chunkRows, pattern.bk)};
  if (random.chance(0.2))
    packing->indexRows *= 2;
  drawAmxTiles(random);
}

void ProductCase::drawWords(Random &random) {
  int64_t wordRows = 4 / elementSize(type);
  // Each third has windows of two words, of one, or of parts of one.
  static constexpr int64_t kThirds = 3;
  int64_t least = number % kThirds == 0   ? 2 * wordRows
                  : number % kThirds == 1 ? wordRows
                                          : 1;
  pattern = Pattern();
  pattern.n = least;
  int64_t windows = std::lcm(pattern.n, wordRows) / pattern.n;
  int64_t bits = 0;
  do {
    pattern.m = random.integer(pattern.n + 1, 64 / elementSize(type) / windows);
    bits = int64_t(1) << random.integer(0, 3);
  } while (bits < pattern.indexBits() ||
           32 / bits % (windows * pattern.n) != 0);
  k = random.sizeOfK(pattern);
  n = random.sizeOfN(pattern);
  packing =
      PanelPacking{16 * random.integer(1, 3), bits, wordRows, 1, 32 / bits};
  drawAmxTiles(random);
}

void ProductCase::drawExpanded(Random &random) {
  pattern = Pattern();
  k = random.integer(1, 200);
  // Several chains of sums.
  if (random.chance(0.2))
    k = random.integer(1000, 1200);
  n = random.integer(1, 200);
  if (m > 1)
    m = random.integer(1, 14);
  int64_t wordRows = type == ElementType::I8                           ? 4
                     : type == ElementType::BF16 && random.chance(0.7) ? 2
                                                                       : 1;
  packing.reset();
  panels = BitmapPanels{k * n, wordRows};
  density = double(random.integer(0, 4)) / 4;
  std::string form = "kept = " + std::to_string(k * n) +
                     ", word_rows = " + std::to_string(wordRows);
  // Fewer columns beside more rows.
  int64_t columns = random.oneOf({64, 64, 32, 16});
  schedule = "thread = [" +
             std::to_string(random.integer(1, 6 * 64 / columns)) + ", " +
             std::to_string(columns) + "], " + form;
}

void ProductCase::drawAmxTiles(Random &random) {
  strategy = "amx";
  // Small tiles of k and of m, so that there are several.
  schedule = "block = [" + std::to_string(random.integer(1, 64)) + ", 64, " +
             std::to_string(random.integer(1, 128)) + "], packing = <" +
             packing->str() + ">";
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static std::vector<int64_t> withMatrix(std::vector<int64_t> batch, int64_t rows,
                                       int64_t columns, bool transposed) {
  batch.push_back(transposed ? columns : rows);
  batch.push_back(transposed ? rows : columns);
  return batch;
}

std::vector<int64_t> ProductCase::shapeOfA() const {
  if (isVector)
    return {k};
  return withMatrix(batch, m, k, transposeA);
}

std::vector<int64_t> ProductCase::shapeOfC() const {
  if (isVector)
    return {n};
  return withMatrix(batch, m, n, transposeC);
}

std::vector<int64_t> ProductCase::shapeOfValues() const {
  if (panels)
    return {1, 1, panels->places()};
  if (packing) {
    auto shape = packing->valueShape(pattern, k, n);
    return {shape.begin(), shape.end()};
  }
  return {pattern.condensedRows(k), pattern.paddedColumns(n)};
}

std::vector<int64_t> ProductCase::shapeOfIndices() const {
  if (panels)
    return {BitmapPanels::panels(n), panels->steps(k), panels->stepBytes()};
  if (packing) {
    auto shape = packing->indexShape(pattern, k, n);
    return {shape.begin(), shape.end()};
  }
  return {pattern.unitRows(k), pattern.blockColumns(n)};
}

std::vector<int64_t> ProductCase::shapeOfLists() const {
  if (panels)
    return {BitmapPanels::panels(n), 1, BitmapPanels::kListBytes};
  return shapeOfIndices();
}

/// The dimensions of an epilogue's operand, of (batch..., m, n).
static std::vector<int64_t> loopsOf(const ProductCase &product,
                                    const EpilogueCase::Operand &operand) {
  std::vector<int64_t> loops;
  int64_t rows = product.isVector ? 0 : int64_t(product.batch.size()) + 1;
  if (operand.hasRows())
    for (int64_t loop = 0; loop < rows; ++loop)
      loops.push_back(loop);
  if (operand.hasColumns())
    loops.push_back(rows);
  if (operand.kind == EpilogueCase::Residual && product.transposeResidual)
    std::swap(loops.back(), loops[loops.size() - 2]);
  return loops;
}

std::vector<int64_t>
ProductCase::shapeOfEpilogue(const EpilogueCase::Operand &operand) const {
  std::vector<int64_t> sizes(batch);
  if (!isVector)
    sizes.push_back(m);
  sizes.push_back(n);
  std::vector<int64_t> shape;
  for (int64_t loop : loopsOf(*this, operand))
    shape.push_back(sizes[loop]);
  return shape;
}

int64_t ProductCase::batchSize() const {
  int64_t size = 1;
  for (int64_t dim : batch)
    size *= dim;
  return size;
}

//===----------------------------------------------------------------------===//
// IR
//===----------------------------------------------------------------------===//

/// `[?, ?, 1]`.
static std::string stridesText(size_t rank) {
  std::string text = "[";
  for (size_t dim = 0; dim + 1 < rank; ++dim)
    text += "?, ";
  return text + "1]";
}

std::string nm::test::memrefType(ElementType type,
                                 const std::vector<int64_t> &sizes,
                                 const Layout &layout) {
  std::string text = "memref<";
  for (int64_t size : sizes)
    text += (size == kDynamic ? "?" : std::to_string(size)) + "x";
  text += elementName(type);
  if (layout.strided)
    text += ", strided<" + stridesText(sizes.size()) + ", offset: ?>";
  return text + ">";
}

/// The type of A or C: batch and m are dynamic if the case says so, k and n
/// never are.
static std::string matrixType(const ProductCase &product, ElementType type,
                              std::vector<int64_t> sizes, const Layout &layout,
                              bool transposed) {
  size_t inner = sizes.size() - (transposed ? 2 : 1);
  for (size_t dim = 0; dim < sizes.size(); ++dim)
    if (product.dynamic && dim != inner)
      sizes[dim] = kDynamic;
  return memrefType(type, sizes, layout);
}

std::string ProductCase::typeOfEpilogue(size_t operand) const {
  const EpilogueCase::Operand &given = epilogue->operands[operand];
  std::vector<int64_t> sizes = shapeOfEpilogue(given);
  std::vector<int64_t> loops = loopsOf(*this, given);
  int64_t nLoop = isVector ? 0 : int64_t(batch.size()) + 1;
  for (size_t dim = 0; dim < sizes.size(); ++dim)
    if (dynamic && loops[dim] != nLoop)
      sizes[dim] = kDynamic;
  if (sizes.empty())
    return "memref<" + std::string(elementName(given.type)) + ">";
  return memrefType(given.type, sizes, epilogueLayouts[operand]);
}

std::string ProductCase::epilogueText() const {
  if (!epilogue)
    return "";
  std::string dims = "d0", names, types, maps;
  for (size_t loop = 1; loop < batch.size() + (isVector ? 1 : 2); ++loop)
    dims += ", d" + std::to_string(loop);
  ElementType sumType =
      type == ElementType::I8 ? ElementType::I32 : ElementType::F32;
  std::string arguments = "%sum: " + std::string(elementName(sumType));
  for (size_t i = 0; i < epilogue->operands.size(); ++i) {
    const EpilogueCase::Operand &operand = epilogue->operands[i];
    std::string separator = i ? ", " : "", results;
    for (int64_t loop : loopsOf(*this, operand))
      results += (results.empty() ? "d" : ", d") + std::to_string(loop);
    names += separator + "%m" + std::to_string(i);
    types += separator + typeOfEpilogue(i);
    maps += separator + "affine_map<(" + dims + ") -> (" + results + ")>";
    arguments +=
        ", " + operand.name() + ": " + std::string(elementName(operand.type));
  }
  std::string text = "\n    epilogue ";
  if (!epilogue->operands.empty())
    text += "ins(" + names + " : " + types + ") maps [" + maps + "] ";
  return text + "{\n  ^bb0(" + arguments + "):\n" +
         epilogue->body(sumType, outputType) +
         "    nm.yield %y : " + std::string(elementName(outputType)) + "\n  }";
}

std::string ProductCase::typeOfLists() const {
  return memrefType(ElementType::I8, shapeOfLists(), layoutIndices);
}

std::string ProductCase::operation() const {
  std::string types =
      matrixType(*this, type, shapeOfA(), layoutA, transposeA) + ", " +
      memrefType(type, shapeOfValues(), layoutValues) + ", " +
      memrefType(ElementType::I8, shapeOfIndices(), layoutIndices);
  std::string text = isVector ? "nm.spmv" : "nm.spmm";
  text += " <" + pattern.str() + ">";
  if (transposeA)
    text += " transpose_a";
  if (transposeC)
    text += " transpose_c";
  if (packing)
    text += " packing #nm.packing<" + packing->str() + ">";
  if (panels)
    text +=
        " packing #nm.bitmap_panels<kept = " + std::to_string(panels->kept) +
        ", word_rows = " + std::to_string(panels->wordRows) + ">";
  if (!schedule.empty())
    text += " schedule #nm." + strategy + "<" + schedule + ">";
  text += " ins(%a, %v, %i : " + types + ")";
  if (hasLists())
    text += " lists(%l : " + typeOfLists() + ")";
  return text + " outs(%c : " +
         matrixType(*this, outputType, shapeOfC(), layoutC, transposeC) + ")" +
         epilogueText();
}

std::string ProductCase::function() const {
  std::string arguments =
      "%a: " + matrixType(*this, type, shapeOfA(), layoutA, transposeA) +
      ", %v: " + memrefType(type, shapeOfValues(), layoutValues) +
      ", %i: " + memrefType(ElementType::I8, shapeOfIndices(), layoutIndices) +
      (hasLists() ? ", %l: " + typeOfLists() : "") +
      ", %c: " + matrixType(*this, outputType, shapeOfC(), layoutC, transposeC);
  if (epilogue)
    for (size_t i = 0; i < epilogue->operands.size(); ++i)
      arguments += ", %m" + std::to_string(i) + ": " + typeOfEpilogue(i);
  return "func.func @" + name() + "(" + arguments +
         ") attributes {llvm.emit_c_interface} {\n  " + operation() +
         "\n  return\n}\n";
}

std::string ProductCase::describe() const {
  return name() + " with m = " + std::to_string(m) + ": " + operation();
}
