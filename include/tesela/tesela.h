/* SPDX-License-Identifier: Apache-2.0 */
/* tesela.h - the whole public interface. */
#ifndef TESELA_H
#define TESELA_H

#include <tesela/base.h>
#include <tesela/draw.h>
#include <tesela/dtype.h>
#include <tesela/layout.h>
#include <tesela/program.h>
#include <tesela/relayout.h>
#include <tesela/report.h>
#include <tesela/values.h>
#include <tesela/walk.h>
#include <tesela/xla.h>
#include <tesela/xla_bitcast.h>
#include <tesela/xla_interchange.h>

#endif
