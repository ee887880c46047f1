module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x24x12x3xi32> {mhlo.sharding = "{replicated}"}, %arg1: tensor<64x64xi1> {mhlo.sharding = "{replicated}"}, %arg2: tensor<16x200xf16> {mhlo.sharding = "{replicated}"}) -> (tensor<4x24x12x3xi32> {jax.result_info = "result[0]", mhlo.sharding = "{replicated}"}, tensor<64x64xi1> {jax.result_info = "result[1]", mhlo.sharding = "{replicated}"}, tensor<16x200xf16> {jax.result_info = "result[2]", mhlo.sharding = "{replicated}"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x24x12x3xi32>
    %1 = stablehlo.add %arg0, %0 : tensor<4x24x12x3xi32>
    %2 = stablehlo.not %arg1 : tensor<64x64xi1>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f16>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f16>) -> tensor<16x200xf16>
    %4 = stablehlo.add %arg2, %3 : tensor<16x200xf16>
    return %1, %2, %4 : tensor<4x24x12x3xi32>, tensor<64x64xi1>, tensor<16x200xf16>
  }
}
