module @jit_program attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<200x12xui32> {mhlo.sharding = "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}"}, %arg1: tensor<f32> {mhlo.sharding = "{replicated}"}, %arg2: tensor<3x3x12xi32> {mhlo.sharding = "{replicated}"}, %arg3: tensor<12x24x256x24xf32> {mhlo.sharding = "{devices=[1,2,1,2]<=[2,2]T(1,0)}", tf.aliasing_output = 2 : i32}) -> (tensor<200x12xui32> {jax.result_info = "result[0]", mhlo.sharding = "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}"}, tensor<f32> {jax.result_info = "result[1]", mhlo.sharding = "{replicated}"}, tensor<12x24x256x24xf32> {jax.result_info = "result[2]", mhlo.sharding = "{devices=[1,2,1,2]<=[2,2]T(1,0)}"}) {
    %c = stablehlo.constant dense<1> : tensor<ui32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<200x12xui32>
    %1 = stablehlo.add %arg0, %0 : tensor<200x12xui32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.add %arg1, %cst : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<12x24x256x24xf32>
    %4 = stablehlo.add %arg3, %3 : tensor<12x24x256x24xf32>
    return %1, %2, %4 : tensor<200x12xui32>, tensor<f32>, tensor<12x24x256x24xf32>
  }
}
