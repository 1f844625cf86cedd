//===- ModelCase.cpp - One drawn linalg contraction -----------------------===//

#include "ModelCase.h"

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

std::string ModelCase::function() const {
  std::vector<int64_t> weightLoops = {kLoop(), nLoop()};
  if (weightDim == 1)
    weightLoops = {nLoop(), kLoop()};
  std::string a = tensorType(type, activationLoops, false);
  std::string w = tensorType(type, weightLoops, true);
  std::string c = tensorType(outputType, outputLoops, false);
  std::string maps = affineMap(activationLoops) + ", " + affineMap(weightLoops);
  std::string operands = "%a, %w : " + a + ", " + w;
  if (weightFirst) {
    maps = affineMap(weightLoops) + ", " + affineMap(activationLoops);
    operands = "%w, %a : " + w + ", " + a;
  }
  std::string iterators;
  for (int64_t loop = 0; loop <= nLoop(); ++loop)
    iterators += "\"parallel\", ";
  std::string fill;
  if (filled) {
    std::string element(elementName(outputType));
    fill = "  %zero = arith.constant " +
           std::string(isFloat(outputType) ? "0.0" : "0") + " : " + element +
           "\n  %start = linalg.fill ins(%zero : " + element +
           ") outs(%c : " + c + ") -> " + c + "\n";
  }
  return "func.func @" + name() + "(%a: " + a + ", %w: " + w + ", %c: " + c +
         ") -> " + c + " {\n" + fill +
         "  %r = linalg.generic {indexing_maps = [" + maps + ", " +
         affineMap(outputLoops) + "], iterator_types = [" + iterators +
         "\"reduction\"]}\n    ins(" + operands + ") outs(" +
         (filled ? "%start" : "%c") + " : " + c + ") {\n" + body() + "  } -> " +
         c + "\n  return %r : " + c + "\n}\n";
}
