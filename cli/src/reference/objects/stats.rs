//! The objects that `stats --json` prints.

use super::shared::{KIND, STATS};
use crate::reference::field::Type::{Int, List, Number, Object as Members, Text};
use crate::reference::field::{Object, has, may, part};

pub const OBJECTS: &[Object] = &[
    Object {
        verb: "stats",
        of: "all with events",
        kinds: &["slice"],
        shown_by: STATS,
        fields: &[
            KIND,
            &[
                has("name", Text, "what lasted"),
                has("count", Int, "how many have both ends"),
                may("rate", Number, "how many a second"),
                has("total_ns", Int, "how long they lasted in all"),
                may("min_ns", Int, "the shortest; null if none has both ends"),
                may("mean_ns", Int, "the mean"),
                may("p50_ns", Int, "the median, off by 1/64 at most"),
                may("p99_ns", Int, "what 99 of 100 do not exceed, off by 1/64 at most"),
                may("max_ns", Int, "the longest"),
                may("max_offset", Int, "where the longest begins"),
                has(
                    "open",
                    Int,
                    "how many have one end that is not known: they are not in the other numbers",
                ),
                has(
                    "histogram",
                    List,
                    "each with `from_ns`, a power of two, and `count`: up to the next power",
                ),
                part(
                    "against",
                    Members,
                    "with `--against`: the same of the other trace; null if it has none",
                ),
            ],
        ],
    },
    Object {
        verb: "stats",
        of: "all with events",
        kinds: &["track"],
        shown_by: STATS,
        fields: &[
            KIND,
            &[
                has("track", Text, "the track"),
                may("label", Text, "what else it is called"),
                has("busy_ns", Int, "how long a slice was on it"),
                may("share", Number, "the same as a part of the time that the trace took"),
                has(
                    "names",
                    List,
                    "each with `name`, `ns`, `share`: what was on it that lies in no other slice",
                ),
                part("against", Members, "with `--against`: the same of the other trace"),
            ],
        ],
    },
    Object {
        verb: "stats",
        of: "all with events",
        kinds: &["event"],
        shown_by: STATS,
        fields: &[
            KIND,
            &[
                has("name", Text, "the name of the events"),
                has("count", Int, "how many there are"),
                may("rate", Number, "how many a second"),
                part("against", Members, "with `--against`: the same of the other trace"),
            ],
        ],
    },
];
