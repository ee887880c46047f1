/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - tensors in files: raw bytes, NumPy's .npy, .safetensors. List and map the tensors of a file; write tensors
 * to another file in other layouts.
 *
 *   tesela_file *file;
 *   tesela_file_info info;
 *   tesela_layout from, to;
 *   tesela_file_open(&file, "x.npy", NULL, &err);
 *   tesela_file_describe(file, &info);
 *   tesela_file_layout(&info.tensor[0], TESELA_DTYPE_NONE, &from, &err);       f32[1000,200] row-major
 *   tesela_file_item item = {.tensor = &info.tensor[0], .from = &from, .to = &to};
 *   tesela_file_write("x.tiled", TESELA_FILE_RAW, 1, &item, NULL, NULL, NULL, &err);
 *   tesela_file_close(file);
 *
 * Files are mapped, so data needs no memory. Any fault of a file is an error, with the byte if known; nothing outside
 * the file is read. Messages do not contain the file name: the caller knows it.
 *
 * Access to a mapped file raises SIGBUS if another process truncates it or its device fails. The library installs no
 * signal handlers; a program that must survive installs its own. The same applies to SIGPIPE and SIGXFSZ: if they are
 * ignored, the library returns an error.
 *
 * This header is independent of notations: a layout is a tesela_layout, and the layout text that a .safetensors keeps
 * for a tensor is passed on unchanged.
 */
#ifndef TESELA_FILE_H
#define TESELA_FILE_H

#include <tesela/relayout.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tesela_file_format {
  TESELA_FILE_RAW,         ///< bytes of one tensor, nothing else
  TESELA_FILE_NPY,         ///< one tensor with type, shape and order of dims (versions 1 to 3)
  TESELA_FILE_SAFETENSORS, ///< any number of tensors with names, and texts
} tesela_file_format;

/// The key under which the metadata of a .safetensors keeps the layout of a tensor, before its name.
#define TESELA_FILE_LAYOUT_KEY "tesela.layout."

/// A tensor as its file describes it. Texts and data live as long as the file is open.
typedef struct tesela_file_tensor {
  const char *name;   ///< "" in a raw or .npy file
  const char *type;   ///< as the file writes it: "BF16", "<f4"; "" in a raw file
  tesela_dtype dtype; ///< TESELA_DTYPE_NONE if the file has only a width ("|V2"), or not even that (raw)
  int32_t bits;       ///< of one element; 0: unknown
  int32_t rank;       ///< -1 in a raw file
  int64_t shape[TESELA_MAX_RANK];
  bool fortran;        ///< dim 0 varies fastest
  bool swapped;        ///< the byte order differs from this machine's
  const uint8_t *data; ///< NULL without data
  int64_t bytes;
  const char *
      layout; ///< its layout text in the metadata, or NULL. With a text, type and shape are those of its places
} tesela_file_tensor;

/// A text of a .safetensors.
typedef struct tesela_file_text {
  const char *key, *value;
} tesela_file_text;

/// An open file.
typedef struct tesela_file tesela_file;

/// The content of an open file; valid while the file is open.
typedef struct tesela_file_info {
  tesela_file_format format;
  const uint8_t *data; ///< the whole file, mapped; NULL if it is empty
  int64_t bytes;
  int64_t bytes_after; ///< of a .npy: bytes after the array, which are not read
  int64_t n_tensors;
  const tesela_file_tensor *tensor; ///< in the order of the file's header
  int64_t n_texts;
  const tesela_file_text *text; ///< of the metadata of a .safetensors, in its order
  int64_t reserved[4];          ///< 0: room to grow (base.h)
} tesela_file_info;

/// Options of reading. Zeros are the defaults.
typedef struct tesela_file_options {
  int64_t max_header;                ///< most bytes of memory for the header of a .safetensors; 0: 256 MiB
  const tesela_allocator *allocator; ///< NULL: malloc and free; must outlive the file
  int64_t reserved[4];               ///< 0: room to grow (base.h)
} tesela_file_options;

