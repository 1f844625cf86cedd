//===- ModelCase.h - One drawn linalg contraction ---------------*- C++ -*-===//

#ifndef NM_TEST_INTEGRATION_CPU_MODELCASE_H
#define NM_TEST_INTEGRATION_CPU_MODELCASE_H

#include "EpilogueCase.h"
#include "ImageCase.h"
#include "QuantizedCase.h"

#include "nm/Runtime/Tensor.h"

#include <optional>
#include <string>

namespace nm::test {

/// A contraction with an encoded weight, as a user writes it in linalg. The
/// dimensions of activations and output stand in any order.
struct ModelCase {
  int64_t number = 0;
  Pattern pattern;
  ElementType type = ElementType::F32;
  ElementType outputType = ElementType::F32;
  /// The dimension of the weight that is k.
  int64_t weightDim = 0;
  /// How the weight is stored, where it is quantized.
  std::optional<QuantizedCase> quantized;
  /// Whether the weight is a constant of the module, not an argument.
  bool isConstant = false;
  /// The image that activations are, in place of a matrix. Its weight has k
  /// first, and its rows are the leading loops.
  std::optional<ImageCase> image;
  /// Whether the weight is the first operand.
  bool weightFirst = false;
  /// Sizes of the loops: batch and m, none for a matrix-vector product; then n
  /// and k, always static.
  std::vector<int64_t> leading;
  int64_t n = 1, k = 1;
  /// Whether the output is filled with zeros before; else the product is added
  /// to what it holds.
  bool filled = false;
  /// Whether the leading sizes are dynamic in the IR.
  bool dynamic = false;
  /// The loop that each dimension runs over.
  std::vector<int64_t> activationLoops, outputLoops;
  /// What a product of f32 may be computed by, as #nm.arithmetic says it; empty
  /// for its default.
  std::string arithmetic;

  /// What follows the product, and the type of the result then.
  std::optional<EpilogueCase> epilogue;
  ElementType epilogueType = ElementType::F32;

  /// Has weights kept anywhere: one, a few, or up to half of them.
  void drawKept(Random &random);
  /// Has activations that are an image, and a weight of another k.
  void drawImage(Random &random, bool hasChannelsLast, bool mayBeNarrow = true);
  /// Lets some cases of 16-bit types have a quantized weight.
  void drawQuantized(Random &random);
  /// Lets half of the cases have one.
  void drawEpilogue(Random &random);
  /// The type that the weight comes in.
  ElementType weightType() const { return quantized ? ElementType::I8 : type; }
  ElementType resultType() const {
    return epilogue ? epilogueType : outputType;
  }
  /// The loops of an epilogue's operand.
  std::vector<int64_t> loopsOf(const EpilogueCase::Operand &operand) const;

  static ModelCase draw(int64_t number, ElementType type, Random &random);

  std::string name() const { return "case" + std::to_string(number); }
  /// A func.func (activations, weight that is not constant, output before,
  /// operands of the epilogue, scales of a quantized weight) -> output.
  std::string function() const;

  int64_t nLoop() const { return int64_t(leading.size()); }
  int64_t kLoop() const { return int64_t(leading.size()) + 1; }
  int64_t loopSize(int64_t loop) const;
  std::vector<int64_t> sizes(const std::vector<int64_t> &loops) const;
  /// The shape of the activations, and their elements as A [rows x k].
  std::vector<int64_t> activationSizes() const;
  std::vector<double> activationMatrix(const Tensor &tensor) const;
  /// Product of the leading sizes.
  int64_t rows() const;
  /// The elements of a tensor over `loops`, as a row-major matrix whose rows
  /// are the leading loops and whose columns are loop `column`.
  std::vector<double> asMatrix(const Tensor &tensor,
                               const std::vector<int64_t> &loops,
                               int64_t column) const;

private:
  std::string tensorType(ElementType element, const std::vector<int64_t> &loops,
                         bool encoded) const;
  std::string affineMap(const std::vector<int64_t> &loops) const;
  std::string activationType() const;
  std::vector<int64_t> weightLoops() const;
  std::string body() const;
  std::string constantText(const std::string &type) const;
  std::string productText(const std::string &weight) const;
  std::string scalesType() const;
  std::string epilogueText() const;
};

} // namespace nm::test

#endif // NM_TEST_INTEGRATION_CPU_MODELCASE_H
