module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x16x100xui32> {mhlo.sharding = "{replicated}"}, %arg1: tensor<128x100x200xi16> {mhlo.sharding = "{replicated}", tf.aliasing_output = 1 : i32}) -> (tensor<8x16x100xui32> {jax.result_info = "result[0]", mhlo.sharding = "{replicated}"}, tensor<128x100x200xi16> {jax.result_info = "result[1]", mhlo.sharding = "{replicated}"}) {
    %c = stablehlo.constant dense<1> : tensor<ui32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<8x16x100xui32>
    %1 = stablehlo.add %arg0, %0 : tensor<8x16x100xui32>
    %c_0 = stablehlo.constant dense<1> : tensor<i16>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i16>) -> tensor<128x100x200xi16>
    %3 = stablehlo.add %arg1, %2 : tensor<128x100x200xi16>
    return %1, %3 : tensor<8x16x100xui32>, tensor<128x100x200xi16>
  }
}