/// Open a file. Its first bytes determine the format; the content must match a name that ends in .npy or .safetensors.
/// "-" is standard input; a pipe is first copied to an unnamed file in the folder TMPDIR (default: /var/tmp), so that
/// memory stays bounded.
///
/// The header of a .safetensors is JSON, an object of objects, with unique names; data_offsets must be contiguous up to the end
/// of the file and fit type and shape; an unknown type is accepted (dtype NONE, bits 0).
///
/// @param file  receives the file; tesela_file_close frees it
/// @return TESELA_OK; TESELA_E_IO with reason TESELA_REASON_PATH if it cannot be opened, else if it cannot be read or mapped;
///         TESELA_E_SYNTAX for a header that cannot be read, err->at is the byte of the file; TESELA_E_INVALID for one that
///         contradicts itself or the size of the file; TESELA_E_UNSUPPORTED for elements that are not numbers;
///         TESELA_E_LIMIT for a header of more than 100,000,000 bytes (.npy: 1 MiB), one that takes more memory than
///         max_header; TESELA_E_OVERFLOW for sizes beyond int64; TESELA_E_MEMORY.
/// O(header). Any thread; an open file may be read by any number of threads.
TESELA_API tesela_status tesela_file_open(tesela_file **file, const char *path,
                                          const tesela_file_options *options, tesela_error *err);

/// The same for a file that is already in memory; the bytes must stay valid until it is closed.
TESELA_API tesela_status tesela_file_open_memory(tesela_file **file, const void *data, int64_t bytes,
                                                 const tesela_file_options *options, tesela_error *err);

/// NULL is allowed.
TESELA_API void tesela_file_close(tesela_file *file);

/// The content of the file. O(1).
TESELA_API void tesela_file_describe(const tesela_file *file, tesela_file_info *info);

/// The tensor with this name, or NULL. O(log tensors).
TESELA_API const tesela_file_tensor *tesela_file_find(const tesela_file *file, const char *name);

/// The layout of a tensor by its header (type, shape, order): row-major, or with `fortran` the reverse.
///
/// Example: a .npy of descr '|V2', shape (8, 128): with TESELA_BF16 it is bf16[8,128] row-major.
///
/// @param dtype  TESELA_DTYPE_NONE: the file's type; else a type with the width in the file
/// @return TESELA_OK; TESELA_E_INVALID for a raw file, which has no header, and for a tensor of unknown type;
///         TESELA_E_MISMATCH if the widths differ; TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_file_layout(const tesela_file_tensor *tensor, tesela_dtype dtype,
                                            tesela_layout *layout, tesela_error *err);

/// The name of a type of ordinary width in a format: "F32" in a .safetensors, "<f4" in a .npy ("<V2" if NumPy lacks the type,
/// as for TESELA_BF16), "" in a raw file. false, and "", if the format has no name for it.
TESELA_API bool tesela_file_type(tesela_file_format format, tesela_dtype dtype, char type[16]);

/* ==== Shards ==== */

/// A checkpoint in several .safetensors, from its index: the JSON object of model.safetensors.index.json, whose member weight_map has
/// the name of a file for each tensor.
typedef struct tesela_file_index tesela_file_index;

/// A file of a checkpoint. Its tensors are info.tensor[first] to info.tensor[first + n - 1].
typedef struct tesela_file_shard {
  const char *name; ///< of a file in the folder of the index; without a slash
  int64_t first, n;
} tesela_file_shard;

/// The content of an index; valid while it is open.
typedef struct tesela_file_index_info {
  int64_t n_shards;
  const tesela_file_shard *shard; ///< by name
  int64_t n_tensors;
  const char *const *tensor; ///< names, by shard, then by name
  int64_t reserved[4];       ///< 0: room to grow (base.h)
} tesela_file_index_info;

/// Read an index.
///
/// Example: {"weight_map": {"a": "m-1.safetensors", "b": "m-2.safetensors"}} has 2 shards with 1 tensor each.
///
/// @param index    receives the index; tesela_file_index_close frees it
/// @param path     as for tesela_file_open
/// @param options  max_header bounds the bytes of the index and its memory; NULL: the defaults
/// @return TESELA_OK; TESELA_E_IO as tesela_file_open; TESELA_E_SYNTAX for a text that is not JSON, err->at is the byte; TESELA_E_INVALID
///         for one without a weight_map, a tensor that is listed twice or named __metadata__, a file name that is empty, has a slash or leads to another
///         folder, NULL; TESELA_E_LIMIT beyond max_header; TESELA_E_MEMORY.
/// O(bytes * log tensors). Any thread; an open index may be read by any number of threads.
TESELA_API tesela_status tesela_file_index_open(tesela_file_index **index, const char *path,
                                                const tesela_file_options *options, tesela_error *err);

/// NULL is allowed.
TESELA_API void tesela_file_index_close(tesela_file_index *index);

/// The content of the index. O(1).
TESELA_API void tesela_file_index_describe(const tesela_file_index *index, tesela_file_index_info *info);

