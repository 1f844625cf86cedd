// RUN: nm-opt %s --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --split-input-file 2>/dev/null

func.func @spmm_c6_units(%a: memref<4x64xf16>, %v: memref<4x48xf16>, %i: memref<4x48xi8>, %c: memref<64x48xf16>) {
  // expected-error @+1 {{expected gathered = [windows, units] with 2 to 4 units, but got [2, 1]}}
  nm.spmm <2:4> transpose_a gathered [2, 1] schedule #nm.simt
    ins(%a, %v, %i : memref<4x64xf16>, memref<4x48xf16>, memref<4x48xi8>) outs(%c : memref<64x48xf16>)
  return
}

// -----

// Behind the four rows of two windows two of zeros fill A up, and the values.
func.func @spmm_c6_filled(%a: memref<6x64xf16>, %v: memref<4x48xf16>, %i: memref<4x48xi8>, %c: memref<64x48xf16>) {
  // expected-error @+1 {{expected size of dim 0 of values to be 6, but got 4}}
  nm.spmm <2:4> transpose_a gathered [2, 2] schedule #nm.simt
    ins(%a, %v, %i : memref<6x64xf16>, memref<4x48xf16>, memref<4x48xi8>) outs(%c : memref<64x48xf16>)
  return
}

// -----

func.func @spmm_c6_rows(%a: memref<5x64xf16>, %v: memref<4x48xf16>, %i: memref<4x48xi8>, %c: memref<64x48xf16>) {
  // expected-error @+1 {{expected 6 rows in a gathered A, but got 'memref<5x64xf16>'}}
  nm.spmm <2:4> transpose_a gathered [2, 3] schedule #nm.simt
    ins(%a, %v, %i : memref<5x64xf16>, memref<4x48xf16>, memref<4x48xi8>) outs(%c : memref<64x48xf16>)
  return
}

// -----

func.func @spmm_c6_schedule(%a: memref<4x64xf16>, %v: memref<4x48xf16>, %i: memref<4x48xi8>, %c: memref<64x48xf16>) {
  // expected-error @+1 {{expected memrefs and a schedule for a GPU with gathered, but got 'memref<4x64xf16>'}}
  nm.spmm <2:4> transpose_a gathered [2, 2]
    ins(%a, %v, %i : memref<4x64xf16>, memref<4x48xf16>, memref<4x48xi8>) outs(%c : memref<64x48xf16>)
  return
}
