//===- CaseEpilogue.cpp - What a case does with its sums ------------------===//

#include "CaseEpilogue.h"

#include "nm/Tables/ScheduleTable.h"

#include <cmath>
#include <vector>

using namespace nm;
using Activation = CaseEpilogue::Activation;

namespace {
struct KnownActivation {
  Activation activation;
  const char *name;
  /// %r of %v.
  const char *text;
};
} // namespace

static constexpr KnownActivation kActivations[] = {
    {Activation::Relu, "relu",
     "    %least = arith.constant 0.0 : f32\n"
     "    %r = arith.maximumf %v, %least : f32\n"},
    {Activation::Gelu, "gelu",
     "    %half = arith.constant 0.5 : f32\n"
     "    %one = arith.constant 1.0 : f32\n"
     "    %rsqrt2 = arith.constant 0.707106769 : f32\n"
     "    %scaled = arith.mulf %v, %rsqrt2 : f32\n"
     "    %erf = math.erf %scaled : f32\n"
     "    %weight = arith.addf %one, %erf : f32\n"
     "    %halved = arith.mulf %v, %half : f32\n"
     "    %r = arith.mulf %halved, %weight : f32\n"},
    {Activation::Silu, "silu",
     "    %one = arith.constant 1.0 : f32\n"
     "    %minus = arith.negf %v : f32\n"
     "    %exp = math.exp %minus : f32\n"
     "    %sum = arith.addf %one, %exp : f32\n"
     "    %r = arith.divf %v, %sum : f32\n"},
};

static const KnownActivation *find(Activation activation) {
  for (const KnownActivation &known : kActivations)
    if (known.activation == activation)
      return &known;
  return nullptr;
}

std::string CaseEpilogue::str() const {
  const KnownActivation *known = find(activation);
  return (hasBias ? " + bias" : "") +
         (known ? " + " + std::string(known->name) : "") +
         (hasResidual ? " + residual" : "");
}

Result<CaseEpilogue> CaseEpilogue::take(std::string &text) {
  size_t begin = text.find(" + ");
  CaseEpilogue epilogue;
  if (begin == std::string::npos)
    return epilogue;
  std::string words = text.substr(begin);
  auto has = [&](const std::string &word) {
    return (words + " ").find(" + " + word + " ") != std::string::npos;
  };
  epilogue.hasBias = has("bias");
  epilogue.hasResidual = has("residual");
  for (const KnownActivation &known : kActivations)
    if (has(known.name))
      epilogue.activation = known.activation;
  // Words in another order, twice, or that there are not.
  if (epilogue.str() != words)
    return Error{"expected '+ bias', '+ relu', '+ gelu' or '+ silu', and "
                 "'+ residual', in this order, but got '" +
                 words.substr(1) + "'"};
  text.resize(begin);
  return epilogue;
}

std::string CaseEpilogue::className(int64_t m) const {
  // A residual of one row has a number for each column.
  const char *operands = hasResidual && m != 1    ? "matrix"
                         : hasBias || hasResidual ? "columns"
                                                  : "none";
  bool computes =
      activation == Activation::Gelu || activation == Activation::Silu;
  return epilogueClass(operands, computes);
}

double CaseEpilogue::apply(double sum, double bias, double residual) const {
  double value = hasBias ? sum + bias : sum;
  if (activation == Activation::Relu)
    value = std::max(value, 0.0);
  else if (activation == Activation::Gelu)
    value *= (1 + std::erf(value * std::sqrt(0.5))) / 2;
  else if (activation == Activation::Silu)
    value /= 1 + std::exp(-value);
  return hasResidual ? value + residual : value;
}

/// `text`, with each `from` as `to`.
static std::string replaced(std::string text, const std::string &from,
                            const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::string CaseEpilogue::bodyText(ElementType type) const {
  std::string element(elementName(type)), text, value = "%s";
  bool isF32 = type == ElementType::F32;
  auto add = [&](const std::string &name) {
    std::string wide = isF32 ? name : name + "_f32";
    if (!isF32)
      text += "    " + wide + " = arith.extf " + name + " : " + element +
              " to f32\n";
    text +=
        "    " + name + "_sum = arith.addf " + value + ", " + wide + " : f32\n";
    value = name + "_sum";
  };
  if (hasBias)
    add("%bias");
  if (const KnownActivation *known = find(activation)) {
    text += replaced(known->text, "%v", value);
    value = "%r";
  }
  if (hasResidual)
    add("%residual");
  if (isF32)
    return replaced(text, value + " =", "%y =");
  return text + "    %y = arith.truncf " + value + " : f32 to " + element +
         "\n";
}
