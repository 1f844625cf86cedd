//===- Manifest.cpp - What a compiled module says of itself ---------------===//

#include "nm/Runtime/Manifest.h"

#include "JsonReader.h"
#include "nm/Support/KernelObjects.h"

#include <set>

using namespace nm;

//===----------------------------------------------------------------------===//
// Encodings and types
//===----------------------------------------------------------------------===//

std::string Encoding::str() const {
  std::string text = pattern.str();
  return dim == 0 ? text : text + ", dim = " + std::to_string(dim);
}

Result<Encoding> Encoding::parse(std::string_view text) {
  Encoding encoding;
  std::string_view pattern = text;
  size_t at = text.find("dim");
  if (at != std::string_view::npos) {
    std::string digits;
    for (char c : text.substr(at + 3))
      if (c != ' ' && c != '=')
        digits += c;
    if (digits != "0" && digits != "1")
      return Error{"expected dim = 0 or dim = 1 in the encoding, but got '" +
                   std::string(text) + "'"};
    encoding.dim = digits == "1";
    pattern = text.substr(0, text.find_last_not_of(" ,", at - 1) + 1);
  }
  Result<Pattern> parsed = Pattern::parse(pattern);
  if (!parsed)
    return parsed.error();
  encoding.pattern = *parsed;
  return encoding;
}

std::string TensorType::str() const {
  std::string text = isUpdated ? "memref<" : "tensor<";
  for (int64_t size : shape)
    text += (size == kDynamicSize ? "?" : std::to_string(size)) + "x";
  text += elementName(element);
  if (encoding)
    text += ", #nm.encoding<" + encoding->str() + ">";
  return text + ">";
}

//===----------------------------------------------------------------------===//
// JSON to structures
//===----------------------------------------------------------------------===//

static int64_t readAlignment(JsonReader json) {
  int64_t alignment = json.integer();
  constexpr int64_t kMaxAlignment = 256;
  bool isPower = alignment > 0 && (alignment & (alignment - 1)) == 0;
  if (!isPower || alignment > kMaxAlignment)
    json.fail("expected a power of two up to " + std::to_string(kMaxAlignment));
  return alignment;
}

static TensorType readType(JsonReader json) {
  TensorType type;
  JsonReader dtype = json.member("dtype");
  std::string name = dtype.text();
  std::optional<ElementType> element = parseElementType(name);
  if (!element)
    dtype.fail("expected an element type, but got '" + name + "'");
  else
    type.element = *element;
  for (JsonReader size : json.member("shape").items()) {
    type.shape.push_back(size.integer());
    if (type.shape.back() < kDynamicSize)
      size.fail("expected a size or -1");
  }
  if (JsonReader alignment = json.optionalMember("alignment"))
    type.alignment = readAlignment(alignment);
  if (JsonReader updated = json.optionalMember("updated"))
    type.isUpdated = updated.flag();
  JsonReader encoding = json.optionalMember("encoding");
  if (!encoding)
    return type;
  Result<Encoding> parsed = Encoding::parse(encoding.text());
  if (!parsed) {
    encoding.fail(parsed.error().message);
    return type;
  }
  type.encoding = *parsed;
  if (type.rank() != 2 || type.shape[0] < 0 || type.shape[1] < 0)
    encoding.fail("expected an encoded argument to have two static sizes");
  return type;
}

static TensorType readStaticType(JsonReader json) {
  TensorType type = readType(json);
  for (int64_t size : type.shape)
    if (size < 0)
      json.fail("expected a static shape");
  return type;
}

static DimRef readDimRef(JsonReader json, const std::vector<TensorType> &args) {
  DimRef ref{json.member("arg").integer(), json.member("dim").integer()};
  if (ref.arg < 0 || ref.arg >= int64_t(args.size()))
    json.fail("expected an argument below " + std::to_string(args.size()));
  else if (ref.dim < 0 || ref.dim >= args[ref.arg].rank())
    json.fail("expected a dimension below " +
              std::to_string(args[ref.arg].rank()));
  return ref;
}

