//===- MeasuredSchedules.cpp - Products that tables know ------------------===//

#include "nm/Dialect/NM/Transforms/MeasuredSchedules.h"

#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/Epilogue.h"
#include "nm/Dialect/NM/Transforms/DescribeProduct.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/FileSystem.h"

#include <cmath>
#include <memory>
#include <mutex>

using namespace mlir;
using namespace mlir::nm;
using ::nm::ScheduleTable;
using ::nm::TableEntry;
using ::nm::TableProduct;

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

namespace {
using Tables = std::vector<ScheduleTable>;

/// The tables of files, each of which is read again once it has changed.
class TableFiles {
public:
  ::nm::Result<std::shared_ptr<const Tables>> get(StringRef file);

private:
  struct Known {
    llvm::sys::TimePoint<> changed;
    uint64_t bytes = 0;
    std::shared_ptr<const Tables> tables;
  };

  std::mutex mutex;
  llvm::StringMap<Known> known;
};
} // namespace

static StringRef pathOf(StringRef file) {
  file.consume_front(kCachedTable);
  return file;
}

static bool isShipped(StringRef file) {
  return file == StringRef(::nm::kShippedTables);
}

static ::nm::Result<Tables> read(StringRef file) {
  if (isShipped(file))
    return ::nm::readTables(::nm::shippedTables(), file.str());
  return ::nm::readTableFile(pathOf(file).str());
}

::nm::Result<std::shared_ptr<const Tables>> TableFiles::get(StringRef file) {
  llvm::sys::fs::file_status status;
  if (!isShipped(file))
    (void)llvm::sys::fs::status(pathOf(file), status);
  std::lock_guard<std::mutex> lock(mutex);
  Known &entry = known[file];
  llvm::sys::TimePoint<> changed = status.getLastModificationTime();
  if (entry.tables && entry.changed == changed &&
      entry.bytes == status.getSize())
    return entry.tables;
  ::nm::Result<Tables> tables = read(file);
  if (!tables)
    return tables.error();
  entry = {changed, status.getSize(),
           std::make_shared<const Tables>(std::move(*tables))};
  return entry.tables;
}

