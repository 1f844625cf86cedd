// RUN: nm-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected at least one stage, but got 0}}
func.func private @barriers_c1(!nm.barriers<0>)

// -----

func.func @warps_c1() {
  // expected-error @+1 {{expected warps from 0 to at most 32, but got 4 to 4}}
  nm.warps 4 to 4 {
  }
  return
}

// -----

func.func @warps_c1_most() {
  // expected-error @+1 {{expected warps from 0 to at most 32, but got 0 to 33}}
  nm.warps 0 to 33 {
  }
  return
}

// -----

func.func @warps_c2() {
  // expected-error @+1 {{expected a multiple of 8 registers in 24..256, but got 100}}
  nm.warps 0 to 4 registers 100 {
  }
  return
}

// -----

func.func @warps_c2_warpgroups() {
  // expected-error @+1 {{expected whole warpgroups for 'registers', but got warps 4 to 5}}
  nm.warps 4 to 5 registers 24 {
  }
  return
}

// -----

func.func @warps_c3() {
  nm.warps 0 to 4 {
    // expected-error @+1 {{expected a role outside of others}}
    nm.warps 0 to 2 {
    }
  }
  return
}

// -----

func.func @warps_c4_warps() {
  // expected-error @+1 {{expected two whole warpgroups or more for 'ordered', but got warps 2 to 10}}
  nm.warps 2 to 10 ordered {
  }
  return
}

// -----

func.func @warps_c4_one() {
  // expected-error @+1 {{expected two whole warpgroups or more for 'ordered', but got warps 0 to 4}}
  nm.warps 0 to 4 registers 200 ordered {
  }
  return
}

// -----

func.func @wait_c1(%step: index) {
  %ring = nm.barriers : !nm.barriers<2>
  // expected-error @+1 {{expected it inside nm.warps, where a role is}}
  nm.wait %ring[%step] : !nm.barriers<2>
  return
}

// -----

func.func @signal_c1(%step: index) {
  %ring = nm.barriers : !nm.barriers<2>
  // expected-error @+1 {{expected it inside nm.warps, where a role is}}
  nm.signal <warp> %ring[%step] : !nm.barriers<2>
  return
}

// -----

func.func @signal_c1_block(%step: index) {
  %ring = nm.barriers : !nm.barriers<2>
  nm.warps 0 to 4 {
    // expected-error @+1 {{expected scope 'thread', 'warp' or 'warpgroup', but got 'block'}}
    nm.signal <block> %ring[%step] : !nm.barriers<2>
  }
  return
}

// -----

func.func @signal_c1_warpgroup(%step: index) {
  %ring = nm.barriers : !nm.barriers<2>
  nm.warps 2 to 6 {
    // expected-error @+1 {{expected a role of whole warpgroups for scope 'warpgroup', but got warps 2 to 6}}
    nm.signal <warpgroup> %ring[%step] : !nm.barriers<2>
  }
  return
}

// -----

func.func @signal_c2(%step: index, %a: memref<64xf16>) {
  %ring = nm.barriers : !nm.barriers<2>
  %to = memref.alloc() : memref<64xf16, #gpu.address_space<workgroup>>
  nm.warps 0 to 4 {
    %t = nm.copy <bulk> %a to %to : memref<64xf16> to memref<64xf16, #gpu.address_space<workgroup>> -> !nm.token
    // expected-error @+1 {{expected scope 'thread' and no condition with tokens}}
    nm.signal <warp> %ring[%step] tokens %t : !nm.barriers<2>
  }
  return
}

// -----

func.func @signal_c2_group(%step: index, %a: memref<64xf16>) {
  %ring = nm.barriers : !nm.barriers<2>
  %to = memref.alloc() : memref<64xf16, #gpu.address_space<workgroup>>
  nm.warps 0 to 4 {
    %t = nm.copy <direct> %a to %to : memref<64xf16> to memref<64xf16, #gpu.address_space<workgroup>> -> !nm.token
    %g = nm.group %t
    // expected-error @+1 {{expected tokens of copies beside it, each signalled once}}
    nm.signal <thread> %ring[%step] tokens %g : !nm.barriers<2>
  }
  return
}

