// What repaints need: elements are made once and then only changed, so that nobody who has the
// keyboard on a button loses it four times a second.

export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function setAttribute(element, name, value) {
  if (value === null || value === undefined || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value));
}

// Children of `parent`, one for each of `items`, in order. `make(item)` gives an element once,
// `change(element, item)` is called each time.
export function keyed(parent, items, key, make, change) {
  parent.known ??= new Map();
  const seen = new Set();
  let place = parent.firstElementChild;
  for (const item of items) {
    const name = key(item);
    if (seen.has(name)) continue;
    seen.add(name);
    let element = parent.known.get(name);
    if (!element) {
      element = make(item);
      parent.known.set(name, element);
    }
    change(element, item);
    if (element === place) place = place.nextElementSibling;
    else parent.insertBefore(element, place);
  }
  for (const [name, element] of parent.known) {
    if (seen.has(name)) continue;
    element.remove();
    parent.known.delete(name);
  }
}

// Calls `action` at most every `pause` ms, and never while `still()` holds; the last call counts.
export function throttled(pause, still, action) {
  let timer = null;
  let last = 0;
  const run = () => {
    timer = null;
    if (still()) return;
    last = performance.now();
    action();
  };
  return () => {
    if (timer !== null) return;
    timer = setTimeout(run, Math.max(0, last + pause - performance.now()));
  };
}
