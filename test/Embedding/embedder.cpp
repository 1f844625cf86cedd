//===- embedder.cpp - Another compiler that has nm inside -----------------===//
//
// usage: embedder phases.mlir program.mlir
//
// Its own dialect has an op in the same function as nm's product. It tiles that
// through TilingInterface, expands a tile inside its own kernel, takes a
// product through the phases one by one, and through the whole lowering, and
// runs what comes out: in itself, on nm's runtime and on its own, by several
// threads at once; and a program that it writes for mlir-runner.
//
//===----------------------------------------------------------------------===//

#include "Host.h"
#include "Run.h"

#include "nm/Conversion/LinalgToNM/LinalgToNM.h"
#include "nm/Conversion/NMToLoops/NMToLoops.h"
#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/TransformOps/NMTransformOps.h"
#include "nm/Dialect/NM/Transforms/BufferizableOpInterfaceImpl.h"
#include "nm/Dialect/NM/Transforms/Passes.h"
#include "nm/Dialect/NM/Transforms/Phases.h"
#include "nm/Pipelines/NMToCPU.h"

#include "mlir/Dialect/Arith/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/Func/Extensions/AllExtensions.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/TransformOps/DialectExtension.h"
#include "mlir/Dialect/Linalg/Transforms/AllInterfaces.h"
#include "mlir/Dialect/MemRef/Transforms/AllocationOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <thread>

using namespace mlir;

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

/// Registers, of upstream's dialects, only those that this compiler has in its
/// programs, or lowers to.
static void registerDialects(DialectRegistry &registry) {
  registry.insert<host::HostDialect, mlir::nm::NMDialect, func::FuncDialect,
                  transform::TransformDialect>();
  mlir::nm::registerBufferizableOpInterfaceExternalModels(registry);
  mlir::nm::registerTransformDialectExtension(registry);
  linalg::registerTransformDialectExtension(registry);
}

/// What upstream's passes between nm's ask of upstream's ops.
static void registerInterfaces(DialectRegistry &registry) {
  func::registerAllExtensions(registry);
  linalg::registerAllDialectInterfaceImplementations(registry);
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(
      registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  arith::registerBufferDeallocationOpInterfaceExternalModels(registry);
  cf::registerBufferDeallocationOpInterfaceExternalModels(registry);
  scf::registerBufferDeallocationOpInterfaceExternalModels(registry);
  memref::registerAllocationOpInterfaceExternalModels(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

static LogicalResult fail(const Twine &message) {
  llvm::errs() << "embedder: " << message << "\n";
  return failure();
}

//===----------------------------------------------------------------------===//
// The parts
//===----------------------------------------------------------------------===//

static constexpr StringLiteral chain = R"mlir(
func.func @chain(%x: tensor<64x32xf32>, %v: tensor<16x48xf32>, %i: tensor<16x48xi8>,
                 %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %empty = tensor.empty() : tensor<64x32xf32>
  %e = linalg.add ins(%x, %x : tensor<64x32xf32>, tensor<64x32xf32>)
    outs(%empty : tensor<64x32xf32>) -> tensor<64x32xf32>
  %r = nm.spmm <2:4> ins(%e, %v, %i : tensor<64x32xf32>, tensor<16x48xf32>, tensor<16x48xi8>)
    outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}
)mlir";

/// Cuts what makes the activations into tiles of 16 rows, and moves the product
/// that takes them into the loop: by TilingInterface, which knows nothing of
/// nm.
static LogicalResult fuseProductIntoLoop(MLIRContext &context) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(chain, &context);
  if (!module)
    return failure();
  TilingInterface producer;
  module->walk(
      [&](linalg::AddOp op) { producer = cast<TilingInterface>(*op); });
  IRRewriter rewriter(&context);
  rewriter.setInsertionPoint(producer);
  scf::SCFTilingOptions options;
  options.setTileSizes({rewriter.getIndexAttr(16)});
  FailureOr<scf::SCFTilingResult> tiled =
      scf::tileUsingSCF(rewriter, producer, options);
  if (failed(tiled))
    return fail("expected linalg.add to be tiled");
  rewriter.replaceOp(producer, tiled->replacements);
  Operation *slice = nullptr;
  module->walk([&](tensor::InsertSliceOp op) { slice = op; });
  if (failed(scf::tileAndFuseConsumerOfSlices(rewriter, slice, tiled->loops)))
    return fail("expected the product to be fused to the loop");
  int64_t rows = 0;
  module->walk([&](mlir::nm::SpMMOp op) {
    if (op->getParentOfType<scf::ForOp>())
      rows = op.getAType().getDimSize(0);
  });
  if (rows != 16 || failed(verify(*module)))
    return fail("expected a product of 16 rows in the loop");
  llvm::outs() << "fused a product to a loop over rows\n";
  return success();
}

static constexpr StringLiteral product = R"mlir(
func.func @product(%a: tensor<32x64xf32>, %v: tensor<16x48xf32>, %i: tensor<16x48xi8>,
                   %bias: tensor<48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %r = nm.spmm <2:4> transpose_a
    ins(%a, %v, %i : tensor<32x64xf32>, tensor<16x48xf32>, tensor<16x48xi8>)
    outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
    epilogue ins(%bias : tensor<48xf32>) maps [affine_map<(m, n) -> (n)>] {
    ^bb0(%sum: f32, %b: f32):
      %0 = arith.addf %sum, %b : f32
      nm.yield %0 : f32
    }
  return %r : tensor<64x48xf32>
}
)mlir";

