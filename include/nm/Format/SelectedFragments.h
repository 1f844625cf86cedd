//===- SelectedFragments.h - How a lane selects its words -------*- C++ -*-===//
//
// What one word of four kept bytes of a run (SelectedBytes.h) is made of. Field
// i of word u is kept byte q = 4u + i, which is in window v = q / N, at bytes
// v*M to v*M + M - 1 of the run. Fields whose windows are within eight bytes
// that begin at a word have one *source*: a prmt selects them all from its two
// words. Others have sources of their own, whose results more prmts join.
//
// For example, of 3:8, word 1 has kept bytes 4 and 5, of window 1, and 6 and 7,
// of window 2: two sources, at bytes 8 and 16. Both prmts take one selector,
// whose four fields are the indices in the windows. Two windows of 2:4 are in
// one source, where the second begins at byte 4: 4 is added to its fields.
//
//===----------------------------------------------------------------------===//

#ifndef NM_FORMAT_SELECTEDFRAGMENTS_H
#define NM_FORMAT_SELECTEDFRAGMENTS_H

#include "nm/Format/SelectedBytes.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace nm {

/// Eight bytes that some of a word's fields are selected from.
struct SelectedSource {
  /// The first of the fields; the next source's first one ends them.
  int64_t firstField = 0;
  /// The first byte, in the run.
  int64_t firstByte = 0;

  int64_t firstWord() const { return firstByte / SelectedBytes::kWord; }
};

/// A word of a lane.
struct SelectedWord {
  std::vector<SelectedSource> sources;
  /// What is added to a word's indices, four bits each, to number the bytes of
  /// sources: where in its source each field's window begins.
  int64_t firstOfWindows = 0;

  /// Word `word` of a run.
  static SelectedWord of(const SelectedBytes &bytes, int64_t word) {
    constexpr int64_t kWord = SelectedBytes::kWord,
                      kSource = SelectedBytes::kSource;
    SelectedWord result;
    for (int64_t field = 0; field < kWord; ++field) {
      int64_t window = (word * kWord + field) / bytes.keptOfWindow;
      int64_t begin = window * bytes.windowRows;
      bool isNew =
          result.sources.empty() ||
          begin + bytes.windowRows > result.sources.back().firstByte + kSource;
      if (isNew) {
        int64_t first =
            std::min(begin / kWord * kWord, bytes.runBytes() - kSource);
        result.sources.push_back({field, first});
      }
      int64_t offset = begin - result.sources.back().firstByte;
      result.firstOfWindows += offset << SelectedBytes::kFieldBits * field;
    }
    return result;
  }

  /// The prmts of a unit's word.
  int64_t permutesOfUnit() const { return 2 * int64_t(sources.size()) - 1; }
  /// The accesses of so many bytes of the run that load the sources, by number,
  /// in order.
  std::vector<int64_t> accesses(int64_t bytes) const {
    std::vector<int64_t> list;
    for (const SelectedSource &source : sources)
      for (int64_t i = 0; i < SelectedBytes::kSource / SelectedBytes::kWord;
           ++i)
        list.push_back((source.firstWord() + i) * SelectedBytes::kWord / bytes);
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    return list;
  }
};

/// The selector of the prmt that joins two words, of which the second has the
/// fields from `firstField` on. It numbers bytes of the first 0 to 3, and of
/// the second 4 to 7.
inline int64_t joinSelector(int64_t firstField) {
  int64_t selector = 0;
  for (int64_t i = 0; i < SelectedBytes::kWord; ++i)
    selector |= (i < firstField ? i : SelectedBytes::kWord + i)
                << SelectedBytes::kFieldBits * i;
  return selector;
}

/// Joins words of which each has the fields from a first one on, neighbours
/// before others: `join(left, right, selector)` is a prmt.
template <typename Word, typename Join>
Word joinFields(std::vector<std::pair<int64_t, Word>> parts, Join join) {
  while (parts.size() > 1) {
    std::vector<std::pair<int64_t, Word>> joined;
    for (size_t i = 0; i + 1 < parts.size(); i += 2)
      joined.emplace_back(parts[i].first,
                          join(parts[i].second, parts[i + 1].second,
                               joinSelector(parts[i + 1].first)));
    if (parts.size() % 2 != 0)
      joined.push_back(parts.back());
    parts = std::move(joined);
  }
  return parts.front().second;
}

} // namespace nm

#endif // NM_FORMAT_SELECTEDFRAGMENTS_H
