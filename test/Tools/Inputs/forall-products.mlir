func.func @f(%a: tensor<64x64xf32>, %b: tensor<64x32xf32, #nm.encoding<2:4>>, %c: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %r = scf.forall (%i) = (0) to (64) step (16) shared_outs(%o = %c) -> (tensor<64x32xf32>) {
    %as = tensor.extract_slice %a[%i, 0] [16, 64] [1, 1] : tensor<64x64xf32> to tensor<16x64xf32>
    %os = tensor.extract_slice %o[%i, 0] [16, 32] [1, 1] : tensor<64x32xf32> to tensor<16x32xf32>
    %p = linalg.matmul ins(%as, %b : tensor<16x64xf32>, tensor<64x32xf32, #nm.encoding<2:4>>) outs(%os : tensor<16x32xf32>) -> tensor<16x32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %p into %o[%i, 0] [16, 32] [1, 1] : tensor<16x32xf32> into tensor<64x32xf32>
    }
  }
  return %r : tensor<64x32xf32>
}
func.func @nest(%a: tensor<64x64xf32>, %b: tensor<64x32xf32, #nm.encoding<2:4>>, %c: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %r = scf.forall (%i, %j) in (4, 2) shared_outs(%o = %c) -> (tensor<64x32xf32>) {
    %i16 = affine.apply affine_map<(d) -> (d * 16)>(%i)
    %j16 = affine.apply affine_map<(d) -> (d * 16)>(%j)
    %as = tensor.extract_slice %a[%i16, 0] [16, 64] [1, 1] : tensor<64x64xf32> to tensor<16x64xf32>
    %os = tensor.extract_slice %o[%i16, %j16] [16, 16] [1, 1] : tensor<64x32xf32> to tensor<16x16xf32>
    %e = tensor.empty() : tensor<16x32xf32>
    %z = arith.constant 0.0 : f32
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<16x32xf32>) -> tensor<16x32xf32>
    %p = linalg.matmul ins(%as, %b : tensor<16x64xf32>, tensor<64x32xf32, #nm.encoding<2:4>>) outs(%f : tensor<16x32xf32>) -> tensor<16x32xf32>
    %s = tensor.extract_slice %p[0, %j16] [16, 16] [1, 1] : tensor<16x32xf32> to tensor<16x16xf32>
    %q = linalg.add ins(%s, %os : tensor<16x16xf32>, tensor<16x16xf32>) outs(%os : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %q into %o[%i16, %j16] [16, 16] [1, 1] : tensor<16x16xf32> into tensor<64x32xf32>
    }
  }
  return %r : tensor<64x32xf32>
}
