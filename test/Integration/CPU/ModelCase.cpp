//===- ModelCase.cpp - One drawn linalg contraction -----------------------===//

#include "ModelCase.h"

#include "ModelWeight.h"

#include "nm/Support/Hex.h"

#include <numeric>

using namespace nm;
using namespace nm::test;

ModelCase ModelCase::draw(int64_t number, ElementType type, Random &random) {
  ModelCase drawn;
  drawn.number = number;
  drawn.type = type;
  drawn.outputType = type == ElementType::I8 ? ElementType::I32
                     : random.chance(0.3)    ? ElementType::F32
                                             : type;
  do {
    drawn.pattern = random.pattern();
    drawn.k = random.sizeOfK(drawn.pattern);
    drawn.n = random.sizeOfN(drawn.pattern);
    // An encoding wants a block that fits.
  } while (drawn.pattern.bk > drawn.k || drawn.pattern.bn > drawn.n);
  drawn.weightDim = random.integer(0, 1);
  drawn.weightFirst = random.chance(0.5);
  drawn.dynamic = random.chance(0.5);
  for (int64_t dim = 0; dim < number % 4; ++dim)
    drawn.leading.push_back(random.integer(1, dim == 0 ? 40 : 3));
  drawn.outputLoops.resize(drawn.leading.size() + 1);
  std::iota(drawn.outputLoops.begin(), drawn.outputLoops.end(), 0);
  drawn.activationLoops = drawn.outputLoops;
  drawn.activationLoops.back() = drawn.kLoop();
  if (random.chance(0.5)) {
    random.shuffle(drawn.activationLoops);
    random.shuffle(drawn.outputLoops);
  }
  return drawn;
}

void ModelCase::drawKept(Random &random) {
  int64_t all = k * n;
  int64_t most = random.oneOf({1, all / 50, all / 10, all / 2});
  pattern =
      Pattern::unstructured(random.integer(1, std::max<int64_t>(1, most)));
}

void ModelCase::drawImage(Random &random, bool hasChannelsLast,
                          bool mayBeNarrow) {
  image = ImageCase::draw(random, hasChannelsLast, mayBeNarrow);
  leading = image->rows();
  k = image->k();
  weightDim = 0;
  dynamic = false;
  outputLoops = {0, nLoop(), 1, 2};
  activationLoops = {0, kLoop(), 1, 2};
  if (hasChannelsLast) {
    outputLoops = {0, 1, 2, nLoop()};
    activationLoops = {0, 1, 2, kLoop()};
  }
}

void ModelCase::drawQuantized(Random &random) {
  if (elementSize(type) == 2 && random.chance(0.4))
    quantized = QuantizedCase::draw(number, pattern, random);
}

void ModelCase::drawEpilogue(Random &random) {
  if (!random.chance(0.5))
    return;
  epilogue = EpilogueCase::draw(type, !leading.empty(), random);
  // What is rounded to a narrow type stays as far off. Sums of i8 are beyond
  // f16.
  std::vector<int64_t> types = {int64_t(ElementType::BF16)};
  if (type != ElementType::I8 && outputType != ElementType::BF16)
    types.push_back(int64_t(ElementType::F16));
  if (outputType == ElementType::F32 || outputType == ElementType::I32)
    types.push_back(int64_t(ElementType::F32));
  epilogueType = static_cast<ElementType>(random.oneOf(types));
}

std::vector<int64_t>
ModelCase::loopsOf(const EpilogueCase::Operand &operand) const {
  if (operand.kind == EpilogueCase::Residual)
    return outputLoops;
  std::vector<int64_t> loops;
  if (operand.hasRows())
    for (int64_t loop = 0; loop < nLoop(); ++loop)
      loops.push_back(loop);
  if (operand.hasColumns())
    loops.push_back(nLoop());
  return loops;
}

int64_t ModelCase::loopSize(int64_t loop) const {
  if (loop == kLoop())
    return k;
  return loop == nLoop() ? n : leading[loop];
}

std::vector<int64_t> ModelCase::sizes(const std::vector<int64_t> &loops) const {
  std::vector<int64_t> sizes;
  for (int64_t loop : loops)
    sizes.push_back(loopSize(loop));
  return sizes;
}

std::vector<int64_t> ModelCase::activationSizes() const {
  return image ? image->shape(/*isPadded=*/false) : sizes(activationLoops);
}

std::vector<double> ModelCase::activationMatrix(const Tensor &tensor) const {
  return image ? image->patches(tensor)
               : asMatrix(tensor, activationLoops, kLoop());
}

int64_t ModelCase::rows() const {
  return std::accumulate(leading.begin(), leading.end(), int64_t(1),
                         std::multiplies<int64_t>());
}

