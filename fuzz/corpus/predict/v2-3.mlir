module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<128x128xi32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>, tf.aliasing_output = 0 : i32}, %arg1: tensor<32x24x100x3xi1> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}, {}]>}, %arg2: tensor<16x8x24xi8> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>, tf.aliasing_output = 2 : i32}) -> (tensor<128x128xi32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, tensor<32x24x100x3xi1> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}, {}]>}, tensor<16x8x24xi8> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<128x128xi32>
    %1 = stablehlo.add %arg0, %0 : tensor<128x128xi32>
    %c_0 = stablehlo.constant dense<1> : tensor<i8>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i8>) -> tensor<16x8x24xi8>
    %3 = stablehlo.add %arg2, %2 : tensor<16x8x24xi8>
    return %1, %arg1, %3 : tensor<128x128xi32>, tensor<32x24x100x3xi1>, tensor<16x8x24xi8>
  }
}