// -----

func.func @copy_c2_bulk(%a: memref<4x2x64xf16, strided<[256, 128, 1]>>) {
  %to = memref.alloc() : memref<4x2x64xf16, #gpu.address_space<workgroup>>
  // expected-error @+1 {{expected source and destination to be contiguous, of one static shape and a multiple of 16 bytes, but got}}
  %t = nm.copy <bulk> %a to %to : memref<4x2x64xf16, strided<[256, 128, 1]>> to memref<4x2x64xf16, #gpu.address_space<workgroup>> -> !nm.token
  return
}

// -----

// Parts may be apart, and there may be fewer, but not more.
func.func @copy_c2_bulk_parts(%a: memref<5x64xf16, strided<[128, 1]>>) {
  %to = memref.alloc() : memref<4x64xf16, #gpu.address_space<workgroup>>
  // expected-error @+1 {{expected source and destination to be contiguous, of one static shape and a multiple of 16 bytes, but got}}
  %t = nm.copy <bulk> %a to %to : memref<5x64xf16, strided<[128, 1]>> to memref<4x64xf16, #gpu.address_space<workgroup>> -> !nm.token
  return
}

// -----

func.func @copy_c2_bulk_condition(%a: memref<64xf16>, %more: i1) {
  %to = memref.alloc() : memref<64xf16, #gpu.address_space<workgroup>>
  // expected-error @+1 {{expected a token and no condition of a copy that goes 'bulk'}}
  %t = nm.copy <bulk> %a to %to where %more : memref<64xf16> to memref<64xf16, #gpu.address_space<workgroup>> -> !nm.token
  return
}

// -----

func.func @copy_c2_tensor_shape(%a: memref<9x64xf16, strided<[128, 1]>>) {
  %to = memref.alloc() : memref<8x64xf16, #gpu.address_space<workgroup>>
  // expected-error @+1 {{expected a source that is no larger than its destination, but got 'memref<9x64xf16, strided<[128, 1]>>' and 'memref<8x64xf16, #gpu.address_space<workgroup>>'}}
  %t = nm.copy <tensor> %a to %to : memref<9x64xf16, strided<[128, 1]>> to memref<8x64xf16, #gpu.address_space<workgroup>> -> !nm.token
  return
}

// -----

func.func @tensor_map_c1_rank(%a: memref<1x1x1x1x4x64xf16>) {
  // expected-error @+1 {{expected a tensor of 1 to 5 dimensions whose rows are contiguous and multiples of 16 bytes apart, but got}}
  %map = nm.tensor_map %a box [1, 1, 1, 1, 4, 64] : memref<1x1x1x1x4x64xf16> -> vector<16xi64>
  return
}

// -----

func.func @tensor_map_c1_rows(%a: memref<4x9xf16>) {
  // expected-error @+1 {{expected a tensor of 1 to 5 dimensions whose rows are contiguous and multiples of 16 bytes apart, but got 'memref<4x9xf16>'}}
  %map = nm.tensor_map %a box [4, 8] : memref<4x9xf16> -> vector<16xi64>
  return
}

// -----

func.func @tensor_map_c2_sizes(%a: memref<4x64xf16>) {
  // expected-error @+1 {{expected 2 sizes of a box in 1..256, but got [257, 64]}}
  %map = nm.tensor_map %a box [257, 64] : memref<4x64xf16> -> vector<16xi64>
  return
}

// -----

func.func @tensor_map_c2_words(%a: memref<4x64xf16>) {
  // expected-error @+1 {{expected rows of a box to take a multiple of 16 bytes, but got 24}}
  %map = nm.tensor_map %a box [4, 12] : memref<4x64xf16> -> vector<16xi64>
  return
}

// -----

func.func @tensor_map_c3_rank(%a: memref<4x64xf16>) {
  // expected-error @+1 {{expected pixels of an image of at least 3 dimensions, and two corners and steps of all but its first and last, but got 'memref<4x64xf16>'}}
  %map = nm.tensor_map %a box [4, 64] pixels [] to [] step [] : memref<4x64xf16> -> vector<16xi64>
  return
}

// -----

