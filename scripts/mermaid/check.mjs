// Parses each file that is named with the real Mermaid; fails if one is not a sequence diagram.
import { readFileSync } from "node:fs";
import { JSDOM } from "jsdom";

const { window } = new JSDOM("");
globalThis.window = window;
globalThis.document = window.document;
const { default: mermaid } = await import("mermaid");

let failed = 0;
for (const file of process.argv.slice(2)) {
  try {
    const { diagramType } = await mermaid.parse(readFileSync(file, "utf8"));
    if (diagramType !== "sequence") throw new Error(`it is a ${diagramType} diagram`);
  } catch (error) {
    failed += 1;
    console.error(`${file}: ${error.message}`);
  }
}
console.log(`${process.argv.length - 2 - failed} of ${process.argv.length - 2} parse`);
process.exit(failed > 0 ? 1 : 0);
