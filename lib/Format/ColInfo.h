//===- ColInfo.h - Lists of the rows that columns use -----------*- C++ -*-===//

#ifndef NM_LIB_FORMAT_COLINFO_H
#define NM_LIB_FORMAT_COLINFO_H

#include "nm/Format/PackedForm.h"

namespace nm::detail {

/// packIndices to memory that is zero, for a packing with col_info.
void packIndicesAndLists(const CondensedView &from, const PanelPacking &packing,
                         uint8_t *packed, uint8_t *lists);

/// unpackIndices of such.
void unpackIndicesAndLists(const uint8_t *packed, const uint8_t *lists,
                           const PanelPacking &packing, const Pattern &pattern,
                           int64_t k, int64_t n, uint8_t *indices);

} // namespace nm::detail

#endif // NM_LIB_FORMAT_COLINFO_H