/// Does an open file hold exactly the tensors that the index lists for shard k?
///
/// @return TESELA_OK; TESELA_E_MISMATCH with the first tensor, by name, that the file lacks or that it has and the index lists for
///         another file or not at all; TESELA_E_RANGE for k; TESELA_E_INVALID for NULL. O(tensors * log tensors).
TESELA_API tesela_status tesela_file_index_check(const tesela_file_index *index, int64_t k,
                                                 const tesela_file *file, tesela_error *err);

/* ==== Writing ==== */

#define TESELA_FILE_PATH 4096 ///< bytes of the longest path that is written to, the NUL included
#define TESELA_FILE_PLAN 256  ///< bytes of a plan as one line

/// A tensor to be written.
typedef struct tesela_file_item {
  const char *name; ///< in a .safetensors; unique, and not __metadata__, which the format reserves
  const tesela_file_tensor *tensor; ///< of an open file
  const tesela_layout
      *from; ///< layout of its bytes; one axis. NULL: bytes, type, shape and layout text are copied unchanged
  const tesela_layout *to; ///< layout to write; one axis, with a type
  const char
      *layout; ///< `to` as text: kept in a .safetensors if the layout is not row-major, and used in errors
  uint8_t fill_value[16]; ///< for TESELA_FILL_VALUE: one element of `to`
} tesela_file_item;

/// Options of writing. Zeros are the defaults.
typedef struct tesela_file_write_options {
  /// Fill, transform, threads, isa. memory_bytes, if not 0, at least 1 MiB, bounds the buffers of a copy, of all threads together: the
  /// source is read and the output written in parts of up to 128 MiB. Layouts that cannot be cut into such parts (a swizzle, most joins),
  /// verify and resume work on mapped files, whose pages are released when they exceed half of it. Without a bound the source
  /// is mapped, and each thread has a buffer of about 1 MiB, up to 16 MiB. Files with swapped numbers are swapped during the copy; another
  /// transform is then refused. fill_value comes from each item.
  tesela_plan_options plan;
  /// The source file of the tensors, or NULL. Its texts are kept in a .safetensors, except the layouts of these items, and it is
  /// what memory_bytes reads in parts. Required for an item without `from`, unless the output is raw.
  const tesela_file *source;
  /// Called after each tensor and from time to time, with the bytes of the whole output; a nonzero result stops.
  tesela_progress *progress;
  void *progress_user;
  /// Called after all bytes are written and before the file gets its name; `written` and `bytes` are set. A nonzero result stops
  /// and removes the file. For work that must succeed before the file appears. May be NULL.
  int (*ready)(void *user);
  void *ready_user;
  /// NULL, or TESELA_FILE_PATH bytes that hold the name of an unfinished file while one exists, else "": a handler of a
  /// signal that ends the process should unlink it.
  char *unfinished;
  /// Refuse, with TESELA_E_UNSUPPORTED, a path that is there and not a regular file: a symbolic link, a folder, a pipe, a device,
  /// a descriptor such as "-". Only its last part is looked at: whoever allows a folder alone opens that folder step by step,
  /// and gives a path such as /dev/fd/7/x.npy.
  bool only_files;
  /// Continue what an earlier call with `resume` left when its process ended, however that was. The bytes are in a partial file beside
  /// the output, ".NAME.partial.tesela"; after them stands a record, whose first line is a digest of what the output should be (header, layouts,
  /// fill, version), followed by a line for each tensor that is on the disk: the digest of its bytes in the source. A tensor is copied
  /// unless its line, and all before it, are as they would be written now: a changed source is copied again from the first
  /// tensor that changed, another header, layout or fill begins anew, and so does a torn record from the line that is torn. Times
  /// and names of files do not matter. The file is synced at least every 64 MiB and 256 tensors. A failure leaves it, too. A lock keeps other
  /// processes out (TESELA_E_IO). Refused, with TESELA_E_UNSUPPORTED, for a path that is not a regular file.
  bool resume;
  /// Before the file gets its name it is synced and read back: the header, every element by the definition of both layouts, every
  /// place of padding. TESELA_E_MISMATCH with the first difference; then it does not get its name, and nothing of it is resumed. Copies that
  /// change bytes, by a transform or a swap, are refused with TESELA_E_UNSUPPORTED.
  bool verify;
  /// Write nothing: check all, make the plans, set `written` and `bytes`, call `ready`. With `verify` the file that has
  /// the name is verified: is it what would be written?
  bool dry_run;
  /// Leave the whole file under the name of its partial file, for tesela_file_publish or tesela_file_discard: for several files that
  /// appear together.
  bool hold;
  bool *differs;                     ///< set to true where `verify` finds a difference; may be NULL
  const tesela_allocator *allocator; ///< NULL: malloc and free
  int64_t reserved[4];               ///< 0: room to grow (base.h)
} tesela_file_write_options;

