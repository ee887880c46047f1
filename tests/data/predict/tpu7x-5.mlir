module @jit_program attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<i8> {sdy.sharding = #sdy.sharding<@mesh, []>, tf.aliasing_output = 0 : i32}, %arg1: tensor<16x128x8xi1> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}, {}]>, tf.aliasing_output = 1 : i32}, %arg2: tensor<12x64x32xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}, {}]>}, %arg3: tensor<32x100xi16> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> (tensor<i8> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<16x128x8xi1> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}, {}]>}, tensor<12x64x32xbf16> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}, {}]>}, tensor<32x100xi16> {jax.result_info = "result[3]", sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) {
    %c = stablehlo.constant dense<1> : tensor<i16>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i16>) -> tensor<32x100xi16>
    %1 = stablehlo.add %arg3, %0 : tensor<32x100xi16>
    return %arg0, %arg1, %arg2, %1 : tensor<i8>, tensor<16x128x8xi1>, tensor<12x64x32xbf16>, tensor<32x100xi16>
  }
}
