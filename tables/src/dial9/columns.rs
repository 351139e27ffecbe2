//! The tables of a recording's own, and their columns: polls, tasks, wakes, samples, spans.

use crate::events::OWN;
use crate::table::{self, Table};

pub(super) const POLLS: usize = OWN;
pub(super) const TASKS: usize = OWN + 1;
pub(super) const WAKES: usize = OWN + 2;
pub(super) const SAMPLES: usize = OWN + 3;
pub(super) const SPANS: usize = OWN + 4;

/// The columns that each of the tables begins with; those of what lasts have an end, too.
fn front(lasts: bool) -> Vec<arrow_schema::Field> {
    let mut columns =
        vec![table::name("file"), table::id("offset"), table::ns("time_ns"), table::moment("time")];
    if lasts {
        columns.extend([table::ns("end_time_ns"), table::moment("end_time"), table::ns("duration_ns")]);
    }
    columns
}

/// The tables.
pub(crate) fn tables() -> Vec<Table> {
    let of = |name: &str, lasts, own: Vec<arrow_schema::Field>| {
        Table::new(name, front(lasts).into_iter().chain(own).collect())
    };
    vec![
        of(
            "polls",
            true,
            vec![
                table::id("worker"),
                table::id("task"),
                table::name("spawn_loc"),
                table::id("local_queue"),
                table::id("wakes"),
                table::ns("wake_to_poll_ns"),
            ],
        ),
        of(
            "tasks",
            true,
            vec![
                table::id("task"),
                table::name("spawn_loc"),
                table::truth("instrumented"),
                table::id("worker"),
                table::id("wakes"),
                table::id("polls"),
                table::ns("spawn_to_poll_ns"),
                table::ns("poll_ns"),
                table::ns("longest_poll_ns"),
                table::ns("waits_since_ns"),
            ],
        ),
        of(
            "wakes",
            false,
            vec![
                table::id("worker"),
                table::id("waker_task"),
                table::id("task"),
                table::name("spawn_loc"),
                table::ns("poll_time_ns"),
                table::id("poll_worker"),
                table::ns("wake_to_poll_ns"),
            ],
        ),
        of(
            "samples",
            false,
            vec![
                table::name("kind"),
                table::name("source"),
                table::id("worker"),
                table::id("task"),
                table::name("spawn_loc"),
                table::id("thread"),
                table::name("thread_name"),
                table::id("cpu"),
                table::id("size"),
                table::names("stack"),
            ],
        ),
        of(
            "spans",
            true,
            vec![
                table::name("name"),
                table::name("callsite"),
                table::id("span"),
                table::id("parent"),
                table::id("task"),
                table::text("fields"),
            ],
        ),
    ]
}
