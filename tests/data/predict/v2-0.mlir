module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<i8> {mhlo.sharding = "{replicated}"}, %arg1: tensor<128x1x32xi1> {mhlo.sharding = "{replicated}"}, %arg2: tensor<200x256x32xui8> {mhlo.sharding = "{replicated}"}, %arg3: tensor<128x8x8x256xf32> {mhlo.sharding = "{replicated}"}, %arg4: tensor<200x1xi32> {mhlo.layout_mode = "{1,0}", mhlo.sharding = "{replicated}"}) -> (tensor<i8> {jax.result_info = "result[0]", mhlo.sharding = "{replicated}"}, tensor<128x1x32xi1> {jax.result_info = "result[1]", mhlo.sharding = "{replicated}"}, tensor<200x256x32xui8> {jax.result_info = "result[2]", mhlo.sharding = "{replicated}"}, tensor<128x8x8x256xf32> {jax.result_info = "result[3]", mhlo.sharding = "{replicated}"}, tensor<200x1xi32> {jax.result_info = "result[4]", mhlo.sharding = "{replicated}"}) {
    %c = stablehlo.constant dense<1> : tensor<i8>
    %0 = stablehlo.add %arg0, %c : tensor<i8>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<200x1xi32>
    %2 = stablehlo.add %arg4, %1 : tensor<200x1xi32>
    return %0, %arg1, %arg2, %arg3, %2 : tensor<i8>, tensor<128x1x32xi1>, tensor<200x256x32xui8>, tensor<128x8x8x256xf32>, tensor<200x1xi32>
  }
}
