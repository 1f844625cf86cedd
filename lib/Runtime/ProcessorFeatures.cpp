//===- ProcessorFeatures.cpp - What this processor can do -----------------===//

#include "ProcessorFeatures.h"

#include "nm/Support/ProcessorTiles.h"

#if defined(__x86_64__)
#include <array>
#include <string>

#include <cpuid.h>

using namespace nm;

namespace {
/// The words of CPUID that tell of features: a leaf, a subleaf of it, and the
/// register (Intel 64 and IA-32 SDM, volume 2A, "CPUID"; leaves from 80000001
/// on: AMD64 APM, volume 3, appendix E).
enum Word : unsigned char {
  L1Ecx,
  L1Edx,
  L7Ebx,
  L7Ecx,
  L7Edx,
  L7s1Eax,
  L7s1Edx,
  LDs1Eax,
  L14Ebx,
  L19Ebx,
  L1Es1Eax,
  L24Ebx,
  L29Ebx,
  L80000001Ecx,
  L80000001Edx,
  L80000008Ebx,
  NumWords
};

/// Registers that the system has to save, by its bits of XCR0 (volume 1,
/// chapter 13): 128 bits of vectors are always saved.
enum State : unsigned {
  Plain = 0,
  Ymm = 0x6,
  Zmm = Ymm | 0xe0,
  Tiles = 0x60000,
  Egpr = 0x80000
};

/// A feature by LLVM's name.
struct Feature {
  std::string_view name;
  Word word;
  unsigned char bit;
  State state = Plain;
};
} // namespace

static constexpr Feature kFeatures[] = {
    // What every processor of 64 bits has.
    {"cx8", L1Edx, 8},
    {"cmov", L1Edx, 15},
    {"fxsr", L1Edx, 24},
    {"mmx", L1Edx, 23},
    {"sse", L1Edx, 25},
    {"sse2", L1Edx, 26},
    {"x87", L1Edx, 0},
    {"64bit", L80000001Edx, 29},
    // Numbers, and vectors of 128 and 256 bits.
    {"sse3", L1Ecx, 0},
    {"ssse3", L1Ecx, 9},
    {"sse4.1", L1Ecx, 19},
    {"sse4.2", L1Ecx, 20},
    {"crc32", L1Ecx, 20},
    {"sse4a", L80000001Ecx, 6},
    {"cx16", L1Ecx, 13},
    {"movbe", L1Ecx, 22},
    {"popcnt", L1Ecx, 23},
    {"lzcnt", L80000001Ecx, 5},
    {"bmi", L7Ebx, 3},
    {"bmi2", L7Ebx, 8},
    {"adx", L7Ebx, 19},
    {"tbm", L80000001Ecx, 21},
    {"sahf", L80000001Ecx, 0},
    {"avx", L1Ecx, 28, Ymm},
    {"avx2", L7Ebx, 5, Ymm},
    {"fma", L1Ecx, 12, Ymm},
    {"f16c", L1Ecx, 29, Ymm},
    {"fma4", L80000001Ecx, 16, Ymm},
    {"xop", L80000001Ecx, 11, Ymm},
    {"avxvnni", L7s1Eax, 4, Ymm},
    {"avxifma", L7s1Eax, 23, Ymm},
    {"avxvnniint8", L7s1Edx, 4, Ymm},
    {"avxneconvert", L7s1Edx, 5, Ymm},
    {"avxvnniint16", L7s1Edx, 10, Ymm},
    // Vectors of 512 bits.
    {"avx512f", L7Ebx, 16, Zmm},
    {"evex512", L7Ebx, 16, Zmm},
    {"avx512dq", L7Ebx, 17, Zmm},
    {"avx512ifma", L7Ebx, 21, Zmm},
    {"avx512cd", L7Ebx, 28, Zmm},
    {"avx512bw", L7Ebx, 30, Zmm},
    {"avx512vl", L7Ebx, 31, Zmm},
    {"avx512vbmi", L7Ecx, 1, Zmm},
    {"avx512vbmi2", L7Ecx, 6, Zmm},
    {"avx512vnni", L7Ecx, 11, Zmm},
    {"avx512bitalg", L7Ecx, 12, Zmm},
    {"avx512vpopcntdq", L7Ecx, 14, Zmm},
    {"avx512vp2intersect", L7Edx, 8, Zmm},
    {"avx512fp16", L7Edx, 23, Zmm},
    {"avx512bf16", L7s1Eax, 5, Zmm},
    // Tiles.
    {"amx-bf16", L7Edx, 22, Tiles},
    {"amx-tile", L7Edx, 24, Tiles},
    {"amx-int8", L7Edx, 25, Tiles},
    {"amx-fp16", L7s1Eax, 21, Tiles},
    {"amx-complex", L7s1Edx, 8, Tiles},
    {"amx-fp8", L1Es1Eax, 4, Tiles},
    {"amx-tf32", L1Es1Eax, 6, Tiles},
    {"amx-avx512", L1Es1Eax, 7, Tiles},
    {"amx-movrs", L1Es1Eax, 8, Tiles},
    // Bits, ciphers and digests.
    {"pclmul", L1Ecx, 1},
    {"aes", L1Ecx, 25},
    {"gfni", L7Ecx, 8},
    {"sha", L7Ebx, 29},
    {"vaes", L7Ecx, 9, Ymm},
    {"vpclmulqdq", L7Ecx, 10, Ymm},
    {"sha512", L7s1Eax, 0, Ymm},
    {"sm3", L7s1Eax, 1, Ymm},
    {"sm4", L7s1Eax, 2, Ymm},
    {"kl", L7Ecx, 23},
    {"widekl", L19Ebx, 2},
    // Sixteen more registers and three operands (APX).
    {"apxf", L7s1Edx, 21, Egpr},
    {"egpr", L7s1Edx, 21, Egpr},
    {"push2pop2", L7s1Edx, 21, Egpr},
    {"ppx", L7s1Edx, 21, Egpr},
    {"ccmp", L7s1Edx, 21, Egpr},
    {"cf", L7s1Edx, 21, Egpr},
    {"zu", L7s1Edx, 21, Egpr},
    {"ndd", L29Ebx, 0, Egpr},
    {"nf", L29Ebx, 0, Egpr},
    // Memory, threads and the system.
    {"prfchw", L80000001Ecx, 8},
    {"prefetchi", L7s1Edx, 14},
    {"clflushopt", L7Ebx, 23},
    {"clwb", L7Ebx, 24},
    {"cldemote", L7Ecx, 25},
    {"clzero", L80000008Ebx, 0},
    {"wbnoinvd", L80000008Ebx, 9},
    {"movdiri", L7Ecx, 27},
    {"movdir64b", L7Ecx, 28},
    {"movrs", L7s1Eax, 31},
    {"enqcmd", L7Ecx, 29},
    {"cmpccxadd", L7s1Eax, 7},
    {"raoint", L7s1Eax, 3},
    {"rtm", L7Ebx, 11},
    {"tsxldtrk", L7Edx, 16},
    {"serialize", L7Edx, 14},
    {"waitpkg", L7Ecx, 5},
    {"mwaitx", L80000001Ecx, 29},
    {"xsave", L1Ecx, 26, Ymm},
    {"xsaveopt", LDs1Eax, 0, Ymm},
    {"xsavec", LDs1Eax, 1, Ymm},
    {"xsaves", LDs1Eax, 3, Ymm},
    {"fsgsbase", L7Ebx, 0},
    {"invpcid", L7Ebx, 10},
    {"lwp", L80000001Ecx, 15},
    {"pconfig", L7Edx, 18},
    {"pku", L7Ecx, 4},
    {"ptwrite", L14Ebx, 4},
    {"rdpid", L7Ecx, 22},
    {"rdpru", L80000008Ebx, 4},
    {"rdrnd", L1Ecx, 30},
    {"rdseed", L7Ebx, 18},
    {"sgx", L7Ebx, 2},
    {"shstk", L7Ecx, 7},
    {"uintr", L7Edx, 5},
    {"usermsr", L7s1Edx, 15},
    {"hreset", L7s1Eax, 22},
};

