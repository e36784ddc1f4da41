// Where events stand on the time axis: at their real times, with idle gaps cut, and with room where
// one node does several things at the same moment.

const START = 26;
const SLOT = 12;
const STEP_USUAL = 46;
const STEP_MIN = 14;
// A gap wider than this is cut to `CUT`.
const WIDE = 240;
const CUT = 84;
const END = 90;

export class TimeScale {
  constructor(run, zoom = 1) {
    const { events, at, node } = run;
    this.x = new Float64Array(events + 1);
    this.times = [];
    this.from = [];
    this.until = [];
    this.firstEvent = [];
    this.cuts = [];
    this.perUnit = (STEP_USUAL / usualGap(at)) * zoom;
    this.x[0] = START;
    const slots = new Int32Array(run.nodes.length + 1);
    let widest = 0;
    for (let i = 1; i <= events; i += 1) {
      const time = at[i - 1];
      if (i === 1 || time > this.times.at(-1)) {
        this.#column(time, i, widest, Math.min(1, zoom));
        slots.fill(0);
        widest = 0;
      }
      const lane = node[i - 1] ?? run.nodes.length;
      this.x[i] = this.from.at(-1) + slots[lane] * SLOT * Math.min(1, zoom);
      widest = Math.max(widest, slots[lane]);
      slots[lane] += 1;
    }
    this.until.push((this.from.at(-1) ?? START) + widest * SLOT * Math.min(1, zoom));
    this.width = this.until.at(-1) + END;
  }

  #column(time, i, widest, squeeze) {
    if (this.times.length) {
      const before = this.from.at(-1) + widest * SLOT * squeeze;
      this.until.push(before);
      const gap = (time - this.times.at(-1)) * this.perUnit;
      const cut = gap > WIDE;
      const step = cut ? CUT : Math.max(gap, STEP_MIN * squeeze);
      if (cut) this.cuts.push({ x: before + step / 2, from: this.times.at(-1), until: time });
      this.from.push(before + step);
    } else {
      this.from.push(START + 8);
    }
    this.times.push(time);
    this.firstEvent.push(i);
  }

  // The last column at or before `time`, by halving; -1 if there is none.
  columnAt(time) {
    return lastAtMost(this.times, time);
  }

  xOfTime(time) {
    const k = this.columnAt(time);
    if (k < 0) return this.x[0];
    if (time === this.times[k]) return this.from[k];
    if (k + 1 === this.times.length) {
      return this.until[k] + Math.min((time - this.times[k]) * this.perUnit, END - 20);
    }
    const share = (time - this.times[k]) / (this.times[k + 1] - this.times[k]);
    return this.until[k] + share * (this.from[k + 1] - this.until[k]);
  }

  // The events whose columns touch left..right, as [first, last].
  eventsWithin(left, right) {
    if (!this.times.length) return [1, 0];
    const first = Math.max(0, lastAtMost(this.from, left));
    const last = Math.max(0, lastAtMost(this.from, right));
    const end = last + 1 < this.firstEvent.length ? this.firstEvent[last + 1] - 1
      : this.x.length - 1;
    return [this.firstEvent[first], end];
  }

  // The event nearest to `x`.
  eventNear(x) {
    const [first, last] = this.eventsWithin(x, x);
    let best = first;
    for (let i = first; i <= Math.min(last + 1, this.x.length - 1); i += 1) {
      if (Math.abs(this.x[i] - x) < Math.abs(this.x[best] - x)) best = i;
    }
    return x < (START + this.x[1]) / 2 ? 0 : best;
  }
}

function lastAtMost(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function usualGap(at) {
  const gaps = [];
  for (let i = 1; i < at.length && gaps.length < 4000; i += 1) {
    if (at[i] > at[i - 1]) gaps.push(at[i] - at[i - 1]);
  }
  gaps.sort((a, b) => a - b);
  return gaps[gaps.length >> 1] ?? 1;
}
