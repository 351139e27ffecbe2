//! The hooks of embassy's executor.

/// Defines the functions that embassy-executor 0.10 calls with its feature `trace`: each records an event.
///
/// The argument is a [`Shared`](crate::Shared) recorder in a `static`. Its trace has these events, which are in scope
/// where the macro is used; `traceglass` makes slices of them.
///
/// ```text
/// event PollStart as "poll_start" { executor_id: u32 }
/// event ExecutorIdle as "executor_idle" { executor_id: u32 }
/// event TaskNew as "task_new" { executor_id: u32, task_id: u32 }
/// event TaskEnd as "task_end" { executor_id: u32, task_id: u32 }
/// event TaskReadyBegin as "task_ready_begin" { executor_id: u32, task_id: u32 }
/// event TaskExecBegin as "task_exec_begin" { executor_id: u32, task_id: u32 }
/// event TaskExecEnd as "task_exec_end" { executor_id: u32, task_id: u32 }
/// ```
///
/// An event that is lost is counted by the recorder.
#[macro_export]
macro_rules! embassy_hooks {
    ($recorder:path) => {
        $crate::embassy_hooks! { $recorder;
            _embassy_trace_poll_start PollStart(executor_id)
            _embassy_trace_executor_idle ExecutorIdle(executor_id)
            _embassy_trace_task_new TaskNew(executor_id, task_id)
            _embassy_trace_task_end TaskEnd(executor_id, task_id)
            _embassy_trace_task_ready_begin TaskReadyBegin(executor_id, task_id)
            _embassy_trace_task_exec_begin TaskExecBegin(executor_id, task_id)
            _embassy_trace_task_exec_end TaskExecEnd(executor_id, task_id)
        }
    };
    ($recorder:path; $($hook:ident $event:ident($($id:ident),*))*) => {$(
        // SAFETY: the executor declares it with this signature, and nothing else has the name.
        #[unsafe(no_mangle)]
        fn $hook($($id: u32),*) {
            let _ = $recorder.record(&$event { $($id),* });
        }
    )*};
}
