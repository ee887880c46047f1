module @jit_program attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<f16> {mhlo.sharding = "{replicated}"}, %arg1: tensor<1x12xi32> {mhlo.sharding = "{devices=[1,4]<=[4]}"}, %arg2: tensor<4x64xui8> {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"}, %arg3: tensor<ui8> {mhlo.sharding = "{replicated}", tf.aliasing_output = 2 : i32}) -> (tensor<f16> {jax.result_info = "result[0]", mhlo.sharding = "{replicated}"}, tensor<1x12xi32> {jax.result_info = "result[1]", mhlo.sharding = "{devices=[1,4]<=[4]}"}, tensor<ui8> {jax.result_info = "result[2]", mhlo.sharding = "{replicated}"}) {
    return %arg0, %arg1, %arg3 : tensor<f16>, tensor<1x12xi32>, tensor<ui8>
  }
}
