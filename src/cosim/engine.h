/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside a run (lockstep/cosim.h). An ls_cosim owns buffers on a device, and one form at a time: a
 * program that steps all instances, with the places of its values.
 *
 *   design.c    designs and their names; clocks.c: which inputs are clocks
 *   layout.c    places in the state that do not depend on the form; outputs, traces, pins
 *   table.c     the table-driven form: nodes sorted into runs; spread.c: an instance on several
 *               workgroups
 *   plan.c      the compiled form: blocks and places; emit_gated.c, emit_arms.c, emit_trees.c,
 *               emit_node.c: its text
 *   slicer.c    the compiled form for many instances: functions and places; emit_sliced.c: its text
 *   sections.c  the parts of the table that both forms use: clocks, writes, effects, reports
 *   prelude.c   the Kernel C around a form
 *   form.c      from text to a program with buffers; changing from one form to another
 *   cosim.c     create, destroy
 *   schedule.c  schedule, timed stimulus, watched events
 *   run.c       submissions; drain.c: what they report
 *   state.c     values, memories, save and restore
 *
 * State is one buffer of 64-bit slots, those of an instance one behind the other. The first
 * `common` slots are the same in every form (kernels/driver.kc); what follows belongs to the form.
 */
#ifndef LS_COSIM_ENGINE_H
#define LS_COSIM_ENGINE_H

#include <stddef.h>

#include "base/str.h"
#include "cosim/graph.h"
#include "cosim/peripheral.h"
#include "lockstep/cosim.h"
#include "lockstep/launch.h"

enum { LS__NO_SLOT = UINT32_MAX };

/* Nodes of the largest graph that is compiled unasked on a GPU. From lavapipe (Mesa 22.3, one core
 * of an AMD EPYC), processor seconds to the first edge with empty caches, compiled and
 * table-driven: 51 nodes 1.1 and 3.6, 67 nodes 2.0 and 3.9, 194 nodes 3.2 and 7.1, 229 nodes 11
 * and 4.2, 504 nodes 16 and 3.8, 508 nodes 44 and 5.7, 707 nodes 14 and 7.0; with warm caches both
 * 0.1 to 0.3. An edge took 5 to 190 times as long table-driven. So up to here nobody waits long for
 * what most runs gain from. GPUs were not measured. */
enum { LS__MOST_COMPILED_GPU = 250 };

/* Slots of kernels/driver.kc. */
enum {
    LS__SLOT_EDGE,
    LS__SLOT_STOP,
    LS__SLOT_DIGEST,
    LS__SLOT_EFFECT_COUNT,
    LS__SLOT_CHANGE_COUNT,
    LS__SLOT_OWN_NEXT,
    LS__SLOT_OWN_END,
    LS__SLOT_SHARED_NEXT,
    LS__SLOT_EVALUATED,
    LS__SLOT_COLD,
    LS__SLOT_WATCH_SOURCE,
    LS__SLOT_WATCH_KIND,
    LS__SLOT_WATCH_A,
    LS__SLOT_UNSETTLED,
    LS__SLOT_ACTIVE,
    LS__SLOT_ROUNDS,
    LS__SLOT_LOG_COUNT,
    LS__SLOT_PAUSED,
    LS__SLOT_TICKS,
    LS__CONTROL_SLOTS
};

/* Values of LS__SLOT_STOP. */
enum {
    LS__STOP_RUNNING,
    LS__STOP_WATCH,
    LS__STOP_ASSERT,
    LS__STOP_FINISH,
    LS__STOP_YIELD,
    LS__STOP_UNSETTLED
};

struct ls_design {
    ls__graph *graph;
    uint32_t *by_name; /* signals, sorted by name */
    _Atomic uint32_t references;
};

ls_status ls__design_from_graph(ls__graph *graph, ls_design **design, ls_error *error);
void ls__design_retain(ls_design *design);

/* Part of a reference to an input that lies in one INPUT node: value bits [right, ...) shifted by
 * `left` under `mask`. */
typedef struct ls__input_part {
    uint32_t input;
    uint64_t mask;
    uint8_t left, right;
} ls__input_part;
enum { LS__INPUT_PARTS = 64 };
/* Checks the reference; *count parts, at most LS__INPUT_PARTS. */
ls_status ls__input_parts(const ls__graph *graph, ls_signal_ref ref, ls__input_part *parts,
                          uint32_t *count, ls_error *error);
static inline uint64_t ls__input_value(const ls__input_part *part, uint64_t value)
{
    return value >> part->right << part->left & part->mask;
}

