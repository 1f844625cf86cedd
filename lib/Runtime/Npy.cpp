//===- Npy.cpp - Reading and writing .npy files ---------------------------===//

#include "nm/Runtime/Npy.h"

#include "File.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace nm;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The bytes that a file has whose first are `content`; more than the header
/// takes.
static Result<size_t> wantedSize(const std::string &content) {
  Result<NpyHeader> header = NpyHeader::parse(content);
  if (!header)
    return header.error();
  Result<int64_t> count = countElements(header->shape, header->type);
  if (!count)
    return count.error();
  return header->dataOffset + size_t(*count) * elementSize(header->type);
}

/// Reads a pipe into anonymous memory, to its end or past that of the array: a
/// pipe may not end.
static Result<std::pair<void *, size_t>> readPipe(int fd) {
  std::string content;
  char chunk[1 << 16];
  // Whatever has more is a header and some of the data.
  size_t most = size_t(1) << 20;
  bool isWanted = false;
  while (ssize_t count = read(fd, chunk, sizeof chunk)) {
    if (count < 0 && errno != EINTR)
      return systemError("cannot read");
    if (count > 0)
      content.append(chunk, count);
    if (content.size() <= most)
      continue;
    if (isWanted)
      break;
    Result<size_t> wanted = wantedSize(content);
    if (!wanted)
      return wanted.error();
    most = *wanted;
    isWanted = true;
  }
  size_t size = std::max<size_t>(content.size(), 1);
  void *mapping = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED)
    return systemError("cannot read");
  std::memcpy(mapping, content.data(), content.size());
  return std::make_pair(mapping, content.size());
}

static Shape npyStrides(const NpyHeader &header) {
  Shape shape = header.shape;
  if (!header.fortranOrder)
    return rowMajorStrides(shape);
  std::reverse(shape.begin(), shape.end());
  Shape strides = rowMajorStrides(shape);
  std::reverse(strides.begin(), strides.end());
  return strides;
}

/// Checks that the file holds the elements and nothing after them.
static Status checkSize(const NpyHeader &header, size_t fileSize) {
  Result<int64_t> count = countElements(header.shape, header.type);
  if (!count)
    return count.error();
  size_t wanted = *count * elementSize(header.type);
  size_t present = fileSize - header.dataOffset;
  if (present == wanted)
    return Status::success();
  std::string type =
      shapeText(header.shape) + " " + std::string(elementName(header.type));
  return Error{"expected " + std::to_string(wanted) + " bytes of data for " +
               type + ", but got " + std::to_string(present) +
               (present < wanted ? ": the file is truncated"
                                 : ": there is something after the array")};
}

NpyFile::NpyFile(NpyFile &&other) noexcept { *this = std::move(other); }

NpyFile &NpyFile::operator=(NpyFile &&other) noexcept {
  std::swap(name, other.name);
  std::swap(header, other.header);
  std::swap(view, other.view);
  std::swap(mapping, other.mapping);
  std::swap(size, other.size);
  std::swap(isFileMapping, other.isFileMapping);
  return *this;
}

NpyFile::~NpyFile() {
  if (mapping)
    munmap(mapping, std::max<size_t>(size, 1));
}

void NpyFile::release() {
  if (isFileMapping && mapping)
    madvise(mapping, size, MADV_DONTNEED);
}

Result<NpyFile> NpyFile::open(const std::string &path) {
  auto failure = [&](const Error &error) {
    return Error{path + ": " + error.message};
  };
  FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info;
  if (fd.get() < 0 || fstat(fd.get(), &info) != 0)
    return failure(systemError("cannot read"));
  if (S_ISDIR(info.st_mode))
    return failure(Error{"expected an .npy file, but got a directory"});

  if (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode))
    return failure(Error{"expected an .npy file or a pipe, but got a device"});

  NpyFile file;
  file.name = path;
  if (S_ISREG(info.st_mode) && info.st_size > 0) {
    file.size = info.st_size;
    file.isFileMapping = true;
    // Private and writable: nothing that runs on the data can reach the file.
    file.mapping = mmap(nullptr, file.size, PROT_READ | PROT_WRITE, MAP_PRIVATE,
                        fd.get(), 0);
    if (file.mapping == MAP_FAILED) {
      file.mapping = nullptr;
      return failure(systemError("cannot map"));
    }
  } else {
    auto content = readPipe(fd.get());
    if (!content)
      return failure(content.error());
    std::tie(file.mapping, file.size) = *content;
  }

  char *bytes = static_cast<char *>(file.mapping);
  Result<NpyHeader> header = NpyHeader::parse({bytes, file.size});
  if (!header)
    return failure(header.error());
  file.header = *header;
  if (Status status = checkSize(file.header, file.size); !status)
    return failure(status.error());
  file.view = Tensor(bytes + file.header.dataOffset, file.header.type,
                     file.header.shape, npyStrides(file.header));
  return file;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

Status nm::writeNpy(const std::string &path, const Tensor &tensor) {
  NpyHeader header;
  header.type = tensor.type;
  header.shape = tensor.shape;
  Buffer copy;
  const Tensor *source = &tensor;
  if (!tensor.isRowMajor()) {
    Result<Buffer> rowMajor = Buffer::allocate(tensor.type, tensor.shape);
    if (!rowMajor)
      return Error{path + ": " + rowMajor.error().message};
    copyTensor(tensor, rowMajor->tensor());
    copy = std::move(*rowMajor);
    source = &copy.tensor();
  }
  std::string_view elements(static_cast<const char *>(source->data),
                            source->bytes());
  return writeFile(path, {header.str(), elements});
}
