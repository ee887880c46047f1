module @jit_program attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<32x200xf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg1: tensor<3x1x8xf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"y"}]>}, %arg2: tensor<64x32xui32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}, %arg3: tensor<100xi16> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}, %arg4: tensor<ui32> {sdy.sharding = #sdy.sharding<@mesh, []>}, %arg5: tensor<32x32x200xi8> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}, {}]>}, %arg6: tensor<256xi16> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}]>}, %arg7: tensor<3xi16> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<32x200xf16> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<3x1x8xf16> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"y"}]>}, tensor<64x32xui32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}, tensor<ui32> {jax.result_info = "result[3]", sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<32x32x200xi8> {jax.result_info = "result[4]", sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}, {}]>}, tensor<3xi16> {jax.result_info = "result[5]", sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    %c = stablehlo.constant dense<1> : tensor<i8>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i8>) -> tensor<32x32x200xi8>
    %1 = stablehlo.add %arg5, %0 : tensor<32x32x200xi8>
    %c_0 = stablehlo.constant dense<1> : tensor<i16>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i16>) -> tensor<3xi16>
    %3 = stablehlo.add %arg7, %2 : tensor<3xi16>
    return %arg0, %arg1, %arg2, %arg4, %1, %3 : tensor<32x200xf16>, tensor<3x1x8xf16>, tensor<64x32xui32>, tensor<ui32>, tensor<32x32x200xi8>, tensor<3xi16>
  }
}
