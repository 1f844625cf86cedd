//===- Run.cpp - A layer, compiled and compared ---------------------------===//

#include "Run.h"

#include "mlir/ExecutionEngine/CRunnerUtils.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"

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

/// `[1.0, 2.0]`, or `[[1.0], [2.0]]` of rows.
template <typename T>
static std::string literal(const std::vector<T> &values, size_t columns) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  bool hasRows = columns != values.size();
  stream << (hasRows ? "[[" : "[");
  for (size_t i = 0; i < values.size(); ++i) {
    if (i)
      stream << (i % columns ? ", " : "], [");
    stream << llvm::format("%.9e", double(values[i]));
  }
  stream << (hasRows ? "]]" : "]");
  return text;
}

std::string Layer::text() const {
  return R"mlir(
func.func @layer(%x: tensor<37x64xf32>, %bias: tensor<48xf32>) -> tensor<37x48xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<)mlir" +
         literal(w, n) + R"mlir(> : tensor<64x48xf32, #nm.encoding<2:4>>
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

std::string Layer::program() const {
  return text() + R"mlir(
func.func @main() -> f32 {
  %x = arith.constant dense<)mlir" +
         literal(x, k) + R"mlir(> : tensor<37x64xf32>
  %bias = arith.constant dense<)mlir" +
         literal(bias, n) + R"mlir(> : tensor<48xf32>
  %expected = arith.constant dense<)mlir" +
         literal(expected(), n) + R"mlir(> : tensor<37x48xf32>
  %r = func.call @layer(%x, %bias) : (tensor<37x64xf32>, tensor<48xf32>) -> tensor<37x48xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %largest = linalg.generic {
    indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> ()>],
    iterator_types = ["reduction", "reduction"]}
    ins(%r, %expected : tensor<37x48xf32>, tensor<37x48xf32>) outs(%zero : tensor<f32>) {
    ^bb0(%a: f32, %b: f32, %most: f32):
      %difference = arith.subf %a, %b : f32
      %size = math.absf %difference : f32
      %next = arith.maximumf %most, %size : f32
      linalg.yield %next : f32
    } -> tensor<f32>
  %result = tensor.extract %largest[] : tensor<f32>
  return %result : f32
}
)mlir";
}

std::vector<double> Layer::expected() const {
  std::vector<double> sums;
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < n; ++column) {
      double sum = bias[column];
      for (int i = 0; i < k; ++i)
        sum += double(x[row * k + i]) * w[i * n + column];
      sums.push_back(std::clamp<double>(sum, -limit, limit));
    }
  return sums;
}

/// ||got - expected|| / ||expected||, where that is a number.
static double errorOf(const std::vector<float> &got,
                      const std::vector<double> &expected) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    double error = got[i] - expected[i];
    difference += error * error;
    norm += expected[i] * expected[i];
  }
  return std::sqrt(difference / norm);
}

//===----------------------------------------------------------------------===//
// A runtime of this compiler's own
//===----------------------------------------------------------------------===//

/// What a parallel loop calls: of the last layer that was told so.
static thread_local std::atomic<int64_t> *countedLoops;

static void runInOrder(int64_t count, void (*task)(int64_t, void *),
                       void *context) {
  ++*countedLoops;
  for (int64_t i = 0; i < count; ++i)
    task(i, context);
}

static void registerRuntime(ExecutionEngine &engine) {
  engine.registerSymbols([](llvm::orc::MangleAndInterner interner) {
    llvm::orc::SymbolMap symbols;
    symbols[interner("nmParallelFor")] = {
        llvm::orc::ExecutorAddr::fromPtr(runInOrder),
        llvm::JITSymbolFlags::Exported};
    return symbols;
  });
}

static StridedMemRefType<float, 2> matrix(float *data, int64_t rows,
                                          int64_t columns) {
  return {data, data, 0, {rows, columns}, {columns, 1}};
}

LogicalResult Layer::check(ModuleOp module, const char *what,
                           std::atomic<int64_t> *loops) const {
  auto optimize = makeOptimizingTransformer(/*optLevel=*/2, /*sizeLevel=*/0,
                                            /*targetMachine=*/nullptr);
  ExecutionEngineOptions options;
  options.transformer = optimize;
  auto engine = ExecutionEngine::create(module, options);
  if (!engine) {
    llvm::errs() << what << ": " << llvm::toString(engine.takeError()) << "\n";
    return failure();
  }
  if (loops)
    registerRuntime(**engine);
  countedLoops = loops;
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
  double error = errorOf(got, expected());
  llvm::outs() << what << ": error " << llvm::format("%.1e", error) << "\n";
  return success(error < 1e-5);
}