/// Offsets and sizes of a tile of an operand.
struct OperandTile {
  unsigned operand;
  ArrayRef<int64_t> offsets, sizes;
};

/// The offsets and then the sizes of the tile of (m, n, k) that uses `tiles`;
/// empty where there is none.
static SmallVector<int64_t> tileOf(TilingInterface op,
                                   ArrayRef<OperandTile> tiles) {
  OpBuilder builder(op);
  SmallVector<unsigned> operands;
  SmallVector<SmallVector<OpFoldResult>> offsets, sizes;
  for (const OperandTile &tile : tiles) {
    operands.push_back(tile.operand);
    offsets.push_back(getAsIndexOpFoldResult(op.getContext(), tile.offsets));
    sizes.push_back(getAsIndexOpFoldResult(op.getContext(), tile.sizes));
  }
  SmallVector<OpFoldResult> domain, domainSizes;
  if (failed(op.getIterationDomainTileFromOperandTiles(
          builder, operands, offsets, sizes, domain, domainSizes)))
    return {};
  llvm::append_range(domain, domainSizes);
  return llvm::map_to_vector(
      domain, [](OpFoldResult value) { return *getConstantIntValue(value); });
}

/// Tiles of operands give tiles of the product, where they go together.
static LogicalResult checkTilesOfOperands(MLIRContext &context) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(product, &context);
  if (!module)
    return failure();
  TilingInterface op;
  module->walk([&](mlir::nm::SpMMOp found) { op = found; });
  constexpr unsigned a = 0, values = 1, bias = 3, c = 4;
  // All of k, of 16 rows of A, which is [k x m].
  SmallVector<int64_t> ofA = {16, 0, 0, 16, 48, 32},
                       ofBias = {0, 8, 0, 64, 8, 32},
                       ofBoth = {16, 8, 0, 16, 8, 32}, none;
  if (tileOf(op, {{a, {0, 16}, {32, 16}}}) != ofA ||
      tileOf(op, {{bias, {8}, {8}}}) != ofBias ||
      tileOf(op, {{c, {16, 8}, {16, 8}}}) != ofBoth ||
      tileOf(op, {{a, {0, 16}, {32, 16}}, {bias, {8}, {8}}}) != ofBoth)
    return fail("expected the tile of the product that tiles of operands make");
  if (tileOf(op, {{a, {16, 0}, {16, 64}}}) != none ||
      tileOf(op, {{values, {0, 0}, {16, 8}}}) != none ||
      tileOf(op, {{a, {0, 16}, {32, 16}}, {c, {0, 0}, {16, 48}}}) != none)
    return fail("expected no tile of a part of k, of weights, or of tiles that "
                "differ");
  llvm::outs() << "found the tiles that tiles of operands make\n";
  return success();
}

static constexpr StringLiteral kernel = R"mlir(
func.func @kernel(%a: memref<4x8xf32, #host.scratch>, %v: memref<4x4xf32, #host.scratch>,
                  %i: memref<4x4xi8, #host.scratch>, %c: memref<4x4xf32, #host.scratch>) {
  host.kernel {
    nm.spmm <2:4> ins(%a, %v, %i : memref<4x8xf32, #host.scratch>, memref<4x4xf32, #host.scratch>,
                                   memref<4x4xi8, #host.scratch>)
      outs(%c : memref<4x4xf32, #host.scratch>)
  }
  return
}
)mlir";

/// Expands a tile in a memory space and a kernel that are this compiler's.
static LogicalResult expandInsideKernel(MLIRContext &context) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kernel, &context);
  if (!module)
    return failure();
  RewritePatternSet patterns(&context);
  mlir::nm::populateNMToLoopsPatterns(patterns);
  if (failed(applyPatternsGreedily(*module, std::move(patterns))))
    return fail("expected the tile to be expanded");
  int64_t loops = 0, products = 0;
  module->walk([&](host::KernelOp op) {
    op.walk([&](scf::ForOp) { ++loops; });
    op.walk([&](mlir::nm::SpMMOp) { ++products; });
  });
  if (loops == 0 || products != 0)
    return fail("expected loops in place of the product");
  llvm::outs() << "expanded a tile inside a kernel\n";
  return success();
}

/// Functions with linalg in place of this compiler's own op.
static OwningOpRef<ModuleOp> parse(const std::string &text,
                                   MLIRContext &context) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  RewritePatternSet patterns(&context);
  host::populateHostToLinalgPatterns(patterns);
  if (!module || failed(applyPatternsGreedily(*module, std::move(patterns))))
    return {};
  return module;
}

