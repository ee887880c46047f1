# SPDX-License-Identifier: Apache-2.0
"""The C headers for ctypes. Written by tools/make_ctypes.py; do not edit."""

# mypy: ignore-errors
from ctypes import Structure, Union, c_bool, c_char, c_char_p, c_double, c_int, c_int16, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_uint8, c_void_p

TESELA_FILL_LEAVE = 1
TESELA_FILL_VALUE = 2
TESELA_OP_GATHER = 6
TESELA_OP_INPUT = 0
TESELA_OP_SCATTER = 7
TESELA_PAD_LEAVE = 0
TESELA_PAD_VALUE = 4
TESELA_PAD_ZERO = 1
TESELA_PROPAGATE_AUTO = 1
TESELA_PROPAGATE_STRICT = 0
TESELA_STICKS_PAIR = 2
TESELA_XLA_LENIENT = 1

STATUS = {
    0: "OK",
    -1: "SYNTAX",
    -2: "RANGE",
    -3: "OVERFLOW",
    -4: "INVALID",
    -5: "LIMIT",
    -6: "MEMORY",
    -7: "UNSUPPORTED",
    -8: "MISMATCH",
    -9: "IO",
    -10: "STOPPED",
}

REASON = {
    0: "",
    1: "SHAPE_NOT_POSITIVE",
    2: "MODE_NOT_POSITIVE",
    3: "MODE_DOES_NOT_FIT_SHAPE",
    4: "MODE_USED_TWICE",
    5: "MODE_NOT_PLACED",
    6: "SPATIAL_MODE_OUT_OF_RANGE",
    7: "LOCAL_MODE_OUT_OF_RANGE",
    8: "RANKS_LENGTH",
    9: "RANKS_OUT_OF_RANGE",
    10: "RANKS_DUPLICATE",
    11: "WORKERS_NOT_POSITIVE",
    12: "THREADS_DO_NOT_FIT",
    13: "DIM_OUT_OF_RANGE",
    14: "DIM_DUPLICATE",
    15: "DIM_NOT_ONE",
    16: "DIMS_LENGTH",
    17: "RESHAPE_SIZE_MISMATCH",
    18: "RESHAPE_NOT_REPRESENTABLE",
    19: "NOT_DIVISIBLE",
    20: "NOT_LEFT_DIVISIBLE",
    21: "NOT_BROADCASTABLE",
    22: "NOT_REPEATABLE",
    23: "NOT_LINEAR",
    24: "SWIZZLE",
    25: "CONFLICT",
    26: "PATH",
    27: "MAX_BYTES",
    28: "MAX_HEADER",
    29: "MAX_NESTS",
    30: "MAX_STEPS",
    31: "MAX_ARRAYS",
    32: "NOT_SURJECTIVE",
    33: "NOT_INJECTIVE",
    34: "NOT_EXPRESSIBLE",
    35: "SIZE",
}

DTYPE = {
    1: "pred",
    2: "s8",
    3: "s16",
    4: "s32",
    5: "s64",
    6: "u8",
    7: "u16",
    8: "u32",
    9: "u64",
    10: "f16",
    11: "f32",
    12: "f64",
    14: "opaque",
    15: "c64",
    16: "bf16",
    17: "token",
    18: "c128",
    19: "f8e5m2",
    20: "f8e4m3fn",
    21: "s4",
    22: "u4",
    23: "f8e4m3b11fnuz",
    24: "f8e5m2fnuz",
    25: "f8e4m3fnuz",
    26: "s2",
    27: "u2",
    28: "f8e4m3",
    29: "f8e3m4",
    30: "s1",
    31: "u1",
    32: "f4e2m1fn",
    33: "f8e8m0fnu",
    35: "f6e3m2fn",
    36: "f6e2m3fn",
}


class tesela_xla_repair(Structure):
  pass


tesela_xla_repair._fields_ = [
    ("at", c_int64),
    ("what", c_char * 88),
]

class tesela_xla_repairs(Structure):
  pass


tesela_xla_repairs._fields_ = [
    ("count", c_int32),
    ("repair", tesela_xla_repair * 8),
]

class tesela_xla_split(Structure):
  pass


tesela_xla_split._fields_ = [
    ("dim", c_int32),
    ("n_points", c_int32),
    ("first", c_int32),
]

