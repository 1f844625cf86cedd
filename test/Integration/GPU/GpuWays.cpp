//===- GpuWays.cpp - The ways that drawn products take --------------------===//

#include "GpuWays.h"

#include "nm/Format/MmaFragments.h"
#include "nm/Format/SelectedBytes.h"
#include "nm/Format/SparseOperand.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>

using namespace nm;
using namespace nm::test;

/// The text of parameter `name` of a schedule: what stands behind `name = `, or
/// nothing.
static std::string getField(const std::string &schedule,
                            const std::string &name) {
  size_t place = schedule.find(name + " = ");
  return place == std::string::npos ? ""
                                    : schedule.substr(place + name.size() + 3);
}

/// The number of parameter `name`, or the first of its list.
static int64_t getNumber(const std::string &schedule, const std::string &name) {
  std::string field = getField(schedule, name);
  return std::atoll(field.c_str() + (field.rfind('[', 0) == 0 ? 1 : 0));
}

/// The last number of a list in brackets.
static int64_t getLast(const std::string &schedule, const std::string &name) {
  std::string list = getField(schedule, name);
  list = list.substr(0, list.find(']'));
  size_t comma = list.rfind(' ');
  return comma == std::string::npos ? 0 : std::atoll(list.c_str() + comma);
}

static std::string describeRows(const Pattern &pattern,
                                const std::string &schedule) {
  if (getLast(schedule, "block") < pattern.windowRows())
    return "kept units as tiles";
  return pattern.bn < getLast(schedule, "warp") ? "rows of a lane's own"
                                                : "rows that a warp shares";
}

/// What the 16 rows of a product of strategy mma_sync are, and whether the
/// tiles of k have rows left over.
static std::string describeFragments(const ModelCase &product,
                                     const std::string &schedule) {
  const Pattern &pattern = product.pattern;
  bool isNarrow = getNumber(schedule, "panel") == 8;
  bool isTransposed = product.nLoop() != product.outputLoops.back();
  int64_t windows = (getLast(schedule, "block") + pattern.windowRows() - 1) /
                    pattern.windowRows();
  std::string rows = isNarrow       ? "units of 8 columns"
                     : isTransposed ? "rows of weights"
                                    : "rows of activations";
  return rows + (windows * pattern.keptRows() % 16 == 0
                     ? ", whole squares"
                     : ", squares that are filled up");
}

/// What the groups of four rows keep that a sparse operand has two of.
static std::string describeGroups(const Pattern &pattern) {
  if (!fitsSparseOperand(pattern))
    return "groups that overlap";
  if (!fillsUpSparseOperand(pattern))
    return "groups that keep two";
  return SparseOperand::kGroupRows % pattern.windowRows() == 0 ||
                 pattern.windowRows() % SparseOperand::kGroupRows == 0
             ? "groups of one window that are filled up"
             : "groups of two windows that are filled up";
}

/// Whether strategies of a Hopper have A copied before the product, to rows
/// that start with a whole number of words: wgmma takes an m-major A alone.
static bool isCopiedBefore(const ModelCase &product, const OpInfo &op) {
  if (elementSize(product.type) != 2)
    return false;
  if (product.activationLoops.back() == product.kLoop())
    return op.strategy == "wgmma_sp" && product.k % 2 != 0;
  return (op.strategy == "wgmma" || op.strategy == "wgmma_sp") &&
         (product.dynamic || product.leading.back() % 2 != 0);
}

/// What a kernel does beside the product of a row-major A and C.
static std::vector<std::string> describeForm(const ModelCase &product) {
  std::vector<std::string> ways;
  if (product.nLoop() != product.outputLoops.back())
    ways.emplace_back("column-major C");
  if (product.epilogue)
    ways.emplace_back("epilogue");
  if (product.dynamic)
    ways.emplace_back("unknown m");
  return ways;
}

static std::string describeScales(const ModelCase &product) {
  const std::optional<int64_t> &group = product.quantized->group;
  if (!group)
    return "scales of columns";
  return *group >= product.k ? "groups of all of k"
                             : "groups of " + std::to_string(*group);
}

/// Where a quantized weight becomes what is multiplied, and what it was.
static std::vector<std::string> describeQuantized(const ModelCase &product,
                                                  const OpInfo &op) {
  if (op.strategy == "loops")
    return {"quantized"};
  // `bits` alone may also be the end of `index_bits`.
  if (getNumber(op.schedule, ", bits") == 0)
    return {"dequantized at each call"};
  std::vector<std::string> ways = {"quantized in registers"};
  auto add = [&](const std::string &way) {
    ways.push_back(ways.front() + ", " + way);
  };
  add(std::string(elementName(product.type)) + ", " +
      std::to_string(product.quantized->bits) + " bits");
  add(describeScales(product));
  add(describeGroups(product.pattern));
  if (product.quantized->group && product.k % *product.quantized->group != 0)
    add("ragged groups");
  if (product.activationLoops.back() != product.kLoop())
    add("column-major A");
  for (const std::string &way : describeForm(product))
    add(way);
  if (product.outputType == ElementType::F32)
    add("C of f32");
  for (const char *name : {"split_k", "cluster_k", "slice_k"})
    if (getNumber(op.schedule, name) > 1)
      add(name);
  return ways;
}