/// Takes the product through the phases up to tiles by transform ops, and the
/// rest of the way by nm's passes.
static LogicalResult runStages(const Layer &layer, MLIRContext &context,
                               StringRef script) {
  OwningOpRef<ModuleOp> module = parse(layer.text(), context);
  OwningOpRef<ModuleOp> sequences = parseSourceFile<ModuleOp>(script, &context);
  if (!module || !sequences)
    return failure();
  RewritePatternSet patterns(&context);
  mlir::nm::populateLinalgToNMPatterns(patterns);
  if (failed(applyPatternsGreedily(*module, std::move(patterns))) ||
      failed(mlir::nm::materializeStorage(*module)))
    return failure();
  auto sequence = cast<transform::TransformOpInterface>(
      SymbolTable::lookupSymbolIn(*sequences, "tile_products"));
  if (failed(transform::applyTransformNamedSequence(
          *module, sequence, *sequences, transform::TransformOptions())))
    return failure();
  int64_t tiles = 0;
  module->walk([&](mlir::nm::SpMMOp op) {
    tiles += op->hasAttr("host.core") && op->getParentOfType<scf::ForallOp>();
  });
  if (tiles != 1)
    return fail("expected a tile in a loop");
  PassManager after(&context);
  mlir::nm::buildLowerToCPU(after, mlir::nm::NMToCPUOptions());
  if (failed(after.run(*module)))
    return failure();
  return layer.check(*module, "by phases");
}

static void buildLowering(PassManager &manager) {
  mlir::nm::NMToCPUOptions options;
  options.denseFallback = false;
  // Nine tiles, so that there is a parallel loop.
  options.schedule = "vector<block = [16, 16, 64]>";
  mlir::nm::buildNMToCPUPipeline(manager, options);
}

static LogicalResult lower(ModuleOp module) {
  PassManager manager(module.getContext());
  buildLowering(manager);
  return manager.run(module);
}

static LogicalResult runWholeLowering(const Layer &layer,
                                      MLIRContext &context) {
  OwningOpRef<ModuleOp> module = parse(layer.text(), context);
  if (!module || failed(lower(*module)))
    return failure();
  std::atomic<int64_t> loops = 0;
  if (failed(layer.check(*module, "by the whole lowering")) ||
      failed(layer.check(*module, "on a runtime of its own", &loops)))
    return failure();
  return loops > 0 ? success() : fail("expected parallel loops");
}

/// Writes a program for mlir-runner.
static LogicalResult writeProgram(const Layer &layer, MLIRContext &context,
                                  StringRef path) {
  OwningOpRef<ModuleOp> module = parse(layer.program(), context);
  if (!module || failed(lower(*module)))
    return failure();
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (error)
    return fail("cannot write " + path + ": " + error.message());
  module->print(file);
  return success();
}

//===----------------------------------------------------------------------===//
// Contexts and threads
//===----------------------------------------------------------------------===//

/// Why schedules were chosen is of no interest here.
static LogicalResult ignoreRemarks(Diagnostic &diagnostic) {
  return success(diagnostic.getSeverity() == DiagnosticSeverity::Remark);
}

/// Loads the dialects that `lower` makes ops of. `PassManager::run` would load
/// them, which is no thing to do while another thread uses the context.
static void loadDialectsOfLowering(MLIRContext &context) {
  PassManager manager(&context);
  buildLowering(manager);
  DialectRegistry dialects;
  manager.getDependentDialects(dialects);
  context.appendDialectRegistry(dialects);
  context.loadAllAvailableDialects();
}

/// Threads that compile and run at once, two in each of two contexts: nothing
/// of nm's is shared but what is constant.
static LogicalResult runInThreads(const Layer &layer,
                                  const DialectRegistry &registry) {
  MLIRContext first(registry), second(registry);
  std::atomic<int> failures = 0;
  for (MLIRContext *context : {&first, &second}) {
    loadDialectsOfLowering(*context);
    context->getDiagEngine().registerHandler(ignoreRemarks);
  }
  std::vector<std::thread> threads;
  for (MLIRContext *context : {&first, &second, &first, &second})
    threads.emplace_back([&failures, &layer, context] {
      OwningOpRef<ModuleOp> module = parse(layer.text(), *context);
      failures += !module || failed(lower(*module)) ||
                  failed(layer.check(*module, "in a thread"));
    });
  for (std::thread &thread : threads)
    thread.join();
  return success(failures == 0);
}

int main(int argc, char **argv) {
  if (argc != 3)
    return fail("expected the file of the phases, and one to write").failed();
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  DialectRegistry registry;
  registerDialects(registry);
  registerInterfaces(registry);
  // Those that the phases name.
  mlir::nm::registerNMPasses();
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  ScopedDiagnosticHandler quiet(&context, ignoreRemarks);
  Layer layer;
  return failed(fuseProductIntoLoop(context)) ||
         failed(checkTilesOfOperands(context)) ||
         failed(expandInsideKernel(context)) ||
         failed(runStages(layer, context, argv[1])) ||
         failed(runWholeLowering(layer, context)) ||
         failed(writeProgram(layer, context, argv[2])) ||
         failed(runInThreads(layer, registry));
}
