// RUN: nm-opt %s --verify-diagnostics --split-input-file
// RUN: not nm-opt %s --split-input-file -o /dev/null 2>/dev/null

// nm.stage_stores (C1)

!slots = memref<1x1x64x64xf32, #gpu.address_space<workgroup>>
func.func @wide(%c: memref<64x64xf32>, %slots: !slots) {
  // expected-error @+1 {{expected a tile of 16-bit elements whose rows are contiguous and multiples of 16 bytes apart, but got 'memref<64x64xf32>'}}
  %s = nm.stage_stores %c through %slots : memref<64x64xf32> through !slots
  return
}

// -----

!slots = memref<1x1x64x64xf16, #nm.tile_layout<[4096, 4096, 64, 1], panels = [64, 4096], xor = [3:3 with 2:0 for 3]>, #gpu.address_space<workgroup>>
func.func @unaligned(%c: memref<64x64xf16, strided<[100, 1]>>, %slots: !slots) {
  // expected-error @+1 {{expected a tile of 16-bit elements whose rows are contiguous and multiples of 16 bytes apart}}
  %s = nm.stage_stores %c through %slots : memref<64x64xf16, strided<[100, 1]>> through !slots
  return
}

// -----

// nm.stage_stores (C2)

!slots = memref<1x1x64x64xf16, #nm.tile_layout<[4096, 4096, 64, 1], panels = [64, 4096], xor = [3:3 with 2:0 for 3]>, #gpu.address_space<workgroup>>
func.func @types(%c: memref<64x64xbf16>, %slots: !slots) {
  // expected-error @+1 {{expected source and destination of one element type, but got 'bf16' and 'f16'}}
  %s = nm.stage_stores %c through %slots : memref<64x64xbf16> through !slots
  return
}

// -----

func.func @in_global_memory(%c: memref<64x64xf16>, %slots: memref<1x1x64x64xf16>) {
  // expected-error @+1 {{expected the slots in workgroup memory, but got 'memref<1x1x64x64xf16>'}}
  %s = nm.stage_stores %c through %slots : memref<64x64xf16> through memref<1x1x64x64xf16>
  return
}

// -----

!slots = memref<1x1x64x64xf16, #gpu.address_space<workgroup>>
func.func @plain(%c: memref<64x64xf16>, %slots: !slots) {
  // expected-error @+1 {{expected slots [warpgroups x slots x 64 x 64] of swizzled rows, but got 'memref<1x1x64x64xf16, #gpu.address_space<workgroup>>'}}
  %s = nm.stage_stores %c through %slots : memref<64x64xf16> through !slots
  return
}

// -----

!slots = memref<64x64xf16, #gpu.address_space<workgroup>>
func.func @rank(%c: memref<64x64xf16>, %slots: !slots) {
  // expected-error @+1 {{expected slots [warpgroups x slots x 64 x 64] of swizzled rows}}
  %s = nm.stage_stores %c through %slots : memref<64x64xf16> through !slots
  return
}
