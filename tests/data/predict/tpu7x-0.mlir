module @jit_program attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<256x3x1xi32> {mhlo.sharding = "{devices=[2,1,1,2]<=[4] last_tile_dim_replicate}", tf.aliasing_output = 0 : i32}, %arg1: tensor<32xf32> {mhlo.sharding = "{devices=[2,2]<=[2,2]T(1,0) last_tile_dim_replicate}"}, %arg2: tensor<256xi8> {mhlo.sharding = "{replicated}", tf.aliasing_output = 2 : i32}, %arg3: tensor<100x3x4x64xui8> {mhlo.sharding = "{devices=[2,1,2,1]<=[2,2]T(1,0)}", tf.aliasing_output = 3 : i32}, %arg4: tensor<24x128x8xi32> {mhlo.sharding = "{devices=[2,1,1,2]<=[4] last_tile_dim_replicate}", tf.aliasing_output = 4 : i32}) -> (tensor<256x3x1xi32> {jax.result_info = "result[0]", mhlo.sharding = "{devices=[2,1,1,2]<=[4] last_tile_dim_replicate}"}, tensor<32xf32> {jax.result_info = "result[1]", mhlo.sharding = "{devices=[2,2]<=[2,2]T(1,0) last_tile_dim_replicate}"}, tensor<256xi8> {jax.result_info = "result[2]", mhlo.sharding = "{replicated}"}, tensor<100x3x4x64xui8> {jax.result_info = "result[3]", mhlo.sharding = "{devices=[2,1,2,1]<=[2,2]T(1,0)}"}, tensor<24x128x8xi32> {jax.result_info = "result[4]", mhlo.sharding = "{devices=[2,1,1,2]<=[4] last_tile_dim_replicate}"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<256x3x1xi32>
    %1 = stablehlo.add %arg0, %0 : tensor<256x3x1xi32>
    %c_0 = stablehlo.constant dense<1> : tensor<ui8>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui8>) -> tensor<100x3x4x64xui8>
    %3 = stablehlo.add %arg3, %2 : tensor<100x3x4x64xui8>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<24x128x8xi32>
    %5 = stablehlo.add %arg4, %4 : tensor<24x128x8xi32>
    return %1, %arg1, %arg2, %3, %5 : tensor<256x3x1xi32>, tensor<32xf32>, tensor<256xi8>, tensor<100x3x4x64xui8>, tensor<24x128x8xi32>
  }
}
