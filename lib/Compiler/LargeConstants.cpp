//===- LargeConstants.cpp - Weights that LLVM does not see ----------------===//

#include "LargeConstants.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <cerrno>
#include <optional>

#include <unistd.h>

using namespace mlir;
using mlir::nm::LargeConstants;
using ::nm::Status;

/// Smaller ones LLVM may compute with.
static constexpr size_t kLargeBytes = 1 << 16;

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

/// The bytes of `value` as they lie in an object; none where they are not kept
/// as such.
static std::optional<ArrayRef<char>> getBytes(ElementsAttr value) {
  Type element = value.getElementType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0)
    return std::nullopt;
  size_t size =
      size_t(value.getNumElements()) * (element.getIntOrFloatBitWidth() / 8);
  ArrayRef<char> bytes;
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    bytes = dense.isSplat() ? ArrayRef<char>() : dense.getRawData();
  else if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      bytes = blob->getData();
  if (bytes.size() != size)
    return std::nullopt;
  return bytes;
}

void LargeConstants::take(ModuleOp module) {
  taken.clear();
  for (auto global : module.getOps<LLVM::GlobalOp>()) {
    auto value = dyn_cast_or_null<ElementsAttr>(global.getValueOrNull());
    if (!value || !global.getConstant() ||
        !isa<LLVM::LLVMArrayType>(global.getType()))
      continue;
    std::optional<ArrayRef<char>> bytes = getBytes(value);
    if (!bytes || bytes->size() < kLargeBytes)
      continue;
    taken.emplace_back(global.getSymName().str(), value);
    global.setValueAttr(LLVM::ZeroAttr::get(module.getContext()));
    global.setExternallyInitialized(true);
  }
}

void LargeConstants::rename(llvm::Module &translated,
                            const llvm::Module *before) {
  for (const auto &[name, value] : taken) {
    llvm::GlobalVariable *global = translated.getNamedGlobal(name);
    if (!global)
      continue;
    std::string chosen;
    size_t number = named.size();
    do
      chosen = "nm_constant_" + std::to_string(number++);
    while (translated.getNamedValue(chosen) || named.contains(chosen) ||
           (before && before->getNamedValue(chosen)));
    global->setName(chosen);
    // More than 2 GB of weights would take code out of reach of the others:
    // they lie in `.lrodata`, before all else (x86-64 psABI, 3.5, large model).
    if (translated.getTargetTriple().getArch() == llvm::Triple::x86_64)
      global->setCodeModel(llvm::CodeModel::Large);
    named[chosen] = value;
  }
  taken.clear();
}

void LargeConstants::fill(llvm::Module &module) const {
  llvm::Type *byte = llvm::Type::getInt8Ty(module.getContext());
  for (const auto &[name, value] : named) {
    llvm::GlobalVariable *zeros = module.getNamedGlobal(name);
    if (!zeros)
      continue;
    ArrayRef<char> bytes = *getBytes(value);
    llvm::Constant *data = llvm::ConstantDataArray::getRaw(
        StringRef(bytes.data(), bytes.size()), bytes.size(), byte);
    auto *filled =
        new llvm::GlobalVariable(module, data->getType(), /*isConstant=*/true,
                                 zeros->getLinkage(), data, "", zeros);
    filled->copyAttributesFrom(zeros);
    filled->setExternallyInitialized(false);
    filled->takeName(zeros);
    zeros->replaceAllUsesWith(filled);
    zeros->eraseFromParent();
  }
}

/// The start of a section `name` in assembly, of the `type` that ELF calls
/// progbits or nobits; `number` tells it from others of the name.
static std::string startSection(StringRef name, StringRef flags, StringRef type,
                                unsigned number) {
  return (".pushsection " + name + ",\"" + flags + "\",%" + type + ",unique," +
          llvm::Twine(number) + "\n")
      .str();
}