class tesela_xla_layout(Structure):
  pass


tesela_xla_layout._fields_ = [
    ("rank", c_int32),
    ("minor_to_major", c_int32 * 32),
    ("n_tiles", c_int32),
    ("n_tile_numbers", c_int32),
    ("tile_rank", c_int32 * 16),
    ("tile", c_int64 * 64),
    ("tail", c_int64),
    ("index_type", c_int),
    ("pointer_type", c_int),
    ("element_bits", c_int64),
    ("memory_space", c_int32),
    ("n_splits", c_int32),
    ("n_split_points", c_int32),
    ("split", tesela_xla_split * 8),
    ("split_point", c_int64 * 64),
    ("metadata_bytes", c_int64),
    ("physical", c_char * 256),
]

class tesela_xla_shape(Structure):
  pass


tesela_xla_shape._fields_ = [
    ("kind", c_int),
    ("dtype", c_int),
    ("rank", c_int32),
    ("dynamic", c_uint32),
    ("dim", c_int64 * 32),
    ("has_layout", c_bool),
    ("layout", tesela_xla_layout),
]

class tesela_register(Structure):
  pass


tesela_register._fields_ = [
    ("rank", c_int32),
    ("n_modes", c_int32),
    ("n_spatial", c_int32),
    ("n_local", c_int32),
    ("spatial_size", c_int64),
    ("local_size", c_int64),
    ("shape", c_int64 * 32),
    ("mode_shape", c_int64 * 64),
    ("spatial_modes", c_int64 * 64),
    ("local_modes", c_int32 * 64),
]

class tesela_tile_swizzle(Structure):
  pass


tesela_tile_swizzle._fields_ = [
    ("base", c_int32),
    ("bits", c_int32),
    ("shift", c_int32),
]

class tesela_tile_memory(Structure):
  pass


tesela_tile_memory._fields_ = [
    ("space", c_int),
    ("rank", c_int32),
    ("n_modes", c_int32),
    ("offset", c_int64),
    ("size", c_int64),
    ("swizzle", tesela_tile_swizzle),
    ("shape", c_int64 * 32),
    ("mode_shape", c_int64 * 64),
    ("mode_strides", c_int64 * 64),
]

class tesela_device_host(Structure):
  pass


tesela_device_host._fields_ = [
    ("dtype", c_int),
    ("device_dtype", c_int),
    ("bits", c_int32),
    ("device_bits", c_int32),
    ("stick_bytes", c_int64),
    ("rank", c_int32),
    ("shape", c_int64 * 32),
]

class tesela_device_dim(Structure):
  pass


tesela_device_dim._fields_ = [
    ("extent", c_int64),
    ("step", c_int64),
    ("stride", c_int64),
    ("dim", c_int32),
]

class tesela_device_layout(Structure):
  pass


tesela_device_layout._fields_ = [
    ("host", tesela_device_host),
    ("format", c_int),
    ("n_dims", c_int32),
    ("stick_dims", c_int32),
    ("lanes", c_int64),
    ("places", c_int64),
    ("dim", tesela_device_dim * 48),
]

class tesela_join(Structure):
  pass


tesela_join._fields_ = [
    ("overlap", c_bool),
    ("undecided", c_bool),
    ("interleaved", c_bool),
    ("extent", c_int64),
    ("offset", c_int64),
]

class tesela_axis(Structure):
  pass


tesela_axis._fields_ = [
    ("name", c_char * 12),
    ("overlap", c_bool),
    ("undecided", c_bool),
    ("interleaved", c_bool),
    ("offset", c_int64),
    ("extent", c_int64),
]

class tesela_bit_matrix(Structure):
  pass


tesela_bit_matrix._fields_ = [
    ("n", c_int32),
    ("width", c_uint8 * 8),
    ("moved", c_uint64),
    ("image", c_uint64 * 64),
    ("source", c_uint64 * 64),
]

class tesela_digit(Structure):
  pass


tesela_digit._fields_ = [
    ("extent", c_int64),
    ("step", c_int64),
    ("stride", c_int64),
    ("source", c_int16),
    ("axis", c_int16),
    ("join", c_int16),
    ("part_of", c_int16),
]

class tesela_layout(Structure):
  pass