/* A part of a node that is looked at after each edge. */
typedef struct ls__observed {
    ls__node_id node;
    uint8_t lsb;
    uint64_t mask;
} ls__observed;

/* Where bits of a traced slot belong: bits [from, from + width) of it are bits [shift, ...) of
 * `traced_words` from `word` on, which are of traced signal `traced`. */
typedef struct ls__trace_target {
    uint32_t traced, word;
    uint8_t from, width, shift;
} ls__trace_target;

typedef struct ls__pin_drive {
    uint32_t pin;
    ls__input_part part;
} ls__pin_drive;

typedef struct ls__pin_piece {
    uint32_t pin;
    ls__node_id node;
    uint8_t lsb, position;
    uint64_t mask;
} ls__pin_piece;

/* Places in the state, and what is observed: the same for all forms. */
typedef struct ls__layout {
    uint32_t pins, pending, seen, triggered, input_dirty, outputs, effect_previous, loop_previous,
        inputs, common;
    uint32_t pin_count, loop_count, effect_previous_count, effect_reserve;
    ls__observed *observed; /* parts of outputs, in order of the ports */
    uint32_t observed_count;
    ls__pin_drive *drives;
    uint32_t drive_count;
    ls__pin_piece *pieces;
    uint32_t piece_count;
    uint32_t *effect_previous_at; /* by effect */
    uint64_t *memory_at;          /* by memory: place of word 0 */
    uint64_t memory_words;        /* of one instance */
    uint64_t memory_step;         /* words from those of one instance to those of the next */
    uint32_t *private_at;         /* by peripheral */
    uint32_t private_words;
    uint64_t *input_active; /* bit: a node reads this input */
} ls__layout;

/* Where a node's value is: bits [bit, bit + its width) of a slot. */
typedef struct ls__place {
    uint32_t slot; /* LS__NO_SLOT: kept nowhere */
    uint32_t bit;
} ls__place;

enum { LS__NO_STARTS = UINT32_MAX };

/* Slots with traced nodes in them; each with what its bits belong to. */
typedef struct ls__traces {
    uint32_t *slots;
    uint64_t *masks;
    uint32_t count;
    ls__trace_target *targets; /* of slot k: [first[k], first[k + 1]), ascending by `from` */
    uint32_t *first;
    /* Slots with many signals of a bit: those of bit b are [start[b], start[b + 1]) of the targets,
     * `start` being `starts` from starts_at[k] on; LS__NO_STARTS: it has others. */
    uint32_t *starts, *starts_at;
} ls__traces;

/* Places of the sections in the table. */
typedef struct ls__sections {
    uint32_t drives, domains, regs, writes, effects, outputs, traces, loops, inputs;
    uint32_t runs, runs_early, runs_end, nodes;
    uint32_t stretches, stretches_early, stretches_end; /* the latter are numbers of stretches */
} ls__sections;

typedef LS__VEC(uint32_t) ls__words;

/* One way to run the graph. */
typedef struct ls__form {
    ls_cosim_form kind;
    bool gated;
    ls__place *places; /* by node */
    ls__traces traces;
    uint32_t slot_count;          /* of one instance */
    bool sliced;                  /* a lane is a group of 64 instances, of which there are, with */
    uint32_t groups, slice_words; /* lanes without instances; behind all slots: words of a group */
    uint32_t node_base;           /* table: slot of the first record's result */
    uint32_t lanes;               /* of a workgroup */
    uint32_t workgroups;          /* table: of an instance */
    uint32_t spread_base;         /* table: slots of kernels/spread.kc */
    uint32_t edge_ticks;          /* table: of an edge that evaluates everything, about */
    uint32_t block_count;         /* gated */
    uint32_t edge_rounds;         /* rounds of loops that a lane makes at an edge, about */
    uint32_t *table;
    uint32_t table_words;
    ls__sections sections;
    char *text;
    size_t text_length;
    ls_program *program;
    const ls_kernel *kernel;
} ls__form;

enum { LS__RESUME_PAUSED = 2 };

/* Scalars of the kernel `run`. */
typedef struct ls__run_scalars {
    uint64_t until, period;
    uint32_t shared_end;
    uint32_t resume; /* 1: those that were stopped go on; LS__RESUME_PAUSED: only what was paused */
    uint64_t ticks;  /* of forms with several workgroups for an instance only */
} ls__run_scalars;

/* Timed operations that are not yet done, of an instance or of all. */
typedef struct ls__queue {
    uint64_t *words; /* edge, input, mask, value */
    uint64_t count, capacity;
    uint64_t uploaded; /* so many at the front are on the device */
    bool changed;
} ls__queue;

