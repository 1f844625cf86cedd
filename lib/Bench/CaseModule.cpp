//===- CaseModule.cpp - The module of a case ------------------------------===//

#include "BenchCase.h"
#include "RandomData.h"

#include "nm/Support/Hex.h"

#include <cstring>

using namespace nm;

/// `tensor<4096x4096xf32>`, with `encoding` before the end.
static std::string tensorText(const std::vector<int64_t> &shape,
                              std::string_view element,
                              const std::string &encoding = "") {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + std::string(element) +
         (encoding.empty() ? "" : ", " + encoding) + ">";
}

namespace {
/// The lines of a module, and the function's arguments.
class ModuleText {
public:
  /// `constant` has the elements of B, row-major, where they are constant.
  ModuleText(const BenchCase &bench, const std::optional<Tensor> &constant)
      : bench(bench), constant(constant) {}
  std::string str();

private:
  std::vector<int64_t> shapeOfC() const {
    return bench.shape.rowsOf(bench.shape.n);
  }
  std::string addWeights();
  std::string addProduct(const std::string &typeOfB);
  void addEpilogue();
  void addArgument(const std::string &name, const std::string &type) {
    arguments += ", %" + name + ": " + type;
  }

  const BenchCase &bench;
  const std::optional<Tensor> &constant;
  std::string arguments, body;
};
} // namespace

/// The bytes of `tensor` as a literal of MLIR: `dense<"0x3f80...">`.
static std::string literalOf(const Tensor &tensor) {
  return "dense<\"0x" +
         toHex(
             {static_cast<const char *>(tensor.data), size_t(tensor.bytes())}) +
         "\">";
}

/// Adds B, and gives the type of `%b`: of A's elements, which are made of
/// quantized weights.
std::string ModuleText::addWeights() {
  int64_t k = bench.shape.k, n = bench.shape.n;
  std::string encoding = "#nm.encoding<" + bench.pattern.str() + ">";
  std::string element(elementName(bench.type));
  if (!bench.quantization) {
    std::string type = tensorText({k, n}, element, encoding);
    if (constant)
      body +=
          "  %b = arith.constant " + literalOf(*constant) + " : " + type + "\n";
    else
      addArgument("b", type);
    return type;
  }
  int64_t group = bench.quantization->group;
  std::string stored = tensorText({k, n}, "i8", encoding);
  std::string scales = tensorText({(k + group - 1) / group, n}, element);
  std::string made = tensorText({k, n}, element);
  addArgument("q", stored);
  addArgument("scales", scales);
  std::string map = "affine_map<(k, n) -> (k, n)>";
  bool isFour = bench.quantization->bits == 4;
  body +=
      "  %made = tensor.empty() : " + made +
      "\n  %b = linalg.generic {indexing_maps = [" + map +
      ", affine_map<(k, n) -> (k floordiv " + std::to_string(group) +
      ", n)>, " + map +
      "], iterator_types = [\"parallel\", \"parallel\"]} ins(%q, %scales : " +
      stored + ", " + scales + ") outs(%made : " + made + ") {\n  ^bb0(" +
      "%integer: i8, %scale: " + element + ", %unused: " + element + "):\n" +
      (isFour ? "    %bits = arith.trunci %integer : i8 to i4\n" : "") +
      "    %float = arith.sitofp " + (isFour ? "%bits : i4" : "%integer : i8") +
      " to " + element +
      "\n    %weight = arith.mulf %float, %scale : " + element +
      "\n    linalg.yield %weight : " + element + "\n  } -> " + made + "\n";
  return made;
}