tesela_layout._fields_ = [
    ("rank", c_int32),
    ("n_digits", c_int32),
    ("n_active", c_int32),
    ("n_mapped", c_int32),
    ("n_joins", c_int32),
    ("n_axes", c_int32),
    ("bits", c_int32),
    ("dtype", c_int),
    ("finished", c_bool),
    ("shape", c_int64 * 32),
    ("join", tesela_join * 32),
    ("axis", tesela_axis * 8),
    ("swizzle", tesela_bit_matrix),
    ("by_place", c_uint8 * 128),
    ("digit", tesela_digit * 128),
]

class tesela_any_layout__members(Union):
  pass


tesela_any_layout__members._fields_ = [
    ("shape", tesela_xla_shape),
    ("registers", tesela_register),
    ("memory", tesela_tile_memory),
    ("device", tesela_device_layout),
    ("relation", tesela_layout),
]

class tesela_any_layout(Structure):
  _anonymous_ = ("members",)


tesela_any_layout._fields_ = [
    ("kind", c_int),
    ("notation", c_void_p),
    ("repairs", tesela_xla_repairs),
    ("members", tesela_any_layout__members),
]

class tesela_view_feed(Structure):
  pass


tesela_view_feed._fields_ = [
    ("view_dim", c_int32),
    ("step", c_int64),
    ("extent", c_int64),
    ("stride", c_int64),
]

class tesela_device_view(Structure):
  pass


tesela_device_view._fields_ = [
    ("layout", tesela_layout),
    ("lane", c_int),
    ("lane_dim", c_int32),
    ("lane_offset", c_int64),
    ("first", c_int64),
    ("plain", c_bool),
    ("n_feeds", c_int32),
    ("feed", tesela_view_feed * 128),
]

class tesela_difference(Structure):
  pass


tesela_difference._fields_ = [
    ("same", c_bool),
    ("have_index", c_bool),
    ("same_extent", c_bool),
    ("index", c_int64 * 32),
    ("reason", c_char * 96),
]

class tesela_draw_side(Structure):
  pass


tesela_draw_side._fields_ = [
    ("n_dims", c_int32),
    ("dim", c_int32 * 32),
    ("extent", c_int64),
    ("padded", c_int64),
    ("shown", c_int64),
    ("first", c_int64),
    ("end", c_int64),
]

class tesela_draw_view(Structure):
  pass


tesela_draw_view._fields_ = [
    ("n_sides", c_int32),
    ("down", c_int32),
    ("across", c_int32),
    ("cut", c_bool),
    ("bare", c_bool),
    ("side", tesela_draw_side * 32),
]

class tesela_error(Structure):
  pass


tesela_error._fields_ = [
    ("status", c_int),
    ("reason", c_int),
    ("at", c_int64),
    ("message", c_char * 248),
]

class tesela_event(Structure):
  pass


tesela_event._fields_ = [
    ("kind", c_int),
    ("text", c_char_p),
    ("length", c_size_t),
    ("integer", c_int64),
    ("real", c_double),
]

class tesela_file_info(Structure):
  pass


tesela_file_info._fields_ = [
    ("format", c_int),
    ("data", c_void_p),
    ("bytes", c_int64),
    ("bytes_after", c_int64),
    ("n_tensors", c_int64),
    ("tensor", c_void_p),
    ("n_texts", c_int64),
    ("text", c_void_p),
    ("reserved", c_int64 * 4),
]

class tesela_file_item(Structure):
  pass


tesela_file_item._fields_ = [
    ("name", c_char_p),
    ("tensor", c_void_p),
    ("from", c_void_p),
    ("to", c_void_p),
    ("layout", c_char_p),
    ("fill_value", c_uint8 * 16),
]

class tesela_file_tensor(Structure):
  pass


tesela_file_tensor._fields_ = [
    ("name", c_char_p),
    ("type", c_char_p),
    ("dtype", c_int),
    ("bits", c_int32),
    ("rank", c_int32),
    ("shape", c_int64 * 32),
    ("fortran", c_bool),
    ("swapped", c_bool),
    ("data", c_void_p),
    ("bytes", c_int64),
    ("layout", c_char_p),
]

class tesela_file_text(Structure):
  pass


tesela_file_text._fields_ = [
    ("key", c_char_p),
    ("value", c_char_p),
]