func.func @tensor_map_c3_corners(%a: memref<2x9x9x64xf16>) {
  // expected-error @+1 {{expected pixels of an image of at least 3 dimensions, and two corners and steps of all but its first and last, but got}}
  %map = nm.tensor_map %a box [1, 1, 4, 64] pixels [-1] to [-1, -1] step [1, 1] : memref<2x9x9x64xf16> -> vector<16xi64>
  return
}

// -----

func.func @tensor_map_c3_steps(%a: memref<2x9x9x64xf16>) {
  // expected-error @+1 {{expected steps of 1 to 8, but got [1, 9]}}
  %map = nm.tensor_map %a box [1, 1, 4, 64] pixels [-1, -1] to [-1, -1] step [1, 9] : memref<2x9x9x64xf16> -> vector<16xi64>
  return
}

// -----

func.func @tensor_map_c3_far(%a: memref<2x9x9x64xf16>) {
  // expected-error @+1 {{expected corners of -32768 to 32767, but got [-1, 32768]}}
  %map = nm.tensor_map %a box [1, 1, 4, 64] pixels [-1, -1] to [-1, 32768] step [1, 1] : memref<2x9x9x64xf16> -> vector<16xi64>
  return
}

// -----

func.func @tensor_map_c3_steps_alone(%a: memref<2x9x9x64xf16>) {
  // expected-error @+1 {{expected pixels of an image of at least 3 dimensions, and two corners and steps}}
  %map = "nm.tensor_map"(%a) {box = array<i64: 1, 1, 4, 64>, steps = array<i64: 1, 1>} : (memref<2x9x9x64xf16>) -> vector<16xi64>
  return
}

// -----

func.func @tensor_map_c3_box(%a: memref<2x9x9x64xf16>) {
  // expected-error @+1 {{expected a box of places and channels alone, but got [1, 2, 4, 64]}}
  %map = nm.tensor_map %a box [1, 2, 4, 64] pixels [-1, -1] to [-1, -1] step [1, 1] : memref<2x9x9x64xf16> -> vector<16xi64>
  return
}

// -----

func.func @tensor_map_c2_row(%a: memref<4x64xf16>) {
  // expected-error @+1 {{expected rows of a swizzled box to take 32, 64 or 128 bytes, but got 16}}
  %map = nm.tensor_map %a box [4, 8] swizzled : memref<4x64xf16> -> vector<16xi64>
  return
}

// -----

// Rows of 9 elements are no multiple of 16 bytes apart.
func.func @copy_c2_tensor_rows(%a: memref<4x8xf16, strided<[9, 1]>>) {
  %to = memref.alloc() : memref<4x8xf16, #gpu.address_space<workgroup>>
  // expected-error @+1 {{expected a source whose rows are contiguous and multiples of 16 bytes apart, but got 'memref<4x8xf16, strided<[9, 1]>>'}}
  %t = nm.copy <tensor> %a to %to : memref<4x8xf16, strided<[9, 1]>> to memref<4x8xf16, #gpu.address_space<workgroup>> -> !nm.token
  return
}

// -----

func.func @copy_c2_tensor_columns(%a: memref<4x8xf16, strided<[64, 2]>>) {
  %to = memref.alloc() : memref<4x8xf16, #gpu.address_space<workgroup>>
  // expected-error @+1 {{expected a source whose rows are contiguous and multiples of 16 bytes apart, but got 'memref<4x8xf16, strided<[64, 2]>>'}}
  %t = nm.copy <tensor> %a to %to : memref<4x8xf16, strided<[64, 2]>> to memref<4x8xf16, #gpu.address_space<workgroup>> -> !nm.token
  return
}

// -----

// The words of a row are XORed with bits 1 to 3 of its number, not 0 to 2.
func.func @copy_c2_tensor_swizzle(%a: memref<64x64xf16>) {
  %to = memref.alloc() : memref<64x64xf16, #nm.tile_layout<[64, 1], xor = [1:3 with 0:1 for 3]>, #gpu.address_space<workgroup>>
  // expected-error @+1 {{expected a contiguous destination, or one of swizzled panels, or of panels as they are, but got}}
  %t = nm.copy <tensor> %a to %to : memref<64x64xf16> to memref<64x64xf16, #nm.tile_layout<[64, 1], xor = [1:3 with 0:1 for 3]>, #gpu.address_space<workgroup>> -> !nm.token
  return
}

