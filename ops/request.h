/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - what the operations share.
 *
 *   request_answer.c    checks the fields by the table, calls the operation
 *   request.c           fields and failures, for operations
 *   deadline.c os_*.c   how long a request may take, which files it may use
 *   query_ops.c         the table, and the operations about it
 *   query_place.c       elements and places              query_device.c    device layouts
 *   query_translate.c   other notations              query_info.c      facts of a layout
 *   query_xla.c         XLA shapes as such               query_file.c      values in files
 *   query_register.c    register layouts                 query_write.c     tensors to files
 *   query_tile.c        moves of tiles                   query_graph.c     graphs
 *   query_relayout.c    copies                           query_program.c   graphs with layouts
 *   query_linear.c      linear layouts over bits         query_cute.c      the algebra of CuTe layouts
 *   query_trial.c       tests and times of copies        query_loops.c     their loops
 *   query_report.c      reports of compilers               query_pack.c      checkpoints to files
 *   value.c put.c json_*.c    values, sinks, the edge to JSON
 *
 * A new operation is one row in the table and one function.
 */
#ifndef TESELA_OPS_REQUEST_H
#define TESELA_OPS_REQUEST_H

#include <tesela/notation.h>
#include <tesela/ops.h>
#include <tesela/relayout.h>

/* query_device.c */
tesela_status op_device_layout(tesela_request *q);
tesela_status op_dma(tesela_request *q);
tesela_status op_restickify(tesela_request *q);
tesela_status op_view(tesela_request *q);
/* query_file.c */
tesela_status op_cmp(tesela_request *q);
tesela_status op_digest(tesela_request *q);
tesela_status op_verify(tesela_request *q);
/* query_graph.c */
tesela_status op_plan_memory(tesela_request *q);
tesela_status op_propagate(tesela_request *q);
/* query_cute.c */
tesela_status op_cute(tesela_request *q);
/* query_linear.c */
tesela_status op_linear_layout(tesela_request *q);
/* query_loops.c */
tesela_status op_graph_loops(tesela_request *q);
/* query_program.c */
tesela_status op_graph_assign(tesela_request *q);
tesela_status op_graph_plan(tesela_request *q);
tesela_status op_graph_run(tesela_request *q);
/* query_place.c */
tesela_status op_same(tesela_request *q);
tesela_status op_what(tesela_request *q);
tesela_status op_where(tesela_request *q);
/* query_register.c */
tesela_status op_fragment(tesela_request *q);
tesela_status op_locate_at(tesela_request *q);
tesela_status op_register(tesela_request *q);
tesela_status op_shared(tesela_request *q);
tesela_status op_show(tesela_request *q);
/* query_relayout.c */
tesela_status op_plan(tesela_request *q);
tesela_status op_relayout(tesela_request *q);
/* query_report.c */
tesela_status op_diff(tesela_request *q);
tesela_status op_report(tesela_request *q);
/* query_tile.c */
tesela_status op_access(tesela_request *q);
tesela_status op_bank_conflicts(tesela_request *q);
tesela_status op_convert(tesela_request *q);
tesela_status op_predict(tesela_request *q);
tesela_status op_infer(tesela_request *q);
tesela_status op_ldmatrix(tesela_request *q);
tesela_status op_swizzle(tesela_request *q);
tesela_status op_vector_width(tesela_request *q);
/* query_trial.c */
tesela_status op_bench(tesela_request *q);
tesela_status op_check(tesela_request *q);
/* query_pack.c */
tesela_status op_pack(tesela_request *q);
/* query_write.c */
tesela_status op_unpack(tesela_request *q);
/* op_relayout of a file. */
tesela_status request_relayout_file(tesela_request *q, tesela_transform transform);
/* query_translate.c */
tesela_status op_translate(tesela_request *q);
/* query_info.c */
tesela_status op_info(tesela_request *q);
/* query_xla.c */
tesela_status op_choose(tesela_request *q);
tesela_status op_parse(tesela_request *q);
tesela_status op_program(tesela_request *q);