class tesela_plan_options(Structure):
  pass


tesela_plan_options._fields_ = [
    ("fill", c_int),
    ("fill_value", c_uint8 * 16),
    ("transform", c_int),
    ("threads", c_int32),
    ("isa", c_int),
    ("effort", c_int),
    ("solver", c_int),
    ("memory_bytes", c_int64),
    ("shuffle", c_uint64),
    ("allocator", c_void_p),
    ("reserved", c_int64 * 4),
]

class tesela_file_write_options(Structure):
  pass


tesela_file_write_options._fields_ = [
    ("plan", tesela_plan_options),
    ("source", c_void_p),
    ("progress", c_void_p),
    ("progress_user", c_void_p),
    ("ready", c_void_p),
    ("ready_user", c_void_p),
    ("unfinished", c_void_p),
    ("only_files", c_bool),
    ("resume", c_bool),
    ("verify", c_bool),
    ("dry_run", c_bool),
    ("hold", c_bool),
    ("differs", c_void_p),
    ("allocator", c_void_p),
    ("reserved", c_int64 * 4),
]

class tesela_graph_memory_options(Structure):
  pass


tesela_graph_memory_options._fields_ = [
    ("capacity", c_int64),
    ("scratchpad", c_int64),
    ("effort", c_int64),
    ("no_reuse", c_bool),
    ("inputs", c_bool),
    ("allocator", c_void_p),
    ("progress", c_void_p),
    ("progress_user", c_void_p),
    ("reserved", c_int64 * 4),
]

class tesela_graph_run_facts(Structure):
  pass


tesela_graph_run_facts._fields_ = [
    ("operators", c_int64),
    ("elements", c_int64),
    ("moved", c_int64),
    ("arena_bytes", c_int64),
    ("poison_read", c_int64),
    ("reserved", c_int64 * 4),
]

class tesela_graph_run_needs(Structure):
  pass


tesela_graph_run_needs._fields_ = [
    ("steps", c_int64),
    ("bytes", c_int64),
    ("node", c_int32),
    ("reserved", c_int64 * 4),
]

class tesela_graph_run_options(Structure):
  pass


tesela_graph_run_options._fields_ = [
    ("plain", c_bool),
    ("memory", c_void_p),
    ("allocator", c_void_p),
    ("progress", c_void_p),
    ("progress_user", c_void_p),
    ("device_types", c_bool),
    ("max_steps", c_int64),
    ("max_bytes", c_int64),
    ("reserved", c_int64 * 4),
]

class tesela_host_view(Structure):
  pass


tesela_host_view._fields_ = [
    ("rank", c_int32),
    ("offset", c_int64),
    ("shape", c_int64 * 32),
    ("stride", c_int64 * 32),
]

class tesela_device_text_options(Structure):
  pass


tesela_device_text_options._fields_ = [
    ("target", c_void_p),
    ("host", c_void_p),
    ("host_strides", c_void_p),
    ("targets", c_void_p),
    ("n_targets", c_int32),
    ("reserved", c_int64 * 4),
]

class tesela_layout_read_options(Structure):
  pass


tesela_layout_read_options._fields_ = [
    ("notation", c_char_p),
    ("flags", c_int32),
    ("array", c_void_p),
    ("device", tesela_device_text_options),
    ("dtype", c_int),
    ("as", c_char_p),
    ("definitions", c_char_p),
    ("definitions_length", c_size_t),
    ("reserved", c_int64 * 4),
]

class tesela_conv2d(Structure):
  pass


tesela_conv2d._fields_ = [
    ("x", c_int32 * 6),
    ("w", c_int32 * 6),
    ("result", c_int32 * 6),
    ("stride", c_int64 * 3),
    ("dilation", c_int64 * 3),
    ("low", c_int64 * 3),
    ("high", c_int64 * 3),
    ("x_dilation", c_int64 * 3),
    ("spatial", c_int32),
    ("grouped", c_int32),
]

class tesela_node(Structure):
  pass