/// Adds the product, and gives the type that its sums have.
std::string ModuleText::addProduct(const std::string &typeOfB) {
  int64_t m = bench.shape.m, k = bench.shape.k;
  std::string a = tensorText(bench.isMMajor ? std::vector<int64_t>{k, m}
                                            : bench.shape.rowsOf(k),
                             elementName(bench.type));
  std::string maps = bench.isMMajor
                         ? " indexing_maps = [affine_map<(m, n, k) -> (k, m)>, "
                           "affine_map<(m, n, k) -> (k, n)>, "
                           "affine_map<(m, n, k) -> (m, n)>]"
                         : "";
  std::string sums =
      bench.hasFastAccum ? " {nm.arithmetic = #nm.arithmetic<fast_accum>}" : "";
  // Products have the operands' type or that of the sums; another is made of
  // the latter behind the product, as what is computed on sums is.
  ElementType result = bench.resultType();
  bool isCast = result != bench.type && result != bench.sumType();
  ElementType made =
      isCast || !bench.epilogue.isNone() ? bench.sumType() : result;
  std::string c = tensorText(shapeOfC(), elementName(made));
  std::string element(elementName(made));
  body += "  %zero = arith.constant " +
          std::string(isFloat(made) ? "0.0" : "0") + " : " + element +
          "\n  %empty = tensor.empty() : " + c +
          "\n  %init = linalg.fill ins(%zero : " + element +
          ") outs(%empty : " + c + ") -> " + c + "\n  %c = linalg." +
          (m == 1 ? "vecmat" : "matmul") + maps + sums + " ins(%a, %b : " + a +
          ", " + typeOfB + ") outs(%init : " + c + ") -> " + c + "\n";
  arguments = "%a: " + a + arguments;
  return c;
}

/// Adds what makes `%r` of the sums in f32.
void ModuleText::addEpilogue() {
  bool isRow = bench.shape.m == 1;
  std::string element(elementName(bench.resultType()));
  std::string result = tensorText(shapeOfC(), element);
  std::string dims = isRow ? "(n)" : "(m, n)";
  std::string all = "affine_map<" + dims + " -> " + dims + ">";
  std::string maps = all, names = "%c",
              types = tensorText(shapeOfC(), elementName(bench.sumType())),
              parameters = "%s: f32";
  auto add = [&](const std::string &name, const std::string &type,
                 const std::string &map) {
    addArgument(name + "s", type);
    maps += ", " + map;
    names += ", %" + name + "s";
    types += ", " + type;
    parameters += ", %" + name + ": " + element;
  };
  if (bench.epilogue.hasBias)
    add("bias", tensorText({bench.shape.n}, element),
        "affine_map<" + dims + " -> (n)>");
  if (bench.epilogue.hasResidual)
    add("residual", result, all);
  body += "  %out = tensor.empty() : " + result +
          "\n  %r = linalg.generic {indexing_maps = [" + maps + ", " + all +
          "], iterator_types = [\"parallel\"" +
          (isRow ? "" : ", \"parallel\"") + "]} ins(" + names + " : " + types +
          ") outs(%out : " + result + ") {\n  ^bb0(" + parameters +
          ", %unused: " + element + "):\n" +
          bench.epilogue.bodyText(bench.resultType()) +
          "    linalg.yield %y : " + element + "\n  } -> " + result + "\n";
}

std::string ModuleText::str() {
  std::string sums = addProduct(addWeights());
  std::string result = tensorText(shapeOfC(), elementName(bench.resultType()));
  bool isMade = true;
  if (!bench.epilogue.isNone())
    addEpilogue();
  else if (sums != result)
    body += "  %r = arith.truncf %c : " + sums + " to " + result + "\n";
  else
    isMade = false;
  return "func.func @product(" + arguments + ") -> " + result + " {\n" + body +
         "  return %" + (isMade ? "r" : "c") + " : " + result + "\n}\n";
}

Result<std::string> BenchCase::moduleText() const {
  if (!isConstant)
    return ModuleText(*this, std::nullopt).str();
  Result<Weight> drawn = drawWeight(weightType(), weightSeed(/*seed=*/0));
  if (!drawn)
    return drawn.error();
  Result<Buffer> dense = Buffer::allocate(type, {shape.k, shape.n});
  if (!dense)
    return dense.error();
  std::memset(dense->tensor().data, 0, size_t(dense->tensor().bytes()));
  scatterWeight(weightType(), *drawn, dense->tensor());
  return ModuleText(*this, dense->tensor()).str();
}