/// The sizes of a result, which `dims` gives, or `type` where it is static.
static std::vector<ResultDim> readResultDims(JsonReader result,
                                             const TensorType &type,
                                             const Signature &signature) {
  std::vector<ResultDim> dims;
  JsonReader given = result.optionalMember("dims");
  if (!given) {
    for (int64_t size : type.shape) {
      dims.push_back({size, std::nullopt});
      if (size == kDynamicSize)
        result.fail("expected 'dims' for a result with a dynamic size");
    }
    return dims;
  }
  for (JsonReader dim : given.items()) {
    if (dim.isInteger())
      dims.push_back({dim.integer(), std::nullopt});
    else
      dims.push_back({0, readDimRef(dim, signature.args)});
    if (dims.back().size < 0)
      dim.fail("expected a size or an argument's dimension");
  }
  if (dims.size() != type.shape.size())
    given.fail("expected " + std::to_string(type.shape.size()) + " sizes");
  return dims;
}

static void readSignature(JsonReader json, Signature &signature) {
  signature.symbol = json.member("symbol").text();
  for (JsonReader arg : json.member("args").items())
    signature.args.push_back(readType(arg));
  for (JsonReader result : json.member("results").items()) {
    signature.results.push_back(readType(result));
    signature.resultDims.push_back(
        readResultDims(result, signature.results.back(), signature));
  }
}

static PackInfo readPack(JsonReader json, const Signature &signature) {
  PackInfo pack;
  pack.symbol = json.member("symbol").text();
  std::set<int64_t> seen;
  for (JsonReader weight : json.member("weights").items()) {
    PackedWeightInfo info;
    JsonReader arg = weight.member("arg");
    info.arg = arg.integer();
    bool known = info.arg >= 0 && info.arg < int64_t(signature.args.size());
    if (!known || !signature.args[info.arg].encoding)
      arg.fail("expected an encoded argument");
    else if (!seen.insert(info.arg).second &&
             pack.weights.back().arg != info.arg)
      arg.fail("expected the forms of an argument one behind the other");
    info.values = readStaticType(weight.member("values"));
    info.indices = readStaticType(weight.member("indices"));
    if (JsonReader lists = weight.optionalMember("lists"))
      info.lists = readStaticType(lists);
    if (JsonReader layout = weight.optionalMember("layout"))
      info.layout = layout.text();
    pack.weights.push_back(std::move(info));
  }
  return pack;
}

static void checkReference(JsonReader json, const Signature &function,
                           const Signature &reference) {
  if (reference.args.size() != function.args.size() ||
      reference.results.size() != function.results.size())
    json.fail("expected as many arguments and results as the function has");
}

static VariantInfo readVariant(JsonReader json, const Signature &signature) {
  VariantInfo variant;
  JsonReader chips = json.member("chips");
  for (JsonReader chip : chips.items()) {
    variant.chips.push_back(chip.text());
    if (!KernelObject::parseKind(variant.chips.back()))
      chip.fail("expected a chip, as sm_90a or sm_80+ptx");
  }
  variant.symbol = json.member("symbol").text();
  if (JsonReader pack = json.optionalMember("pack"))
    variant.pack = readPack(pack, signature);
  return variant;
}

static AlternativeInfo readAlternative(JsonReader json) {
  AlternativeInfo entry;
  entry.name = json.member("name").text();
  for (auto [key, text] : {std::pair("strategy", &entry.strategy),
                           std::pair("why_not", &entry.whyNot)})
    if (JsonReader member = json.optionalMember(key))
      *text = member.text();
  for (auto [key, time] : {std::pair("estimate_us", &entry.estimate),
                           std::pair("extra_us", &entry.extra)})
    if (JsonReader member = json.optionalMember(key))
      *time = member.number();
  if (JsonReader chosen = json.optionalMember("chosen"))
    entry.isChosen = chosen.flag();
  return entry;
}

