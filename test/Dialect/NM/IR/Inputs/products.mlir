// Products with all fields and with none.
module attributes {nm.chip = #nm.chip<"sm_90a">} {
  func.func @fields(%a: tensor<64x16xf32>, %v: tensor<3x32x16xf32>, %i: tensor<3x32x4xi8>,
                    %bias: tensor<48xf32>, %c: tensor<48x16xf16>) -> tensor<48x16xf16> {
    %r = nm.spmm <2:4> transpose_a transpose_c packing #nm.packing<panel = 16, index_bits = 2>
      schedule #nm.vector<block = [16, 32, 64]> arithmetic <ieee>
      ins(%a, %v, %i : tensor<64x16xf32>, tensor<3x32x16xf32>, tensor<3x32x4xi8>)
      outs(%c : tensor<48x16xf16>)
      {nm.record = #nm.record<source = op, pattern = <2:4>, reason = "it came with it">}
      -> tensor<48x16xf16>
      epilogue ins(%bias : tensor<48xf32>) maps [affine_map<(m, n) -> (n)>] {
      ^bb0(%sum: f32, %b: f32):
        %0 = arith.addf %sum, %b : f32
        %1 = arith.truncf %0 : f32 to f16
        nm.yield %1 : f16
      }
    return %r : tensor<48x16xf16>
  }
  func.func @none(%a: memref<5x64xf32>, %v: memref<32x48xf32>, %i: memref<32x48xi8>,
                  %c: memref<5x48xf32>) {
    nm.spmm <2:4> ins(%a, %v, %i : memref<5x64xf32>, memref<32x48xf32>, memref<32x48xi8>)
      outs(%c : memref<5x48xf32>)
    return
  }
  func.func @vector(%a: tensor<64xf16>, %v: tensor<16x48xf16>, %i: tensor<16x48xi8>,
                    %c: tensor<48xf32>) -> tensor<48xf32> {
    %r = nm.spmv <1:4> schedule #nm.gemv<block = [1, 32, 256]>
      ins(%a, %v, %i : tensor<64xf16>, tensor<16x48xf16>, tensor<16x48xi8>)
      outs(%c : tensor<48xf32>) -> tensor<48xf32>
    return %r : tensor<48xf32>
  }
}
