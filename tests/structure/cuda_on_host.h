/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_on_host.h - run a kernel for one block of threads: on a GPU where nvcc compiles this, else on the host.
 *
 * On the host each thread of the block is a context of its own (ucontext), and they take turns: a thread runs until it has
 * to wait, at a shuffle for the lanes that the mask names, at a barrier for all. What is undefined on a GPU ends the
 * program: a lane that takes from one that the mask does not name, lanes that meet with different masks, a thread that
 * ends while others wait for it.
 *
 *   RUN(name, type, threads, src_bytes, dst_bytes)   name_kernel with src read from stdin; dst is written to stdout
 */
#ifndef CUDA_ON_HOST_H
#define CUDA_ON_HOST_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static void fault(const char *what, const char *name) {
  fprintf(stderr, "%s: %s\n", name, what);
  exit(3);
}

static void *read_bytes(size_t n, const char *name) {
  void *bytes = malloc(n);
  if (fread(bytes, 1, n, stdin) != n) fault("too little input", name);
  return bytes;
}

static void write_bytes(void *bytes, size_t n, const char *name) {
  if (fwrite(bytes, 1, n, stdout) != n) fault("cannot write", name);
  free(bytes);
}

#ifdef __CUDACC__

static void must(cudaError_t error, const char *name) {
  if (error != cudaSuccess) fault(cudaGetErrorString(error), name);
}

#define RUN(name, type, threads, src_bytes, dst_bytes)                             \
  do {                                                                             \
    void *in = read_bytes(src_bytes, #name), *out = malloc(dst_bytes), *src, *dst; \
    must(cudaMalloc(&src, src_bytes), #name);                                      \
    must(cudaMalloc(&dst, dst_bytes), #name);                                      \
    must(cudaMemcpy(src, in, src_bytes, cudaMemcpyHostToDevice), #name);           \
    must(cudaMemset(dst, 0xa5, dst_bytes), #name);                                 \
    name##_kernel<<<1, threads>>>((type *)dst, (const type *)src);                 \
    must(cudaDeviceSynchronize(), #name);                                          \
    must(cudaMemcpy(out, dst, dst_bytes, cudaMemcpyDeviceToHost), #name);          \
    write_bytes(out, dst_bytes, #name);                                            \
    cudaFree(src), cudaFree(dst), free(in);                                        \
  } while (0)

#else

#include <ucontext.h>

#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(n)

struct uint2 {
  uint32_t x, y;
};
struct uint4 {
  uint32_t x, y, z, w;
};
static inline uint2 make_uint2(uint32_t x, uint32_t y) { return {x, y}; }
static inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w) { return {x, y, z, w}; }

enum { BLOCK = 1024, STACK = 256 * 1024 };

static struct { unsigned x; } threadIdx;

/* A thread: its context, how many shuffles and barriers it has reached, what it offered in the last two shuffles. */
struct block_thread {
  ucontext_t context;
  char *stack;
  bool done;
  unsigned shuffles, barriers, mask[2];
  uint64_t offer[2];
};

static struct {
  ucontext_t scheduler;
  block_thread thread[BLOCK];
  unsigned threads;
  const char *name;
  void (*kernel)(void *, const void *);
  void *dst;
  const void *src;
} block;

static void wait_turn() {
  unsigned me = threadIdx.x;
  swapcontext(&block.thread[me].context, &block.scheduler);
}

static uint64_t shuffle(unsigned mask, uint64_t value, int from) {
  unsigned me = threadIdx.x, first = me / 32 * 32, turn = block.thread[me].shuffles++ & 1;
  block_thread *warp = &block.thread[first];
  block.thread[me].offer[turn] = value;
  block.thread[me].mask[turn] = mask;
  if (!(mask >> me % 32 & 1)) fault("a lane that its mask does not name", block.name);
  for (unsigned lane = 0; lane < 32; lane++) {
    if (!(mask >> lane & 1)) continue;
    if (first + lane >= block.threads) fault("a mask names a lane that is not there", block.name);
    while (warp[lane].shuffles < block.thread[me].shuffles) {
      if (warp[lane].done) fault("a lane ended before a shuffle", block.name);
      wait_turn();
    }
    if (warp[lane].mask[turn] != mask) fault("lanes meet with different masks", block.name);
  }
  unsigned other = (unsigned)from % 32;
  if (!(mask >> other & 1)) fault("a lane takes from one that does not take part", block.name);
  return warp[other].offer[turn];
}

static inline uint32_t __shfl_sync(unsigned mask, uint32_t value, int from) {
  return (uint32_t)shuffle(mask, value, from);
}
static inline uint64_t __shfl_sync(unsigned mask, uint64_t value, int from) {
  return shuffle(mask, value, from);
}

/* Byte i of the result is byte (s >> 4 * i & 7) of x, then y; with bit 3 it would be its sign, which no plan asks for. */
static inline uint32_t __byte_perm(uint32_t x, uint32_t y, uint32_t s) {
  uint64_t bytes = (uint64_t)y << 32 | x;
  uint32_t result = 0;
  for (int i = 0; i < 4; i++) {
    if (s >> 4 * i & 8) fault("a byte permute that asks for a sign", block.name);
    result |= (uint32_t)(bytes >> 8 * (s >> 4 * i & 7) & 0xff) << 8 * i;
  }
  return result;
}

static inline void __syncthreads() {
  unsigned me = threadIdx.x;
  block.thread[me].barriers++;
  for (unsigned t = 0; t < block.threads; t++)
    while (block.thread[t].barriers < block.thread[me].barriers) {
      if (block.thread[t].done) fault("a thread ended before a barrier", block.name);
      wait_turn();
    }
}

static void one_thread() {
  block.kernel(block.dst, block.src);
  block.thread[threadIdx.x].done = true;
  swapcontext(&block.thread[threadIdx.x].context, &block.scheduler);
}

static void run_block(const char *name, void (*kernel)(void *, const void *), unsigned threads,
                      size_t src_bytes, size_t dst_bytes) {
  block.name = name;
  block.kernel = kernel;
  block.threads = threads;
  block.src = read_bytes(src_bytes, name);
  block.dst = memset(malloc(dst_bytes), 0xa5, dst_bytes);
  for (unsigned t = 0; t < threads; t++) {
    char *stack = block.thread[t].stack ? block.thread[t].stack : (char *)malloc(STACK);
    block.thread[t] = block_thread();
    block.thread[t].stack = stack;
    getcontext(&block.thread[t].context);
    block.thread[t].context.uc_stack.ss_sp = stack;
    block.thread[t].context.uc_stack.ss_size = STACK;
    makecontext(&block.thread[t].context, one_thread, 0);
  }
  for (unsigned left = threads; left > 0;) {
    left = 0;
    for (unsigned t = 0; t < threads; t++) {
      if (block.thread[t].done) continue;
      threadIdx.x = t;
      swapcontext(&block.scheduler, &block.thread[t].context);
      left += !block.thread[t].done;
    }
  }
  write_bytes(block.dst, dst_bytes, name);
  free((void *)block.src);
}

#define RUN(name, type, threads, src_bytes, dst_bytes)                                                   \
  run_block(                                                                                             \
      #name, [](void *dst, const void *src) { name##_kernel((type *)dst, (const type *)src); }, threads, \
      src_bytes, dst_bytes)

#endif
#endif
