module @jit_program attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x2x1xi8> {mhlo.sharding = "{devices=[1,2,1,2]<=[4] last_tile_dim_replicate}"}, %arg1: tensor<3x128x16x32xui8> {mhlo.sharding = "{devices=[1,1,1,4]<=[2,2]T(1,0)}"}) -> (tensor<16x2x1xi8> {jax.result_info = "result[0]", mhlo.sharding = "{devices=[1,2,1,2]<=[4] last_tile_dim_replicate}"}, tensor<3x128x16x32xui8> {jax.result_info = "result[1]", mhlo.sharding = "{devices=[1,1,1,4]<=[2,2]T(1,0)}"}) {
    return %arg0, %arg1 : tensor<16x2x1xi8>, tensor<3x128x16x32xui8>
  }
}
