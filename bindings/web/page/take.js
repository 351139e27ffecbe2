// What can be taken away: files, a picture, a link; or to Perfetto.

import { byId, el, save } from "./parts.js";

const PERFETTO = "https://ui.perfetto.dev";
const TRIES = 300; // Ten a second.
const UNANSWERED = "Perfetto does not answer, as it may not to a page from a disk: save the trace, and open it there";

// Perfetto answers PONG when it listens; then it is given the trace.
export function openInPerfetto(buffer, title) {
  const target = window.open(PERFETTO);
  if (!target) throw new Error("the browser did not open a window");
  return new Promise((resolve, reject) => {
    let tries = 0;
    const timer = setInterval(() => {
      if (++tries > TRIES || target.closed) return end(() => reject(new Error(UNANSWERED)));
      target.postMessage("PING", PERFETTO);
    }, 100);
    const hear = (event) => {
      if (event.origin !== PERFETTO || event.source !== target || event.data !== "PONG") return;
      end(resolve);
      target.postMessage({ perfetto: { buffer, title } }, PERFETTO);
    };
    const end = (then) => {
      clearInterval(timer);
      removeEventListener("message", hear);
      then();
    };
    addEventListener("message", hear);
  });
}

export function fillMenu(entries) {
  const menu = byId("take-menu"), button = byId("take");
  const show = (shown) => {
    menu.hidden = !shown;
    button.setAttribute("aria-expanded", String(shown));
    if (shown) menu.querySelector("button")?.focus();
  };
  menu.replaceChildren(...entries.map(([id, text, act]) =>
    el("button", { role: "menuitem", id, onclick: () => { show(false); button.focus(); if (!button.disabled) act(); } }, text)));
  button.onclick = () => show(menu.hidden);
  menu.onkeydown = (event) => {
    const items = [...menu.children], at = items.indexOf(document.activeElement);
    if (event.key === "Escape") show(false), button.focus();
    else if (event.key === "ArrowDown") items[(at + 1) % items.length].focus();
    else if (event.key === "ArrowUp") items[(at + items.length - 1) % items.length].focus();
    else return;
    event.preventDefault();
  };
  addEventListener("pointerdown", (event) => {
    if (!menu.hidden && !menu.contains(event.target) && event.target !== button) show(false);
  });
}

export async function savePicture(canvas, name) {
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  save(blob, name);
}
