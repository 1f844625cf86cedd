//===- nm-lsp-server.cpp - MLIR's language server with nm -----------------===//

#include "nm/InitNM.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/LogicalResult.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::nm::registerAllDialects(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}
