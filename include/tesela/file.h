/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - tensors in files: raw bytes, NumPy's .npy, .safetensors. Read what a file holds, and write tensors of one file in
 * other layouts into another.
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
 * Files are mapped, so that no memory is taken for data. Whatever a file holds, what is wrong with it is an error with the
 * byte of the file where that is known; nothing outside the file is ever read. Messages do not name the file: the caller
 * knows its name.
 *
 * A mapped file that another process makes shorter, or whose device fails, raises SIGBUS where it is touched. The library
 * installs no signal handlers; a program that must live on installs its own. Likewise SIGPIPE and SIGXFSZ are the
 * program's: where they are ignored, the library sees an error.
 *
 * This header knows no notation: a layout is a tesela_layout, and the text that .safetensors keeps beside a tensor is passed
 * on as it is.
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
  const char *name; ///< "" in a raw or .npy file
  const char *type; ///< as the file writes it: "BF16", "<f4"; "" in a raw file
  tesela_dtype
      dtype; ///< TESELA_DTYPE_NONE where the file says no more than a width ("|V2"), or not even that (raw)
  int32_t bits; ///< of one element; 0: not known
  int32_t rank; ///< -1 in a raw file
  int64_t shape[TESELA_MAX_RANK];
  bool fortran;        ///< dim 0 varies fastest
  bool swapped;        ///< the bytes of each number are in the other order than this machine's
  const uint8_t *data; ///< NULL if there is none
  int64_t bytes;
  const char *
      layout; ///< the text that the metadata keeps for it; NULL: none. Then type and shape are those of its places
} tesela_file_tensor;

/// A text of a .safetensors.
typedef struct tesela_file_text {
  const char *key, *value;
} tesela_file_text;

/// An open file.
typedef struct tesela_file tesela_file;

/// What an open file holds. All of it lives as long as the file is open.
typedef struct tesela_file_info {
  tesela_file_format format;
  const uint8_t *data; ///< the whole file, mapped; NULL if it is empty
  int64_t bytes;
  int64_t bytes_after; ///< of a .npy: bytes after the array, which are not read
  int64_t n_tensors;
  const tesela_file_tensor *tensor; ///< in the order of the file's header
  int64_t n_texts;
  const tesela_file_text *text; ///< of the metadata of a .safetensors, in its order
} tesela_file_info;

/// How to read. Zeros are the defaults.
typedef struct tesela_file_options {
  int64_t max_header;                ///< most bytes of memory for the header of a .safetensors; 0: 256 MiB
  const tesela_allocator *allocator; ///< NULL: malloc and free; must outlive the file
} tesela_file_options;

/// Open a file. The format is found from the first bytes, not from the name; a name that ends in .npy or .safetensors must
/// keep its promise. "-" is standard input; a pipe is first written to a file without a name in the folder that TMPDIR
/// names (/var/tmp), so that memory stays bounded.
///
/// The header of a .safetensors is JSON: an object of objects; names are unique; data_offsets follow each other without gaps
/// or overlap to the end of the file and fit type and shape; a type that is not known is fine (dtype NONE, bits 0).
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

/// The same for the bytes of a file that are in memory already, which must stay there until it is closed.
TESELA_API tesela_status tesela_file_open_memory(tesela_file **file, const void *data, int64_t bytes,
                                                 const tesela_file_options *options, tesela_error *err);

/// NULL is fine.
TESELA_API void tesela_file_close(tesela_file *file);

/// What the file holds. O(1).
TESELA_API void tesela_file_describe(const tesela_file *file, tesela_file_info *info);

/// The tensor of a name; NULL if there is none. O(log tensors).
TESELA_API const tesela_file_tensor *tesela_file_find(const tesela_file *file, const char *name);

/// The layout that type, shape and order of a tensor's header say: row-major, or with `fortran` the reverse.
///
/// Example: a .npy of descr '|V2', shape (8, 128): with TESELA_BF16 it is bf16[8,128] row-major.
///
/// @param dtype  TESELA_DTYPE_NONE: the file's; else a type of the width that the file gives
/// @return TESELA_OK; TESELA_E_INVALID for a raw file, which says nothing, and for a tensor whose type neither says;
///         TESELA_E_MISMATCH if the widths differ; TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_file_layout(const tesela_file_tensor *tensor, tesela_dtype dtype,
                                            tesela_layout *layout, tesela_error *err);

/// What a format calls the elements of a type that have their ordinary width: "F32" in a .safetensors, "<f4" in a .npy, "<V2"
/// there where NumPy has no such type (TESELA_BF16), "" in a raw file. false, and "", if it has no name for them.
TESELA_API bool tesela_file_type(tesela_file_format format, tesela_dtype dtype, char type[16]);

