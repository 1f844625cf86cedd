//===- nm-user.cpp - Another compiler that uses nm's dialect and passes ---===//
//
// Parses a linalg product with N:M weights, runs a pass of nm on it, and looks
// at the op that comes out.
//
//===----------------------------------------------------------------------===//

#include "nm-c/Runtime.h"
#include "nm/Conversion/LinalgToNM/LinalgToNM.h"
#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

static constexpr StringLiteral source = R"mlir(
func.func @product(%a: tensor<?x64xf32>,
                   %b: tensor<64x48xf32, #nm.encoding<2:4>>,
                   %c: tensor<?x48xf32>) -> tensor<?x48xf32> {
  %r = linalg.matmul
    ins(%a, %b : tensor<?x64xf32>, tensor<64x48xf32, #nm.encoding<2:4>>)
    outs(%c : tensor<?x48xf32>) -> tensor<?x48xf32>
  return %r : tensor<?x48xf32>
}
)mlir";

int main() {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, linalg::LinalgDialect,
                      mlir::nm::NMDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, &context);
  if (!module)
    return 1;

  PassManager manager(&context);
  manager.addPass(mlir::nm::createConvertLinalgToNM());
  if (failed(manager.run(*module)))
    return 1;

  int products = 0;
  module->walk([&](mlir::nm::SpMMOp op) {
    llvm::outs() << op.getPattern() << "\n";
    ++products;
  });
  llvm::outs() << products << " product, " << nmGetNumThreads() << " threads\n";
  return products == 1 ? 0 : 1;
}
