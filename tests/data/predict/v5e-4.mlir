module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<8x4x8xui8> {mhlo.memory_kind = "device", sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}, %arg1: tensor<3x128x16xbf16> {mhlo.memory_kind = "pinned_host", sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}, %arg2: tensor<100x128xi16> {mhlo.memory_kind = "device", sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg3: tensor<i16> {mhlo.memory_kind = "device", sdy.sharding = #sdy.sharding<@empty_mesh, []>}) -> (tensor<8x4x8xui8> {jax.result_info = "result[0]", mhlo.memory_kind = "device", sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}, tensor<100x128xi16> {jax.result_info = "result[1]", mhlo.memory_kind = "device", sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, tensor<i16> {jax.result_info = "result[2]", mhlo.memory_kind = "device", sdy.sharding = #sdy.sharding<@empty_mesh, []>}) {
    %c = stablehlo.constant dense<1> : tensor<ui8>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui8>) -> tensor<8x4x8xui8>
    %1 = stablehlo.add %arg0, %0 : tensor<8x4x8xui8>
    %c_0 = stablehlo.constant dense<1> : tensor<i16>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i16>) -> tensor<100x128xi16>
    %3 = stablehlo.add %arg2, %2 : tensor<100x128xi16>
    %4 = stablehlo.custom_call @annotate_device_placement(%1) {backend_config = "", has_side_effect = true, mhlo.frontend_attributes = {_xla_buffer_placement = "device"}} : (tensor<8x4x8xui8>) -> tensor<8x4x8xui8>
    %5 = stablehlo.custom_call @annotate_device_placement(%3) {backend_config = "", has_side_effect = true, mhlo.frontend_attributes = {_xla_buffer_placement = "device"}} : (tensor<100x128xi16>) -> tensor<100x128xi16>
    %6 = stablehlo.custom_call @annotate_device_placement(%arg3) {backend_config = "", has_side_effect = true, mhlo.frontend_attributes = {_xla_buffer_placement = "device"}} : (tensor<i16>) -> tensor<i16>
    return %4, %5, %6 : tensor<8x4x8xui8>, tensor<100x128xi16>, tensor<i16>
  }
}
