/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_print.c - device layouts in the printed forms and as three tuples.
 *
 * The fields are filled in from the layout, and printed only if reading them with the layout's host side gives the
 * layout.
 */
#include "notation/device/device_read.h"

/* ---- fields of a layout ---- */

static void device_fill_sizes(const tesela_device_layout *layout, tesela__device_text *text) {
  tesela__device_say(text, TESELA__DEVICE_DEVICE_SIZE);
  text->size.n = text->strides.n = text->dim_map.n = text->stride_map.n = layout->n_dims;
  for (int32_t j = 0; j < layout->n_dims; j++) {
    text->size.number[j] = layout->dim[j].extent;
    text->strides.number[j] = layout->dim[j].stride;
    text->dim_map.number[j] = layout->dim[j].dim;
  }
}

static tesela_status device_fill(const tesela_device_layout *layout, tesela_device_notation notation,
                                 tesela__device_text *text, tesela_error *err) {
  bool tuples = notation == TESELA_DEVICE_TUPLES, printed = notation == TESELA_DEVICE_PRINTED;
  *text = (tesela__device_text){.form = tuples ? TESELA__DEVICE_FORM_TUPLES : TESELA__DEVICE_FORM_PRINTED,
                                .stick_dims = 1};
  device_fill_sizes(layout, text);
  if (tuples || printed) tesela__device_say(text, TESELA__DEVICE_DEVICE_STRIDES);
  if (printed) {
    tesela__device_say(text, TESELA__DEVICE_FORMAT);
    tesela__device_say(text, TESELA__DEVICE_NUM_STICK_DIMS);
    text->format = layout->format;
    text->stick_dims = layout->stick_dims;
  } else if (!tuples) {
    if (!tesela__device_format_name(layout->host.device_dtype))
      return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "device_dtype has no name for elements of type %s",
                          layout->host.device_dtype == TESELA_DTYPE_NONE
                              ? "no type"
                              : tesela_dtype_name(layout->host.device_dtype));
    tesela__device_say(text, TESELA__DEVICE_DEVICE_DTYPE);
    text->device_dtype = layout->host.device_dtype;
  }
  if (printed || notation == TESELA_DEVICE_DIM_MAP) {
    tesela__device_say(text, TESELA__DEVICE_DIM_MAP);
    return TESELA_OK;
  }
  tesela__device_say(text, TESELA__DEVICE_STRIDE_MAP);
  return tesela_device_stride_map(layout, NULL, text->stride_map.number, err);
}

/* ---- printing them ---- */

static void device_put_field(tesela__sink *sink, const char *name, const tesela__device_list *list) {
  tesela__puts(sink, name);
  tesela__device_put_list(sink, ", ", list->n, list->number);
  tesela__putc(sink, ']');
}

static void device_put_printed(tesela__sink *sink, const tesela__device_text *text) {
  static const char *const formats[] = {
#define TESELA__ROW(symbol, value, name, text) name,
      TESELA_STICK_FORMAT_MAP(TESELA__ROW)
#undef TESELA__ROW
  };
  device_put_field(sink, "SpyreTensorLayout(device_size=[", &text->size);
  if (tesela__device_has(text, TESELA__DEVICE_DEVICE_STRIDES))
    device_put_field(sink, ", device_strides=[", &text->strides);
  if (tesela__device_has(text, TESELA__DEVICE_DIM_MAP))
    device_put_field(sink, ", dim_map =[", &text->dim_map);
  if (tesela__device_has(text, TESELA__DEVICE_STRIDE_MAP))
    device_put_field(sink, ", stride_map =[", &text->stride_map);
  if (tesela__device_has(text, TESELA__DEVICE_FORMAT)) {
    tesela__puts(sink, ", num_stick_dims=");
    tesela__put_int(sink, text->stick_dims);
    tesela__putf(sink, ", format=\"%s\"", formats[text->format]);
  } else {
    tesela__putf(sink, ", device_dtype=DataFormats.%s", tesela__device_format_name(text->device_dtype));
  }
  tesela__putc(sink, ')');
}

static void device_put_tuple(tesela__sink *sink, const tesela__device_list *list) {
  tesela__putc(sink, '(');
  tesela__device_put_list(sink, ", ", list->n, list->number);
  tesela__puts(sink, list->n == 1 ? ",)" : ")");
}

static void device_put_tuples(tesela__sink *sink, const tesela__device_text *text) {
  tesela__putc(sink, '(');
  device_put_tuple(sink, &text->size);
  tesela__puts(sink, ", ");
  device_put_tuple(sink, &text->strides);
  tesela__puts(sink, ", ");
  device_put_tuple(sink, &text->stride_map);
  tesela__putc(sink, ')');
}

/* Does the layout have places without an element? Then the ranges are not moved completely, and the text starts
 * with the host shape. */
static tesela_status device_has_padding(const tesela_device_layout *layout, bool *padding,
                                        tesela_error *err) {
  tesela_device_sizes sizes;
  tesela_status status = tesela_device_sizes_of(layout, NULL, &sizes, err);
  *padding = status == TESELA_OK && sizes.padding > 0;
  return status;
}

tesela_status tesela_device_print(const tesela_device_layout *layout, tesela_device_notation notation,
                                  const tesela_writer *to, tesela_error *err) {
  TESELA__NEED(err, layout, to);
  static const char *const lacks[] = {
      [TESELA_DEVICE_TUPLES] = "three tuples cannot express these device dims",
      [TESELA_DEVICE_PRINTED] = "dim_map cannot express the steps of these device dims",
      [TESELA_DEVICE_DIM_MAP] = "dim_map cannot express the steps or strides of these device dims",
      [TESELA_DEVICE_STRIDE_MAP] =
          "stride_map and device_size cannot express these device dims or their strides",
  };
  tesela__sink sink;
  tesela__sink_init(&sink, to);
  if (notation == TESELA_DEVICE_SHORT) {
    tesela_status status = tesela__device_print_short(layout, &sink, err);
    return status == TESELA_OK ? tesela__sink_finish(&sink, err) : status;
  }
  if ((int)notation < 0 || notation > TESELA_DEVICE_STRIDE_MAP)
    return tesela__fail(err, TESELA_E_RANGE, -1, "unknown notation %d", (int)notation);
  tesela__device_text text;
  tesela_status status = device_fill(layout, notation, &text, err);
  if (status != TESELA_OK) return status;
  if (!tesela__device_says(&text, layout))
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "%s", lacks[notation]);
  if (notation != TESELA_DEVICE_TUPLES) {
    device_put_printed(&sink, &text);
    return tesela__sink_finish(&sink, err);
  }
  bool padding;
  status = device_has_padding(layout, &padding, err);
  if (status != TESELA_OK) return status;
  if (padding && tesela_dtype_bytes(layout->host.dtype) == 0)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "the layout has padding, which three tuples express only after a host shape, and its "
                        "element type is unknown");
  text.have_host = padding;
  text.dtype = layout->host.dtype;
  text.rank = layout->host.rank;
  memcpy(text.shape, layout->host.shape, sizeof text.shape);
  if (padding && !tesela__device_says(&text, layout))
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "three tuples cannot express sticks of %" PRId64 " bytes with %" PRId64 " elements",
                        layout->host.stick_bytes, layout->lanes);
  if (padding) {
    tesela__device_put_host(&sink, &layout->host);
    tesela__putc(&sink, ' ');
  }
  device_put_tuples(&sink, &text);
  return tesela__sink_finish(&sink, err);
}
