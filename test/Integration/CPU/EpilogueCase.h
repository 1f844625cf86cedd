//===- EpilogueCase.h - What a drawn product does with its sums -*- C++ -*-===//

#ifndef NM_TEST_INTEGRATION_CPU_EPILOGUECASE_H
#define NM_TEST_INTEGRATION_CPU_EPILOGUECASE_H

#include "Random.h"

#include <string>
#include <vector>

namespace nm::test {

/// y = activation(sum * scale + bias) + residual, of which each may be left
/// out.
struct EpilogueCase {
  enum Activation { None, ReLU, GELU, GELUTanh, SiLU };
  /// What an operand has elements for.
  enum Kind { TensorScale, RowScale, ColumnScale, Bias, Residual };
  static constexpr int kKinds = 5;

  struct Operand {
    Kind kind;
    ElementType type;

    bool hasRows() const { return kind == RowScale || kind == Residual; }
    bool hasColumns() const {
      return kind == ColumnScale || kind == Bias || kind == Residual;
    }
    std::string name() const { return "%e" + std::to_string(int(kind)); }
  };

  /// In the order of Kind.
  std::vector<Operand> operands;
  Activation activation = None;

  /// Draws one for sums of products of `type`; `hasRows` says whether there is
  /// a dimension m.
  static EpilogueCase draw(ElementType type, bool hasRows, Random &random);

  /// The elements that an operand of a product of `rows` x `columns` has.
  static int64_t countElements(const Operand &operand, int64_t rows,
                               int64_t columns);

  /// The ops that make an element of `outputType` of `%sum`, of `sumType`, and
  /// of each operand's element, which has the operand's name. The result is
  /// `%y`.
  std::string body(ElementType sumType, ElementType outputType) const;

  /// Applies the epilogue in float64 to a row-major matrix of sums. `values`
  /// has each operand's elements, row-major. Returns, for each element, how
  /// large what an activation takes is, which an error is relative to: GELU and
  /// SiLU make next to nothing of it where it is negative.
  std::vector<double>
  apply(std::vector<double> &sums, int64_t rows, int64_t columns,
        const std::vector<std::vector<double>> &values) const;
};

} // namespace nm::test

#endif // NM_TEST_INTEGRATION_CPU_EPILOGUECASE_H
