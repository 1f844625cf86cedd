// RUN: nm-opt %s --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --split-input-file

// #nm.tile_layout (C1)

// expected-error @+1 {{expected the order of dimension 0 to name each bit from 0 to 2 once}}
func.func private @order(memref<8x4xf32, #nm.tile_layout<[4, 1], order = [[0, 2, 2], []]>>)

// -----

// expected-error @+1 {{expected an order of bits for each of 2 dimensions or for none, but got 1}}
func.func private @order_of_one(memref<8x4xf32, #nm.tile_layout<[4, 1], order = [[1, 0]]>>)

// -----

// #nm.tile_layout (C2)

// expected-error @+1 {{expected dimension 0, which is XORed into another, not to be changed itself}}
func.func private @chain(memref<8x4xf32, #nm.tile_layout<[4, 1], xor = [0:0 with 1:0 for 1, 1:0 with 0:0 for 1]>>)

// -----

// expected-error @+1 {{expected dimensions below the rank, 2, to be XORed, but got 2 with 0}}
func.func private @dimension(memref<8x4xf32, #nm.tile_layout<[4, 1], xor = [2:0 with 0:0 for 1]>>)

// -----

// #nm.tile_layout (C3)

// expected-error @+1 {{expected a tile layout of 2 strides, but got #nm.tile_layout<[4]>}}
func.func private @rank(memref<8x4xf32, #nm.tile_layout<[4]>>)

// -----

// expected-error @+1 {{expected 'offset', 'panels', 'order' or 'xor', but got 'swizzle'}}
func.func private @field(memref<8x4xf32, #nm.tile_layout<[4, 1], swizzle = 3>>)

// -----

// expected-error @+1 {{expected panels of at least one column that are as far apart as they are wide or farther, but got panels of 64, 32 apart}}
func.func private @near_panels(memref<8x128xf16, #nm.tile_layout<[64, 1], panels = [64, 32]>>)

// -----

// expected-error @+1 {{expected the columns of a panel, at least one, and how far panels are apart}}
func.func private @empty_panels(memref<8x128xf16, #nm.tile_layout<[64, 1], panels = [0, 512]>>)

// -----

// expected-error @+1 {{expected columns of panels to be contiguous, but got a stride of 2}}
func.func private @strided_panels(memref<8x128xf16, #nm.tile_layout<[64, 2], panels = [64, 512]>>)

// -----

// expected-error @+1 {{expected columns to stay in their panel of 48, but bit 5 of theirs is moved}}
func.func private @swizzled_panels(memref<8x96xf16, #nm.tile_layout<[48, 1], panels = [48, 384], xor = [1:3 with 0:0 for 3]>>)

// -----

// expected-error @+1 {{expected whole panels of 64 columns, but got 100}}
func.func private @ragged_panels(memref<8x100xf16, #nm.tile_layout<[64, 1], panels = [64, 512]>>)

// -----

// expected-error @+1 {{expected panels that do not overlap, but got #nm.tile_layout<[64, 1], panels = [64, 448]>}}
func.func private @overlapping_panels(memref<8x128xf16, #nm.tile_layout<[64, 1], panels = [64, 448]>>)

// -----

// #nm.row_list

// expected-error @+1 {{expected a packing with col_info, or with one byte for each unit row of a panel, but got #nm.packing<panel = 32, index_bits = 8>}}
func.func private @no_lists() attributes {nm.test = #nm.row_list<pattern = <3:32>, packing = <panel = 32, index_bits = 8>, windows = 1>}

// -----

// expected-error @+1 {{expected at least one window, but got 0}}
func.func private @no_windows() attributes {nm.test = #nm.row_list<pattern = <3:32, block = 1x32>, packing = <panel = 32, index_bits = 8, col_info = 128>, windows = 0>}

// -----

// expected-error @+1 {{expected a list of dimension 0 or 1, but got 2}}
func.func private @no_such_dim() attributes {nm.test = #nm.row_list<pattern = <3:32, block = 1x32>, packing = <panel = 32, index_bits = 8, col_info = 128>, windows = 1, dim = 2>}

// -----

// Tensor copies take panels of whole units.
func.func @units_of_parts_of_panels(%a: memref<64x256xi8>, %l: memref<1x4x1xi8>) {
  %to = memref.alloc() : memref<64x128xi8, #nm.tile_layout<[64, 1], panels = [64, 4096], xor = [1:4 with 0:1 for 2]>, #gpu.address_space<workgroup>>
  // expected-error @+1 {{expected listed units of 32 rows to be whole panels, but got}}
  %t = nm.copy <tensor> %a to %to rows %l <pattern = <4:8, block = 32x64>, packing = <panel = 64, index_bits = 8>, windows = 1, dim = 1> : memref<1x4x1xi8> : memref<64x256xi8> to memref<64x128xi8, #nm.tile_layout<[64, 1], panels = [64, 4096], xor = [1:4 with 0:1 for 2]>, #gpu.address_space<workgroup>> -> !nm.token
  return
}

// -----

func.func @listed_rows_by_tensor_copies(%a: memref<64x256xi8>, %l: memref<1x4x1xi8>) {
  %to = memref.alloc() : memref<128x256xi8, #gpu.address_space<workgroup>>
  // expected-error @+1 {{expected a list to be copied 'direct', 'bulk' where it is of dimension 0, or 'tensor' where it is of dimension 1, but got 'tensor' of dimension 0}}
  %t = nm.copy <tensor> %a to %to rows %l <pattern = <4:8, block = 32x64>, packing = <panel = 64, index_bits = 8>, windows = 1> : memref<1x4x1xi8> : memref<64x256xi8> to memref<128x256xi8, #gpu.address_space<workgroup>> -> !nm.token
  return
}

// -----

func.func @units_of_a_scalar(%a: memref<i8>, %l: memref<1x4x1xi8>) {
  %to = memref.alloc() : memref<i8, #gpu.address_space<workgroup>>
  // expected-error @+1 {{expected a source whose rows are contiguous and multiples of 16 bytes apart, but got 'memref<i8>'}}
  %t = nm.copy <tensor> %a to %to rows %l <pattern = <4:8, block = 32x64>, packing = <panel = 64, index_bits = 8>, windows = 1, dim = 1> : memref<1x4x1xi8> : memref<i8> to memref<i8, #gpu.address_space<workgroup>> -> !nm.token
  return
}
// -----

// nm.slot (C1)

func.func @slot(%ring: memref<2x8xf32, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{expected a slot of type 'memref<8xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>', but got 'memref<8xf32, #gpu.address_space<workgroup>>'}}
  %slot = nm.slot %ring[%i] : memref<2x8xf32, #gpu.address_space<workgroup>> to memref<8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @permuted_slots(%ring: memref<4x8xf32, #nm.tile_layout<[8, 1], order = [[1, 0], []]>, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{expected a ring of at least one dimension whose layout leaves the first alone}}
  %slot = nm.slot %ring[%i] : memref<4x8xf32, #nm.tile_layout<[8, 1], order = [[1, 0], []]>, #gpu.address_space<workgroup>> to memref<8xf32, #nm.tile_layout<[1], offset = ?>, #gpu.address_space<workgroup>>
  return
}

// -----

// nm.alignment

func.func @swizzled_at_a_line(%memory: memref<?xi8, #gpu.address_space<workgroup>>) {
  %c5120 = arith.constant 5120 : index
  %c4224 = arith.constant 4224 : index
  %a = memref.view %memory[%c5120][] {nm.alignment = 1024 : i64} : memref<?xi8, #gpu.address_space<workgroup>> to memref<64x64xf16, #gpu.address_space<workgroup>>
  // expected-error @+1 {{expected a buffer at a multiple of 1024 bytes of shared memory, but got it at 4224}}
  %b = memref.view %memory[%c4224][] {nm.alignment = 1024 : i64} : memref<?xi8, #gpu.address_space<workgroup>> to memref<64x64xf16, #gpu.address_space<workgroup>>
  return
}

// -----

// expected-error @+1 {{expected nm.alignment on a memref.view alone}}
func.func private @aligned() attributes {nm.alignment = 1024 : i64}

// -----

// nm.alias (C1)

func.func @alias(%a: memref<8xf32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{expected a view of at most the 32 bytes of}}
  %b = nm.alias %a : memref<8xf32, #gpu.address_space<workgroup>> to memref<9xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @alias_at_panels(%a: memref<64x64xf16, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{expected a view at multiples of at most 128 bytes, as its source is, but got one at 1024}}
  %b = nm.alias %a : memref<64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, #nm.tile_layout<[64, 1], panels = [64, 4096], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @alias_of_global(%a: memref<8xf32>) {
  // expected-error @+1 {{expected the source in workgroup memory, but got 'memref<8xf32>'}}
  %b = nm.alias %a : memref<8xf32> to memref<8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

// nm.copy (C1)

func.func @copy_types(%a: memref<8x8xf16>, %b: memref<8x8xf32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{expected source and destination of one element type, but got 'f16' and 'f32'}}
  %t = nm.copy <direct> %a to %b : memref<8x8xf16> to memref<8x8xf32, #gpu.address_space<workgroup>> -> !nm.token
  return
}

// -----

func.func @copy_to_global(%a: memref<8x8xf32>, %b: memref<8x8xf32>) {
  // expected-error @+1 {{expected the destination in workgroup memory}}
  %t = nm.copy <direct> %a to %b : memref<8x8xf32> to memref<8x8xf32> -> !nm.token
  return
}

// -----

func.func @copy_to_dynamic(%a: memref<8x8xf32>, %b: memref<?x8xf32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{expected the destination to have a static shape}}
  %t = nm.copy <direct> %a to %b : memref<8x8xf32> to memref<?x8xf32, #gpu.address_space<workgroup>> -> !nm.token
  return
}

// -----

func.func @copy_ranks(%a: memref<8xf32>, %b: memref<8x8xf32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{expected source and destination of one rank}}
  %t = nm.copy <direct> %a to %b : memref<8xf32> to memref<8x8xf32, #gpu.address_space<workgroup>> -> !nm.token
  return
}

// -----

// nm.copy (C2)

func.func @copy_kind(%a: memref<8x8xf32>, %b: memref<8x8xf32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{expected 'direct', 'matrices', 'bulk' or 'tensor', but got 'squares', which nm.load_tile has}}
  nm.copy <squares> %a to %b : memref<8x8xf32> to memref<8x8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @copy_without_token(%a: memref<8x8xf32>, %b: memref<8x8xf32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{expected a token of a copy that goes 'direct'}}
  nm.copy <direct> %a to %b : memref<8x8xf32> to memref<8x8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @copy_bytes(%a: memref<8x9xi8>, %b: memref<8x9xi8, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{expected accesses of at least 4 bytes, but rows of}}
  %t = nm.copy <direct> %a to %b : memref<8x9xi8> to memref<8x9xi8, #gpu.address_space<workgroup>> -> !nm.token
  return
}

// -----

func.func @matrices_source(%a: memref<8x8xf32, #gpu.address_space<workgroup>>, %b: memref<8x8xf32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{expected a staging buffer of fragments of 16 x 32 f32 in workgroup memory}}
  nm.copy <matrices> %a to %b : memref<8x8xf32, #gpu.address_space<workgroup>> to memref<8x8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @matrices_destination(%a: memref<1x2x16x32xf32, #gpu.address_space<workgroup>>, %b: memref<64x16xf32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{expected a tile of 32 x 32 elements}}
  nm.copy <matrices> %a to %b part [0, 1] : memref<1x2x16x32xf32, #gpu.address_space<workgroup>> to memref<64x16xf32, #gpu.address_space<workgroup>>
  return
}

// -----

// nm.copy (C3)

func.func @part(%a: memref<32x32xf32>, %b: memref<1x2x16x32xf32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{expected a part [i, n] with 0 <= i < n, but got [2, 2]}}
  %t = nm.copy <direct> %a to %b part [2, 2] : memref<32x32xf32> to memref<1x2x16x32xf32, #gpu.address_space<workgroup>> -> !nm.token
  return
}

// -----

func.func @part_of_tile(%a: memref<8x8xf32>, %b: memref<8x8xf32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{expected a staging buffer to copy a part of}}
  %t = nm.copy <direct> %a to %b part [0, 2] : memref<8x8xf32> to memref<8x8xf32, #gpu.address_space<workgroup>> -> !nm.token
  return
}

// -----

func.func @no_part(%a: memref<1x2x16x32xf32, #gpu.address_space<workgroup>>, %b: memref<32x32xf32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{expected the part of a staging buffer that is copied}}
  nm.copy <matrices> %a to %b : memref<1x2x16x32xf32, #gpu.address_space<workgroup>> to memref<32x32xf32, #gpu.address_space<workgroup>>
  return
}

// -----

// nm.load_tile (C2)

func.func @load_way(%a: memref<8x8xf32>) {
  // expected-error @+1 {{expected 'elements' or 'squares', but got 'direct', which nm.copy has}}
  %f = nm.load_tile <direct> %a : memref<8x8xf32> -> !nm.fragment<memref<8x8xf32, #gpu.address_space<workgroup>>>
  return
}

// -----

func.func @squares_in_order(%a: memref<8x8xf32>) {
  // expected-error @+1 {{expected 'squares' to be transposed}}
  %f = nm.load_tile <squares> %a : memref<8x8xf32> -> !nm.fragment<memref<8x8xf32, #gpu.address_space<workgroup>>>
  return
}

// -----

func.func @transposed_vector(%a: memref<8xf32>) {
  // expected-error @+1 {{expected two dimensions to transpose}}
  %f = nm.load_tile <elements> %a transpose : memref<8xf32> -> !nm.fragment<memref<8xf32, #gpu.address_space<workgroup>>>
  return
}

// -----

// nm.store_tile (C1): a layout that two ops disagree on.

func.func @layouts(%a: memref<64x32xf32>, %b: memref<32x64xf32, strided<[68, 1]>, #gpu.address_space<workgroup>>) {
  %f = nm.load_tile <squares> %a transpose : memref<64x32xf32> -> !nm.fragment<memref<32x64xf32, #nm.tile_layout<[68, 1], order = [[2, 3, 4, 0, 1], []]>, #gpu.address_space<workgroup>>>
  // expected-error @+1 {{expected a fragment that was loaded for 'memref<32x64xf32, strided<[68, 1]>, #gpu.address_space<workgroup>>', but got one for}}
  nm.store_tile %f to %b : !nm.fragment<memref<32x64xf32, #nm.tile_layout<[68, 1], order = [[2, 3, 4, 0, 1], []]>, #gpu.address_space<workgroup>>> to memref<32x64xf32, strided<[68, 1]>, #gpu.address_space<workgroup>>
  return
}

// -----

// The swizzle of rows of 128 bytes repeats after eight of them.
func.func @slot_c2(%ring: memref<2x12x64xf16, #nm.tile_layout<[768, 64, 1], panels = [64, 768], xor = [2:3 with 1:0 for 3]>, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{expected swizzled slots at multiples of 1024 bytes, but got them 1536 apart}}
  %slot = nm.slot %ring[%i] : memref<2x12x64xf16, #nm.tile_layout<[768, 64, 1], panels = [64, 768], xor = [2:3 with 1:0 for 3]>, #gpu.address_space<workgroup>>
    to memref<12x64xf16, #nm.tile_layout<[64, 1], offset = ?, panels = [64, 768], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>
  return
}