/* ==== Writing ==== */

#define TESELA_FILE_PATH 4096 ///< bytes of the longest path that is written to, the NUL included
#define TESELA_FILE_PLAN 256  ///< bytes of a plan as one line

/// A tensor to be written.
typedef struct tesela_file_item {
  const char *name;                 ///< in a .safetensors; unique
  const tesela_file_tensor *tensor; ///< of an open file
  const tesela_layout
      *from; ///< what its bytes are; one axis. NULL: bytes, type, shape and kept text go over as they are
  const tesela_layout *to; ///< what becomes of them; one axis, with a type
  const char *
      layout; ///< `to` as text: what a .safetensors keeps of a layout that is not row-major; names it in errors
  uint8_t fill_value[16]; ///< for TESELA_FILL_VALUE: one element of `to`
} tesela_file_item;

/// How to write. Zeros are the defaults.
typedef struct tesela_file_write_options {
  /// Fill, transform, threads, isa. memory_bytes, if not 0, also bounds the pages of both files that are in memory: when
  /// they pass half of it they are let go (1 MiB or more). A file with swapped numbers is swapped on the way; a transform
  /// besides is refused. fill_value is each item's own.
  tesela_plan_options plan;
  /// The file that the tensors are of, or NULL: its texts are kept in a .safetensors, but for the layouts of these items, and
  /// its pages are let go as memory_bytes says. Needed for an item without `from`, unless the output is raw.
  const tesela_file *source;
  tesela_progress
      *progress; ///< called now and then with the bytes of the whole output; stops if it returns other than 0
  void *progress_user;
  /// Called when all is written and before the file gets its name; `written` and `bytes` are set. Any value but 0 stops, and
  /// nothing is left: for what must not fail once the file is there. NULL: nothing is called.
  int (*ready)(void *user);
  void *ready_user;
  /// NULL, or TESELA_FILE_PATH bytes that hold the name of an unfinished file while there is one, else "": what a handler
  /// of a signal that ends the process unlinks.
  char *unfinished;
  const tesela_allocator *allocator; ///< NULL: malloc and free
} tesela_file_write_options;

/// What became of an item.
typedef struct tesela_file_written {
  char type[16];               ///< as the file writes it, cut to fit: "F32", "<f4"; "" in a raw one
  int64_t offset, bytes;       ///< of its data in the file
  char plan[TESELA_FILE_PLAN]; ///< how it was copied, cut to fit; "" for one that is as it was
} tesela_file_written;

/// Write tensors into a file, each in another layout.
///
/// A raw file takes one tensor in any layout; a .npy one without padding, in the order of its dims or the reverse (types that
/// NumPy lacks as bytes of their width, "<V2"); a .safetensors any number: one that is row-major and of a type of that
/// format as such, any other as the list of its places, with its text under TESELA_FILE_LAYOUT_KEY and its name. In a
/// .safetensors the header keeps the order of the items; data of wide types comes first, so that every tensor is aligned.
///
/// The file is there whole or not at all: the bytes go to a file without a name in the same folder, which takes the name when
/// it is whole and on the disk. What was there before stays until then, so it may be the file that is read; its mode and, as
/// far as allowed, its owner and group go over. Room for all bytes is reserved first, so a full disk is an error before
/// anything is copied. A process that is killed leaves nothing half under the name; killed between two system calls it may
/// leave the whole file under a name of its own beside it, and so from the beginning where the file system has no files
/// without names (options->unfinished). "-", /dev/stdout, /dev/fd/N and paths that are not regular files are written at the
/// end, from a file without a name.
///
/// @param written  n of them, or NULL
/// @param bytes    receives the size of the file; may be NULL
/// @return TESELA_OK; TESELA_E_IO if the file cannot be written, with reason TESELA_REASON_PATH for its path;
///         TESELA_E_UNSUPPORTED for a layout that the format does not hold, and as tesela_plan_create;
///         TESELA_E_MISMATCH as there, and if a tensor has not the bytes of `from`; TESELA_E_INVALID for a number of items
///         that the format does not hold, a name that stands twice, or NULL; TESELA_E_LIMIT for a name that is too long to keep a
///         layout; TESELA_E_STOPPED if progress or ready asked to stop, or nobody reads on; TESELA_E_OVERFLOW; TESELA_E_MEMORY.
TESELA_API tesela_status tesela_file_write(const char *path, tesela_file_format format, int64_t n,
                                           const tesela_file_item *items,
                                           const tesela_file_write_options *options,
                                           tesela_file_written *written, int64_t *bytes, tesela_error *err);

#ifdef __cplusplus
}
#endif

#endif
