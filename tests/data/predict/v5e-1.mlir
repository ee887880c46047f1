module @jit_program attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<200x3x1xui8> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}, %arg1: tensor<12x64x24xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}, {}]>}, %arg2: tensor<24x64x8x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}, {}, {}]>}, %arg3: tensor<1xi16> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg4: tensor<32x128xf16> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}, {}]>, tf.aliasing_output = 2 : i32}, %arg5: tensor<1xf16> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg6: tensor<8x64x4xi1> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {}]>}, %arg7: tensor<24x256x3x8xi16> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}, {}, {}]>}, %arg8: tensor<32x100xi8> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}, {}]>, tf.aliasing_output = 3 : i32}) -> (tensor<24x64x8x128xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}, {}, {}]>}, tensor<1xi16> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<32x128xf16> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}, {}]>}, tensor<32x100xi8> {jax.result_info = "result[3]", sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}, {}]>}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24x64x8x128xf32>
    %1 = stablehlo.add %arg2, %0 : tensor<24x64x8x128xf32>
    %c = stablehlo.constant dense<1> : tensor<i16>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i16>) -> tensor<1xi16>
    %3 = stablehlo.add %arg3, %2 : tensor<1xi16>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f16>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f16>) -> tensor<32x128xf16>
    %5 = stablehlo.add %arg4, %4 : tensor<32x128xf16>
    return %1, %3, %5, %arg8 : tensor<24x64x8x128xf32>, tensor<1xi16>, tensor<32x128xf16>, tensor<32x100xi8>
  }
}
