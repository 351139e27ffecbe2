//! The lists of values in tokens.

use crate::rdf::contents::layout::values;

values! {
    /// The kind of a token.
    pub enum TokenKind: u8 {
        Timestamp = 0 "timestamp",
        ResourceUpdate = 1 "resource_update",
        Reserved = 2 "reserved",
        PageTableUpdate = 3 "page_table_update",
        UserData = 4 "userdata",
        Misc = 5 "misc",
        ResourceReference = 6 "resource_reference",
        ResourceBind = 7 "resource_bind",
        ProcessEvent = 8 "process_event",
        PageReference = 9 "page_reference",
        CpuMap = 10 "cpu_map",
        VirtualFree = 11 "virtual_free",
        VirtualAllocate = 12 "virtual_allocate",
        ResourceCreate = 13 "resource_create",
        TimeDelta = 14 "time_delta",
        ResourceDestroy = 15 "resource_destroy",
    }
}

values! {
    /// The type of a resource.
    pub enum ResourceType: u8 {
        Image = 0 "image",
        Buffer = 1 "buffer",
        GpuEvent = 2 "gpu_event",
        BorderColorPalette = 3 "border_color_palette",
        IndirectCommands = 4 "indirect_cmd_generator",
        MotionEstimator = 5 "motion_estimator",
        PerfExperiment = 6 "perf_experiment",
        QueryHeap = 7 "query_heap",
        VideoDecoder = 8 "video_decoder",
        VideoEncoder = 9 "video_encoder",
        Timestamp = 10 "timestamp",
        Heap = 11 "heap",
        Pipeline = 12 "pipeline",
        DescriptorHeap = 13 "descriptor_heap",
        DescriptorPool = 14 "descriptor_pool",
        CommandAllocator = 15 "cmd_allocator",
        Internal = 16 "misc_internal",
        WorkGraph = 17 "work_graph",
    }
}

values! {
    /// The software that made a resource or an allocation.
    pub enum Owner: u8 {
        Application = 0 "app",
        Pal = 1 "pal",
        ClientDriver = 2 "client_driver",
        Kernel = 3 "kmd",
    }
}

values! {
    /// The way a resource gets its memory.
    pub enum Commit: u8 {
        Committed = 0 "committed",
        Placed = 1 "placed",
        Virtual = 2 "virtual",
    }
}

values! {
    /// The size of a page.
    pub enum PageSize: u8 {
        Unmapped = 0 "unmapped",
        K4 = 1 "4K",
        K64 = 2 "64K",
        K256 = 3 "256K",
        M1 = 4 "1M",
        M2 = 5 "2M",
    }
}

values! {
    /// The kind of change to a page table.
    pub enum PageUpdate: u8 {
        Discard = 0 "discard",
        Update = 1 "update",
        Transfer = 2 "transfer",
    }
}

values! {
    /// The kind of change to a process.
    pub enum ProcessChange: u8 {
        Start = 0 "start",
        Stop = 1 "stop",
    }
}

values! {
    /// A heap that an allocation prefers.
    pub enum AllocationHeap: u8 {
        Local = 0 "local",
        Invisible = 1 "invisible",
        System = 2 "system",
        None = 3 "none",
    }
}

values! {
    /// An event without further facts.
    pub enum MiscEvent: u8 {
        SubmitGraphics = 0 "submit_gfx",
        SubmitCompute = 1 "submit_compute",
        SubmitCopy = 2 "submit_copy",
        Present = 3 "present",
        Invalidate = 4 "invalidate_ranges",
        Flush = 5 "flush_mapped_range",
        Trim = 6 "trim_memory",
        ProfileStart = 7 "profile_start",
        ProfileEnd = 8 "profile_end",
    }
}

values! {
    /// The kind of bytes in a `userdata` token.
    pub enum UserDataKind: u8 {
        Name = 0 "name",
        Snapshot = 1 "snapshot",
        Binary = 2 "binary",
        CallStack = 3 "call_stack",
        Correlation = 4 "correlation",
        Implicit = 5 "mark_implicit",
        NameV2 = 6 "name_v2",
        ImplicitV2 = 7 "mark_implicit_v2",
    }
}
