//===- Module.cpp - Loading compiled modules ------------------------------===//

#include "nm/Runtime/Module.h"

#include "ElfFile.h"
#include "ProcessorFeatures.h"
#include "RecordedError.h"
#include "SharedObject.h"

#include "nm/Support/Seal.h"

#include <utility>

using namespace nm;

struct Module::Impl {
  Impl(std::string path, std::shared_ptr<SharedObject> object)
      : path(std::move(path)), object(std::move(object)) {}

  std::string path;
  std::shared_ptr<SharedObject> object;
  const char *manifestText = nullptr;
  Manifest manifest;

  const FunctionInfo *find(const std::string &name) const {
    for (const FunctionInfo &function : manifest.functions)
      if (function.name == name)
        return &function;
    return nullptr;
  }
};

Module::Module(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Module::Module(Module &&) noexcept = default;
Module &Module::operator=(Module &&) noexcept = default;
Module::~Module() = default;

const Manifest &Module::manifest() const { return impl->manifest; }

const char *Module::manifestText() const { return impl->manifestText; }

std::string_view Module::contents() const { return impl->object->bytes(); }

static Status checkSymbol(const SharedObject &object,
                          const std::string &symbol) {
  if (object.find(symbol))
    return Status::success();
  return Error{"expected the symbol " + symbol +
               " of the manifest, but the module has none"};
}

static Status checkSymbols(const SharedObject &object,
                           const FunctionInfo &function) {
  if (Status status = checkSymbol(object, function.symbol); !status)
    return status;
  if (function.pack)
    if (Status status = checkSymbol(object, function.pack->symbol); !status)
      return status;
  for (const VariantInfo &variant : function.variants) {
    if (Status status = checkSymbol(object, variant.symbol); !status)
      return status;
    if (variant.pack)
      if (Status status = checkSymbol(object, variant.pack->symbol); !status)
        return status;
  }
  if (function.reference)
    return checkSymbol(object, function.reference->symbol);
  return Status::success();
}

static Status checkProcessor(const Manifest &manifest) {
  const std::string *missing = nullptr;
  for (const std::string &feature : manifest.processorFeatures) {
    std::optional<bool> has = processorHas(feature);
    if (!has)
      return Error{"nm_manifest: expected processor_features that this runtime "
                   "can look for, but got '" +
                   feature + "'"};
    if (!*has && !missing)
      missing = &feature;
  }
  if (!missing)
    return Status::success();
  return Error{"expected a processor with " + *missing +
               ", for which the module was compiled, but this one has none"};
}

/// The manifest in `text`, of a module that this processor can run.
static Result<Manifest> readManifest(std::string_view text) {
  Result<Manifest> manifest = Manifest::parse(text);
  if (!manifest)
    return Error{"nm_manifest: " + manifest.error().message};
  if (Status status = checkProcessor(*manifest); !status)
    return status.error();
  return manifest;
}

/// A copy of the file that holds what was written to it.
static Result<FileCopy> readWhole(const std::string &path) {
  Result<FileCopy> copy = FileCopy::read(path);
  if (!copy)
    return copy;
  for (Status status :
       {checkSeal(copy->bytes()), checkElfIsWhole(copy->bytes()),
        checkElfMachine(copy->bytes())})
    if (!status)
      return status.error();
  return copy;
}

static constexpr const char *kManifest = "nm_manifest";

Result<Module> Module::load(const std::string &path) {
  auto failure = [&](const std::string &message) {
    return Error{path + ": " + message};
  };
  Result<FileCopy> copy = readWhole(path);
  if (!copy)
    return failure("cannot load: " + copy.error().message);
  // Before any code of the module runs, which its constructors do.
  if (auto text = findElfText(copy->bytes(), kManifest))
    if (Result<Manifest> manifest = readManifest(*text); !manifest)
      return failure(manifest.error().message);
  // The constructors hand us its kernels.
  ErrorCollector errors;
  Result<std::shared_ptr<SharedObject>> object =
      SharedObject::load(std::move(*copy), path);
  if (!object)
    return failure("cannot load: " + object.error().message);
  if (Status status = errors.status(); !status)
    return failure(status.error().message);
  auto impl = std::make_unique<Impl>(path, std::move(*object));
  impl->manifestText = static_cast<const char *>(impl->object->find(kManifest));
  if (!impl->manifestText)
    return failure("expected a module made by nm-compile, but the file has no "
                   "nm_manifest");
  Result<Manifest> manifest = readManifest(impl->manifestText);
  if (!manifest)
    return failure(manifest.error().message);
  impl->manifest = std::move(*manifest);
  for (const FunctionInfo &function : impl->manifest.functions)
    if (Status status = checkSymbols(*impl->object, function); !status)
      return failure(status.error().message);
  return Module(std::move(impl));
}

Result<Function> Module::function(const std::string &name) const {
  const std::vector<FunctionInfo> &functions = impl->manifest.functions;
  const FunctionInfo *info = impl->find(name);
  if (name.empty() && functions.size() == 1)
    info = &functions[0];
  if (!info) {
    std::string known;
    for (const FunctionInfo &function : functions)
      known += (known.empty() ? "@" : ", @") + function.name;
    return Error{
        impl->path + ": expected " +
        (name.empty() ? "the name of a function" : "a function of the module") +
        (name.empty() ? "" : ", but got @" + name) + "; it has " +
        (known.empty() ? "none" : known)};
  }
  Function function;
  function.functionName = info->name;
  function.signature = info;
  function.equalDims = &info->equalDims;
  function.runsOn =
      impl->manifest.target == "cuda" ? Device::cuda(0) : Device::cpu();
  function.entry = impl->object->find(info->symbol);
  function.code = impl->object;
  auto findPack = [&](const std::optional<PackInfo> &pack) {
    return pack ? impl->object->find(pack->symbol) : nullptr;
  };
  if (info->pack)
    function.loadTimePack = &*info->pack;
  function.packEntry = findPack(info->pack);
  for (const VariantInfo &variant : info->variants)
    function.variants.push_back(
        {&variant, impl->object->find(variant.symbol), findPack(variant.pack)});
  // Without a device the function can still be described; a call says why it
  // cannot run.
  (void)function.chooseVariant();
  return function;
}

const FunctionInfo &Module::info(const Function &function) const {
  return *impl->find(function.name());
}

Result<Function> Module::reference(const Function &function) const {
  const FunctionInfo &info = this->info(function);
  if (!info.reference)
    return Error{impl->path + ": expected a reference for @" + info.name +
                 ", but the module has none; compile it with nm-compile "
                 "--with-reference"};
  Function reference;
  reference.functionName = info.name + ".reference";
  reference.signature = &*info.reference;
  reference.equalDims = &info.equalDims;
  reference.entry = impl->object->find(info.reference->symbol);
  reference.code = impl->object;
  return reference;
}
