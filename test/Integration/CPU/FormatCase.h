//===- FormatCase.h - One drawn format op -----------------------*- C++ -*-===//

#ifndef NM_TEST_INTEGRATION_CPU_FORMATCASE_H
#define NM_TEST_INTEGRATION_CPU_FORMATCASE_H

#include "Random.h"

#include <functional>
#include <string>

namespace nm::test {

enum class FormatOp { Compress, Decompress, Prune, Pack };

/// The op's name without its dialect.
const char *formatOpName(FormatOp op);

/// An operand of a case: its IR type is drawn with the case, its data with a
/// run.
struct FormatOperand {
  ElementType type;
  std::vector<int64_t> sizes;
  Layout layout;
};

struct FormatCase {
  int64_t number = 0;
  FormatOp op = FormatOp::Compress;
  Pattern pattern;
  PanelPacking packing;
  ElementType type = ElementType::F32;
  int64_t k = 1, n = 1;
  /// The dimension of the dense matrix that is k.
  int64_t dim = 0;
  /// Whether all sizes are dynamic in the IR.
  bool dynamic = false;
  std::vector<FormatOperand> inputs, outputs;

  static FormatCase draw(int64_t number, FormatOp op, Random &random);

  std::string name() const { return "case" + std::to_string(number); }
  std::string function() const;
  std::string describe() const;

  /// The dense matrix in the row-major `bytes` of its operand.
  DenseView denseView(const char *bytes) const;
  int64_t denseStrideK() const { return dim == 0 ? n : 1; }
  int64_t denseStrideN() const { return dim == 0 ? 1 : k; }

private:
  void drawOperands(Random &random);
  std::string operation() const;
  std::string types(const std::vector<FormatOperand> &operands) const;
};

/// Runs `call` (name, descriptors) on data drawn afresh and compares every byte
/// with lib/Format; returns what is wrong, or nothing.
std::string checkFormat(
    const FormatCase &format, Random &random,
    const std::function<bool(const std::string &, const std::vector<void *> &)>
        &call);

} // namespace nm::test

#endif // NM_TEST_INTEGRATION_CPU_FORMATCASE_H
