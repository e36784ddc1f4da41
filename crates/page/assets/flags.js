// The simulator's flags as a list of [name, value], read from and written as one line.

const WITHOUT_VALUE = new Set(["no-fifo", "serial", "multicast", "unprotected", "json"]);
const PLAIN = /^[\w.,:@+=/-]+$/;

// "--nodes 5 --no-fifo --rule '1>3:OK=drop'" as [["nodes","5"],["no-fifo",null],["rule",…]].
export function parseFlags(line) {
  const words = split(line);
  const flags = [];
  for (let i = 0; i < words.length; i += 1) {
    if (!words[i].startsWith("--")) continue;
    const [name, inline] = cutOnce(words[i].slice(2), "=");
    if (WITHOUT_VALUE.has(name)) flags.push([name, null]);
    else if (inline !== null) flags.push([name, inline]);
    else if (i + 1 < words.length) flags.push([name, words[i += 1]]);
  }
  return flags;
}

export function writeFlags(flags) {
  return flags.map(([name, value]) => (value === null ? `--${name}` : `--${name} ${quoted(value)}`))
    .join(" ");
}

export function valueOf(flags, name) {
  return flags.find(([other]) => other === name)?.[1] ?? null;
}

export const hasFlag = (flags, name) => flags.some(([other]) => other === name);

// The flags with `name` set to `value`, at its place; without it when `value` is empty.
export function withFlag(flags, name, value) {
  const at = flags.findIndex(([other]) => other === name);
  const rest = flags.filter(([other]) => other !== name);
  if (value === undefined || value === "") return rest;
  rest.splice(at < 0 ? rest.length : at, 0, [name, value]);
  return rest;
}

// The value of an algorithm's parameter, "--set NAME=VALUE".
export function parameterOf(flags, name) {
  const set = flags.find(([flag, value]) => flag === "set" && value?.startsWith(`${name}=`));
  return set ? set[1].slice(name.length + 1) : null;
}

// The flags with that parameter set; without it when `value` is empty.
export function withParameter(flags, name, value) {
  const rest = flags.filter(([flag, set]) => flag !== "set" || !set?.startsWith(`${name}=`));
  return value === "" ? rest : [...rest, ["set", `${name}=${value}`]];
}

const same = (a, b) => a[0] === b[0] && a[1] === b[1];

export const includesAll = (flags, others) =>
  others.every((other) => flags.some((flag) => same(flag, other)));

export const withoutAll = (flags, others) =>
  flags.filter((flag) => !others.some((other) => same(flag, other)));

// As a shell splits: blanks separate, single and double quotes keep together.
function split(line) {
  const words = [];
  const pattern = /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+)|(\s+)/g;
  let word = null;
  for (const [, single, double, escaped, plain, blank] of line.matchAll(pattern)) {
    if (blank !== undefined) {
      if (word !== null) words.push(word);
      word = null;
    } else {
      word = (word ?? "") + (single ?? double?.replace(/\\(.)/g, "$1") ?? escaped ?? plain);
    }
  }
  if (word !== null) words.push(word);
  return words;
}

function quoted(value) {
  return PLAIN.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}

export function cutOnce(text, separator) {
  const at = text.indexOf(separator);
  return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + separator.length)];
}
