/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codegen.h - plans and layouts as source code.
 */
#ifndef TESELA_CODEGEN_H
#define TESELA_CODEGEN_H

#include <tesela/exchange.h>

#ifdef __cplusplus
extern "C" {
#endif

/// CUDA C++ of a conversion between register layouts, compilable by itself:
///
///   __device__ void NAME(T (&dst)[N], const T (&src)[M], void *shared);     the conversion
///   __global__ void NAME_kernel(T *dst, const T *src);                      loads src, converts, stores dst
///
/// T is an unsigned integer of the element's width (8, 16, 32 or 64 bits). The kernel's src and dst are as
/// tesela_exchange_run has them, so that the two can be compared bit by bit; one block of the plan's threads, in
/// threadIdx.x. `shared` is NULL or shared_bytes of the plan's facts, aligned to 16; no thread may still read it when NAME
/// begins, and all threads of the block call NAME together. Registers are indexed by constants only.
///
/// @param name  a C identifier of up to 100 characters
/// @return TESELA_OK; TESELA_E_INVALID for a name that is none; TESELA_E_UNSUPPORTED for other widths, a warp that is not
///         32, and more than 1024 threads; TESELA_E_STOPPED.
TESELA_API tesela_status tesela_codegen_exchange_cuda(const tesela_exchange *plan, const char *name,
                                                      const tesela_writer *to, tesela_error *err);

/// C of a register layout, compilable by itself, div and mod by constants only; `__host__ __device__` under CUDA:
///
///   int64_t NAME_thread(const int64_t *index, int64_t copy)             as tesela_register_get_spatial
///   int64_t NAME_local(const int64_t *index)                            as tesela_register_get_local
///   void NAME_index(int64_t thread, int64_t local, int64_t *index)      as tesela_register_get_global
///
/// They check nothing. @return TESELA_OK; TESELA_E_INVALID for a name that is no C identifier of up to 100 characters;
/// TESELA_E_STOPPED.
TESELA_API tesela_status tesela_codegen_register_c(const tesela_register *layout, const char *name,
                                                   const tesela_writer *to, tesela_error *err);

#ifdef __cplusplus
}
#endif
#endif
