module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<ui8> {mhlo.sharding = "{replicated}"}, %arg1: tensor<128x4xi8> {mhlo.sharding = "{replicated}"}, %arg2: tensor<200x64x256x100xbf16> {mhlo.sharding = "{replicated}"}, %arg3: tensor<f32> {mhlo.sharding = "{replicated}"}, %arg4: tensor<32x24x2xui8> {mhlo.sharding = "{replicated}"}) -> (tensor<ui8> {jax.result_info = "result[0]", mhlo.sharding = "{replicated}"}) {
    return %arg0 : tensor<ui8>
  }
}
