//===- Contractions.h - Products of computed operands -----------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_CONTRACTIONS_H
#define NM_DIALECT_NM_IR_CONTRACTIONS_H

#include "nm/Dialect/NM/IR/NM.h"

#define GET_OP_CLASSES
#include "nm/Dialect/NM/IR/NMContractions.h.inc"

#endif // NM_DIALECT_NM_IR_CONTRACTIONS_H