/* Fill *err, which may be NULL; returns status. */
tesela_status ops_fail(tesela_error *err, tesela_status status, int64_t at, const char *format, ...)
    TESELA_PRINTF(4, 5);
/* TESELA_E_LIMIT with the reason that names the limit. */
tesela_status ops_over(tesela_error *err, tesela_reason limit, const char *format, ...) TESELA_PRINTF(3, 4);
/* tesela_error_unknown for a target: one of the caller's, or NULL, and the built-in ones. */
tesela_status ops_unknown_target(tesela_error *err, const char *name, const tesela_target *own);
/* What a value is, for "found X": "string", "nothing" of NULL. */
const char *ops_value_words(const tesela_value *value);
/* As tesela_request_open, the path a text of q->field. */
tesela_status request_open(tesela_request *q, const tesela_value *path, int *fd);
/* The same as tesela_request_folder. */
tesela_status request_folder(tesela_request *q, const tesela_value *path, int *fd, const char **name);
/* Are the files of two path fields in the same folder? */
tesela_status request_same_folder(tesela_request *q, const char *a, const char *b, bool *same);
/* The same as a path, for functions with a path argument. */
typedef struct request_path {
  const char *name; /* as in the request, for messages */
  char text[304];   /* by a descriptor, /dev/fd/7/x.npy; "": the path is `name`, of the process */
  int fd;           /* of the file or, to write, of its folder; or -1 */
} request_path;
#define REQUEST_NO_PATH \
  { NULL, "", -1 }
tesela_status request_path_open(tesela_request *q, const tesela_value *value, bool write, request_path *path);
const char *request_path_text(const request_path *path);
void request_path_close(request_path *path);
/* A failure comes with an object that shows why: it is copied, and freed with the request. Its trees are a few levels deep. */
void request_counter_example(tesela_request *q, const tesela_value *object);
/* Call q->note. */
void request_note(tesela_request *q, const char *format, ...) TESELA_PRINTF(2, 3);
/* The field deadline_ms, and whether it is time to stop already. */
extern const tesela_field request_deadline_field;
tesela_status request_begin_deadline(tesela_request *q);
/* TESELA_E_STOPPED with the reason as a message if it is time to stop. */
tesela_status request_check_stop(tesela_request *q);
/* The operation that a field of type text names. */
tesela_status request_find(tesela_request *q, const char *field, const tesela_op_entry **op);
/* How the texts of layouts are read; `notation` as in tesela_layout_read_options. */
tesela_layout_read_options request_reading(const tesela_request *q, const char *notation);
/* A text as a layout, NULL for any notation. */
tesela_status request_read(tesela_request *q, const tesela_value *text, const char *notation,
                           tesela_any_layout *any);
/* A member with the text of a shape. */
void request_put_shape(tesela_sink *out, const char *name, const tesela_xla_shape *shape);
/* TESELA_E_UNSUPPORTED for a field of type text that is not the name of a notation or a kind. */
tesela_status request_check_notation(tesela_request *q, const char *field);
/* Does a field begin as a tuple of XLA shapes? *used receives the bytes before it. */
bool request_is_tuple(tesela_request *q, const char *field, size_t *used);
/* Read a field of type TESELA_FIELD_ANY; layout may be NULL. */
tesela_status request_any(tesela_request *q, const char *field, tesela_any_layout *any,
                          tesela_layout *layout);
/* A list as an index of a shape: indices[i] or, with i < 0, the field index. */
tesela_status request_index(tesela_request *q, int32_t rank, const int64_t *shape, const tesela_value *list,
                            int64_t i, int64_t *index);
/* Read a field of type TESELA_FIELD_LAYOUT; layout may be NULL. */
tesela_status request_layout(tesela_request *q, const char *field, tesela_xla_shape *shape,
                             tesela_layout *layout);

#endif
