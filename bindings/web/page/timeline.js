// The timeline: tracks on a canvas, what is selected beside it.

import { lowerBound } from "./columns.js";
import { byId, el, facts, grouped, moment, offset, parsed, refill, span } from "./parts.js";

const GUTTER = 210, RULER = 26, ROW = 18, INSTANTS = 14, COUNTER = 38, GAP = 5, TICK = 110;
const MARK_NAMES = ["event", "gap", "loss"];
const EDGES = ["across_loss", "backwards", "begin_lost", "end_lost", "end_missing", "open_end", "open_start", "edge_unknown"];
const FLOWS_MAX = 400;

export const KEYS = "wheel, + and − zoom · drag, ← and → pan · ↑ ↓ scroll · , and . select · f to the selection · 0 all · shift+drag or m measure · n N search";

export class Timeline {
  constructor(columns, { hasOneFile, onOffset, onRecords, onChange, fieldsOf }) {
    Object.assign(this, { columns, hasOneFile, onOffset, onRecords, onChange, fieldsOf });
    this.from = columns.meta.first;
    this.to = columns.meta.first + columns.span * 1.02;
    this.top = 0;
    this.selected = null;
    this.range = null;
    this.found = null;
    this.frames = 0;
    this.lay();
    this.canvas = el("canvas", { tabIndex: 0, role: "application", "aria-label": `Timeline. Keys: ${KEYS}` });
    this.box = el("div", { class: "canvas-box" }, this.canvas);
    this.side = el("aside", { class: "side", "aria-label": "Selection" });
    this.search = el("input", { type: "search", placeholder: "Search names", "aria-label": "Search names" });
    this.count = el("span", { class: "dim", role: "status" });
    this.live = el("span", { class: "dim", role: "status", "aria-live": "polite" });
    this.root = el("section", { class: "column" },
      el("div", { class: "bar" }, this.search,
        el("button", { onclick: () => this.step(-1), "aria-label": "Previous match" }, "‹"),
        el("button", { onclick: () => this.step(1), "aria-label": "Next match" }, "›"), this.count,
        el("span", { class: "grow" }),
        el("button", { onclick: () => this.zoom(0.5), "aria-label": "Zoom in" }, "+"),
        el("button", { onclick: () => this.zoom(2), "aria-label": "Zoom out" }, "−"),
        el("button", { onclick: () => this.all() }, "All"), this.live),
      el("div", { class: "split" }, this.box, this.side));
    this.tellSelected();
    this.listen();
  }

  // Where each track lies: a counter, instants, then a row for each depth.
  lay() {
    const { meta, rows, marks, counters } = this.columns;
    const depths = new Map(), parents = new Set(meta.tracks.map((track) => track.parent));
    for (const row of rows) (depths.get(row.track) ?? depths.set(row.track, []).get(row.track)).push(row);
    this.lanes = [];
    let y = 0;
    for (const track of ordered(meta.tracks)) {
      const slices = depths.get(track), instants = marks.get(track), counter = counters.get(track);
      if (!slices && !instants && !counter && !parents.has(track)) continue;
      const lane = { track, y, slices: [], level: level(meta.tracks, track) };
      if (counter) (lane.counter = { ...counter, y }), (y += COUNTER);
      if (instants) (lane.instants = { ...instants, y }), (y += INSTANTS);
      for (const row of slices ?? []) lane.slices.push({ ...row, y: y + row.depth * ROW });
      if (slices) y += (slices.reduce((most, row) => Math.max(most, row.depth), 0) + 1) * ROW;
      if (y === lane.y) y += ROW;
      lane.height = y - lane.y;
      y += GAP;
      this.lanes.push(lane);
    }
    this.height = y;
  }

  name(number) { return this.columns.meta.names[number] ?? ""; }

  width() { return Math.max(50, this.canvas.clientWidth - GUTTER); }

  x(time) { return GUTTER + ((time - this.from) / (this.to - this.from)) * this.width(); }

  time(x) { return this.from + ((x - GUTTER) / this.width()) * (this.to - this.from); }