/// Facts about a written item.
typedef struct tesela_file_written {
  char type[16];               ///< as the file writes it, cut to fit: "F32", "<f4"; "" in a raw one
  int64_t offset, bytes;       ///< of its data in the file
  char plan[TESELA_FILE_PLAN]; ///< the plan of its copy, cut to fit; "" if copied unchanged
  bool resumed;                ///< an earlier process copied it
} tesela_file_written;

/// Write tensors into a file, each in another layout.
///
/// A raw file holds one tensor in any layout. A .npy holds one tensor without padding, row-major or column-major (types that
/// NumPy lacks are bytes of their width, "<V2"). A .safetensors holds any number: row-major tensors of its types directly,
/// any other tensor as the list of its places, with the layout text under TESELA_FILE_LAYOUT_KEY and its name. Its
/// header keeps the order of the items; data of wide types comes first, so that every tensor is aligned.
///
/// The write is atomic: the bytes go to an unnamed file in the same folder, which gets the name when it is complete and on
/// disk. An old file of that name stays until then, so it may be the source; its mode and, if allowed, its owner and group
/// are kept. Space for all bytes is reserved first, so a full disk is an error before the copy starts. A killed
/// process never leaves a partial file under the name. If it is killed between two system calls, or at any time on a file
/// system without unnamed files, it may leave a file with a temporary name in the folder (options->unfinished). "-",
/// /dev/stdout, /dev/fd/N and paths that are not regular files are written at the end, from an unnamed file.
///
/// @param written  receives n facts; may be NULL
/// @param bytes    receives the size of the file; may be NULL
/// @return TESELA_OK; TESELA_E_IO if the file cannot be written, with reason TESELA_REASON_PATH for its path;
///         TESELA_E_UNSUPPORTED for a layout that the format cannot hold, a path that only_files refuses, and as
///         tesela_plan_create;
///         TESELA_E_MISMATCH as there, and if the size of a tensor differs from `from`; TESELA_E_INVALID for a number of
///         items that the format cannot hold, a repeated or reserved name, or NULL; TESELA_E_LIMIT for a name too long for a layout key;
///         TESELA_E_STOPPED if progress or ready asked to stop, or the reader of a pipe is closed; TESELA_E_OVERFLOW; TESELA_E_MEMORY;
///         and those of options->resume and options->verify.
TESELA_API tesela_status tesela_file_write(const char *path, tesela_file_format format, int64_t n,
                                           const tesela_file_item *items,
                                           const tesela_file_write_options *options,
                                           tesela_file_written *written, int64_t *bytes, tesela_error *err);

/// Write the same index for files with other sizes: the text of the index, with another metadata.total_size if it has one. The file is
/// whole or not written at all, as with tesela_file_write.
///
/// @param total_bytes  of the data of all tensors
/// @param options      only_files, hold, unfinished and allocator count; NULL: the defaults
/// @param bytes        receives the size of the file, for tesela_file_publish; may be NULL
/// @return TESELA_OK; TESELA_E_IO and TESELA_E_UNSUPPORTED as tesela_file_write; TESELA_E_RANGE for total_bytes below 0;
///         TESELA_E_INVALID for NULL; TESELA_E_MEMORY. O(bytes). Any thread.
TESELA_API tesela_status tesela_file_index_write(const tesela_file_index *index, const char *path,
                                                 int64_t total_bytes,
                                                 const tesela_file_write_options *options, int64_t *bytes,
                                                 tesela_error *err);

/// Give a file that options->hold left its name, as tesela_file_write does at its end.
///
/// Example: after tesela_file_write("a", ...) with hold, "a" is as before and ".a.partial.tesela" has the bytes; now "a" has them.
///
/// @param path        that of tesela_file_write
/// @param bytes       its size, as tesela_file_write gave it
/// @param only_files  as in the options
/// @return TESELA_OK; TESELA_E_IO if the file is missing, is shorter, is written by another process, or cannot get the name;
///         TESELA_E_UNSUPPORTED for a path that only_files refuses; TESELA_E_RANGE for bytes below 0;
///         TESELA_E_INVALID for NULL; TESELA_E_MEMORY.
/// Any thread. Two syncs and a rename; no memory is allocated, so what is held by many calls is not cut short for want of it.
TESELA_API tesela_status tesela_file_publish(const char *path, int64_t bytes, bool only_files,
                                             tesela_error *err);

/// Remove such a file instead, or one that a process with options->resume left. Statuses as above.
TESELA_API tesela_status tesela_file_discard(const char *path, bool only_files, tesela_error *err);

#ifdef __cplusplus
}
#endif

#endif