void LargeConstants::declare(llvm::Module &module) {
  bool isLarge = module.getTargetTriple().getArch() == llvm::Triple::x86_64;
  std::string section = isLarge ? ".lrodata" : ".rodata",
              flags = isLarge ? "al" : "a", places;
  std::vector<std::string> names;
  for (const auto &[name, value] : named)
    if (module.getNamedGlobal(name))
      names.push_back(name.str());
  // A map of texts has no order.
  llvm::sort(names);
  llvm::raw_string_ostream os(places);
  for (const std::string &name : names) {
    llvm::GlobalVariable *zeros = module.getNamedGlobal(name);
    os << ".balign " << zeros->getAlign().valueOrOne().value() << '\n'
       << ".type " << name << ",%object\n"
       << ".size " << name << ", " << getBytes(named[name])->size() << '\n'
       << name << ":\n.zero " << getBytes(named[name])->size() << '\n';
    zeros->setInitializer(nullptr);
    zeros->setExternallyInitialized(false);
    zeros->setLinkage(llvm::GlobalValue::ExternalLinkage);
    zeros->setVisibility(llvm::GlobalValue::HiddenVisibility);
  }
  if (names.empty())
    return;
  // Linkers join sections of one name, and give bytes to all where one has
  // some. One that no code refers to is kept by R.
  module.appendModuleInlineAsm(
      startSection(section, flags, "nobits", 1) + places + ".popsection\n" +
      startSection(section, flags + "R", "progbits", 2) +
      ".byte 0\n.popsection\n");
}

uint64_t LargeConstants::hash() const {
  uint64_t sum = 0;
  for (const auto &[name, value] : named) {
    ArrayRef<char> bytes = *getBytes(value);
    uint64_t parts[] = {
        llvm::xxh3_64bits(name),
        llvm::xxh3_64bits(StringRef(bytes.data(), bytes.size()))};
    // In any order, as a map of texts has none.
    sum += llvm::xxh3_64bits(
        StringRef(reinterpret_cast<const char *>(parts), sizeof parts));
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

static ::nm::Error failToWrite(StringRef path, std::error_code error) {
  return ::nm::Error{("cannot write '" + path + "': " + error.message()).str()};
}

static std::error_code writeAt(int file, uint64_t offset,
                               ArrayRef<char> bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::pwrite(file, bytes.data(), bytes.size(), off_t(offset));
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return std::error_code(written < 0 ? errno : EIO,
                             std::generic_category());
    bytes = bytes.drop_front(size_t(written));
    offset += uint64_t(written);
  }
  return {};
}

/// The offset in the file of what `symbol` names; none for what has no bytes.
/// Values of symbols are offsets in objects and addresses in what is linked,
/// and so are those of sections: 0 in objects.
static llvm::Expected<std::optional<uint64_t>>
getOffset(const llvm::object::ELFObjectFileBase &object,
          llvm::object::ELFSymbolRef symbol) {
  auto section = symbol.getSection();
  if (!section)
    return section.takeError();
  auto value = symbol.getValue();
  if (!value)
    return value.takeError();
  if (*section == object.section_end() || (*section)->isBSS())
    return std::nullopt;
  return llvm::object::ELFSectionRef(**section).getOffset() +
         (*value - (*section)->getAddress());
}

Status LargeConstants::write(StringRef path) const {
  if (named.empty())
    return Status::success();
  auto fail = [&](llvm::Error error) -> Status {
    return ::nm::Error{
        ("cannot read '" + path + "': " + llvm::toString(std::move(error)))
            .str()};
  };
  auto parsed = llvm::object::ObjectFile::createObjectFile(path);
  if (!parsed)
    return fail(parsed.takeError());
  auto *object = dyn_cast<llvm::object::ELFObjectFileBase>(parsed->getBinary());
  if (!object)
    return ::nm::Error{("expected '" + path + "' to be an ELF file").str()};
  int file = -1;
  if (std::error_code error = llvm::sys::fs::openFileForReadWrite(
          path, file, llvm::sys::fs::CD_OpenExisting, llvm::sys::fs::OF_None))
    return failToWrite(path, error);
  llvm::scope_exit close([&] { ::close(file); });
  for (llvm::object::ELFSymbolRef symbol : object->symbols()) {
    auto name = symbol.getName();
    if (!name)
      return fail(name.takeError());
    auto found = named.find(*name);
    if (found == named.end())
      continue;
    auto offset = getOffset(*object, symbol);
    if (!offset)
      return fail(offset.takeError());
    if (!*offset)
      return ::nm::Error{("expected '" + path + "' to have bytes for '" +
                          *name + "', but a linker left none")
                             .str()};
    if (std::error_code error =
            writeAt(file, **offset, *getBytes(found->second)))
      return failToWrite(path, error);
  }
  return Status::success();
}