  redraw() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      if (this.canvas.isConnected) this.draw();
    });
  }

  move(from, to) {
    const { meta } = this.columns, most = this.columns.span * 3;
    // Far from the origin, floats do not tell times apart that are near each other.
    const least = Math.max(10, Math.max(Math.abs(meta.first), Math.abs(meta.last)) * 2 ** -45);
    const length = Math.max(least, Math.min(most, to - from));
    const middle = Math.min(meta.last + length / 2, Math.max(meta.first - length / 2, (from + to) / 2));
    this.from = middle - length / 2;
    this.to = middle + length / 2;
    this.redraw();
    this.onChange();
  }

  zoom(factor, at = (this.from + this.to) / 2) {
    this.move(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }

  pan(share) {
    const by = (this.to - this.from) * share;
    this.move(this.from + by, this.to + by);
  }

  scroll(by) {
    const most = Math.max(0, this.height - (this.canvas.clientHeight - RULER));
    this.top = Math.min(most, Math.max(0, this.top + by));
    this.redraw();
  }

  all() {
    this.move(this.columns.meta.first - this.columns.span * 0.01, this.columns.meta.last + this.columns.span * 0.01);
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const bounds = canvas.getBoundingClientRect(), x = event.clientX - bounds.left;
      if (x < GUTTER || event.altKey) this.scroll(event.deltaY);
      else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan((event.deltaX || event.deltaY) / 800);
      else this.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), this.time(x));
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.drag = { x: event.offsetX, y: event.offsetY, from: this.from, to: this.to, top: this.top, moved: false, measures: event.shiftKey };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!this.drag) return;
      const { drag } = this, dx = event.offsetX - drag.x, dy = event.offsetY - drag.y;
      drag.moved ||= Math.abs(dx) + Math.abs(dy) > 3;
      if (!drag.moved) return;
      if (drag.measures) {
        this.measure(this.time(drag.x), this.time(event.offsetX));
      } else {
        const by = (dx / this.width()) * (drag.to - drag.from);
        this.move(drag.from - by, drag.to - by);
        this.top = drag.top;
        this.scroll(-dy);
      }
    });
    canvas.addEventListener("pointerup", (event) => {
      if (this.drag && !this.drag.moved) this.pick(event.offsetX, event.offsetY);
      this.drag = null;
    });
    canvas.addEventListener("dblclick", () => this.toSelected());
    canvas.addEventListener("keydown", (event) => this.key(event));
    this.search.addEventListener("input", () => this.find(this.search.value));
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
    });
    new ResizeObserver(() => this.redraw()).observe(this.box);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = {
      ArrowLeft: () => this.pan(-0.15), a: () => this.pan(-0.15), ArrowRight: () => this.pan(0.15), d: () => this.pan(0.15),
      "+": () => this.zoom(0.7), "=": () => this.zoom(0.7), w: () => this.zoom(0.7), "-": () => this.zoom(1.4), s: () => this.zoom(1.4),
      ArrowUp: () => this.scroll(-ROW * 2), ArrowDown: () => this.scroll(ROW * 2),
      PageUp: () => this.scroll(-this.canvas.clientHeight / 2), PageDown: () => this.scroll(this.canvas.clientHeight / 2),
      0: () => this.all(), f: () => this.toSelected(), ".": () => this.next(1), ",": () => this.next(-1),
      n: () => this.step(1), N: () => this.step(-1), "/": () => this.search.focus(),
      m: () => this.mark(), Escape: () => { this.range = null; this.select(null); },
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  // What lies at a place of the canvas.
  pick(x, y) {
    if (x < GUTTER || y < RULER) return;
    const time = this.time(x), near = ((this.to - this.from) / this.width()) * 4, at = y - RULER + this.top;
    for (const lane of this.lanes) {
      for (const row of lane.slices) {
        if (at < row.y || at >= row.y + ROW) continue;
        const slice = this.columns.sliceAt(row, time, near);
        return this.select(slice < 0 ? null : { slice });
      }
      if (lane.instants && at >= lane.instants.y && at < lane.instants.y + INSTANTS) {
        const mark = this.columns.instantAt(lane.instants, time, near);
        return this.select(mark < 0 ? null : { mark });
      }
    }
    this.select(null);
  }

  select(what) {
    this.selected = what;
    this.tellSelected();
    this.redraw();
    this.onChange();
  }

  // What is selected, in words and values.
  about(what = this.selected) {
    if (!what) return null;
    const { columns } = this, { meta } = columns, isSlice = what.slice !== undefined;
    const at = isSlice ? what.slice : what.mark, front = isSlice ? "slice" : "mark";
    const begin = columns[`${front}_begin`][at], end = isSlice ? columns.slice_end[at] : begin;
    const track = isSlice ? columns.rowOf(at).track : columns.trackOfMark(at);
    const flags = columns[`${front}_flags`][at];
    return {
      isSlice, begin, end, track, name: this.name(columns[`${front}_name`][at]), offset: columns[`${front}_offset`][at],
      label: meta.tracks[track].label, depth: isSlice ? columns.rowOf(at).depth : null,
      kind: isSlice ? "slice" : MARK_NAMES[flags], flags: isSlice ? EDGES.filter((_, bit) => flags & (1 << bit)) : [],
      args: columns.argsAt(columns[`${front}_args`][at]),
    };
  }

  tellSelected() {
    const about = this.about(), { meta } = this.columns;
    if (!about) {
      const counts = [[this.columns.slices, "slices"], [this.columns.mark_begin.length, "events"], [this.columns.value.length, "values of counters"], [this.columns.flow_from.length, "flows"]];
      refill(this.side,
        el("h2", {}, "Timeline"),
        facts([["tracks", grouped(this.lanes.length)], ...counts.map(([count, name]) => [name, grouped(count)]),
          ["from", moment(meta.origin, meta.absolute, meta.first)], ["to", moment(meta.origin, meta.absolute, meta.last)], ["lasts", span(meta.last - meta.first)]]),
        el("p", { class: "dim" }, KEYS),
        meta.untimed ? el("p", { class: "warn" }, `${grouped(meta.untimed)} have no time, and no place here: the records have them.`) : null,
        meta.otherwise ? el("p", { class: "warn" }, `${grouped(meta.otherwise)} are of a clock that counts from elsewhere, and have no place here: the records have them.`) : null);
      this.live.textContent = "";
      return;
    }
    const values = [["track", about.label], ["kind", about.kind], ["time", moment(meta.origin, meta.absolute, about.begin)], ["since begin", span(about.begin - meta.first, 6)]];
    if (about.isSlice) values.push(["lasts", lasts(about)], ["depth", about.depth]);
    if (about.flags.length) values.push(["flags", about.flags.join(" ")]);
    if (this.hasOneFile) values.push(["offset", el("button", { class: "link", onclick: () => this.onOffset(about.offset) }, offset(about.offset))]);
    const fields = el("div", {});
    refill(this.side, el("h2", {}, about.name), facts(values),
      el("p", {}, el("button", { onclick: () => this.onRecords(about.begin) }, "The records from here on")), fields);
    this.tellFields(about, fields);
    this.live.textContent = `${about.kind} ${about.name} on ${about.label}, at ${span(about.begin - meta.first, 6)}${about.isSlice ? `, lasts ${lasts(about)}` : ""}`;
  }

  // The fields of what is selected: those that came with the timeline, or else those of its record.
  async tellFields(about, side) {
    let fields = about.args ? Object.entries(parsed(about.args)) : [];
    if (!about.args && this.columns.meta.args_cut) {
      refill(side, el("p", { class: "dim" }, "reading its fields…"));
      // The offset is that of the event that begins it, if there is one.
      const at = about.flags.some((flag) => flag === "open_start" || flag === "begin_lost") ? about.end : about.begin;
      fields = await this.fieldsOf(at, about.offset).catch(() => []);
    }
    refill(side, ...(fields.length ? [el("h2", {}, "Fields"), facts(fields)] : []));
  }

  toSelected() {
    const about = this.about();
    if (!about) return;
    const length = Math.max(about.end - about.begin, (this.to - this.from) / 1e4, 20);
    this.move(about.begin - length * 0.6, about.end + length * 0.6);
    this.show(about);
  }

  // Brings the selection onto the screen.
  show(about) {
    const lane = this.lanes.find((one) => one.track === about.track);
    const y = about.isSlice ? lane.slices.find((row) => row.depth === about.depth).y : lane.y;
    const height = this.canvas.clientHeight - RULER;
    if (y < this.top || y + ROW > this.top + height) (this.top = 0), this.scroll(y - height / 3);
    const length = this.to - this.from;
    if (about.end < this.from || about.begin > this.to) this.move(about.begin - length / 2, about.begin + length / 2);
  }

  // The next slice of the row, or the next instant of the track; without a selection the first that is seen.
  next(by) {
    const { selected, columns } = this;
    if (!selected) {
      const row = this.lanes.flatMap((lane) => lane.slices)[0];
      if (row) this.select({ slice: Math.min(row.to - 1, lowerBound(columns.slice_begin, this.from, row.from, row.to)) });
      else if (columns.mark_begin.length) this.select({ mark: 0 });
    } else if (selected.slice !== undefined) {
      const row = columns.rowOf(selected.slice);
      this.select({ slice: Math.min(row.to - 1, Math.max(row.from, selected.slice + by)) });
    } else {
      const { from, to } = columns.marks.get(columns.trackOfMark(selected.mark));
      this.select({ mark: Math.min(to - 1, Math.max(from, selected.mark + by)) });
    }
    if (this.selected) this.show(this.about());
  }

  find(text) {
    this.found = text ? this.columns.names(text) : null;
    const { columns, found } = this;
    let count = 0;
    if (found) {
      for (const names of [columns.slice_name, columns.mark_name]) for (const name of names) count += found[name];
    }
    this.count.textContent = text ? `${grouped(count)} found` : "";
    this.redraw();
    this.onChange();
  }

  // The next match: slices by track, then instants.
  step(by) {
    const { found, columns } = this;
    if (!found) return;
    const slices = columns.slice_name, marks = columns.mark_name, all = slices.length + marks.length;
    const start = !this.selected ? (by > 0 ? -1 : all) : this.selected.slice ?? slices.length + this.selected.mark;
    for (let tried = 1, at = start + by; tried <= all; tried++, at += by) {
      at = (at + all) % all;
      if (!found[at < slices.length ? slices[at] : marks[at - slices.length]]) continue;
      this.select(at < slices.length ? { slice: at } : { mark: at - slices.length });
      return this.show(this.about());
    }
  }

  measure(a, b) {
    this.range = [Math.min(a, b), Math.max(a, b)];
    this.live.textContent = `range of ${span(this.range[1] - this.range[0], 6)}`;
    this.redraw();
    this.onChange();
  }

  // Measures the selection, or what is seen.
  mark() {
    const about = this.about();
    this.measure(about ? about.begin : this.from, about ? about.end : this.to);
  }

  colors() {
    const style = getComputedStyle(this.box), value = (name) => style.getPropertyValue(name).trim();
    const dark = document.documentElement.dataset.theme === "dark" ||
      (document.documentElement.dataset.theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
    return { dark, back: value("--back"), panel: value("--panel"), line: value("--line"), text: value("--text"), dim: value("--dim"), accent: value("--accent"), bad: value("--bad"), warn: value("--warn"), mono: value("--mono") };
  }

  // The colour of a name: the same in each trace.
  hue(number) {
    this.hues ??= new Int16Array(this.columns.meta.names.length).fill(-1);
    if (this.hues[number] < 0) {
      let hash = 2166136261;
      for (const char of this.name(number)) hash = Math.imul(hash ^ char.codePointAt(0), 16777619);
      this.hues[number] = ((hash >>> 0) % 24) * 15;
    }
    return this.hues[number];
  }

  draw() {
    const { canvas, columns } = this, started = performance.now();
    const ratio = devicePixelRatio || 1, full = canvas.clientWidth, height = canvas.clientHeight, width = this.width();
    if (canvas.width !== Math.round(full * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(full * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const color = this.colors(), pen = canvas.getContext("2d");
    // What is narrow is stronger, or it would not be seen.
    const fill = (number, found, narrow) => {
      const faded = this.found && !found, light = color.dark ? (narrow ? 66 : 38) : narrow ? 48 : 74;
      return `hsl(${this.hue(number)} ${faded ? 8 : 45}% ${faded ? (color.dark ? 26 : 86) : light}%)`;
    };
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = color.back;
    pen.fillRect(0, 0, full, height);
    pen.textBaseline = "middle";
    pen.save();
    pen.beginPath();
    pen.rect(0, RULER, full, height - RULER);
    pen.clip();
    let steps = 0;
    for (const lane of this.lanes) {
      const top = lane.y - this.top + RULER;
      if (top + lane.height < RULER || top > height) continue;
      steps += this.drawLane(pen, lane, top - lane.y, width, height, color, fill);
      pen.strokeStyle = color.line;
      pen.globalAlpha = 0.6;
      pen.strokeRect(-1, Math.round(top - GAP / 2) - 0.5, full + 2, 0);
      pen.globalAlpha = 1;
    }
    this.drawFlows(pen, color);
    this.drawRange(pen, color, height);
    for (const lane of this.lanes) this.drawLabel(pen, lane, color, height);
    pen.restore();
    this.drawRuler(pen, color, full, width);
    if (!this.lanes.length) {
      pen.fillStyle = color.dim;
      pen.font = "14px system-ui, sans-serif";
      pen.fillText("Nothing of it has a time", GUTTER + 20, RULER + 40);
    }
    this.frames++;
    this.drawn = { steps, ms: performance.now() - started };
  }

  drawLane(pen, lane, shift, width, height, color, fill) {
    const { columns } = this, names = columns.slice_name;
    let steps = 0;
    pen.font = `11px ${color.mono}`;
    for (const row of lane.slices) {
      const y = row.y + shift;
      if (y + ROW < RULER || y > height) continue;
      steps += columns.visit(row, this.from, this.to, width, (slice, x0, x1) => {
        const left = Math.max(0, x0), right = Math.min(width, x1), name = names[slice];
        pen.fillStyle = fill(name, this.found?.[name], right - left < 4);
        pen.fillRect(GUTTER + left, y, Math.max(1, right - left - 0.5), ROW - 1);
        if (right - left > 28) {
          pen.fillStyle = color.text;
          pen.fillText(fitted(this.name(name), right - left - 8, 6.7), GUTTER + left + 4, y + ROW / 2);
        }
        if (this.selected?.slice === slice) outline(pen, GUTTER + left, y, right - left, ROW - 1, color.text);
      }, (slice, pixel, count) => {
        if (pixel < 0 || pixel > width) return;
        pen.fillStyle = fill(names[slice], this.found?.[names[slice]], true);
        pen.globalAlpha = count > 1 ? 1 : 0.8;
        pen.fillRect(GUTTER + pixel, y, 1, ROW - 1);
        pen.globalAlpha = 1;
        if (this.selected?.slice >= slice && this.selected.slice < slice + count) outline(pen, GUTTER + pixel - 1, y, 3, ROW - 1, color.text);
      });
    }
    if (lane.instants) {
      const y = lane.instants.y + shift + 2;
      columns.instants(lane.instants, this.from, this.to, width, (mark, pixel, count) => {
        const kind = columns.mark_flags[mark], name = columns.mark_name[mark];
        pen.fillStyle = kind === 1 ? color.bad : kind === 2 ? color.warn : fill(name, this.found?.[name], true);
        const wide = kind ? 3 : count > 1 ? 1 : 2;
        pen.fillRect(GUTTER + pixel, y, wide, INSTANTS - 4);
        const { selected } = this;
        if (selected?.mark >= mark && selected.mark < mark + count) outline(pen, GUTTER + pixel - 1, y - 1, 4, INSTANTS - 2, color.text);
      });
    }
    if (lane.counter) this.drawCounter(pen, lane.counter, lane.counter.y + shift, width, color);
    return steps;
  }

  // A line through the values; of a pixel with several, from the least to the greatest.
  drawCounter(pen, counter, y, width, color) {
    const { columns } = this, times = columns.value_time, length = this.to - this.from;
    const scale = (COUNTER - 6) / Math.max(1e-300, counter.most - counter.least);
    const level = (value) => y + COUNTER - 3 - (counter.most > counter.least ? (value - counter.least) * scale : (COUNTER - 6) / 2);
    pen.strokeStyle = color.accent;
    pen.fillStyle = color.accent;
    pen.beginPath();
    let at = Math.max(counter.from, lowerBound(times, this.from, counter.from, counter.to) - 1);
    let is_begun = false;
    while (at < counter.to && times[at] < this.to) {
      const x = Math.floor(((times[at] - this.from) / length) * width);
      const next = Math.max(at + 1, lowerBound(times, this.from + ((x + 1) / width) * length, at, counter.to));
      const [low, high] = columns.extremes(counter, at, next);
      const px = GUTTER + Math.max(0, x) + 0.5;
      if (Number.isFinite(low)) {
        if (is_begun) pen.lineTo(px, level(columns.value[at]));
        else pen.moveTo(px, level(columns.value[at]));
        if (next > at + 1) {
          pen.lineTo(px, level(low));
          pen.lineTo(px, level(high));
        }
        pen.lineTo(px, level(columns.value[next - 1]));
        is_begun = true;
        const after = next < counter.to ? Math.min(this.to, times[next]) : Math.min(this.to, columns.meta.last);
        const end = GUTTER + Math.min(width, ((after - this.from) / length) * width);
        if (end > px) pen.lineTo(end, level(columns.value[next - 1]));
      }
      at = next;
    }
    pen.stroke();
  }

  // Arrows of what is selected; of all, if they are few.
  drawFlows(pen, color) {
    const { columns } = this, about = this.about();
    const { flow_from: from, flow_from_track: fromTrack, flow_to: to, flow_to_track: toTrack } = columns;
    const first = lowerBound(from, this.from - columns.span, 0, from.length), last = lowerBound(from, this.to, 0, from.length);
    const touches = (flow) => about &&
      ((fromTrack[flow] === about.track && from[flow] >= about.begin && from[flow] <= about.end) ||
       (toTrack[flow] === about.track && to[flow] >= about.begin && to[flow] <= about.end));
    const areFew = last - first <= FLOWS_MAX;
    if (!areFew && !about) return;
    const places = (this.places ??= new Map(this.lanes.map((lane) => [lane.track, lane])));
    pen.lineWidth = 1;
    // Of very many, those near the selection.
    const begin = areFew ? first : lowerBound(from, about.begin - (this.to - this.from), 0, from.length);
    for (let flow = begin, tried = 0; flow < last && tried < 20_000; flow++, tried++) {
      const selected = touches(flow);
      if (!areFew && !selected) continue;
      const a = places.get(fromTrack[flow]), b = places.get(toTrack[flow]);
      if (!a || !b || to[flow] < this.from) continue;
      const [x0, x1] = [this.x(from[flow]), this.x(to[flow])];
      const [y0, y1] = [a, b].map((lane) => lane.y - this.top + RULER + lane.height / 2);
      pen.strokeStyle = selected ? color.text : color.dim;
      pen.globalAlpha = selected ? 1 : 0.35;
      pen.beginPath();
      pen.moveTo(x0, y0);
      pen.bezierCurveTo(x0 + 14, y0, x1 - 14, y1, x1, y1);
      pen.lineTo(x1 - 4, y1 - 3);
      pen.moveTo(x1, y1);
      pen.lineTo(x1 - 4, y1 + 3);
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  drawRange(pen, color, height) {
    if (!this.range) return;
    const [a, b] = this.range.map((time) => Math.max(GUTTER, this.x(time)));
    pen.fillStyle = color.accent;
    pen.globalAlpha = 0.14;
    pen.fillRect(a, RULER, b - a, height);
    pen.globalAlpha = 1;
    pen.fillRect(a, RULER, 1, height);
    pen.fillRect(b, RULER, 1, height);
    pen.font = `12px ${color.mono}`;
    const text = span(this.range[1] - this.range[0], 3);
    pen.fillText(text, Math.max(GUTTER + 4, (a + b) / 2 - text.length * 3.6), RULER + 10);
  }

  drawLabel(pen, lane, color, height) {
    const y = lane.y - this.top + RULER;
    if (y + lane.height < 0 || y > height) return;
    const track = this.columns.meta.tracks[lane.track];
    pen.fillStyle = color.panel;
    pen.fillRect(0, y - GAP / 2, GUTTER - 1, lane.height + GAP);
    pen.fillStyle = color.line;
    pen.fillRect(GUTTER - 1, y - GAP / 2, 1, lane.height + GAP);
    pen.fillRect(0, y + lane.height + GAP / 2 - 1, GUTTER, 1);
    pen.font = "12px system-ui, sans-serif";
    pen.fillStyle = color.text;
    const indent = 10 + lane.level * 12, text = track.alias ? `${track.label} (${track.alias})` : track.label;
    pen.fillText(fitted(text || track.kind, GUTTER - indent - 8, 6.6), indent, y + Math.min(lane.height, ROW) / 2);
    if (lane.counter) {
      pen.fillStyle = color.dim;
      pen.font = `10px ${color.mono}`;
      const { least, most } = lane.counter, unit = track.unit ? ` ${track.unit}` : "";
      pen.fillText(`${short(least)} … ${short(most)}${unit}`, indent, y + 26);
    }
  }

  drawRuler(pen, color, full, width) {
    pen.fillStyle = color.panel;
    pen.fillRect(0, 0, full, RULER);
    pen.fillStyle = color.line;
    pen.fillRect(0, RULER - 1, full, 1);
    const { first } = this.columns.meta, { step, times } = ticks(this.from - first, this.to - first, width);
    pen.font = `11px ${color.mono}`;
    pen.textBaseline = "middle";
    const digits = Math.max(0, Math.min(9, -Math.floor(Math.log10(step / 1e9))));
    for (const tick of times) {
      const x = this.x(first + tick);
      if (x < GUTTER) continue;
      pen.fillStyle = color.line;
      pen.fillRect(x, RULER - 8, 1, 8);
      pen.fillStyle = color.dim;
      pen.fillText(`${(tick / 1e9).toFixed(digits)} s`, x + 4, RULER / 2);
    }
    pen.fillStyle = color.panel;
    pen.fillRect(0, 0, GUTTER, RULER - 1);
    pen.fillStyle = color.dim;
    pen.fillText(span(this.to - this.from), 10, RULER / 2);
  }

  // The view, for a link; and back.
  state() {
    const { first } = this.columns.meta;
    const state = { from: (this.from - first).toFixed(1), to: (this.to - first).toFixed(1) };
    if (this.selected?.slice !== undefined) state.slice = this.selected.slice;
    if (this.selected?.mark !== undefined) state.mark = this.selected.mark;
    if (this.search.value) state.find = this.search.value;
    if (this.range) state.range = this.range.map((time) => (time - first).toFixed(1)).join("_");
    return state;
  }

  restore(state) {
    const { columns } = this, { meta } = columns;
    // Anybody can have written it: a time that is none, or far from the trace, is not taken.
    const time = (text) => (text && Math.abs(Number(text)) <= (columns.span + 10) * 5 ? meta.first + Number(text) : NaN);
    const place = (text, count) => (/^\d+$/.test(text) && Number(text) < count ? Number(text) : null);
    if (state.find) this.find((this.search.value = state.find));
    const [a, b] = (state.range ?? "").split("_").map(time);
    if (a <= b) this.range = [a, b];
    const slice = place(state.slice, columns.slices), mark = place(state.mark, columns.mark_begin.length);
    if (slice !== null) this.select({ slice });
    if (mark !== null) this.select({ mark });
    const [from, to] = [state.from, state.to].map(time);
    if (from < to) this.move(from, to);
  }
}

// The times from one to another that have a tick, of which each has TICK pixels or more, and the step between them.
export function ticks(from, to, width) {
  const about = Math.max(1e-9, ((to - from) / width) * TICK), power = 10 ** Math.floor(Math.log10(about));
  const step = [1, 2, 5].map((factor) => factor * power).find((one) => one >= about) ?? 10 * power;
  // They are counted: a step that is added to a large time may not change it.
  const first = Math.ceil(from / step), times = [];
  for (let number = 0; number <= width / TICK + 1; number++) {
    const time = (first + number) * step;
    if (time < to && time !== times.at(-1)) times.push(time);
  }
  return { step, times };
}

// Of what is drawn to the edge of the trace no more is known.
const lasts = ({ begin, end, flags }) => (flags.includes("edge_unknown") ? "at least " : "") + span(end - begin, 6);

function outline(pen, x, y, width, height, color) {
  pen.strokeStyle = color;
  pen.lineWidth = 1.5;
  pen.strokeRect(x + 0.5, y + 0.5, Math.max(2, width - 1), height - 1);
}

// As much of a text as fits, by the width of a character.
function fitted(text, width, each) {
  const most = Math.floor(width / each);
  return text.length <= most ? text : most > 1 ? text.slice(0, most - 1) + "…" : "";
}

const short = (value) => (Number.isInteger(value) && Math.abs(value) < 1e9 ? grouped(value) : Number(value).toPrecision(4));

function level(tracks, track) {
  let depth = 0;
  for (let parent = tracks[track].parent; parent != null && depth < 8; parent = tracks[parent].parent) depth++;
  return depth;
}

// Tracks with those that belong to them below, in the order in which they were met.
function ordered(tracks) {
  const below = tracks.map(() => []), tops = [];
  tracks.forEach((track, number) => (track.parent == null || track.parent >= tracks.length ? tops : below[track.parent]).push(number));
  const found = [], todo = tops.reverse();
  while (todo.length) {
    const track = todo.pop();
    found.push(track);
    todo.push(...below[track].slice().reverse());
  }
  return found;
}