std::vector<double> ModelCase::asMatrix(const Tensor &tensor,
                                        const std::vector<int64_t> &loops,
                                        int64_t column) const {
  std::vector<double> matrix(tensor.elements());
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    std::vector<int64_t> position(leading.size() + 2);
    int64_t rest = i;
    for (size_t dim = loops.size(); dim-- > 0;) {
      position[loops[dim]] = rest % tensor.shape[dim];
      rest /= tensor.shape[dim];
    }
    int64_t row = 0;
    for (size_t loop = 0; loop < leading.size(); ++loop)
      row = row * leading[loop] + position[loop];
    matrix[row * loopSize(column) + position[column]] =
        loadAsDouble(tensor.data, tensor.type, i);
  }
  return matrix;
}

//===----------------------------------------------------------------------===//
// IR
//===----------------------------------------------------------------------===//

std::string ModelCase::tensorType(ElementType element,
                                  const std::vector<int64_t> &loops,
                                  bool encoded) const {
  std::string text = "tensor<";
  for (int64_t loop : loops)
    text += (dynamic && loop < nLoop() ? "?" : std::to_string(loopSize(loop))) +
            "x";
  text += elementName(element);
  if (encoded)
    text += ", #nm.encoding<" + pattern.str() +
            ", dim = " + std::to_string(weightDim) + ">";
  return text + ">";
}

std::string ModelCase::affineMap(const std::vector<int64_t> &loops) const {
  std::string dims, results;
  for (int64_t loop = 0; loop <= kLoop(); ++loop)
    dims += (loop ? ", d" : "d") + std::to_string(loop);
  for (int64_t loop : loops)
    results += (results.empty() ? "d" : ", d") + std::to_string(loop);
  return "affine_map<(" + dims + ") -> (" + results + ")>";
}

std::string ModelCase::body() const {
  std::string in(elementName(type)), out(elementName(outputType));
  std::string arith = isFloat(type) ? "f" : "i";
  std::string text =
      "  ^bb0(%x: " + in + ", %y: " + in + ", %z: " + out + "):\n";
  std::string x = "%x", y = "%y";
  if (type != outputType) {
    std::string extend = isFloat(type) ? "arith.extf" : "arith.extsi";
    for (const char *name : {"x", "y"})
      text += "    %" + std::string(name) + "1 = " + extend + " %" + name +
              " : " + in + " to " + out + "\n";
    x = "%x1";
    y = "%y1";
  }
  return text + "    %p = arith.mul" + arith + " " + x + ", " + y + " : " +
         out + "\n    %s = arith.add" + arith + " %z, %p : " + out +
         "\n    linalg.yield %s : " + out + "\n";
}

/// A linalg.generic over the output's dimensions, from %r to %result.
std::string ModelCase::epilogueText() const {
  std::string sums = tensorType(outputType, outputLoops, false),
              result = tensorType(epilogueType, outputLoops, false);
  std::string sizes, text, dims, iterators;
  for (size_t dim = 0; dim < outputLoops.size(); ++dim) {
    std::string number = std::to_string(dim);
    dims += (dim ? ", d" : "d") + number;
    iterators += dim ? ", \"parallel\"" : "\"parallel\"";
    if (!dynamic || outputLoops[dim] >= nLoop())
      continue;
    text += "  %i" + number + " = arith.constant " + number + " : index\n  %d" +
            number + " = tensor.dim %c, %i" + number + " : " + sums + "\n";
    sizes += (sizes.empty() ? "%d" : ", %d") + number;
  }
  std::string names = "%r", types = sums,
              maps = "affine_map<(" + dims + ") -> (" + dims + ")>",
              identity = maps,
              arguments = "%sum: " + std::string(elementName(outputType));
  for (size_t i = 0; i < epilogue->operands.size(); ++i) {
    const EpilogueCase::Operand &operand = epilogue->operands[i];
    std::string results;
    for (int64_t loop : loopsOf(operand)) {
      size_t dim = 0;
      while (outputLoops[dim] != loop)
        ++dim;
      results += (results.empty() ? "d" : ", d") + std::to_string(dim);
    }
    names += ", %m" + std::to_string(i);
    types += ", " + tensorType(operand.type, loopsOf(operand), false);
    maps += ", affine_map<(" + dims + ") -> (" + results + ")>";
    arguments +=
        ", " + operand.name() + ": " + std::string(elementName(operand.type));
  }
  return text + "  %e = tensor.empty(" + sizes + ") : " + result +
         "\n  %result = linalg.generic {indexing_maps = [" + maps + ", " +
         identity + "], iterator_types = [" + iterators + "]}\n    ins(" +
         names + " : " + types + ") outs(%e : " + result + ") {\n  ^bb0(" +
         arguments + ", %unused: " + std::string(elementName(epilogueType)) +
         "):\n" + epilogue->body(outputType, epilogueType) +
         "    linalg.yield %y : " + std::string(elementName(epilogueType)) +
         "\n  } -> " + result + "\n";
}

