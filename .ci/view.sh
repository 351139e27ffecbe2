#!/usr/bin/env bash
# Sessions of `traceglass view` in a terminal: keys in, screen out. The five walkthroughs of cli/VIEW.md, and what only a
# terminal shows: that it is given back, whatever ends the viewer.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/embedded.sh
need_packages tmux

. .ci/command.sh
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
export PATH=$target/debug:$PATH
scratch=$(mktemp -d)
# A server of its own, so that no session of anybody else is touched.
export TMUX= TERM=xterm-256color
socket=$scratch/tmux
trap 'tmux -S "$socket" kill-server 2>/dev/null || true; rm -rf "$scratch"' EXIT
count=0

tm() { tmux -S "$socket" "$@"; }

# It stays when a session ends: the next one would else meet it while it goes.
tm -f /dev/null start-server \; set-option -s exit-empty off

screen() { tm capture-pane -p -t view; }

# Opens a terminal with the viewer in it.
view() { # WIDTHxHEIGHT ARGUMENTS…
    local size=$1
    shift
    tm kill-session -t view 2>/dev/null || true
    tm new-session -d -s view -x "${size%x*}" -y "${size#*x}" \
        "cd '$PWD'; PATH='$PATH'; traceglass view $*; echo \"exit \$?\"; stty -a | grep -o -- '-\?icanon'; sleep 1000"
}

# Waits until the screen has a line that matches.
sees() { # REGEX
    local try
    for try in $(seq 200); do
        if screen | grep -q -- "$1"; then
            count=$((count + 1))
            return
        fi
        sleep 0.1
    done
    echo "the screen has no line with: $1" >&2
    screen >&2
    return 1
}

# Presses keys, as tmux calls them.
keys() { tm send-keys -t view -- "$@"; }

# Types text.
types() { tm send-keys -t view -l -- "$1"; }

# Where the cursor is, by the line below the panes.
offset() { screen | tail -n 1 | grep -o '^0x[0-9a-f]*'; }

leaves() {
    keys q
    sees "^exit 0"
    sees "^icanon"
    shows_cursor
}

# The terminal was told to show its cursor (`\e[?25h`) after it was last told to hide it (`\e[?25l`).
shows_cursor() {
    [ "$(tm display-message -p -t view '#{cursor_flag}')" = 1 ] || { echo "the cursor is hidden" >&2; return 1; }
}

ends() { echo "-- $1: ${SECONDS}s"; SECONDS=0; }

# A firmware engineer, with a file some of which was overwritten: what happened just before?
cp examples/data/sample.rtc "$scratch/damaged.rtc"
head -c 512 /dev/zero | tr '\0' '\377' |
    dd of="$scratch/damaged.rtc" bs=1 seek=$((0x2000)) conv=notrunc status=none
view 120x36 "$scratch/damaged.rtc"
sees "═ records ═"
keys '!'
sees "findings: [1-9][0-9]* error"
sees "error  "
keys Enter
sees "^0x[12][0-9a-f]*"
sees "═ bytes ═"
keys b
sees "(lost)"
before=$(offset)
keys k
for try in $(seq 50); do [ "$(offset)" != "$before" ] && break; sleep 0.1; done
[ $(($(offset))) -lt $((before)) ]
sees "═ records ═"
leaves
ends "damaged RTC file"

# A recording of a tokio service, too large to be read first: what happened before the last drop?
"$target/debug/examples/write_large" rfr 64000000 "$scratch/service.rfr"
view 120x36 "$scratch/service.rfr"
sees "file 3 of"
types ':+1ms'
keys Enter
sees "TaskPoll"
keys p
sees "sequence"
keys p
keys i
sees "^task_id="
keys Escape
keys m j j m
sees "mark 1 to 2: +"
keys m
types '&TaskPollEnd'
keys Enter
sees 'records with "TaskPollEnd"'
sees "TaskPollEnd  "
keys Escape
sees "═ records ═"
leaves
view 120x36 examples/data/sample.rfr
sees "file 3 of 4"
types '/read config'
keys Enter
sees "chunk-41-5"
keys p
sees "▾ 2026-11/21-01/chunk-41-5"
sees "read config"
leaves
ends "tokio service"

# A trace of LTTng's kind: what happened before the battery was low?
view 120x36 examples/data/sample.ctf
sees "file 2 of 2"
types '&battery'
keys Enter
sees "battery"
keys j
keys Escape
sees "timeline: "
leaves
ends "CTF trace"

