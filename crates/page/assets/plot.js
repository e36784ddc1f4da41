// A line plot over the number of nodes, with linear or logarithmic axes.

import { h, s } from "./dom.js";

const [WIDTH, HEIGHT] = [640, 330];
const [LEFT, RIGHT, TOP, BOTTOM] = [52, 172, 14, 34];

// `lines`: [{ name, points: [[x, y], …] }]; a line's colour is its place in the list.
export function plot({ lines, log, label, number }) {
  const points = lines.flatMap((line) => line.points);
  const xs = [...new Set(points.map(([x]) => x))].sort((a, b) => a - b);
  const ys = points.map(([, y]) => y).filter((y) => !log || y > 0);
  if (!xs.length || !ys.length) return null;
  const across = scale(xs[0], xs.at(-1), LEFT, WIDTH - RIGHT, log);
  const low = log ? Math.min(...ys) : 0;
  const up = scale(low, Math.max(...ys, low + 1), HEIGHT - BOTTOM, TOP, log);
  const ticks = log ? logTicks(low, Math.max(...ys)) : linearTicks(Math.max(...ys));
  const picture = s("svg", { class: "plot", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img",
    "aria-label": label },
  ticks.map((y) => [s("path", { class: "grid", d: `M${LEFT} ${up(y)}H${WIDTH - RIGHT}` }),
    s("text", { class: "plot-tick", x: LEFT - 8, y: up(y) + 4, "text-anchor": "end" }, number(y))]),
  xs.map((x) => s("text", { class: "plot-tick", x: across(x), y: HEIGHT - 12,
    "text-anchor": "middle" }, number(x))),
  lines.map((line, k) => s("path", { class: `curve c${k % 6} d${Math.floor(k / 6)}`,
    d: path(line.points.filter(([, y]) => !log || y > 0), across, up) })),
  names(lines, up, log));
  return h("figure", { class: "plot-box sheet" }, h("figcaption", {}, label),
    h("div", { class: "scroll-x", tabindex: 0, role: "group", "aria-label": label }, picture));
}

function path(points, across, up) {
  return points.map(([x, y], k) => `${k ? "L" : "M"}${across(x).toFixed(1)} ${up(y).toFixed(1)}`)
    .join("");
}

// Names at the ends of their lines, pushed apart where they would lie on each other.
function names(lines, up, log) {
  const ends = lines.map((line, k) => ({ k, name: line.name, y: line.points.length
    && (!log || line.points.at(-1)[1] > 0) ? up(line.points.at(-1)[1]) : NaN }))
    .filter(({ y }) => Number.isFinite(y)).sort((a, b) => a.y - b.y);
  let last = -Infinity;
  for (const end of ends) last = end.at = Math.max(end.y, last + 12);
  const over = last - (HEIGHT - 6);
  if (over > 0) {
    let next = HEIGHT - 6;
    for (const end of [...ends].reverse()) {
      end.at = Math.min(end.at, next);
      next = end.at - 12;
    }
  }
  return ends.map(({ k, name, y, at }) => [
    s("path", { class: `lead-line c${k % 6}`,
      d: `M${WIDTH - RIGHT + 2} ${y}L${WIDTH - RIGHT + 10} ${at}` }),
    s("text", { class: `curve-name c${k % 6}`, x: WIDTH - RIGHT + 13, y: at + 3.5 }, name)]);
}

function scale(low, high, from, to, log) {
  const of = log ? Math.log : (value) => value;
  const span = of(high) - of(low) || 1;
  return (value) => from + ((of(value) - of(low)) / span) * (to - from);
}

function logTicks(low, high) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power += 1) {
    for (const digit of [1, 2, 5]) {
      const value = digit * 10 ** power;
      if (value >= low && value <= high) ticks.push(value);
    }
  }
  return ticks;
}

function linearTicks(high) {
  const rough = high / 5;
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((value) => value >= rough) ?? 1;
  return Array.from({ length: Math.floor(high / step) + 1 }, (_, k) => k * step);
}