bool nm::test::isWidened(const ModelCase &product, const OpInfo &op) {
  return elementSize(product.type) == 1 &&
         op.dtype == elementName(ElementType::F16);
}

/// What was widened, and what for.
static std::vector<std::string> describeWidened(const ModelCase &product) {
  std::vector<std::string> ways = {std::string(elementName(product.type))};
  if (product.leading.size() > 1)
    ways.emplace_back("batches");
  ways.emplace_back(product.activationLoops.back() == product.kLoop()
                        ? "row-major A"
                        : "column-major A");
  for (const std::string &way : describeForm(product))
    ways.push_back(way);
  return ways;
}

std::optional<WindowTiles> nm::test::findWindowTiles(const ModelCase &product,
                                                     const OpInfo &op) {
  if (op.reason.find("which tensor copies repeat") == std::string::npos)
    return std::nullopt;
  int64_t m = product.pattern.m;
  return WindowTiles{{m % 2 == 0 ? m : 2 * m}, product.k};
}

/// Describes what groups of rows that overlap were made of.
static std::vector<std::string> describeOverlapping(const ModelCase &product,
                                                    const OpInfo &op) {
  const Pattern &pattern = product.pattern;
  std::vector<std::string> ways = {std::string(elementName(product.type))};
  if (pattern.m % 2 != 0)
    ways.emplace_back("odd windows");
  else if (pattern.n < pattern.m - 2)
    ways.emplace_back("zeros");
  if (product.k % pattern.m != 0)
    ways.emplace_back("a part of a window");
  if (product.activationLoops.back() != product.kLoop())
    ways.emplace_back("column-major A");
  for (const std::string &way : describeForm(product))
    ways.push_back(way);
  if (std::optional<WindowTiles> tiles = findWindowTiles(product, op)) {
    if (tiles->tilesOfWindows() != 0)
      ways.emplace_back("copies repeat rows of windows");
    if (tiles->rowsOfWindows() != product.k)
      ways.emplace_back("copies take rows twice");
    else
      ways.emplace_back("copies repeat all rows");
  }
  return ways;
}

/// How many bytes of each eight are selected, or of what runs, and for what
/// columns.
static std::vector<std::string> describeSelected(const Pattern &pattern) {
  SelectedBytes bytes = *SelectedBytes::of(pattern);
  std::string units = pattern.bn >= kWarpgroupM
                          ? ", units of 64 columns and more"
                          : ", units of fewer than 64 columns";
  if (bytes.wordsOfRun() > 1)
    return {"run of several words" + units};
  int64_t kept = SelectedBytes::kSource / pattern.m * pattern.n;
  return {std::to_string(kept) + " of 8 bytes" + units};
}

/// What the weights of strategy simt_columns became, and who sums a column.
static std::vector<std::string> describeColumns(const ModelCase &product,
                                                const std::string &schedule) {
  std::vector<std::string> ways;
  std::string kind = getLast(schedule, "thread") > 1 ? "code" : "lists";
  if (kind == "code" && !product.pattern.isUnstructured())
    kind += " of a pattern";
  ways.push_back(kind);
  ways.push_back(kind + ", " + std::to_string(getNumber(schedule, "thread")) +
                 " rows of a lane");
  if (getNumber(schedule, "slice_k") > 1)
    ways.push_back(kind + ", slice_k");
  if (product.image)
    ways.push_back(kind + ", image");
  for (const std::string &way : describeForm(product))
    ways.push_back(kind + ", " + way);
  return ways;
}

