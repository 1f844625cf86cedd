//===- Module.cpp - Loading compiled modules ------------------------------===//

#include "nm/Runtime/Module.h"

#include "ElfFile.h"
#include "ProcessorFeatures.h"
#include "RecordedError.h"

#include "nm/Support/Seal.h"

#include <utility>

#include <dlfcn.h>

using namespace nm;

struct Module::Impl {
  std::string path;
  void *handle = nullptr;
  const char *manifestText = nullptr;
  Manifest manifest;

  ~Impl() {
    if (handle)
      dlclose(handle);
  }
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

static Status checkSymbol(void *handle, const std::string &symbol) {
  if (dlsym(handle, symbol.c_str()))
    return Status::success();
  return Error{"expected the symbol " + symbol +
               " of the manifest, but the module has none"};
}

static Status checkSymbols(void *handle, const FunctionInfo &function) {
  if (Status status = checkSymbol(handle, function.symbol); !status)
    return status;
  if (function.pack)
    if (Status status = checkSymbol(handle, function.pack->symbol); !status)
      return status;
  for (const VariantInfo &variant : function.variants) {
    if (Status status = checkSymbol(handle, variant.symbol); !status)
      return status;
    if (variant.pack)
      if (Status status = checkSymbol(handle, variant.pack->symbol); !status)
        return status;
  }
  if (function.reference)
    return checkSymbol(handle, function.reference->symbol);
  return Status::success();
}

Result<Module> Module::load(const std::string &path) {
  auto failure = [&](const std::string &message) {
    return Error{path + ": " + message};
  };
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  // A name without a slash would be searched for in the system's folders.
  std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  for (Status status : {checkSeal(file), checkElfIsWhole(file)})
    if (!status)
      return failure("cannot load: " + status.error().message);
  // From here on code of the module runs: its constructors hand us its kernels.
  ErrorCollector errors;
  impl->handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!impl->handle) {
    std::string reason = dlerror();
    if (reason.substr(0, file.size() + 2) == file + ": ")
      reason = reason.substr(file.size() + 2);
    return failure("cannot load: " + reason);
  }
  if (Status status = errors.status(); !status)
    return failure(status.error().message);
  auto *text = static_cast<const char *>(dlsym(impl->handle, "nm_manifest"));
  if (!text)
    return failure("expected a module made by nm-compile, but the file has no "
                   "nm_manifest");
  Result<Manifest> manifest = Manifest::parse(text);
  if (!manifest)
    return failure("nm_manifest: " + manifest.error().message);
  impl->manifestText = text;
  impl->manifest = std::move(*manifest);
  for (const std::string &feature : impl->manifest.processorFeatures) {
    std::optional<bool> has = processorHas(feature);
    if (!has)
      return failure("nm_manifest: expected processor_features that this "
                     "runtime can look for, but got '" +
                     feature + "'");
    if (!*has)
      return failure("expected a processor with " + feature +
                     ", for which the module was compiled, but this one has "
                     "none");
  }
  for (const FunctionInfo &function : impl->manifest.functions)
    if (Status status = checkSymbols(impl->handle, function); !status)
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
  function.entry = dlsym(impl->handle, info->symbol.c_str());
  auto findPack = [&](const std::optional<PackInfo> &pack) {
    return pack ? dlsym(impl->handle, pack->symbol.c_str()) : nullptr;
  };
  if (info->pack)
    function.loadTimePack = &*info->pack;
  function.packEntry = findPack(info->pack);
  for (const VariantInfo &variant : info->variants)
    function.variants.push_back({&variant,
                                 dlsym(impl->handle, variant.symbol.c_str()),
                                 findPack(variant.pack)});
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
  reference.entry = dlsym(impl->handle, info.reference->symbol.c_str());
  return reference;
}