tesela_node._fields_ = [
    ("op", c_int),
    ("fn", c_int),
    ("name", c_char_p),
    ("opcode", c_char_p),
    ("dtype", c_int),
    ("bits", c_int32),
    ("rank", c_int32),
    ("shape", c_int64 * 16),
    ("n_operands", c_int32),
    ("operand", c_void_p),
    ("buffer", c_int32),
    ("offset", c_int64),
    ("stride", c_int64 * 16),
    ("host_stride", c_int64 * 16),
    ("view", c_bool),
    ("in_place", c_bool),
    ("output", c_bool),
    ("n_dims", c_int32),
    ("n_labels", c_int32),
    ("dim", c_int32 * 16),
    ("start", c_int64 * 16),
    ("step", c_int64 * 16),
    ("low", c_int64 * 16),
    ("high", c_int64 * 16),
    ("length", c_int64 * 16),
    ("dilation", c_int64 * 16),
    ("x_dilation", c_int64 * 16),
    ("label", c_int32 * 16 * 2),
    ("conv", tesela_conv2d),
    ("value", c_double),
    ("keepdim", c_bool),
    ("reverse", c_bool),
    ("stick", c_int32),
    ("layout", c_void_p),
]

class tesela_notation(Structure):
  pass


tesela_notation._fields_ = [
    ("name", c_char_p),
    ("words", c_char_p),
    ("example", c_char_p),
    ("needs", c_uint32),
    ("kinds", c_uint32),
    ("written", c_bool),
]

class tesela_plan_info(Structure):
  pass


tesela_plan_info._fields_ = [
    ("dst_bytes", c_int64),
    ("src_bytes", c_int64),
    ("bytes_read", c_int64),
    ("bytes_written", c_int64),
    ("scratch_bytes", c_int64),
    ("in_place_scratch_bytes", c_int64),
    ("in_place", c_bool),
    ("threads", c_int32),
    ("n_pieces", c_int32),
    ("n_fills", c_int32),
    ("solver", c_int),
    ("isa", c_int),
    ("l2_bytes", c_int64),
    ("l3_bytes", c_int64),
    ("reserved", c_int64 * 4),
]

class tesela_propagate_options(Structure):
  pass


tesela_propagate_options._fields_ = [
    ("mode", c_int),
    ("share", c_bool),
    ("spread", c_bool),
    ("compact", c_bool),
    ("copies", c_bool),
    ("all_sticks", c_bool),
    ("effort", c_int64),
    ("price", c_void_p),
    ("user", c_void_p),
    ("allocator", c_void_p),
    ("progress", c_void_p),
    ("progress_user", c_void_p),
    ("reserved", c_int64 * 4),
]

class tesela_request(Structure):
  pass


tesela_request._fields_ = [
    ("value", c_void_p),
    ("out", c_void_p),
    ("err", c_void_p),
    ("ops", c_void_p),
    ("n_ops", c_int32),
    ("lenient", c_bool),
    ("target", c_void_p),
    ("files", c_char_p),
    ("files_anywhere", c_bool),
    ("unfinished", c_void_p),
    ("dash", c_char_p),
    ("note", c_void_p),
    ("note_user", c_void_p),
    ("progress", c_void_p),
    ("progress_user", c_void_p),
    ("stop", c_void_p),
    ("reading", c_void_p),
    ("plans", c_void_p),
    ("reserved", c_int64 * 1),
    ("counter_example", c_void_p),
    ("deadline", c_int64),
    ("flags", c_int32),
    ("field", c_char_p),
    ("text", c_char_p),
    ("usage", c_bool),
    ("error_at", c_char * 256),
    ("message", c_void_p),
]

class tesela_run_options(Structure):
  pass


tesela_run_options._fields_ = [
    ("executor", c_void_p),
    ("progress", c_void_p),
    ("progress_user", c_void_p),
    ("reserved", c_int64 * 4),
]

class tesela_sink(Structure):
  pass


tesela_sink._fields_ = [
    ("take", c_void_p),
    ("user", c_void_p),
    ("stopped", c_bool),
]

class tesela_sizes(Structure):
  pass


tesela_sizes._fields_ = [
    ("logical_elements", c_int64),
    ("logical_bits", c_int64),
    ("logical_bytes", c_int64),
    ("elements", c_int64),
    ("bits", c_int64),
    ("bytes", c_int64),
    ("reserved", c_int64 * 4),
]

class tesela_target_type(Structure):
  pass


tesela_target_type._fields_ = [
    ("host", c_int),
    ("device", c_int),
    ("device_bits", c_int32),
]