namespace {
/// What CPUID and XCR0 say of this processor.
struct Processor {
  Processor();
  bool has(Word word, unsigned bit) const { return words[word] >> bit & 1; }
  bool saves(unsigned state) const { return (saved & state) == state; }
  unsigned avx10Version() const;

  std::array<unsigned, NumWords> words = {};
  unsigned saved = 0;
};
} // namespace

Processor::Processor() {
  // A leaf that the processor has not leaves its words 0.
  auto read = [&](unsigned leaf, unsigned subleaf, int ebx, int ecx, int edx,
                  int eax = -1) {
    unsigned values[4];
    if (!__get_cpuid_count(leaf, subleaf, &values[0], &values[1], &values[2],
                           &values[3]))
      return;
    const int places[] = {eax, ebx, ecx, edx};
    for (int i = 0; i < 4; ++i)
      if (places[i] >= 0)
        words[size_t(places[i])] = values[i];
  };
  read(0x1, 0, -1, L1Ecx, L1Edx);
  read(0x7, 0, L7Ebx, L7Ecx, L7Edx);
  read(0x7, 1, -1, -1, L7s1Edx, L7s1Eax);
  read(0xd, 1, -1, -1, -1, LDs1Eax);
  read(0x14, 0, L14Ebx, -1, -1);
  read(0x19, 0, L19Ebx, -1, -1);
  read(0x1e, 1, -1, -1, -1, L1Es1Eax);
  read(0x24, 0, L24Ebx, -1, -1);
  read(0x29, 0, L29Ebx, -1, -1);
  read(0x80000001, 0, -1, L80000001Ecx, L80000001Edx);
  read(0x80000008, 0, L80000008Ebx, -1, -1);
  // XGETBV is there where the system says so.
  constexpr unsigned kOsXsave = 27;
  unsigned high;
  if (has(L1Ecx, kOsXsave))
    __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
}

unsigned Processor::avx10Version() const {
  constexpr unsigned kAvx10 = 19;
  return has(L7s1Edx, kAvx10) && saves(Zmm) ? words[L24Ebx] & 0xff : 0;
}

std::optional<bool> nm::processorHas(std::string_view feature) {
  static const Processor processor;
  for (unsigned version : {1, 2}) {
    std::string name = "avx10." + std::to_string(version);
    if (feature == name || feature == name + "-512")
      return processor.avx10Version() >= version;
  }
  for (const Feature &known : kFeatures)
    if (known.name == feature)
      return processor.has(known.word, known.bit) &&
             processor.saves(known.state) &&
             // Linux lets only those processes use tiles that ask for them.
             (known.state != Tiles || takeProcessorTiles());
  return std::nullopt;
}
#elif defined(__aarch64__) && defined(__linux__)
#include "nm/Support/ArmFeatures.h"

#include <sys/auxv.h>

std::optional<bool> nm::processorHas(std::string_view feature) {
  for (const ArmFeature &known : kArmFeatures)
    if (known.name == feature)
      return getauxval(known.isInSecondWord ? AT_HWCAP2 : AT_HWCAP) >>
                 known.bit &
             1;
  return std::nullopt;
}
#else
std::optional<bool> nm::processorHas(std::string_view) { return std::nullopt; }
#endif
