//===- Run.cpp - A layer, compiled and compared ---------------------------===//

#include "Run.h"

#include "mlir/ExecutionEngine/CRunnerUtils.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"

#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace mlir;

static std::vector<float> draw(std::mt19937 &random, size_t count) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float &value : values)
    value = uniform(random);
  return values;
}

Layer::Layer() {
  std::mt19937 random(7);
  x = draw(random, m * k);
  w = draw(random, k * n);
  bias = draw(random, n);
  // Of each four neighbours along k, two are kept.
  for (int column = 0; column < n; ++column)
    for (int row = 0; row < k; row += 4)
      for (int pruned : {column % 4, (column + 1 + row / 4 % 3) % 4})
        w[(row + pruned) * n + column] = 0;
}

std::string Layer::text() const {
  std::string weights;
  llvm::raw_string_ostream stream(weights);
  for (int row = 0; row < k; ++row) {
    stream << (row ? ", [" : "[");
    for (int column = 0; column < n; ++column)
      stream << (column ? ", " : "")
             << llvm::format("%.9e", w[row * n + column]);
    stream << "]";
  }
  return R"mlir(
func.func @layer(%x: tensor<37x64xf32>, %bias: tensor<48xf32>) -> tensor<37x48xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<[)mlir" +
         weights + R"mlir(]> : tensor<64x48xf32, #nm.encoding<2:4>>
  %empty = tensor.empty() : tensor<37x48xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<37x48xf32>) -> tensor<37x48xf32>
  %sums = linalg.matmul
    ins(%x, %w : tensor<37x64xf32>, tensor<64x48xf32, #nm.encoding<2:4>>)
    outs(%zeros : tensor<37x48xf32>) -> tensor<37x48xf32>
  %wide = linalg.broadcast ins(%bias : tensor<48xf32>) outs(%empty : tensor<37x48xf32>) dimensions = [0]
  %biased = linalg.add ins(%sums, %wide : tensor<37x48xf32>, tensor<37x48xf32>)
    outs(%empty : tensor<37x48xf32>) -> tensor<37x48xf32>
  %r = host.saturate %biased to 1.5 : tensor<37x48xf32>
  return %r : tensor<37x48xf32>
}
)mlir";
}

/// ||got - layer|| / ||layer||, where that is a number.
static double errorOf(const Layer &layer, const std::vector<float> &got) {
  double difference = 0, norm = 0;
  for (int row = 0; row < Layer::m; ++row)
    for (int column = 0; column < Layer::n; ++column) {
      double sum = layer.bias[column];
      for (int k = 0; k < Layer::k; ++k)
        sum += double(layer.x[row * Layer::k + k]) *
               layer.w[k * Layer::n + column];
      sum = std::clamp<double>(sum, -Layer::limit, Layer::limit);
      double error = got[row * Layer::n + column] - sum;
      difference += error * error;
      norm += sum * sum;
    }
  return std::sqrt(difference / norm);
}

static StridedMemRefType<float, 2> matrix(float *data, int64_t rows,
                                          int64_t columns) {
  return {data, data, 0, {rows, columns}, {columns, 1}};
}

LogicalResult Layer::check(ModuleOp module, const char *what) const {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto optimize = makeOptimizingTransformer(/*optLevel=*/2, /*sizeLevel=*/0,
                                            /*targetMachine=*/nullptr);
  ExecutionEngineOptions options;
  options.transformer = optimize;
  auto engine = ExecutionEngine::create(module, options);
  if (!engine) {
    llvm::errs() << what << ": " << llvm::toString(engine.takeError()) << "\n";
    return failure();
  }
  std::vector<float> inputs = x, biases = bias,
                     got(m * n, std::numeric_limits<float>::quiet_NaN());
  auto a = matrix(inputs.data(), m, k), c = matrix(got.data(), m, n);
  StridedMemRefType<float, 1> b{biases.data(), biases.data(), 0, {n}, {1}};
  void *arguments[] = {&a, &b, &c};
  void *pointers[] = {&arguments[0], &arguments[1], &arguments[2]};
  if (llvm::Error error =
          (*engine)->invokePacked("_mlir_ciface_layer", pointers)) {
    llvm::errs() << what << ": " << llvm::toString(std::move(error)) << "\n";
    return failure();
  }
  double error = errorOf(*this, got);
  llvm::outs() << what << ": error " << llvm::format("%.1e", error) << "\n";
  return success(error < 1e-5);
}
