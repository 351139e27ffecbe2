// A browser with the page in it, and what the tests ask of both.

import { execFileSync, spawnSync } from "node:child_process";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

// Milliseconds for which the page may not answer; a machine that is shared needs more, as all of them count.
export const PAUSE_MAX = Number(process.env.PAUSE_MAX ?? 100);

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

export const launch = () => chromium.launch({ executablePath: "/usr/bin/chromium", args: FLAGS });

// A page that has not been given anything; what it complains of is kept.
export async function load(browser, file, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 760 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.complaints = [];
  page.requests = [];
  page.on("console", (message) => message.type() === "error" && page.complaints.push(message.text()));
  page.on("pageerror", (error) => page.complaints.push(String(error)));
  page.on("request", (request) => page.requests.push(request.url()));
  await page.addInitScript(() => {
    globalThis.pauses = [];
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => globalThis.pauses.push(entry.duration)))
      .observe({ type: "longtask" });
  });
  await page.goto(/^(http|file):/.test(file) ? file : pathToFileURL(file).href);
  return page;
}

// Opens a path, and waits until all that the page reads by itself is there.
export async function open(page, path, isFolder) {
  await page.evaluate(() => (globalThis.traceglass.open.times = null));
  await page.setInputFiles(isFolder ? "#folder" : "#file", path);
  await page.waitForFunction(() => {
    const { times } = globalThis.traceglass.open;
    return times?.all !== undefined || times?.failed !== undefined;
  }, null, { timeout: 120_000 });
}

export class Command {
  constructor(binary, folder) {
    Object.assign(this, { binary, folder });
  }

  run(...args) {
    return spawnSync(this.binary, args, { cwd: this.folder, maxBuffer: 1 << 30 });
  }

  json(...args) {
    return JSON.parse(wide(this.run(...args).stdout.toString()));
  }

  lines(...args) {
    return this.run(...args).stdout.toString().split("\n").filter(Boolean);
  }
}

// Integers that a float would round are text, as the page has them.
export const wide = (text) => text.replace(/([:[,]\s*)(-?\d{16,})(?=\s*[,\]}])/g, (whole, front, digits) =>
  Number.isSafeInteger(Number(digits)) ? whole : `${front}"${digits}"`);