if [ -n "${TRACEGLASS_VECTORS:-}" ]; then
    dump=$(find "$TRACEGLASS_VECTORS/rdf/real" -name '*crash_dump.rgd' | head -1)
    [ -n "$dump" ]
    # What the document says, in its order: filters find records, and times can be gone to.
    recipes=$(sed -n '/^### A crash dump/,/^## /p' cli/VIEW.md | grep -o '`[&:][^`]*`' | tr -d '`')
    [ "$(wc -l <<<"$recipes")" -ge 4 ]
    view 140x40 "$dump"
    sees "═ records ═"
    while read -r recipe; do
        keys Escape
        types "$recipe"
        keys Enter
        case $recipe in
        \&*) sees "  ${recipe#&}\|info=${recipe#&}" ;;
        *) sees "934\.152" ;;
        esac
    done <<<"$recipes"
    leaves
    ends "real crash dump"
    trace=$(find "$TRACEGLASS_VECTORS/ctf2-streams/lttng" -name metadata -printf '%h\n' | head -1)
    [ -n "$trace" ]
    view 140x40 "$trace"
    sees "═ records ═"
    keys p
    sees "metadata"
    sees "packet 0"
    leaves
    ends "real LTTng trace"
    # A kernel trace: processors, threads and calls as lanes, with the names of what lasted.
    view 140x40 "$TRACEGLASS_VECTORS/states/lttng-kernel/trace"
    sees "^CPU 0 interrupts .*░"
    sees "^CPU 0  .*█"
    sees "^thread 101  .*█R"
    sees "^thread 101 syscalls .*█r"
    types '&irq_handler_entry'
    keys Enter
    sees 'records with "irq_handler_entry"'
    sees "irq_handler_entry  irq=44"
    keys j
    keys Escape
    sees "irq_handler_exit  irq=44"
    # Closer, until an interrupt has its name.
    for _ in $(seq 10); do keys w; done
    sees "^CPU 0 interrupts .*█irq 44 eth0"
    leaves
    ends "kernel trace"
fi

# A file that grows is followed, and one that is cut is an error and no signal.
cp examples/data/stream.rfr "$scratch/grows.rfr"
head -c 100 examples/data/stream.rfr >"$scratch/grows.rfr"
view 100x30 "$scratch/grows.rfr"
sees "100 bytes"
keys F
sees "following"
tail -c +101 examples/data/stream.rfr >>"$scratch/grows.rfr"
sees "190 bytes"
: >"$scratch/grows.rfr"
sees "the file is empty"
sees "^exit 1"
sees "^icanon"
shows_cursor

# Cut while it is mapped, between two looks at its size: at worst a message.
head -c 4000000 /dev/zero >"$scratch/zeros"
cat examples/data/stream.rfr "$scratch/zeros" >"$scratch/cut.rfr"
view 100x30 "$scratch/cut.rfr"
sees "4,000,190 bytes"
keys G
: >"$scratch/cut.rfr"
keys k k k
# What the viewer did not read any more, the terminal shows where the cursor is.
sees "^k*exit 1"
sees "^k*icanon"
sees "shorter\|is empty"

# Whatever ends it, the terminal is as it was.
view 100x30 examples/data/sample.rtc
sees "═ records ═"
# The shell of the pane, the viewer: one process.
kill -TERM "$(pgrep -P "$(tm display-message -p -t view '#{pane_pid}')" -x traceglass)"
sees "^exit 143"
sees "^icanon"
shows_cursor

# Sizes change; the smallest is drawn, too.
view 100x30 examples/data/sample.rtc
sees "═ records ═"
for size in "20 5" "1 1" "60 20" "132 43"; do
    tm resize-window -t view -x "${size% *}" -y "${size#* }"
    sleep 0.3
done
sees "═ records ═"
leaves

# Help on the smallest usual terminal, to its last line.
view 80x24 examples/data/sample.rtc
sees "═ records ═"
keys '?'
sees "^ q  *quit$"
! screen | sed 1,2d | grep -q "…"
keys x
leaves

# Without a terminal it says so.
said=$(traceglass view examples/data/sample.rtc </dev/null 2>&1 | cat) || true
grep -q "needs a terminal" <<<"$said"

[ "$count" -ge 30 ]
echo "$count screens were as expected"
