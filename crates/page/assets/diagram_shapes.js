// The shapes of the space-time diagram: arrows, marks, and which arrow is near a point.

const NEAR = 9;

export const whole = (value) => Math.round(value);

// A line with a head, or with a cross where the message was lost.
export function arrowPath({ x1, y1, x2, y2 }, gone) {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
  const at = (value) => Math.round(value * 10) / 10;
  if (gone) {
    const [x, y] = [x1 + dx * length * 0.72, y1 + dy * length * 0.72];
    return `M${at(x1)} ${at(y1)}L${at(x)} ${at(y)}m-4 -4l8 8m0 -8l-8 8`;
  }
  const [ex, ey] = [x2 - dx * 5, y2 - dy * 5];
  return `M${at(x1)} ${at(y1)}L${at(ex)} ${at(ey)}`
    + `M${at(ex - 7 * dx + 3.2 * dy)} ${at(ey - 7 * dy - 3.2 * dx)}L${at(ex)} ${at(ey)}`
    + `L${at(ex - 7 * dx - 3.2 * dy)} ${at(ey - 7 * dy + 3.2 * dx)}`;
}

// A dot for messages; other shapes for what is no message.
export function shape(kind, x, y) {
  if (kind === "timer") return `M${x} ${y - 6}l5 6l-5 6l-5 -6z`;
  if (kind === "request" || kind === "indication" || kind === "tell") {
    return `M${x - 4} ${y - 4.5}h8v9h-8z`;
  }
  if (kind === "crash" || kind === "lost" || kind === "dead") {
    return `M${x - 5} ${y - 5}l10 10m0 -10l-10 10`;
  }
  const r = kind === "start" ? 3 : 4.5;
  return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
}

// The message whose line passes nearest to a point; null where none is near.
export function messageNear(drawn, x, y) {
  let best = null;
  let nearest = NEAR;
  for (const { message, x1, y1, x2, y2 } of drawn) {
    const length = (x2 - x1) ** 2 + (y2 - y1) ** 2 || 1;
    const along = ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / length;
    const share = Math.max(0, Math.min(1, along));
    const distance = Math.hypot(x - x1 - share * (x2 - x1), y - y1 - share * (y2 - y1));
    if (distance < nearest) [nearest, best] = [distance, message.number];
  }
  return best;
}

// Where on its arrow a label may be, in this order; how wide a letter is, and how high a line.
const SHARES = [0.5, 0.35, 0.65, 0.22, 0.78];
const LETTER = 7;
const LINE = 13;

// The middle of a label on an arrow, where it is over no other, no lane, and nothing that was
// before; null if there is no such place, or a message to many has its label already. `taken` is
// what labels took so far.
export function labelPlace({ message, x1, y1, x2, y2 }, taken, { axis, pitch }) {
  const group = `${message.fromEvent} ${message.label}`;
  if (taken.groups.has(group) || Math.abs(y2 - y1) + (x2 - x1) < 40) return null;
  const half = (message.label.length * LETTER) / 2 + 2;
  for (const share of SHARES) {
    const [x, y] = [x1 + (x2 - x1) * share, y1 + (y2 - y1) * share];
    const fromLane = Math.abs((((y - axis) / pitch) % 1) - 0.5) * pitch;
    const covered = y1 !== y2 && (fromLane < LINE / 2 || x - half < x1 - 4);
    const crowded = taken.boxes.some((box) => Math.abs(box.x - x) < box.half + half
      && Math.abs(box.y - y) < LINE);
    if (!covered && !crowded) {
      taken.boxes.push({ x, y, half });
      taken.groups.add(group);
      return { x, y };
    }
  }
  return null;
}