class tesela_rule(Structure):
  pass


tesela_rule._fields_ = [
    ("op", c_int),
    ("fn", c_int),
    ("operand", c_int32),
    ("need", c_int),
    ("yield", c_int),
    ("price", c_int64),
    ("opcode", c_char * 64),
]

class tesela_dma_limits(Structure):
  pass


tesela_dma_limits._fields_ = [
    ("max_dims", c_int32),
    ("max_extent", c_int64),
    ("alignment", c_int64),
    ("min_burst", c_int64),
    ("max_burst", c_int64),
    ("max_nests", c_int64),
]

class tesela_target(Structure):
  pass


tesela_target._fields_ = [
    ("name", c_char * 32),
    ("stick_bytes", c_int64),
    ("alignment", c_int64),
    ("max_rank", c_int32),
    ("order", c_int),
    ("n_tiles", c_int32),
    ("tile", c_int64 * 2 * 4),
    ("sparse", c_bool),
    ("keep_host_bytes", c_bool),
    ("n_types", c_int32),
    ("type", tesela_target_type * 40),
    ("n_rules", c_int32),
    ("rule", tesela_rule * 64),
    ("dma", tesela_dma_limits),
    ("cores", c_int32),
    ("scratchpad_bytes", c_int64),
]

class tesela_transfer_options(Structure):
  pass


tesela_transfer_options._fields_ = [
    ("pad", c_int),
    ("value", c_double),
    ("lossy", c_bool),
    ("threads", c_int32),
    ("allocator", c_void_p),
    ("reserved", c_int64 * 4),
]

class tesela_translation(Structure):
  pass


tesela_translation._fields_ = [
    ("verdict", c_int),
    ("rank", c_int32),
    ("shape", c_int64 * 32),
    ("places", c_int64),
    ("text_places", c_int64),
    ("reason", c_char * 160),
    ("as", c_char * 64),
    ("contradiction", c_int),
    ("axis", c_int32),
    ("index", c_int64 * 32),
    ("index2", c_int64 * 32),
    ("place", c_int64),
    ("expected", c_int64),
    ("reserved", c_int64 * 4),
]

class tesela_writer(Structure):
  pass


tesela_writer._fields_ = [
    ("write", c_void_p),
    ("user", c_void_p),
]

class tesela_propagate_facts(Structure):
  pass


tesela_propagate_facts._fields_ = [
    ("ok", c_bool),
    ("proven", c_bool),
    ("n_moves", c_int32),
    ("cost", c_int64),
    ("bound", c_int64),
    ("moved", c_int64),
    ("buffers", c_int32),
    ("core", c_int32),
    ("error_node", c_int32),
    ("error_operand", c_int32),
    ("n_copies", c_int32),
    ("copied", c_int64),
    ("operators", c_int32),
    ("unknown", c_int32),
    ("reserved", c_int64 * 4),
]