// -----

// Panels without a swizzle stand one right behind the other.
func.func @copy_c2_tensor_panels(%a: memref<64x480xi8>) {
  %to = memref.alloc() : memref<64x480xi8, #nm.tile_layout<[240, 1], panels = [240, 16384]>, #gpu.address_space<workgroup>>
  // expected-error @+1 {{expected a contiguous destination, or one of swizzled panels, or of panels as they are, but got}}
  %t = nm.copy <tensor> %a to %to : memref<64x480xi8> to memref<64x480xi8, #nm.tile_layout<[240, 1], panels = [240, 16384]>, #gpu.address_space<workgroup>> -> !nm.token
  return
}

// -----

func.func @copy_c2_tensor_panel_bytes(%a: memref<64x480xi8>) {
  %to = memref.alloc() : memref<64x480xi8, #nm.tile_layout<[24, 1], panels = [24, 1536]>, #gpu.address_space<workgroup>>
  // expected-error @+1 {{expected a contiguous destination, or one of swizzled panels, or of panels as they are, but got}}
  %t = nm.copy <tensor> %a to %to : memref<64x480xi8> to memref<64x480xi8, #nm.tile_layout<[24, 1], panels = [24, 1536]>, #gpu.address_space<workgroup>> -> !nm.token
  return
}

// -----

func.func @copy_c2_tensor_panel_columns(%a: memref<64x544xi8>) {
  %to = memref.alloc() : memref<64x544xi8, #nm.tile_layout<[272, 1], panels = [272, 17408]>, #gpu.address_space<workgroup>>
  // expected-error @+1 {{expected a contiguous destination, or one of swizzled panels, or of panels as they are, but got}}
  %t = nm.copy <tensor> %a to %to : memref<64x544xi8> to memref<64x544xi8, #nm.tile_layout<[272, 1], panels = [272, 17408]>, #gpu.address_space<workgroup>> -> !nm.token
  return
}

// -----

func.func @copy_c2_tensor_condition(%a: memref<64x64xf16>, %more: i1) {
  %to = memref.alloc() : memref<64x64xf16, #gpu.address_space<workgroup>>
  // expected-error @+1 {{expected a token and no condition of a copy that goes 'tensor'}}
  %t = nm.copy <tensor> %a to %to where %more : memref<64x64xf16> to memref<64x64xf16, #gpu.address_space<workgroup>> -> !nm.token
  return
}

// -----

func.func @copy_c5_dimension(%a: memref<64x64xf16>) {
  %to = memref.alloc() : memref<64x64xf16, #gpu.address_space<workgroup>>
  // expected-error @+1 {{expected 'unfilled' to be a dimension of a 'tensor' copy, but got 2 of one that goes 'tensor'}}
  %t = nm.copy <tensor> %a to %to unfilled 2 : memref<64x64xf16> to memref<64x64xf16, #gpu.address_space<workgroup>> -> !nm.token
  return
}

// -----

func.func @copy_c5_way(%a: memref<64x64xf16>) {
  %to = memref.alloc() : memref<64x64xf16, #gpu.address_space<workgroup>>
  // expected-error @+1 {{expected 'unfilled' to be a dimension of a 'tensor' copy, but got 0 of one that goes 'bulk'}}
  %t = nm.copy <bulk> %a to %to unfilled 0 : memref<64x64xf16> to memref<64x64xf16, #gpu.address_space<workgroup>> -> !nm.token
  return
}

// -----

func.func @await_c2() {
  // expected-error @+1 {{expected scope 'block', 'warp' or 'thread', but got 'warpgroup'}}
  nm.await <warpgroup>
  return
}

// -----

func.func @release_c1(%b: memref<64xf16, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{expected scope 'block', 'warp' or 'thread', but got 'warpgroup'}}
  nm.release <warpgroup> %b : memref<64xf16, #gpu.address_space<workgroup>>
  return
}
