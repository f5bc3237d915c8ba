// What the page draws without a library: a histogram, and ranges without samples.
"use strict";
const drawings = (() => {

const PERCENTILES = ["p50", "p95", "p99"];

// The histogram: time from left to right and calls upwards, both on logarithmic scales, with the percentiles. Times are
// picoseconds; `duration` writes nanoseconds.
const WIDTH = 720, HEIGHT = 200, LEFT = 56, BOTTOM = 24, TOP = 18;
function drawHistogram(svg, buckets, percentiles, duration) {
  svg.toggleAttribute("hidden", !buckets.length);
  if (!buckets.length) return;
  const draw = (tag, attributes, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text) made.textContent = text;
    return made;
  };
  const decade = (ps, round) => Math.max(3, round(Math.log10(Math.max(1, ps))));
  const least = decade(buckets[0][0] || 1, Math.floor);
  const most = Math.max(least + 1, decade(buckets[buckets.length - 1][1], Math.ceil));
  const highest = Math.max(1, Math.ceil(Math.log10(Math.max(...buckets.map(([, , count]) => count)) * 1.5)));
  const x = (ps) => LEFT + (WIDTH - LEFT) * Math.min(1, Math.max(0, (Math.log10(Math.max(1, ps)) - least) / (most - least)));
  // One call is visible: the scale begins below it.
  const y = (count) => HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * ((Math.log10(count) + 0.3) / (highest + 0.3));
  const parts = [];
  for (let power = 0; power <= highest; power += Math.ceil(highest / 4)) {
    const at = y(10 ** power);
    parts.push(draw("line", { class: "grid", x1: LEFT, x2: WIDTH, y1: at, y2: at }),
      draw("text", { x: LEFT - 6, y: at + 4, "text-anchor": "end" }, (10 ** power).toLocaleString()));
  }
  for (let power = least; power <= most; power += 1) {
    const at = x(10 ** power);
    const anchor = power === most ? "end" : "middle";
    parts.push(draw("line", { class: "grid", x1: at, x2: at, y1: TOP, y2: HEIGHT - BOTTOM }),
      draw("text", { x: at, y: HEIGHT - 6, "text-anchor": anchor }, duration(10 ** power / 1000).replace(/\.0+(?= )/, "")));
  }
  for (const [low, high, count] of buckets) {
    const [from, to] = [x(low), x(high)];
    const rect = draw("rect", { x: from, y: y(count), width: Math.max(1, to - from - 0.5), height: HEIGHT - BOTTOM - y(count) });
    rect.append(draw("title", {}, `${duration(low / 1000) || "0"} to ${duration(high / 1000)}: ${count} calls`));
    parts.push(rect);
  }
  PERCENTILES.forEach((name, i) => {
    if (!percentiles) return;
    const at = x(percentiles[i]);
    parts.push(draw("line", { class: "mark", x1: at, x2: at, y1: TOP, y2: HEIGHT - BOTTOM }));
    // Names that would touch are drawn on the other side.
    parts.push(draw("text", { class: "mark", x: at, y: TOP - 5, "text-anchor": ["end", "middle", "start"][i] }, name));
  });
  const label = percentiles ? PERCENTILES.map((name, i) => `${name} ${duration(percentiles[i] / 1000)}`).join(", ") : "";
  svg.setAttribute("aria-label", `Histogram of latencies since the server began to count: ${label}`);
  svg.replaceChildren(...parts);
}

// The ranges without samples, in seconds since 1970.
function gapsOf(times, values, step) {
  const gaps = [];
  values.forEach((value, at) => {
    if (value !== null) return;
    const [from, to] = [times[at] / 1000, (times[at] + step) / 1000];
    const last = gaps[gaps.length - 1];
    if (last && last[1] === from) last[1] = to;
    else gaps.push([from, to]);
  });
  return gaps;
}

// Hatches ranges of a plot in this colour.
function hatch(u, ranges, colour) {
  const { left, top, width, height } = u.bbox;
  const { ctx } = u;
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const line = tile.getContext("2d");
  line.strokeStyle = colour;
  line.lineWidth = 2;
  for (const x of [-8, 0, 8]) { line.moveTo(x, 8); line.lineTo(x + 8, 0); }
  line.stroke();
  ctx.save();
  ctx.fillStyle = ctx.createPattern(tile, "repeat");
  for (const [from, to] of ranges) {
    const [x, end] = [from, to].map((at) => Math.min(left + width, Math.max(left, u.valToPos(at, "x", true))));
    ctx.fillRect(x, top, end - x, height);
  }
  ctx.restore();
}

return { PERCENTILES, drawHistogram, gapsOf, hatch };
})();
