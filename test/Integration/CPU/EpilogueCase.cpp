//===- EpilogueCase.cpp - What a drawn product does with its sums ---------===//

#include "EpilogueCase.h"

#include <cmath>

using namespace nm;
using namespace nm::test;

EpilogueCase EpilogueCase::draw(ElementType type, bool hasRows,
                                Random &random) {
  EpilogueCase drawn;
  for (int kind = 0; kind < kKinds; ++kind) {
    Operand operand{static_cast<Kind>(kind), ElementType::F32};
    if (!random.chance(0.35) || (operand.hasRows() && !hasRows))
      continue;
    if (random.chance(0.3) && isFloat(type) && !isFloat8(type))
      operand.type = type;
    drawn.operands.push_back(operand);
  }
  drawn.activation = static_cast<Activation>(random.integer(None, SiLU));
  return drawn;
}

int64_t EpilogueCase::countElements(const Operand &operand, int64_t rows,
                                    int64_t columns) {
  return (operand.hasRows() ? rows : 1) * (operand.hasColumns() ? columns : 1);
}

//===----------------------------------------------------------------------===//
// IR
//===----------------------------------------------------------------------===//

namespace {
/// Lines of scalar ops in f32; each gives a name to its result.
class BodyText {
public:
  std::string text;

  std::string op(const std::string &name, const std::string &operands) {
    return append(name + " " + operands + " : f32");
  }
  std::string constant(const char *value) {
    return append("arith.constant " + std::string(value) + " : f32");
  }
  /// `value` in f32.
  std::string widen(const std::string &value, ElementType type) {
    if (type == ElementType::F32)
      return value;
    return append(std::string(isFloat(type) ? "arith.extf " : "arith.sitofp ") +
                  value + " : " + std::string(elementName(type)) + " to f32");
  }
  std::string append(const std::string &op) {
    std::string name = "%t" + std::to_string(count++);
    text += "    " + name + " = " + op + "\n";
    return name;
  }

private:
  int count = 0;
};
} // namespace

static std::string activate(BodyText &body, const std::string &x,
                            EpilogueCase::Activation activation) {
  auto mul = [&](const std::string &a, const std::string &b) {
    return body.op("arith.mulf", a + ", " + b);
  };
  auto add = [&](const std::string &a, const std::string &b) {
    return body.op("arith.addf", a + ", " + b);
  };
  auto half = [&](const std::string &weight) {
    return mul(mul(x, body.constant("0.5")), add(weight, body.constant("1.0")));
  };
  switch (activation) {
  case EpilogueCase::None:
    return x;
  case EpilogueCase::ReLU:
    return body.op("arith.maximumf", x + ", " + body.constant("0.0"));
  case EpilogueCase::GELU:
    return half(body.op("math.erf", mul(x, body.constant("0.707106769"))));
  case EpilogueCase::GELUTanh: {
    std::string cube = mul(mul(x, x), mul(x, body.constant("0.044715")));
    return half(
        body.op("math.tanh", mul(add(x, cube), body.constant("0.797884583"))));
  }
  case EpilogueCase::SiLU: {
    std::string exp = body.op("math.exp", body.op("arith.negf", x));
    return body.op("arith.divf", x + ", " + add(exp, body.constant("1.0")));
  }
  }
  return x;
}

std::string EpilogueCase::body(ElementType sumType,
                               ElementType outputType) const {
  BodyText body;
  std::string value = body.widen("%sum", sumType), residual;
  for (const Operand &operand : operands) {
    std::string element = body.widen(operand.name(), operand.type);
    if (operand.kind == Residual)
      residual = element;
    else
      value = body.op(operand.kind == Bias ? "arith.addf" : "arith.mulf",
                      value + ", " + element);
  }
  value = activate(body, value, activation);
  if (!residual.empty())
    value = body.op("arith.addf", value + ", " + residual);
  // A name of its own, whatever came before.
  if (outputType == ElementType::F32)
    return body.text + "    %minus = arith.negf " + value +
           " : f32\n    %y = arith.negf %minus : f32\n";
  bool isNarrow = isFloat(outputType);
  return body.text +
         "    %y = " + (isNarrow ? "arith.truncf " : "arith.fptosi ") + value +
         " : f32 to " + std::string(elementName(outputType)) + "\n";
}

//===----------------------------------------------------------------------===//
// float64
//===----------------------------------------------------------------------===//

static double activate(double x, EpilogueCase::Activation activation) {
  switch (activation) {
  case EpilogueCase::None:
    return x;
  case EpilogueCase::ReLU:
    return std::fmax(x, 0);
  case EpilogueCase::GELU:
    return 0.5 * x * (1 + std::erf(x * 0.7071067811865476));
  case EpilogueCase::GELUTanh:
    return 0.5 * x *
           (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
  case EpilogueCase::SiLU:
    return x / (1 + std::exp(-x));
  }
  return x;
}

std::vector<double>
EpilogueCase::apply(std::vector<double> &sums, int64_t rows, int64_t columns,
                    const std::vector<std::vector<double>> &values) const {
  std::vector<double> magnitudes(sums.size(), 0);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      double &y = sums[row * columns + column], residual = 0;
      for (size_t i = 0; i < operands.size(); ++i) {
        const Operand &operand = operands[i];
        int64_t at = (operand.hasRows() ? row : 0) *
                         (operand.hasColumns() ? columns : 1) +
                     (operand.hasColumns() ? column : 0);
        double element = values[i][at];
        if (operand.kind == Residual)
          residual = element;
        else if (operand.kind == Bias)
          y += element;
        else
          y *= element;
      }
      if (activation != None)
        magnitudes[row * columns + column] = std::fabs(y);
      y = activate(y, activation) + residual;
    }
  return magnitudes;
}