# name: result, arguments
FUNCTIONS = {
    "tesela_any_compare": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "tesela_any_print": (c_int, [c_void_p, c_void_p, c_void_p]),
    "tesela_any_to_layout": (c_int, [c_void_p, c_void_p, c_void_p]),
    "tesela_device_from_dims": (c_int, [c_void_p, c_void_p, c_int32, c_void_p, c_bool, c_int32, c_void_p]),
    "tesela_device_restick": (c_int, [c_void_p, c_void_p, c_int32, c_void_p]),
    "tesela_device_view_of": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "tesela_draw_view_of": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "tesela_dtype_bytes": (c_int32, [c_int]),
    "tesela_dtype_read": (c_int, [c_char_p, c_size_t, c_void_p, c_void_p]),
    "tesela_element_read": (c_int, [c_char_p, c_size_t, c_int, c_int32, c_uint8 * 16, c_void_p]),
    "tesela_error_caret": (c_int, [c_int64, c_char_p, c_size_t, c_int32, c_bool, c_void_p]),
    "tesela_file_close": (None, [c_void_p]),
    "tesela_file_describe": (None, [c_void_p, c_void_p]),
    "tesela_file_layout": (c_int, [c_void_p, c_int, c_void_p, c_void_p]),
    "tesela_file_open": (c_int, [c_void_p, c_char_p, c_void_p, c_void_p]),
    "tesela_file_open_memory": (c_int, [c_void_p, c_void_p, c_int64, c_void_p, c_void_p]),
    "tesela_file_type": (c_bool, [c_int, c_int, c_char * 16]),
    "tesela_file_write": (c_int, [c_char_p, c_int, c_int64, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "tesela_graph_apply": (c_int, [c_void_p, c_void_p, c_void_p]),
    "tesela_graph_destroy": (None, [c_void_p]),
    "tesela_graph_memory_destroy": (None, [c_void_p]),
    "tesela_graph_n_outputs": (c_int32, [c_void_p]),
    "tesela_graph_node": (c_void_p, [c_void_p, c_int32]),
    "tesela_graph_output": (c_int32, [c_void_p, c_int32]),
    "tesela_graph_plan_memory": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "tesela_graph_propagate": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "tesela_graph_read_hlo": (c_int, [c_void_p, c_char_p, c_size_t, c_void_p, c_void_p, c_void_p, c_void_p]),
    "tesela_graph_read_value": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "tesela_graph_run": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "tesela_graph_run_needs_of": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "tesela_layout_copies": (c_int64, [c_void_p]),
    "tesela_layout_copy_of": (c_int, [c_void_p, c_void_p, c_int64, c_void_p, c_void_p]),
    "tesela_layout_element_at": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "tesela_layout_elements": (c_int, [c_void_p, c_int64, c_void_p, c_void_p, c_void_p, c_void_p]),
    "tesela_layout_place_of": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "tesela_layout_places": (c_int, [c_void_p, c_int32, c_int64, c_void_p, c_void_p, c_void_p]),
    "tesela_layout_read": (c_int, [c_char_p, c_size_t, c_void_p, c_void_p, c_void_p]),
    "tesela_layout_sizes": (c_int, [c_void_p, c_void_p, c_void_p]),
    "tesela_layout_slice": (c_int, [c_void_p, c_int32, c_int64, c_int64, c_int64, c_void_p, c_void_p]),
    "tesela_layout_strided": (c_int, [c_void_p, c_int, c_int32, c_int32, c_void_p, c_void_p, c_int64, c_void_p]),
    "tesela_layout_to_strided": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "tesela_notation_at": (c_void_p, [c_int32]),
    "tesela_plan_create": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "tesela_plan_describe": (None, [c_void_p, c_void_p]),
    "tesela_plan_destroy": (None, [c_void_p]),
    "tesela_plan_explain": (c_int, [c_void_p, c_void_p, c_void_p]),
    "tesela_plan_print": (c_int, [c_void_p, c_void_p, c_void_p]),
    "tesela_plan_run": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "tesela_propagation_destroy": (None, [c_void_p]),
    "tesela_propagation_explain": (c_int, [c_void_p, c_bool, c_void_p, c_void_p]),
    "tesela_propagation_facts_of": (tesela_propagate_facts, [c_void_p]),
    "tesela_put_graph": (None, [c_void_p, c_void_p]),
    "tesela_register_print_expression": (c_int, [c_void_p, c_void_p, c_void_p]),
    "tesela_request_answer": (c_int, [c_void_p]),
    "tesela_request_free": (None, [c_void_p]),
    "tesela_target_find": (c_void_p, [c_char_p]),
    "tesela_target_read": (c_int, [c_void_p, c_char_p, c_size_t, c_void_p]),
    "tesela_transfer_destroy": (None, [c_void_p]),
    "tesela_transfer_run": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "tesela_transfer_to_device": (c_int, [c_void_p, c_void_p, c_void_p, c_int64, c_void_p, c_void_p]),
    "tesela_transfer_to_host": (c_int, [c_void_p, c_void_p, c_void_p, c_int64, c_void_p, c_void_p]),
    "tesela_translate": (c_int, [c_void_p, c_char_p, c_void_p, c_void_p, c_void_p]),
    "tesela_units_parse": (c_int, [c_char_p, c_size_t, c_void_p, c_void_p, c_void_p]),
    "tesela_units_print": (None, [c_int64, c_int, c_char * 24]),
    "tesela_values_digest": (c_int, [c_void_p, c_void_p, c_uint8 * 16, c_void_p, c_void_p]),
    "tesela_verdict_name": (c_char_p, [c_int]),
    "tesela_version": (c_char_p, []),
}
