import { launch, load, open } from "./browser.mjs";
const b = await launch();
const d = "/work/page/examples/data/";
for (const [colorScheme, name, dir] of [["light","sample.rfr",true],["dark","sample.rfr",true]]) {
  const p = await load(b, "/work/page/bindings/web/dist/traceglass.html", { colorScheme });
  await open(p, d + name, dir);
  for (const tab of ["overview","timeline","records","parts","bytes"]) {
    await p.click("#tab-" + tab);
    if (tab === "timeline") { await p.locator("canvas").focus(); await p.keyboard.press("."); await p.keyboard.press("."); }
    if (tab === "records") { await p.waitForSelector(".rows .line"); await p.locator(".rows .line").nth(3).click(); }
    await p.waitForTimeout(400);
    await p.screenshot({ path: `/tmp/shots/${tab}-${colorScheme}.png` });
  }
  console.log(p.complaints);
}
await b.close();
