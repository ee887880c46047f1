module @jit_program attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x100x4x4xbf16> {mhlo.sharding = "{devices=[2,1,2,1]<=[4]}"}, %arg1: tensor<24x12xi32> {mhlo.sharding = "{devices=[1,4]<=[4]}"}, %arg2: tensor<ui32> {mhlo.sharding = "{replicated}"}, %arg3: tensor<64x24x64x24xi32> {mhlo.sharding = "{devices=[2,2,1,1]<=[4]}"}, %arg4: tensor<24x16xui8> {mhlo.sharding = "{devices=[4,1]<=[2,2]T(1,0)}"}) -> (tensor<24x12xi32> {jax.result_info = "result[0]", mhlo.sharding = "{devices=[1,4]<=[4]}"}, tensor<ui32> {jax.result_info = "result[1]", mhlo.sharding = "{replicated}"}) {
    %c = stablehlo.constant dense<1> : tensor<ui32>
    %0 = stablehlo.add %arg2, %c : tensor<ui32>
    return %arg1, %0 : tensor<24x12xi32>, tensor<ui32>
  }
}
