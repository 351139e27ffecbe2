// A page with a trace inside, as `traceglass view --web` writes it; the files for a host; a link; both themes.
//
//     node shared.mjs DIST TRACEGLASS [SCREENSHOTS]

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { Command, launch, load, open } from "./browser.mjs";

const [dist, binary, pictures] = process.argv.slice(2);
const data = resolve(dirname(new URL(import.meta.url).pathname), "../../../examples/data");
const made = mkdtempSync(join(tmpdir(), "traceglass-page-"));
const command = new Command(resolve(binary), data);
const browser = await launch();
const whole = resolve(dist, "traceglass.html");

// With a trace inside.
for (const name of ["sample.rfr", "sample.rtc"]) {
  const out = join(made, `${name}.html`);
  const written = command.run("view", "--page", whole, "--web", out, name);
  assert.equal(written.status, 0, written.stderr.toString());
  const page = await load(browser, out);
  await page.waitForFunction(() => globalThis.traceglass.open.times?.all !== undefined, null, { timeout: 60_000 });
  assert.deepEqual(await page.evaluate(() => globalThis.traceglass.open.info), command.json("info", "--json", name));
  assert.deepEqual(page.complaints, []);
  assert.deepEqual(page.requests.filter((url) => !url.startsWith("file:") && !url.startsWith("blob:")), []);
  await page.context().close();
  assert.equal(command.run("view", "--page", whole, "--web", out, name).status, 2, "nothing is overwritten");
}
assert.equal(command.run("view", "--page", join(data, "sample.rtc"), "--web", join(made, "x.html"), "sample.rtc").status, 2);

// As files of a host: nothing but them is asked for.
const types = { html: "text/html", js: "text/javascript", css: "text/css", wasm: "application/wasm" };
const server = createServer((request, answer) => {
  const name = request.url === "/" ? "index.html" : request.url.slice(1).split("#")[0];
  if (!/^[a-z.]+$/.test(name)) return answer.writeHead(404).end();
  answer.setHeader("Content-Type", types[name.split(".").pop()] ?? "application/octet-stream");
  answer.end(readFileSync(join(dist, name)));
}).listen(0, "127.0.0.1");
await new Promise((done) => server.on("listening", done));
const at = `http://127.0.0.1:${server.address().port}/`;
const page = await load(browser, at);
await open(page, join(data, "sample.ctf"), true);
assert.deepEqual(await page.evaluate(() => globalThis.traceglass.open.info), command.json("info", "--json", "sample.ctf"));
assert.deepEqual(page.requests.filter((url) => !url.startsWith(at)), []);

// Perfetto is given the trace once it has answered; here it is a page that does as its documentation says.
await page.context().route("https://ui.perfetto.dev/**", (route) => route.fulfill({
  contentType: "text/html",
  body: `<script>addEventListener("message", ({ data, origin, source }) => {
    if (data === "PING") source.postMessage("PONG", origin);
    else if (data.perfetto) globalThis.got = [data.perfetto.title, data.perfetto.buffer.byteLength];
  })</script>`,
}));
await page.click("#take");
const [perfetto] = await Promise.all([page.context().waitForEvent("page"), page.click("#take-perfetto")]);
await perfetto.waitForFunction(() => globalThis.got, null, { timeout: 30_000 });
const exported = command.run("export", "--format", "perfetto", "sample.ctf").stdout.length;
assert.deepEqual(await perfetto.evaluate(() => globalThis.got), ["sample.ctf.pftrace", exported]);
await perfetto.close();

// A link holds where one looks.
await page.click("#tab-timeline");
await page.locator("canvas").focus();
await page.keyboard.press("w");
await page.keyboard.press(".");
await page.waitForFunction(() => /tab=timeline&from=.*(slice|mark)=/.test(location.hash));
const link = page.url(), view = await page.evaluate(() => ({ ...globalThis.traceglass.open.timeline.state() }));
const other = await load(browser, link);
// What waits is done as soon as a trace is there: its address is written before the link's view is shown.
await other.addInitScript(() => {
  const later = globalThis.setTimeout;
  globalThis.setTimeout = (act) => {
    const look = () => (globalThis.traceglass.open.path ? act() : later(look, 0));
    return later(look, 0);
  };
});
await other.reload();
await open(other, join(data, "sample.ctf"), true);
assert.deepEqual(await other.evaluate(() => ({ ...globalThis.traceglass.open.timeline.state() })), view);
// The next trace is shown as a new one is, not as the one before was left.
await open(page, join(data, "sample.rfr"), true);
assert.equal(await page.evaluate(() => globalThis.traceglass.open.tab), "overview");
assert.deepEqual([...page.complaints, ...other.complaints], []);
server.close();

// Both themes, by what the system has, and by the button.
for (const colorScheme of ["light", "dark"]) {
  const themed = await load(browser, whole, { colorScheme });
  const back = () => themed.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await open(themed, join(data, "sample.rfr"), true);
  const before = await back();
  for (const tab of pictures ? ["overview", "timeline", "records", "parts", "bytes"] : []) {
    await themed.click(`#tab-${tab}`);
    if (tab === "timeline") {
      await themed.locator("canvas").focus();
      await themed.keyboard.press(".");
    }
    if (tab === "records") await themed.locator(".rows .line").first().click();
    await themed.waitForTimeout(400);
    await themed.screenshot({ path: join(pictures, `${tab}-${colorScheme}.png`) });
  }
  await themed.click("#theme");
  assert.notEqual(await back(), before);
  assert.deepEqual(themed.complaints, []);
}
await browser.close();
rmSync(made, { recursive: true });
console.log("pages with a trace inside, on a host, from a link, in both themes");
