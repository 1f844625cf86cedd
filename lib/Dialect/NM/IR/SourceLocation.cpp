//===- SourceLocation.cpp - Where an op was written -----------------------===//

#include "nm/Dialect/NM/IR/SourceLocation.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

std::string mlir::nm::getPlace(Location location) {
  std::string place;
  location->walk([&](Location part) {
    auto file = dyn_cast<FileLineColLoc>(part);
    if (!file)
      return WalkResult::advance();
    place = (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
             Twine(file.getColumn()))
                .str();
    return WalkResult::interrupt();
  });
  return place;
}
