//===- nm-lsp-server.cpp - MLIR's language server with nm -----------------===//

#include "nm/InitNM.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/LogicalResult.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

#include <pthread.h>

namespace {
struct Arguments {
  int argc;
  char **argv;
  int code;
};
} // namespace

static void *serve(void *data) {
  auto *arguments = static_cast<Arguments *>(data);
  mlir::DialectRegistry registry;
  mlir::nm::registerAllDialects(registry);
  arguments->code = failed(
      mlir::MlirLspServerMain(arguments->argc, arguments->argv, registry));
  return nullptr;
}

/// The parser calls itself for each bracket inside others, and what an editor
/// sends changes by the key: no text can be refused beforehand. The system
/// gives pages of a stack when they are first used.
static constexpr size_t kStackBytes = size_t(16) << 30;

int main(int argc, char **argv) {
  Arguments arguments{argc, argv, 1};
  for (size_t bytes = kStackBytes; bytes >= (size_t(8) << 20); bytes /= 2) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, bytes);
    pthread_t thread;
    int error = pthread_create(&thread, &attributes, serve, &arguments);
    pthread_attr_destroy(&attributes);
    if (error)
      continue;
    pthread_join(thread, nullptr);
    return arguments.code;
  }
  serve(&arguments);
  return arguments.code;
}
