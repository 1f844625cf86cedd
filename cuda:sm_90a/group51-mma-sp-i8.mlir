func.func @case51(%a: tensor<3x3x116x192xi8>, %w: tensor<267x192xi8, #nm.encoding<2:64, block = 1x128, dim = 1>>, %c: tensor<3x3x116x267xi32>, %m0: tensor<3x3x116x267xf32>) -> tensor<3x3x116x267xbf16> {
  %zero = arith.constant 0 : i32
  %start = linalg.fill ins(%zero : i32) outs(%c : tensor<3x3x116x267xi32>) -> tensor<3x3x116x267xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<3x3x116x192xi8>, tensor<267x192xi8, #nm.encoding<2:64, block = 1x128, dim = 1>>) outs(%start : tensor<3x3x116x267xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %x1 = arith.extsi %x : i8 to i32
    %y1 = arith.extsi %y : i8 to i32
    %p = arith.muli %x1, %y1 : i32
    %s = arith.addi %z, %p : i32
    linalg.yield %s : i32
  } -> tensor<3x3x116x267xi32>
  %e = tensor.empty() : tensor<3x3x116x267xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%r, %m0 : tensor<3x3x116x267xi32>, tensor<3x3x116x267xf32>) outs(%e : tensor<3x3x116x267xbf16>) {
  ^bb0(%sum: i32, %e4: f32, %unused: bf16):
    %t0 = arith.sitofp %sum : i32 to f32
    %t1 = arith.negf %t0 : f32
    %t2 = math.exp %t1 : f32
    %t3 = arith.constant 1.0 : f32
    %t4 = arith.addf %t2, %t3 : f32
    %t5 = arith.divf %t0, %t4 : f32
    %t6 = arith.addf %t5, %e4 : f32
    %y = arith.truncf %t6 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<3x3x116x267xbf16>
  return %result : tensor<3x3x116x267xbf16>
}
