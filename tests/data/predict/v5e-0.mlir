module @jit_program attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=1, "c"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 2 : i64}, {name = "b", size = 1 : i64}, {name = "c", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<200x24x2x200xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"a", "b"}, {}]>}, %arg1: tensor<3x32xui32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"c", "b", "a"}]>}, %arg2: tensor<16x64xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"c", "b"}, {}]>}, %arg3: tensor<8x4x1xi8> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"b", "c"}, {}]>}) -> (tensor<200x24x2x200xbf16> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"a", "b"}, {}]>}, tensor<3x32xui32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"c", "b", "a"}]>}, tensor<16x64xi32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{"c", "b"}, {}]>}, tensor<8x4x1xi8> {jax.result_info = "result[3]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"b", "c"}, {}]>}) {
    %c = stablehlo.constant dense<1> : tensor<ui32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<3x32xui32>
    %1 = stablehlo.add %arg1, %0 : tensor<3x32xui32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<16x64xi32>
    %3 = stablehlo.add %arg2, %2 : tensor<16x64xi32>
    %c_1 = stablehlo.constant dense<1> : tensor<i8>
    %4 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i8>) -> tensor<8x4x1xi8>
    %5 = stablehlo.add %arg3, %4 : tensor<8x4x1xi8>
    return %arg0, %1, %3, %5 : tensor<200x24x2x200xbf16>, tensor<3x32xui32>, tensor<16x64xi32>, tensor<8x4x1xi8>
  }
}
