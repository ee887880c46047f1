/* SPDX-License-Identifier: Apache-2.0 */
/* tesela.h - the whole public interface. */
#ifndef TESELA_H
#define TESELA_H

#include <tesela/access.h>
#include <tesela/arena.h>
#include <tesela/base.h>
#include <tesela/codegen.h>
#include <tesela/device.h>
#include <tesela/device_text.h>
#include <tesela/device_view.h>
#include <tesela/dma.h>
#include <tesela/draw.h>
#include <tesela/draw_arena.h>
#include <tesela/draw_register.h>
#include <tesela/dtype.h>
#include <tesela/exchange.h>
#include <tesela/fragment.h>
#include <tesela/graph.h>
#include <tesela/graph_loops.h>
#include <tesela/graph_memory.h>
#include <tesela/graph_padding.h>
#include <tesela/graph_run.h>
#include <tesela/graph_text.h>
#include <tesela/infer.h>
#include <tesela/layout.h>
#include <tesela/program.h>
#include <tesela/propagate.h>
#include <tesela/register.h>
#include <tesela/register_text.h>
#include <tesela/relayout.h>
#include <tesela/report.h>
#include <tesela/target.h>
#include <tesela/tile_memory.h>
#include <tesela/transfer.h>
#include <tesela/values.h>
#include <tesela/walk.h>
#include <tesela/xla.h>
#include <tesela/xla_bitcast.h>
#include <tesela/xla_interchange.h>

#endif