/* A form that is made on a thread of its own (background.c). */
typedef struct ls__form_job ls__form_job;

struct ls_cosim {
    ls_design *design;
    const ls__graph *graph;
    ls_device *device;
    uint32_t instances;
    ls_cosim_params params; /* pointers of it are not valid any more */
    ls__peripherals *peripherals;
    ls__layout layout;
    ls__form *form;
    ls_stream *stream;
    ls_prepared *prepared;
    ls_buffer *state, *memory, *schedule, *stimulus, *changes, *effects, *log, *private_memory,
        *image, *table, *control_buffer;
    uint64_t *control; /* LS__CONTROL_SLOTS of each instance, as downloaded last */
    bool ahead;        /* sliced: slots are older than the words of their groups */
    bool cold;         /* values of some instance do not follow from its state */
    bool seeded;       /* `traced` holds what the sink knows */
    bool now_stale;    /* values were changed by something other than a run */
    bool in_run;
    bool compile_later; /* when the run turns out to be long */
    /* schedule */
    uint32_t period;
    uint64_t *schedule_words; /* heads of all edges, then operations */
    uint64_t schedule_count, schedule_capacity;
    uint32_t *dirty_edges;
    uint32_t dirty_count;
    bool schedule_changed; /* all of it */
    ls__queue shared, *own;
    uint64_t shared_capacity, own_capacity; /* operations in the buffer */
    /* reports */
    uint64_t change_words, effect_words, log_records;
    uint64_t *rings[3]; /* as read last: changes, effects, log */
    uint64_t ring_words[3];
    uint32_t *trace;   /* numbers of the traced signals */
    uint64_t **traced; /* by traced signal: its value as reported last, in traced_words */
    uint64_t **now;    /* its value now */
    uint64_t *traced_words;
    uint64_t *trace_previous; /* by slot of form->traces, as on the device */
    uint32_t *marked;         /* traced signals that changed */
    uint64_t *marks;          /* a bit each */
    ls__form_job *job;        /* the form that comes, when one does */
    uint64_t chunk;           /* edges of the next submission */
    uint64_t ticks;           /* that 64 edges needed in the last one; 0: it is not known */
    bool loops_limited;       /* llvmpipe: docs/spirv.md */
    ls_cosim_counters counters;
    uint64_t edges_before; /* done in another form */
    bool dropped_told;     /* of events beyond what a peripheral may report */
    bool failed;           /* the run cannot go on */
};

ls_status ls__layout_create(ls_cosim *cosim, ls_error *error);
void ls__layout_destroy(ls__layout *layout);

/* Appends what both forms share; `slots` are those of the form. */
void ls__sections_write(const ls_cosim *cosim, ls__form *form, ls__words *table, ls__arena *arena);
/* The text in front of a form: numbers, driver.kc, peripherals. */
void ls__prelude_write(const ls_cosim *cosim, const ls__form *form, ls__strbuf *text);

/* Plans the form, fills in its places and table, and writes its text. */
typedef ls_status ls__form_builder(const ls_cosim *cosim, ls__form *form, ls__arena *arena,
                                   ls__strbuf *text, ls_error *error);
ls_status ls__form_build(const ls_cosim *cosim, ls_cosim_form kind, uint32_t lanes,
                         ls__form_builder *build, ls__form **form, ls_error *error);
ls_status ls__gated_create(const ls_cosim *cosim, ls__form **form, ls_error *error);
ls_status ls__sliced_create(const ls_cosim *cosim, ls__form **form, ls_error *error);
/* Whether it is the faster one. */
bool ls__sliced_suits(const ls_cosim *cosim);
/* The compiled form for this number of instances. */
ls_status ls__compiled_create(const ls_cosim *cosim, ls__form **form, ls_error *error);
ls_status ls__table_create(const ls_cosim *cosim, uint32_t lanes, ls__form **form, ls_error *error);

enum { LS__SPREAD_SLOTS = 3 }; /* of kernels/spread.kc, and one for each lane of a workgroup */

/* A level of the table-driven form. */
typedef struct ls__level {
    uint32_t nodes;
    uint32_t run; /* place of its first run */
    bool early;
} ls__level;
typedef LS__VEC(ls__level) ls__levels;
/* How many workgroups an instance gets. */
uint32_t ls__spread_workgroups(const ls_cosim *cosim, uint32_t lanes, const ls__levels *levels);
/* Whether workgroups share a level (or registers) of so many nodes. */
bool ls__spread_shares(const ls__form *form, uint32_t nodes);
/* Appends the stretches; fills in what the form says of them. */
void ls__spread_write(const ls_cosim *cosim, ls__form *form, const ls__levels *levels,
                      ls__words *table, ls__arena *arena);
