//===- ScheduleTables.cpp - Where schedules are looked up -----------------===//

#include "ScheduleTables.h"

#include "nm/Dialect/NM/Transforms/MeasuredSchedules.h"
#include "nm/Tables/ScheduleTable.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"

#include <algorithm>
#include <cstdlib>

using namespace mlir::nm;

std::vector<std::string>
mlir::nm::getScheduleTables(const CompileOptions &options) {
  std::vector<std::string> files = options.scheduleTables;
  if (const char *given = std::getenv("NM_SCHEDULE_TABLE");
      files.empty() && given) {
    llvm::SmallVector<llvm::StringRef> names;
    llvm::StringRef(given).split(names, ',', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef name : names)
      files.push_back(name.str());
  }
  // A schedule that is given for all leaves nothing to look up.
  if (!options.schedule.empty() ||
      std::find(files.begin(), files.end(), "none") != files.end())
    return {};
  std::string own = ::nm::userTable();
  if (!own.empty() && llvm::sys::fs::exists(own))
    files.push_back(kCachedTable.str() + own);
  files.push_back(std::string(::nm::kShippedTables));
  return files;
}
