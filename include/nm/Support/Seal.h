//===- Seal.h - Shared objects that tell whether they are whole -*- C++ -*-===//
//
// What nm-compile links ends with a seal, behind all that ELF's headers tell
// of, so that the loader does not see it:
//
//   bytes  0  magic, 8 bytes
//          8  u64 size of the file without the seal
//         16  u64 CRC-32 of those bytes
//
// Its build id begins with a mark that says so: a file with the mark and no
// seal has lost its end. A shared object that somebody links from `nm-compile
// --emit=obj` has neither. Numbers are little-endian.
//
// A checksum tells of accidents. It is no signature: whoever changes a file can
// seal it again.
//
//===----------------------------------------------------------------------===//

#ifndef NM_SUPPORT_SEAL_H
#define NM_SUPPORT_SEAL_H

#include "nm/Support/Error.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace nm {

/// The first bytes of a sealed file's build id.
inline constexpr std::string_view kSealedMark("nm.seal\1", 8);

/// The build id, in hexadecimal digits, of what is sealed and linked from an
/// object whose bytes hash to `content`.
std::string sealedBuildId(uint64_t content);

/// Adds the seal to a shared object that has none.
Status addSeal(const std::string &path);

/// Fails where `file`, the bytes of one, is sealed, or was, and is not as it
/// was then.
Status checkSeal(std::string_view file);

} // namespace nm

#endif // NM_SUPPORT_SEAL_H
