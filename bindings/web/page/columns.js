// The columns of a timeline, and what of them a screen shows.
//
// A row's slices are sorted by their begins. What is narrower than a pixel is found by search for the next pixel, so that
// a row takes as many steps as the screen is wide, whatever it has.

// The first place in values[from, to) that is not below a value.
export function lowerBound(values, wanted, from, to) {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (values[middle] < wanted) from = middle + 1;
    else to = middle;
  }
  return from;
}

// As lowerBound, for a place that is probably near.
function gallop(values, wanted, from, to) {
  let step = 1;
  while (from + step < to && values[from + step] < wanted) step *= 2;
  return lowerBound(values, wanted, from + (step >> 1), Math.min(to, from + step + 1));
}

const BLOCK = 256, ARGS_MAX = 1 << 16;

export class Columns {
  constructor(data) {
    Object.assign(this, data);
    const { meta } = data;
    this.span = Math.max(1, meta.last - meta.first);
    let at = 0;
    this.rows = meta.rows.map((row) => ({ ...row, from: at, to: (at += row.len) }));
    for (const row of this.rows) row.long = this.overlaps(row);
    at = 0;
    this.marks = new Map(meta.marks.map(({ track, len }) => [track, { from: at, to: (at += len) }]));
    at = 0;
    this.counters = new Map(meta.counters.map(({ track, len }) => [track, this.counter(at, (at += len))]));
  }

  get slices() { return this.slice_begin.length; }

  // The slices of a row that end after the next one begins, as those do whose begin is not known. A search by begins does not
  // find them.
  overlaps({ from, to }) {
    const { slice_begin: begins, slice_end: ends } = this, found = [];
    for (let at = from; at + 1 < to; at++) if (ends[at] > begins[at + 1]) found.push(at);
    return found;
  }

  // A counter with the least and the greatest value of each block of values.
  counter(from, to) {
    const blocks = Math.ceil((to - from) / BLOCK);
    const low = new Float64Array(blocks).fill(Infinity), high = new Float64Array(blocks).fill(-Infinity);
    for (let at = from; at < to; at++) {
      const block = Math.floor((at - from) / BLOCK), value = this.value[at];
      if (value < low[block]) low[block] = value;
      if (value > high[block]) high[block] = value;
    }
    const least = low.reduce((a, b) => Math.min(a, b), Infinity);
    const most = high.reduce((a, b) => Math.max(a, b), -Infinity);
    return { from, to, low, high, least, most };
  }

  // The least and the greatest of the values [from, to) of a counter.
  extremes(counter, from, to) {
    let low = Infinity, high = -Infinity;
    for (let at = from; at < to;) {
      const inside = at - counter.from;
      if (inside % BLOCK === 0 && at + BLOCK <= to) {
        low = Math.min(low, counter.low[inside / BLOCK]);
        high = Math.max(high, counter.high[inside / BLOCK]);
        at += BLOCK;
      } else {
        low = Math.min(low, this.value[at]);
        high = Math.max(high, this.value[at]);
        at++;
      }
    }
    return [low, high];
  }

  // Calls wide(slice, x0, x1) for what is seen, narrow(slice, x, count) for what shares a pixel.
  visit({ from, to, long }, t0, t1, width, wide, narrow) {
    const { slice_begin: begins, slice_end: ends } = this, scale = width / (t1 - t0);
    let at = Math.max(from, lowerBound(begins, t0, from, to) - 1);
    let steps = 0;
    // What lies below those that begin later.
    for (const slice of long) {
      if (begins[slice] >= t1) break;
      if (ends[slice] <= t0 || (ends[slice] - begins[slice]) * scale < 1) continue;
      steps++;
      wide(slice, (begins[slice] - t0) * scale, (ends[slice] - t0) * scale);
    }
    while (at < to && begins[at] < t1) {
      steps++;
      const x0 = (begins[at] - t0) * scale, x1 = (ends[at] - t0) * scale;
      if (x1 < 0) {
        at++;
        continue;
      }
      if (x1 - x0 >= 1) {
        wide(at, x0, x1);
        at++;
        continue;
      }
      const pixel = Math.floor(x0);
      const next = gallop(begins, t0 + (pixel + 1) / scale, at, to);
      const after = Math.max(at + 1, next);
      // One of those that begin in the pixel may reach far beyond it: it is the last one.
      const reaches = after - 1 > at && (ends[after - 1] - t0) * scale - pixel >= 2;
      narrow(at, pixel, after - at);
      at = reaches ? after - 1 : after;
      if (reaches) {
        wide(at, (begins[at] - t0) * scale, (ends[at] - t0) * scale);
        at++;
      }
    }
    return steps;
  }

  // Calls each(mark, x, count) for the instants of a pixel.
  instants({ from, to }, t0, t1, width, each) {
    const begins = this.mark_begin, scale = width / (t1 - t0);
    for (let at = lowerBound(begins, t0, from, to); at < to && begins[at] < t1;) {
      const pixel = Math.floor((begins[at] - t0) * scale);
      const next = Math.max(at + 1, gallop(begins, t0 + (pixel + 1) / scale, at, to));
      each(at, pixel, next - at);
      at = next;
    }
  }

  // The slice of a row at a time, or the nearest within so many nanoseconds.
  sliceAt({ from, to, long }, time, near) {
    const after = lowerBound(this.slice_begin, time + Number.MIN_VALUE, from, to);
    const before = after - 1;
    if (before >= from && this.slice_end[before] >= time) return before;
    const below = long.findLast((slice) => slice < before && this.slice_end[slice] >= time);
    if (below !== undefined) return below;
    const left = before >= from ? time - this.slice_end[before] : Infinity;
    const right = after < to ? this.slice_begin[after] - time : Infinity;
    if (Math.min(left, right) > near) return -1;
    return left <= right ? before : after;
  }

  instantAt({ from, to }, time, near) {
    const after = lowerBound(this.mark_begin, time, from, to);
    const left = after > from ? time - this.mark_begin[after - 1] : Infinity;
    const right = after < to ? this.mark_begin[after] - time : Infinity;
    if (Math.min(left, right) > near) return -1;
    return left <= right ? after - 1 : after;
  }

  rowOf(slice) {
    let from = 0, to = this.rows.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.rows[middle].to <= slice) from = middle + 1;
      else to = middle;
    }
    return this.rows[from];
  }

  trackOfMark(mark) {
    for (const [track, { from, to }] of this.marks) if (mark >= from && mark < to) return track;
    return 0;
  }

  // The numbers of the names that have a text in them.
  names(text) {
    const wanted = text.toLowerCase(), found = new Uint8Array(this.meta.names.length);
    let any = false;
    this.meta.names.forEach((name, number) => {
      if (name.toLowerCase().includes(wanted)) any = Boolean((found[number] = 1));
    });
    return any ? found : null;
  }

  // The arguments that stand at a place, as text of a JSON object; null if there are none, or too many to be shown.
  argsAt(place) {
    if (place === 0xffffffff) return null;
    const end = this.args.indexOf(10, place);
    if (end - place > ARGS_MAX) return null;
    return `{${new TextDecoder().decode(this.args.subarray(place, end))}}`;
  }
}
