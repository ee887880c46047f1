module @jit_program attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<200x100xui32> {mhlo.sharding = "{devices=[1,4]<=[4]}"}, %arg1: tensor<2x24x2xui32> {mhlo.sharding = "{devices=[1,4,1]<=[4]}", tf.aliasing_output = 1 : i32}, %arg2: tensor<256x100xi8> {mhlo.sharding = "{devices=[4,1]<=[4]}"}, %arg3: tensor<24x256x64x2xi32> {mhlo.sharding = "{devices=[1,4,1,1]<=[4]}", tf.aliasing_output = 2 : i32}, %arg4: tensor<4xi16> {mhlo.sharding = "{devices=[4]<=[4]}"}, %arg5: tensor<4xi8> {mhlo.sharding = "{devices=[4]<=[4]}"}, %arg6: tensor<8x16x1xui8> {mhlo.sharding = "{replicated}", tf.aliasing_output = 4 : i32}) -> (tensor<200x100xui32> {jax.result_info = "result[0]", mhlo.sharding = "{devices=[1,4]<=[4]}"}, tensor<2x24x2xui32> {jax.result_info = "result[1]", mhlo.sharding = "{devices=[1,4,1]<=[4]}"}, tensor<24x256x64x2xi32> {jax.result_info = "result[2]", mhlo.sharding = "{devices=[1,4,1,1]<=[4]}"}, tensor<4xi8> {jax.result_info = "result[3]", mhlo.sharding = "{devices=[4]<=[4]}"}, tensor<8x16x1xui8> {jax.result_info = "result[4]", mhlo.sharding = "{replicated}"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<24x256x64x2xi32>
    %1 = stablehlo.add %arg3, %0 : tensor<24x256x64x2xi32>
    %c_0 = stablehlo.constant dense<1> : tensor<ui8>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui8>) -> tensor<8x16x1xui8>
    %3 = stablehlo.add %arg6, %2 : tensor<8x16x1xui8>
    return %arg0, %arg1, %1, %arg5, %3 : tensor<200x100xui32>, tensor<2x24x2xui32>, tensor<24x256x64x2xi32>, tensor<4xi8>, tensor<8x16x1xui8>
  }
}