/* Launches until no instance stands within an edge. */
typedef ls_status ls__launcher(ls_cosim *cosim, const ls__run_scalars *scalars, ls_error *error);
ls_status ls__spread_launch(ls_cosim *cosim, ls__run_scalars *scalars, ls__launcher *launch,
                            ls_error *error);

/* Begins to make the compiled form on a thread. */
ls_status ls__form_job_start(ls_cosim *cosim, ls_error *error);
/* The form when it is ready (then the caller owns it), or NULL. */
ls__form *ls__form_job_take(ls_cosim *cosim);
void ls__form_job_stop(ls_cosim *cosim); /* waits */
void ls__log(const ls_cosim *cosim, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Between submissions: begins to make the compiled form when the run is long, changes to it when it
 * is ready. */
ls_status ls__form_advance(ls_cosim *cosim, ls_error *error);
/* Compiles and installs the first form of a run. */
ls_status ls__form_choose(ls_cosim *cosim, ls_error *error);
/* Quick code. LS_E_CANCELLED when *given_up (may be NULL) is found true on the way. */
ls_status ls__form_compile(const ls_cosim *cosim, ls__form *form, const _Atomic bool *given_up,
                           ls_error *error);
/* Makes cosim->prepared when a buffer was replaced. */
ls_status ls__cosim_prepare(ls_cosim *cosim, ls_error *error);
ls_status ls__make_buffer(ls_cosim *cosim, uint64_t bytes, const char *label, ls_buffer **buffer,
                          ls_error *error);
void ls__form_destroy(ls__form **form);

ls_status ls__schedule_upload(ls_cosim *cosim, ls_error *error);
/* Brings the queues up to date on the device; *limit is lowered to the first edge that must not be
 * run yet. */
ls_status ls__stimulus_upload(ls_cosim *cosim, uint64_t *limit, ls_error *error);
ls_status ls__stimulus_create(ls_cosim *cosim, ls_error *error);
/* Drops what the queue of the instance alone holds. */
ls_status ls__queue_drop(ls_cosim *cosim, uint32_t instance, ls_error *error);

ls_status ls__drain(ls_cosim *cosim, ls_error *error);
/* Values of the state as they follow from registers and inputs. */
ls_status ls__cosim_settle(ls_cosim *cosim, ls_error *error);

/* Slots as they are, where the form keeps its values elsewhere. */
ls_status ls__cosim_fetch(ls_cosim *cosim, ls_error *error);

/* Before the first edge: what traced signals are counts as reported. */
ls_status ls__traced_seed(ls_cosim *cosim, ls_error *error);
/* Tells the device which values of traced slots have been reported: those in cosim->traced. */
ls_status ls__traced_upload(ls_cosim *cosim, ls_error *error);
/* Slots of the traced signals in a form with places. */
ls_status ls__traces_create(const ls_cosim *cosim, ls__form *form, ls_error *error);

/* Text of a Yosys format string with its arguments; appends. $time is the number of the edge. */
void ls__format_effect(const ls__graph *graph, const ls__graph_effect *effect, uint64_t edge,
                       const uint64_t *words, ls__strbuf *out);

static inline uint64_t ls__state_word(const ls_cosim *cosim, uint32_t slot, uint32_t instance)
{
    return (uint64_t)instance * cosim->form->slot_count + slot;
}
/* Instances that the buffer of the state has room for: compiled code masks their number. */
static inline uint32_t ls__state_instances(const ls_cosim *cosim, const ls__form *form)
{
    uint32_t count = 1;
    while (count < cosim->instances && form->kind != LS_COSIM_TABLE)
        count *= 2;
    return form->kind != LS_COSIM_TABLE ? count : cosim->instances;
}
/* Words of the state: the slots of all instances, then the words of groups. */
static inline uint64_t ls__state_words(const ls_cosim *cosim, const ls__form *form)
{
    uint64_t groups = 1;
    while (groups < form->groups)
        groups *= 2;
    return (uint64_t)form->slot_count * ls__state_instances(cosim, form) +
           (form->sliced ? groups * form->slice_words : 0);
}
/* Of the scalars, those that the kernel of the form has. */
static inline uint32_t ls__scalar_bytes(const ls__form *form)
{
    return form->workgroups > 1 ? sizeof(ls__run_scalars) : offsetof(ls__run_scalars, ticks);
}
/* Index in cosim->control. */
static inline uint64_t ls__control_word(uint32_t slot, uint32_t instance)
{
    return (uint64_t)instance * LS__CONTROL_SLOTS + slot;
}

#endif
