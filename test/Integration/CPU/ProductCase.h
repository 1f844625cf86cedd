//===- ProductCase.h - One drawn nm.spmm or nm.spmv -------------*- C++ -*-===//

#ifndef NM_TEST_INTEGRATION_CPU_PRODUCTCASE_H
#define NM_TEST_INTEGRATION_CPU_PRODUCTCASE_H

#include "EpilogueCase.h"

#include "nm/Format/BitmapPanels.h"

#include <optional>
#include <string>

namespace nm::test {

struct ProductCase {
  int64_t number = 0;
  /// nm.spmv: no batch, no m, no transposes.
  bool isVector = false;
  Pattern pattern;
  std::optional<PanelPacking> packing;
  /// The form of weights that vectors expand, and how many of the weights of a
  /// column that is neither empty nor full are not zero.
  std::optional<BitmapPanels> panels;
  double density = 1;
  ElementType type = ElementType::F32;
  ElementType outputType = ElementType::F32;
  std::vector<int64_t> batch;
  int64_t m = 1, k = 1, n = 1;
  bool transposeA = false, transposeC = false;
  /// Whether batch and m are dynamic in the IR.
  bool dynamic = false;
  /// A schedule's strategy, and the text of its parameters; none if empty.
  std::string strategy = "vector", schedule;
  /// Columns that are summed in registers together, as drawShuffled draws them.
  int64_t registerColumns = 0;
  Layout layoutA, layoutValues, layoutIndices, layoutC;
  std::optional<EpilogueCase> epilogue;
  /// The layouts of the epilogue's operands.
  std::vector<Layout> epilogueLayouts;
  /// Whether the residual has n before m.
  bool transposeResidual = false;

  /// Draws case `number` of elements of `type`. Transposes, packing and batch
  /// follow from the number, so that every combination comes up.
  static ProductCase draw(int64_t number, ElementType type, bool isVector,
                          Random &random);

  /// Draws an epilogue, and the type of C that it makes.
  void drawEpilogue(Random &random);

  /// Draws a schedule of strategy `amx`, and a pattern and sizes that it takes.
  void drawAmxSchedule(Random &random, int64_t chunkRows);
  /// The same, of weights whose lanes choose words of A.
  void drawWords(Random &random);
  /// Draws packed weights whose columns share no index, and a schedule with
  /// vectors of 16 elements along m.
  void drawShuffled(Random &random);
  /// Draws weights that vectors expand, and their schedule for up to six rows.
  void drawExpanded(Random &random);
  /// Draws a schedule of strategy `vector` for vectors of `lanes` elements, or
  /// leaves the choice to the strategy.
  void drawVectorSchedule(int64_t lanes, Random &random);

  std::string name() const { return "case" + std::to_string(number); }
  /// A func.func that does nothing but this product.
  std::string function() const;
  /// The op, and where its operands lie.
  std::string describe() const;

  std::vector<int64_t> shapeOfA() const;
  std::vector<int64_t> shapeOfC() const;
  std::vector<int64_t> shapeOfEpilogue(const EpilogueCase::Operand &) const;
  std::vector<int64_t> shapeOfValues() const;
  std::vector<int64_t> shapeOfIndices() const;
  /// Of lists of rows, that of the indices.
  std::vector<int64_t> shapeOfLists() const;
  int64_t batchSize() const;

  bool hasLists() const { return panels || (packing && packing->hasLists()); }

private:
  void drawAmxTiles(Random &random);
  std::string operation() const;
  std::string typeOfLists() const;
  std::string typeOfEpilogue(size_t operand) const;
  std::string epilogueText() const;
};

/// Runs `call` (name, descriptors) on data drawn afresh; returns what is wrong
/// with the result, or nothing.
std::string checkProduct(
    const ProductCase &product, Random &random,
    const std::function<bool(const std::string &, const std::vector<void *> &)>
        &call);

inline constexpr int64_t kDynamic = -1;

/// `memref<?x4xf32, strided<[?, 1], offset: ?>>`, with `?` for kDynamic.
std::string memrefType(ElementType type, const std::vector<int64_t> &sizes,
                       const Layout &layout);

} // namespace nm::test

#endif // NM_TEST_INTEGRATION_CPU_PRODUCTCASE_H
