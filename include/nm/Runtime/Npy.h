//===- Npy.h - Reading and writing .npy files -------------------*- C++ -*-===//
//
// Versions 1, 2 and 3 of NumPy's format, row-major or Fortran order,
// little-endian. bf16 and f8E4M3FN are raw elements of two bytes and one byte
// (`<V2`, `|V1`), as ml_dtypes saves them. ml_dtypes saves f8E5M2 as `<f1`,
// which is read, too, but which NumPy cannot read: it is written as
// `float8_e5m2`, which NumPy reads where ml_dtypes is imported.
//
//===----------------------------------------------------------------------===//

#ifndef NM_RUNTIME_NPY_H
#define NM_RUNTIME_NPY_H

#include "nm/Runtime/Tensor.h"

#include <memory>
#include <string>
#include <string_view>

namespace nm {

/// What the header of an .npy file says.
struct NM_RUNTIME_API NpyHeader {
  ElementType type = ElementType::F32;
  /// Set for `|u1`, whose elements are given as I8 with the same bits.
  bool isUnsigned = false;
  bool fortranOrder = false;
  Shape shape;
  /// Where the elements start in the file.
  size_t dataOffset = 0;

  /// Reads the header at the start of `bytes`.
  static Result<NpyHeader> parse(std::string_view bytes);
  /// The header, padded so that the elements start at a multiple of 64 bytes.
  std::string str() const;
};

/// The array in an .npy file, mapped into memory.
class NM_RUNTIME_API NpyFile {
public:
  NpyFile(NpyFile &&) noexcept;
  NpyFile &operator=(NpyFile &&) noexcept;
  ~NpyFile();

  /// Errors begin with the path.
  static Result<NpyFile> open(const std::string &path);

  /// The elements; writes to them do not reach the file.
  const Tensor &tensor() const { return view; }
  bool isUnsigned() const { return header.isUnsigned; }
  const std::string &path() const { return name; }

  /// Gives the pages back to the system; they are read from the file again
  /// when they are next used.
  void release();

private:
  NpyFile() = default;

  std::string name;
  NpyHeader header;
  Tensor view;
  void *mapping = nullptr;
  size_t size = 0;
  /// Whether `mapping` is of the file, not a copy of what a pipe gave.
  bool isFileMapping = false;
};

/// Writes `tensor` to `path`. An error, such as no space left, leaves what was
/// at `path` as it was.
NM_RUNTIME_API Status writeNpy(const std::string &path, const Tensor &tensor);

/// Calls cleanUpOnSignals of nm/Support/TemporaryPath.h for the files that this
/// library writes.
NM_RUNTIME_API void cleanUpRuntimeOnSignals();

} // namespace nm

#endif // NM_RUNTIME_NPY_H