static OpInfo readOp(JsonReader json) {
  OpInfo op;
  op.strategy = json.member("strategy").text();
  op.loc = json.member("loc").text();
  op.remark = json.member("remark").text();
  for (auto [key, text] :
       {std::pair("op", &op.op), std::pair("pattern", &op.pattern),
        std::pair("dtype", &op.dtype), std::pair("schedule", &op.schedule),
        std::pair("source", &op.source), std::pair("reason", &op.reason),
        std::pair("registers_from", &op.registersFrom),
        std::pair("bound", &op.bound)})
    if (JsonReader member = json.optionalMember(key))
      *text = member.text();
  for (auto [key, size] :
       {std::pair("m", &op.m), std::pair("n", &op.n), std::pair("k", &op.k)})
    if (JsonReader member = json.optionalMember(key))
      *size = member.integer();
  for (auto [key, time] :
       {std::pair("estimate_us", &op.estimate),
        std::pair("dense_us", &op.denseEstimate),
        std::pair("multiply_floor_us", &op.multiplyFloor),
        std::pair("memory_floor_us", &op.memoryFloor),
        std::pair("occupancy", &op.occupancy),
        std::pair("intensity_registers", &op.intensityRegisters),
        std::pair("intensity_shared", &op.intensityShared),
        std::pair("intensity_l2", &op.intensityL2),
        std::pair("intensity_memory", &op.intensityMemory),
        std::pair("compute_to_loads", &op.computeToLoads)})
    if (JsonReader member = json.optionalMember(key))
      *time = member.number();
  if (JsonReader bytes = json.optionalMember("shared_bytes"))
    op.sharedBytes = bytes.integer();
  if (JsonReader registers = json.optionalMember("registers"))
    op.registers = registers.integer();
  if (JsonReader fallsBack = json.optionalMember("falls_back"))
    op.fallsBack = fallsBack.flag();
  if (JsonReader alternatives = json.optionalMember("alternatives"))
    for (JsonReader entry : alternatives.items())
      op.alternatives.push_back(readAlternative(entry));
  return op;
}

static StepInfo readStep(JsonReader json) {
  StepInfo step;
  step.name = json.member("name").text();
  step.kernel = json.member("kernel").text();
  step.loc = json.member("loc").text();
  step.bytes = json.member("bytes").integer();
  return step;
}

static void readOptional(JsonReader json, FunctionInfo &function) {
  if (JsonReader equal = json.optionalMember("equal_dims"))
    for (JsonReader list : equal.items()) {
      function.equalDims.emplace_back();
      for (JsonReader ref : list.items())
        function.equalDims.back().push_back(readDimRef(ref, function.args));
    }
  if (JsonReader pack = json.optionalMember("pack"))
    function.pack = readPack(pack, function);
  if (JsonReader variants = json.optionalMember("variants"))
    for (JsonReader variant : variants.items())
      function.variants.push_back(readVariant(variant, function));
  if (JsonReader reference = json.optionalMember("reference")) {
    readSignature(reference, function.reference.emplace());
    checkReference(reference, function, *function.reference);
  }
  if (JsonReader ops = json.optionalMember("ops"))
    for (JsonReader op : ops.items())
      function.ops.push_back(readOp(op));
  if (JsonReader steps = json.optionalMember("steps"))
    for (JsonReader step : steps.items())
      function.steps.push_back(readStep(step));
  if (JsonReader bytes = json.optionalMember("temporary_bytes"))
    function.temporaryBytes = bytes.integer();
  if (JsonReader flops = json.optionalMember("flops"))
    function.flops = flops.number();
  if (JsonReader perRow = json.optionalMember("flops_per_row"))
    function.flopsPerRow = perRow.number();
  if (JsonReader bytes = json.optionalMember("constant_bytes"))
    function.constantBytes = bytes.number();
}

Result<Manifest> Manifest::parse(std::string_view text) {
  JsonDocument document(text);
  JsonReader json = document.root();
  Manifest manifest;
  JsonReader versionEntry = json.member("version");
  int64_t version = versionEntry.integer();
  if (version < kOldestManifestVersion || version > kManifestVersion)
    versionEntry.fail(
        "expected version " + std::to_string(kOldestManifestVersion) + " to " +
        std::to_string(kManifestVersion) + ", but got version " +
        std::to_string(version) +
        ": the module comes from another release of the compiler");
  manifest.target = json.member("target").text();
  if (JsonReader features = json.optionalMember("processor_features"))
    for (JsonReader feature : features.items())
      manifest.processorFeatures.push_back(feature.text());
  if (JsonReader chips = json.optionalMember("chips"))
    for (JsonReader chip : chips.items())
      manifest.chips.push_back(chip.text());
  std::set<std::string> names;
  for (JsonReader entry : json.member("functions").items()) {
    FunctionInfo &function = manifest.functions.emplace_back();
    function.name = entry.member("name").text();
    if (!names.insert(function.name).second)
      entry.fail("expected each function once, but got '" + function.name +
                 "' again");
    readSignature(entry, function);
    readOptional(entry, function);
  }
  if (document.error())
    return *document.error();
  return manifest;
}
