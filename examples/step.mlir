// A training step over four devices, as lowered.as_text() of JAX prints it. tesela predict examples/step.mlir
module @jit_step attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=2]>
  func.func public @main(%arg0: tensor<300x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>, tf.aliasing_output = 0 : i32}, %arg1: tensor<64x300xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %arg2: tensor<64x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg3: tensor<2xui32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<300x24xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, tensor<f32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %0 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [0] : (tensor<64x300xf32>, tensor<300x24xf32>) -> tensor<64x24xf32>
    %1 = stablehlo.subtract %0, %arg2 : tensor<64x24xf32>
    %2 = stablehlo.dot_general %arg1, %1, contracting_dims = [0] x [0] : (tensor<64x300xf32>, tensor<64x24xf32>) -> tensor<300x24xf32>
    %3 = stablehlo.subtract %arg0, %2 : tensor<300x24xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<64x24xf32>, tensor<f32>) -> tensor<f32>
    return %3, %4 : tensor<300x24xf32>, tensor<f32>
  }
}
