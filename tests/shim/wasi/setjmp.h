/* SPDX-License-Identifier: Apache-2.0 */
/* setjmp.h - WebAssembly has none; cmocka's users include it, the cmocka.h beside needs nothing of it. */
