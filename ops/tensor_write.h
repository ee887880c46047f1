/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_write.h - tensors of one file written in other layouts into another: what the ops relayout, pack and unpack share.
 * tesela_file_write does it.
 *
 *   tensor_job job;
 *   tesela_status status = tensor_job_begin(q, NULL, &job);
 *   ... tensor_job_keep or tensor_job_add for each tensor of the output ...
 *   if (status == TESELA_OK) status = tensor_job_write(&job);
 *   return tensor_job_end(&job, status);
 */
#ifndef TESELA_OPS_TENSOR_WRITE_H
#define TESELA_OPS_TENSOR_WRITE_H

#include <tesela/relayout.h>

#include "request.h"
#include "tensor.h"

/* A tensor that gets another layout; zeros for one that stays as it is. */
typedef struct tensor_made {
  tesela_layout from, to;
  char *from_text, *to_text;
} tensor_made;

/* What is said about all tensors at the end. */
typedef struct tensor_tally {
  int64_t n, n_made, n_resumed; /* all of the output, in another layout, by an earlier process */
  int64_t data_bytes;           /* of all tensors */
  bool verify, resume, dry_run; /* the fields */
  bool differs; /* with verify and dry_run: a file is not what it should be, which is said in a note */
} tensor_tally;

typedef struct tensor_job {
  tesela_request *q;
  tensor_reading r;
  tensor_says says; /* about the input: the fields from, dtype and tensor */
  tensor_file in;
  request_path path; /* of the output */
  const char *name;  /* of it, for messages */
  tesela_file_format format;
  tesela_file_write_options options;
  int64_t n; /* of the output */
  tensor_made *made;
  tesela_file_item *item;
  tesela_file_written *written;
  int64_t bytes;
  int64_t n_made;      /* tensors in another layout */
  bool silent;         /* nothing is put */
  bool no_input;       /* of a failure: the input cannot be opened */
  tensor_tally *tally; /* of pack: put after the tensors of a single file; NULL: not */
} tensor_job;

/* Read the fields file, output, format, threads, isa, memory, from, dtype and tensor, and open the input. `only`: the format of the
 * output, whatever its name; NULL: by its name and the field format. The job must stay where it is, and be ended in any case. */
tesela_status tensor_job_begin(tesela_request *q, const tesela_file_format *only, tensor_job *job);

/* A tensor of the output: bytes, type and layout in the metadata stay. */
void tensor_job_keep(tensor_job *job, const tesela_file_tensor *entry);

/* A tensor of the output in another layout, padding filled by the field fill. `what` gave the layout, for messages: "to". */
tesela_status tensor_job_add(tensor_job *job, const tensor *from, const problem_side *to, const char *what);

/* The same with other paths than those of the fields. */
tesela_status tensor_job_begin_at(tesela_request *q, const tesela_value *file, const tesela_value *output,
                                  const tesela_file_format *only, tensor_job *job);

/* Is a tensor recorded in another layout than unpack gives it? One that is row-major stays recorded where the file has no type for
 * it. */
bool tensor_is_packed(const tesela_file_tensor *entry);

/* Write, and put the answer. The answer is complete before the file gets its name. With job->tally the counts are added to it. */
tesela_status tensor_job_write(tensor_job *job);
void tensor_put_tally(tesela_sink *out, const tensor_tally *tally);

/* Close and free; the fields of a failure agree with it. Returns status. A job that has ended may be ended again, successfully. */
tesela_status tensor_job_end(tensor_job *job, tesela_status status);

/* Has a file's name one of these endings? The list ends with NULL. */
bool tensor_name_ends(const char *name, const char *const *endings);
extern const char *const tensor_foreign_names[]; /* formats that are not written here: ".npz" */

#endif
