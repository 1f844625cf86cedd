//===- OutputFile.cpp - Writing results whole or not at all ---------------===//

#include "nm/Compiler/OutputFile.h"

#include "nm/Support/TemporaryPath.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using ::nm::Result;
using ::nm::Status;
using ::nm::TemporaryPath;

static ::nm::Error cannotWrite(StringRef path, std::error_code error) {
  return ::nm::Error{("cannot write '" + path + "': " + error.message()).str()};
}

/// Writes and closes; the stream's own destructor would abort on an error.
static std::error_code writeTo(raw_fd_ostream &stream, StringRef contents) {
  stream << contents;
  stream.close();
  std::error_code error = stream.error();
  stream.clear_error();
  return error;
}

/// Writes to what stands at `path`, which is kept: a device or a pipe.
static Status writeInPlace(StringRef path, StringRef contents) {
  std::error_code error;
  raw_fd_ostream stream(path, error, sys::fs::CD_OpenAlways, sys::fs::FA_Write,
                        sys::fs::OF_None);
  if (!error)
    error = writeTo(stream, contents);
  return error ? Status(cannotWrite(path, error)) : Status::success();
}

static Status writeStdout(StringRef contents) {
  outs() << contents;
  outs().flush();
  std::error_code error = outs().error();
  outs().clear_error();
  return error ? Status(cannotWrite("stdout", error)) : Status::success();
}

/// Whether `path` names something that a rename would replace wrongly.
static bool isSpecialFile(StringRef path) {
  sys::fs::file_status status;
  return !sys::fs::status(path, status) &&
         status.type() != sys::fs::file_type::regular_file &&
         status.type() != sys::fs::file_type::directory_file;
}

static Status copyInto(StringRef path, StringRef from) {
  auto contents = MemoryBuffer::getFile(from);
  if (!contents)
    return cannotWrite(path, contents.getError());
  return mlir::nm::writeOutput(path, (*contents)->getBuffer());
}

/// The file that `path` names, which a link leads to, so that a rename replaces
/// the file and not the link.
static std::string followLinks(StringRef path) {
  SmallString<128> target;
  return sys::fs::real_path(path, target) ? path.str() : target.str().str();
}

Status mlir::nm::makeOutput(StringRef path,
                            function_ref<Status(StringRef)> make) {
  if (path.empty())
    return ::nm::Error{"expected the name of a file to write, but got none"};
  if (sys::fs::is_directory(path))
    return ::nm::Error{("cannot write '" + path + "': it is a folder").str()};
  bool special = path == "-" || isSpecialFile(path);
  std::string target = special ? path.str() : followLinks(path);
  // A folder, in which a linker's own temporary files are, too; beside the
  // output, so that a rename can move it.
  Result<TemporaryPath> folder = TemporaryPath::folder(
      special ? ::nm::inTemporaryFolder("nm-compile-") : target + ".tmp.");
  if (!folder)
    return ::nm::Error{"cannot write '" + path.str() +
                       "': " + folder.error().message};
  std::string made = folder->str() + "/output";
  if (Status status = make(made); !status)
    return status;
  if (special)
    return copyInto(path, made);
  if (std::error_code error = sys::fs::rename(made, target))
    return cannotWrite(path, error);
  return Status::success();
}

Status mlir::nm::writeOutput(StringRef path, StringRef contents) {
  if (path == "-")
    return writeStdout(contents);
  if (isSpecialFile(path))
    return writeInPlace(path, contents);
  return makeOutput(path, [&](StringRef temporary) -> Status {
    std::error_code error;
    raw_fd_ostream stream(temporary, error);
    if (!error)
      error = writeTo(stream, contents);
    return error ? Status(cannotWrite(path, error)) : Status::success();
  });
}
