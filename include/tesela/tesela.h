/* SPDX-License-Identifier: Apache-2.0 */
/* tesela.h - the whole public interface. */
#ifndef TESELA_H
#define TESELA_H

#include <tesela/access.h>
#include <tesela/arena.h>
#include <tesela/base.h>
#include <tesela/cute.h>
#include <tesela/device.h>
#include <tesela/draw.h>
#include <tesela/file.h>
#include <tesela/graph.h>
#include <tesela/layout.h>
#include <tesela/linear.h>
#include <tesela/notation.h>
#include <tesela/ops.h>
#include <tesela/propagate.h>
#include <tesela/register.h>
#include <tesela/relayout.h>
#include <tesela/report.h>
#include <tesela/xla.h>

#endif
