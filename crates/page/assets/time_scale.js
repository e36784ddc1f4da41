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
  // Beside another run (`other`) both have the same axis: that of all that happens in either.
  constructor(run, zoom = 1, other = null) {
    const { events } = run;
    const runs = other ? [run, other] : [run];
    this.x = new Float64Array(events + 1);
    this.x[0] = START;
    this.times = timesOf(runs);
    this.from = [];
    this.until = [];
    this.firstEvent = new Array(this.times.length);
    this.cuts = [];
    this.perUnit = (STEP_USUAL / usualGap(this.times)) * zoom;
    const squeeze = Math.min(1, zoom);
    const widest = new Int32Array(this.times.length);
    for (const each of runs) {
      slots(each, this.times, (_, k, slot) => { widest[k] = Math.max(widest[k], slot); });
    }
    this.times.forEach((time, k) => this.#column(time, widest[k], squeeze));
    slots(run, this.times, (i, k, slot) => {
      this.x[i] = this.from[k] + slot * SLOT * squeeze;
      this.firstEvent[k] ??= i;
    });
    for (let k = this.times.length - 1; k >= 0; k -= 1) {
      this.firstEvent[k] ??= this.firstEvent[k + 1] ?? events + 1;
    }
    this.width = (this.until.at(-1) ?? START) + END;
  }

  #column(time, widest, squeeze) {
    const k = this.from.length;
    let start = START + 8;
    if (k) {
      const before = this.until[k - 1];
      const gap = (time - this.times[k - 1]) * this.perUnit;
      const cut = gap > WIDE;
      const step = cut ? CUT : Math.max(gap, STEP_MIN * squeeze);
      if (cut) this.cuts.push({ x: before + step / 2, from: this.times[k - 1], until: time });
      start = before + step;
    }
    this.from.push(start);
    this.until.push(start + widest * SLOT * squeeze);
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
    return [Math.min(this.firstEvent[first], this.x.length - 1), end];
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

// All times at which something happens, each once.
function timesOf(runs) {
  if (runs.length === 1) return Array.from(runs[0].at).filter((time, i, at) => time !== at[i - 1]);
  return [...new Set(runs.flatMap(({ at }) => Array.from(at)))].sort((a, b) => a - b);
}

// Tells of each event of a run its column, and the how manyth of its node it is there.
function slots(run, times, tell) {
  const { events, at, node } = run;
  const taken = new Int32Array(run.nodes.length + 1);
  for (let i = 1, k = 0; i <= events; i += 1) {
    if (i === 1 || at[i - 1] > at[i - 2]) taken.fill(0);
    while (times[k] < at[i - 1]) k += 1;
    const lane = node[i - 1] ?? run.nodes.length;
    tell(i, k, taken[lane]);
    taken[lane] += 1;
  }
}

function usualGap(times) {
  const gaps = [];
  for (let k = 1; k < times.length && k <= 4000; k += 1) gaps.push(times[k] - times[k - 1]);
  gaps.sort((a, b) => a - b);
  return gaps[gaps.length >> 1] ?? 1;
}
