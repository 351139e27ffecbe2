// Small things that all views use: elements, numbers, times.

// An element. What is given as text stays text.
export function el(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "class") element.className = value;
    else if (key in element && key !== "role") element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// Puts children into an element, instead of those that it has; nulls are left out.
export const refill = (element, ...children) => element.replaceChildren(...children.filter((child) => child !== null));

export const byId = (id) => document.getElementById(id);

export const grouped = (number) => Number(number).toLocaleString("en-US");

export const offset = (at) => "0x" + Number(at).toString(16);

export function size(bytes) {
  const units = ["bytes", "KiB", "MiB", "GiB"];
  let unit = 0, shown = bytes;
  while (shown >= 1024 && unit < 3) (shown /= 1024), unit++;
  return unit ? `${shown.toFixed(1)} ${units[unit]}` : `${grouped(bytes)} bytes`;
}

// A span of nanoseconds, with as many digits as it has.
export function span(ns, digits = 3) {
  const abs = Math.abs(ns);
  const [scale, unit] = abs >= 1e9 ? [1e9, "s"] : abs >= 1e6 ? [1e6, "ms"] : abs >= 1e3 ? [1e3, "µs"] : [1, "ns"];
  const text = unit === "ns" ? String(Math.round(ns)) : (ns / scale).toFixed(digits);
  return `${text} ${unit}`;
}

// A time in full: a date where the clock counts from 1970, seconds else. `origin` is in nanoseconds, as text.
export function moment(origin, absolute, since) {
  const ns = BigInt(origin ?? 0) + BigInt(Math.round(since));
  const billion = 1000000000n, rest = (part) => part.toString().padStart(9, "0");
  const within = ((ns % billion) + billion) % billion;
  const date = new Date(Number((ns - within) / billion) * 1000);
  // As the command has it: a date has a year of four digits.
  const text = absolute && !Number.isNaN(date.getTime()) ? date.toISOString() : "";
  if (/^\d{4}-/.test(text)) return `${text.slice(0, 19)}.${rest(within)}Z`;
  const abs = ns < 0n ? -ns : ns;
  return `${ns < 0n ? "-" : ""}${abs / billion}.${rest(abs % billion)} s`;
}

// A time of the timeline as --from has it: the date, or else what it is after the first record, whose time is given as text.
// Null if that must be known, nothing if the time is before it.
export function timeOption({ origin, absolute }, since, first) {
  const date = moment(origin, absolute, since);
  if (date.endsWith("Z")) return date;
  if (first === undefined) return null;
  const after = BigInt(origin ?? 0) + BigInt(Math.round(since)) - BigInt(first);
  return after < 0n ? "" : `+${moment(after, false, 0).replace(" ", "")}`;
}

// How far a time may be from that of its record: floats are not exact beyond 104 days.
export const blur = (since) => (Math.abs(since) > Number.MAX_SAFE_INTEGER ? Math.abs(since) * 2 ** -52 : 0);

// Fields as a list: names and values, those of groups below them.
export function facts(pairs) {
  return el("dl", { class: "facts" }, ...pairs.flatMap(([name, value]) => [
    el("dt", {}, name),
    el("dd", {}, value instanceof Node ? value : shown(value)),
  ]));
}

export const shown = (value) =>
  value === null || value === undefined ? "–" : typeof value === "object" ? JSON.stringify(value, null, 1) : String(value);

// JSON in which integers keep all their digits: those that a float would round become text.
export const parsed = (text) => JSON.parse(text, (_, value, context) =>
  typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER && /^-?\d+$/.test(context?.source) ? context.source : value);

export function save(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