static TableFiles &getTableFiles() {
  static TableFiles files;
  return files;
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

bool DeviceQuery::matches(const ::nm::TableDevice &device) const {
  constexpr double kClose = 0.05;
  auto isClose = [](double wanted, double got) {
    return wanted == 0 || got == 0 || std::abs(got / wanted - 1) <= kClose;
  };
  if (device.chip != chip || (units != 0 && device.units != units))
    return false;
  if (!name.empty())
    return device.name == name;
  return isClose(clock, device.clock) && isClose(bandwidth, device.bandwidth);
}

LogicalResult mlir::nm::loadScheduleTables(Operation *where,
                                           ArrayRef<std::string> files,
                                           const DeviceQuery &device) {
  for (const std::string &file : files) {
    auto tables = getTableFiles().get(file);
    if (!tables)
      return where->emitError() << tables.error().message;
    for (const ScheduleTable &table : **tables)
      if (device.matches(table.device) && table.kernels != ::nm::kKernelVersion)
        where->emitRemark()
            << pathOf(file) << ": " << table.entries.size()
            << " measured schedules of " << table.device.name
            << " are not used: expected kernels of version "
            << ::nm::kKernelVersion << ", but got " << table.kernels;
  }
  return success();
}

std::optional<ScheduleTable> mlir::nm::findRates(ArrayRef<std::string> files,
                                                 const DeviceQuery &device) {
  for (const std::string &file : files) {
    auto tables = getTableFiles().get(file);
    if (!tables)
      continue;
    for (const ScheduleTable &table : **tables)
      if (table.rates && device.matches(table.device))
        return ScheduleTable{table.version, table.kernels, table.device,
                             table.rates};
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static std::string describeType(SparseProductOpInterface op) {
  auto type = mlir::nm::getElementType(op.getAType().getElementType());
  std::string text = type ? std::string(::nm::elementName(*type)) : "";
  if (QuantizationAttr quantization = op.getQuantizationAttr())
    text += " x i" + std::to_string(quantization.getBits()) + "/" +
            std::to_string(quantization.getGroup());
  return text;
}

/// The class of the operands of what is done with sums.
static StringRef describeOperands(SparseProductOpInterface op) {
  StringRef most = "none";
  for (size_t i = 0, e = op.getEpilogueOperands().size(); i < e; ++i) {
    if (getEpilogueMap(op, i).getNumResults() > 1)
      return "matrix";
    most = "columns";
  }
  return most;
}

/// Whether what is done with sums takes many instructions: a function of MLIR's
/// math dialect, or a division.
static bool hasActivation(SparseProductOpInterface op) {
  return op.hasEpilogue() &&
         llvm::any_of(op.getEpilogue(), [](Operation &inner) {
           return isa<arith::DivFOp>(inner) ||
                  isa_and_present<math::MathDialect>(inner.getDialect());
         });
}

TableProduct mlir::nm::getTableProduct(SparseProductOpInterface op) {
  TableProduct product;
  int64_t m = op.getStaticM();
  product.m = ShapedType::isDynamic(m) ? -1 : m;
  product.n = op.getStaticN();
  product.k = op.getStaticK();
  product.pattern = op.getPattern().str();
  product.type = describeType(op);
  if (auto result = mlir::nm::getElementType(op.getCType().getElementType()))
    product.result = ::nm::elementName(*result);
  auto spmm = dyn_cast<SpMMOp>(op.getOperation());
  product.layout = !spmm                  ? "vector"
                   : spmm.getTransposeA() ? "m-major"
                                          : "row-major";
  product.epilogue =
      ::nm::epilogueClass(describeOperands(op), hasActivation(op));
  product.arithmetic = stringifyArithmetic(op.getArithmetic()).str();
  return product;
}

bool mlir::nm::isInTables(SparseProductOpInterface op) {
  int64_t m = op.getStaticM(), n = op.getStaticN(), k = op.getStaticK();
  return op.getNumBatchDims() == 0 && !ShapedType::isDynamic(m) &&
         !ShapedType::isDynamic(n) && !ShapedType::isDynamic(k) && m > 0 &&
         n > 0 && k > 0;
}

/// An epilogue of the class that `op` has, as a case of nm-bench has it.
static std::string describeCaseEpilogue(SparseProductOpInterface op) {
  StringRef operands = describeOperands(op);
  std::string text = operands == "columns" ? " + bias" : "";
  text += hasActivation(op) ? " + gelu" : "";
  return text + (operands == "matrix" ? " + residual" : "");
}

std::string mlir::nm::getTuneCase(SparseProductOpInterface op) {
  TableProduct product = getTableProduct(op);
  std::string epilogue = describeCaseEpilogue(op);
  std::string sums = product.type == "i8" ? "i32" : "f32";
  bool isI8 = product.type == "i8";
  bool isWide = isI8 || product.type == "f32";
  if (op.getNumBatchDims() != 0 || product.n < 1 || product.k < 1 ||
      (isWide && product.result != sums) || (isI8 && !epilogue.empty()))
    return "";
  std::string rows = product.m < 0 ? "?" : std::to_string(product.m);
  return rows + "x" + std::to_string(product.n) + "x" +
         std::to_string(product.k) + " " + product.pattern + " " +
         product.type + (product.layout == "m-major" ? " m-major" : "") +
         (product.result == sums ? "" : " to " + product.result) +
         (product.arithmetic == "fast_accum" ? " fast accumulation" : "") +
         epilogue;
}

/// The distance of the sizes of two products of a bucket.
static double distance(const TableProduct &left, const TableProduct &right) {
  auto apart = [](int64_t a, int64_t b) {
    return std::abs(std::log2(double(a) / double(b)));
  };
  return apart(left.m, right.m) + apart(left.n, right.n) +
         apart(left.k, right.k);
}

static const TableEntry *findEntry(const Tables &tables,
                                   const DeviceQuery &device,
                                   const TableProduct &product) {
  const TableEntry *closest = nullptr;
  for (const ScheduleTable &table : tables) {
    if (table.kernels != ::nm::kKernelVersion || !device.matches(table.device))
      continue;
    for (const TableEntry &entry : table.entries) {
      if (entry.product == product)
        return &entry;
      if (entry.product.isLike(product) &&
          (!closest || distance(entry.product, product) <
                           distance(closest->product, product)))
        closest = &entry;
    }
  }
  return closest;
}

std::optional<MeasuredSchedule>
mlir::nm::findMeasuredSchedule(ArrayRef<std::string> files,
                               const DeviceQuery &device,
                               const TableProduct &product) {
  for (const std::string &file : files) {
    auto tables = getTableFiles().get(file);
    if (!tables)
      continue;
    if (const TableEntry *entry = findEntry(**tables, device, product))
      return MeasuredSchedule{
          *entry, pathOf(file).str(), entry->product == product,
          !isShipped(file) && !StringRef(file).starts_with(kCachedTable)};
  }
  return std::nullopt;
}

std::string MeasuredSchedule::describe(StringRef dense) const {
  std::string text = "measured " + describeTime(entry.microseconds);
  if (entry.dense)
    text += " beside " + describeTime(*entry.dense) + " of " + dense.str();
  if (!isExact)
    text += " for m = " + std::to_string(entry.product.m) +
            ", n = " + std::to_string(entry.product.n) +
            ", k = " + std::to_string(entry.product.k);
  return text + ", by the table " + table;
}

LogicalResult mlir::nm::reportUnfit(Operation *op,
                                    const MeasuredSchedule &found,
                                    const Twine &reason) {
  // One of a neighbour was never said to fit.
  if (!found.isExact)
    return success();
  std::string text =
      ("expected a product that can have the schedule " + found.entry.schedule +
       " of the table " + found.table + ", but " + reason)
          .str();
  if (found.isPinned)
    return op->emitOpError() << text;
  op->emitWarning() << text << "; the cost model chooses";
  return success();
}
