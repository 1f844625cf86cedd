//===- nm-opt.cpp - Runs passes on IR -------------------------------------===//

#include "nm/InitNM.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::nm::registerAllDialects(registry);
  mlir::nm::registerAllPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "nm optimizer driver\n", registry));
}
