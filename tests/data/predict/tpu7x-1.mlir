module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<32x200xi16> {mhlo.layout_mode = "{0,1}", sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<ui8> {sdy.sharding = #sdy.sharding<@empty_mesh, []>}, %arg2: tensor<100x128x24xf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}) -> (tensor<32x200xi16> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, tensor<ui8> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@empty_mesh, []>}) {
    %c = stablehlo.constant dense<1> : tensor<i16>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i16>) -> tensor<32x200xi16>
    %1 = stablehlo.add %arg0, %0 : tensor<32x200xi16>
    return %1, %arg1 : tensor<32x200xi16>, tensor<ui8>
  }
}