std::string ModelCase::scalesType() const {
  std::string text = "tensor<";
  for (int64_t size : quantized->scaleShape(k, n))
    text += std::to_string(size) + "x";
  return text + std::string(elementName(type)) + ">";
}

/// The type of the image, or of a matrix over the activations' loops.
std::string ModelCase::activationType() const {
  if (!image)
    return tensorType(type, activationLoops, false);
  std::string text = "tensor<";
  for (int64_t size : activationSizes())
    text += std::to_string(size) + "x";
  return text + std::string(elementName(type)) + ">";
}

std::vector<int64_t> ModelCase::weightLoops() const {
  return weightDim == 0 ? std::vector<int64_t>{kLoop(), nLoop()}
                        : std::vector<int64_t>{nLoop(), kLoop()};
}

/// The line that makes `%w`, of `type`, a constant.
std::string ModelCase::constantText(const std::string &type) const {
  Random unused(0);
  Result<Buffer> weight = drawWeight(*this, unused);
  if (!weight)
    return weight.error().message;
  std::string_view bytes(static_cast<const char *>(weight->tensor().data),
                         size_t(weight->tensor().bytes()));
  return "  %w = arith.constant dense<\"0x" + nm::toHex(bytes) +
         "\"> : " + type + "\n";
}

/// The op that makes `%r` of `%a` and `%w`, of type `weight`.
std::string ModelCase::productText(const std::string &weight) const {
  std::string a = activationType();
  std::string c = tensorType(outputType, outputLoops, false);
  std::string start = filled ? "%start" : "%c";
  if (image)
    return image->text(type, n, weight, start, c);
  std::string maps =
      affineMap(activationLoops) + ", " + affineMap(weightLoops());
  std::string operands = "%a, %w : " + a + ", " + weight;
  if (weightFirst) {
    maps = affineMap(weightLoops()) + ", " + affineMap(activationLoops);
    operands = "%w, %a : " + weight + ", " + a;
  }
  std::string iterators;
  for (int64_t loop = 0; loop <= nLoop(); ++loop)
    iterators += "\"parallel\", ";
  std::string attributes;
  if (!arithmetic.empty())
    attributes =
        " attrs = {nm.arithmetic = #nm.arithmetic<" + arithmetic + ">}";
  return "  %r = linalg.generic {indexing_maps = [" + maps + ", " +
         affineMap(outputLoops) + "], iterator_types = [" + iterators +
         "\"reduction\"]}\n    ins(" + operands + ") outs(" + start + " : " +
         c + ")" + attributes + " {\n" + body() + "  } -> " + c + "\n";
}

std::string ModelCase::function() const {
  std::string a = activationType();
  std::string given = tensorType(weightType(), weightLoops(), true);
  std::string w = quantized ? tensorType(type, weightLoops(), false) : given;
  std::string c = tensorType(outputType, outputLoops, false);
  std::string fill;
  if (filled) {
    std::string element(elementName(outputType));
    fill = "  %zero = arith.constant " +
           std::string(isFloat(outputType) ? "0.0" : "0") + " : " + element +
           "\n  %start = linalg.fill ins(%zero : " + element +
           ") outs(%c : " + c + ") -> " + c + "\n";
  }
  std::string arguments, result = c, last, name = "%r";
  if (epilogue) {
    for (size_t i = 0; i < epilogue->operands.size(); ++i)
      arguments += ", %m" + std::to_string(i) + ": " +
                   tensorType(epilogue->operands[i].type,
                              loopsOf(epilogue->operands[i]), false);
    result = tensorType(epilogueType, outputLoops, false);
    last = epilogueText();
    name = "%result";
  }
  std::string weightName = "%w", dequantization, constant;
  if (quantized) {
    weightName = "%q";
    arguments += ", %scales: " + scalesType();
    dequantization = quantized->text(weightDim, type, given, scalesType(), w);
  }
  std::string weight = ", " + weightName + ": " + given;
  if (isConstant) {
    constant = constantText(given);
    weight.clear();
  }
  return "func.func @" + this->name() + "(%a: " + a + weight + ", %c: " + c +
         arguments + ") -> " + result + " {\n" + constant + fill +
         dequantization + productText(w) + last + "  return " + name + " : " +
         result + "\n}\n";
}