std::vector<std::string> nm::test::describeWays(const ModelCase &product,
                                                const OpInfo &op) {
  std::vector<std::string> ways;
  auto add = [&](const std::string &way) {
    ways.push_back(op.strategy + ": " + way);
  };
  add("all");
  if (isWidened(product, op)) {
    for (const std::string &way : describeWidened(product))
      add("widened, " + way);
    return ways;
  }
  add(std::string(elementName(product.type)));
  if (product.leading.empty())
    add("vector");
  else if (product.activationLoops.back() != product.kLoop())
    add("column-major A");
  auto addForm = [&](const std::string &prefix) {
    for (const std::string &way : describeForm(product))
      add(prefix + way);
  };
  addForm("");
  if ((op.strategy == "wgmma" || op.strategy == "wgmma_sp") &&
      product.type == ElementType::F32) {
    bool isRowMajor = product.activationLoops.back() == product.kLoop();
    add(isRowMajor ? "splits, row-major A" : "splits, column-major A");
    addForm("splits, ");
    if (getNumber(op.schedule, "split_k") > 1)
      add("splits, split_k");
    add("splits = " + std::to_string(getNumber(op.schedule, "splits")));
    add(getField(op.schedule, "compensated").rfind("true", 0) == 0
            ? "splits, residuals"
            : "splits, no residuals");
  }
  if (isCopiedBefore(product, op))
    add("copied A");
  if (product.quantized)
    for (const std::string &way : describeQuantized(product, op))
      add(way);
  if (op.strategy == "wgmma" && elementSize(product.type) == 1) {
    bool isPart = getLast(op.schedule, "block") < product.pattern.windowRows();
    add(isPart ? "bytes, parts of windows" : "bytes, whole windows");
    std::string way = getField(op.schedule, "copy_a");
    add(way.rfind("tensor", 0) == 0 ? "bytes, tensor copies"
        : way.rfind("bulk", 0) == 0 ? "bytes, panels of A"
                                    : "bytes, cp.async");
    addForm("bytes, ");
  }
  if (product.pattern.isUnstructured())
    add("unstructured");
  if (op.strategy == "simt_columns")
    for (const std::string &way : describeColumns(product, op.schedule))
      add(way);
  if (product.image)
    add(product.image->hasChannelsLast ? "image, channels last" : "image");
  if (op.strategy == "simt" && !product.pattern.isUnstructured())
    add(describeRows(product.pattern, op.schedule));
  if (op.strategy == "mma_sync") {
    if (product.activationLoops.back() == product.kLoop())
      add("row-major A");
    add(describeFragments(product, op.schedule));
    add(getNumber(op.schedule, "chunk_rows") ? "weights in registers"
                                             : "weights in shared memory");
  }
  if (op.strategy == "mma_sp" && isFloat8(product.type)) {
    addForm("f8, ");
    add("f8, " + describeGroups(product.pattern));
    for (const char *name : {"split_k", "cluster_k", "slice_k"})
      if (getNumber(op.schedule, name) > 1)
        add(std::string("f8, ") + name);
  }
  if (product.arithmetic == "fast_accum")
    add("fast_accum");
  if (op.strategy == "wgmma_select")
    for (const std::string &way : describeSelected(product.pattern))
      add(way);
  bool isSparse = op.strategy == "mma_sp" || op.strategy == "wgmma_sp";
  if (isSparse)
    add(describeGroups(product.pattern));
  if (op.strategy == "mma_bitmap")
    add(product.pattern.bk * product.pattern.bn == 1 ? "elements" : "units");
  if (isSparse && !fitsSparseOperand(product.pattern))
    for (const std::string &way : describeOverlapping(product, op))
      add("groups that overlap, " + way);
  if (op.strategy != "simt" && op.strategy != "gemv" &&
      op.strategy != "mma_sync" && op.strategy != "wgmma" &&
      op.strategy != "wgmma_select" && op.strategy != "mma_bitmap" && !isSparse)
    return ways;
  add("stages = " + std::to_string(getNumber(op.schedule, "stages")));
  if (getNumber(op.schedule, "producers") != 0) {
    add("producers");
    addForm("producers, ");
    // Tensor copies leave rows behind A's end as they are.
    if ((op.strategy == "wgmma_sp" || op.strategy == "wgmma_select") &&
        (product.dynamic ||
         product.leading.back() % getNumber(op.schedule, "block") != 0))
      add("producers, rows behind the end, " +
          std::string(elementName(product.type)));
  }
  if (getNumber(op.schedule, "store_buffers") != 0) {
    add("store_buffers");
    addForm("store_buffers, ");
    bool isTransposed = product.nLoop() != product.outputLoops.back();
    if (isTransposed && product.n % 2 != 0)
      add("store_buffers, column-major C of odd columns");
  }
  for (const char *name : {"split_k", "cluster_k", "slice_k", "group_m",
                           "group_n", "early_bytes", "box_rows"})
    if (getNumber(op.schedule, name) > 1)
      add(name);
  for (const char *way :
       {"pack = true", "prefetch = true", "prefetch = false", "defer = true",
        "defer = false", "copy_a = direct", "copy_a = elements",
        "copy_a = squares", "copy_a = matrices", "layout_a = m_major",
        "promote = true", "late_loads = true", "layout_a = interleaved",
        "layout_a = row_major"}) {
    std::string text = way;
    size_t equals = text.find(" = ");
    if (getField(op.schedule, text.substr(0, equals))
            .rfind(text.substr(equals + 3), 0) == 0)
      add(text);
  }
  return ways;
}

void nm::test::printWays(const WayCounts &ways) {
  for (const auto &[way, count] : ways)
    std::printf("%6lld %s\n", static_cast<long long>(count), way.c_str());
}

static std::string pathOf(const std::string &folder) {
  return folder + "/ways.txt";
}

bool nm::test::saveWays(const std::string &folder, const WayCounts &ways) {
  std::ofstream file(pathOf(folder));
  for (const auto &[way, count] : ways)
    file << count << " " << way << "\n";
  return bool(file.flush());
}

bool nm::test::addWays(const std::string &folder, WayCounts &ways) {
  std::ifstream file(pathOf(folder));
  if (!file)
    return false;
  int64_t count = 0;
  for (std::string way; file >> count && std::getline(file >> std::ws, way);)
    ways[way] += count;
  return true;
}
