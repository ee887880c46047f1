module @jit_program attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=1, "c"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 2 : i64}, {name = "b", size = 1 : i64}, {name = "c", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<100x100xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>, tf.aliasing_output = 0 : i32}, %arg1: tensor<8x16x12xf16> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "c", "b"}, {}, {}]>}, %arg2: tensor<12x3x8x64xi1> {sdy.sharding = #sdy.sharding<@mesh, [{"c", "a", "b"}, {}, {}, {}]>}, %arg3: tensor<1xf16> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg4: tensor<12x1x1xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}, %arg5: tensor<200x8x256xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"c", "b", "a"}, {}]>}, %arg6: tensor<16x4x256xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"c"}, {}]>}, %arg7: tensor<1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<100x100xi32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<1xf16> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<200x8x256xbf16> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"c", "b", "a"}, {}]>}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<100x100xi32>
    %1 = stablehlo.add %arg0, %0 : tensor<100x100xi32>
    return %1, %arg3, %arg5 : tensor<100x100xi32>, tensor<1xf16>, tensor<200x8x256xbf16>
  }
}
