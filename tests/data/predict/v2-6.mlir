module @jit_program attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=1, "c"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 2 : i64}, {name = "b", size = 1 : i64}, {name = "c", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<bf16> {sdy.sharding = #sdy.sharding<@mesh, []>}, %arg1: tensor<3x12xui8> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"c"}]>}) -> (tensor<3x12xui8> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"c"}]>}) {
    return %arg1 : tensor<3x12xui8>
  }
}
