// The process that reads an export of Node back: by the program beside it. Orders as `reading.py` has
// them. It imports nothing but that program.

import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const MOST_TIMED_MS = 10_000;

/** The images of an .npy file: {shape, values}, uint8. */
function loadImages(file) {
  const data = fs.readFileSync(file);
  const isFirst = data[6] === 1;
  const start = isFirst ? 10 : 12;
  const end = start + (isFirst ? data.readUInt16LE(8) : data.readUInt32LE(8));
  const header = data.toString("latin1", start, end);
  if (!header.includes("'|u1'") || !header.includes("False")) throw new Error(`${file}: ${header}`);
  const shape = header.match(/'shape': \(([^)]*)\)/)[1].split(",").filter((side) => side.trim());
  return { shape: shape.map(Number), values: data.subarray(end) };
}

/** Writes numbers as float32 in an .npy file. */
function saveNumbers(file, shape, values) {
  const sides = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${sides}), }`;
  const padded = header.padEnd(Math.ceil((header.length + 11) / 64) * 64 - 11) + "\n";
  const start = Buffer.from(`\x93NUMPY\x01\x00\x00\x00${padded}`, "latin1");
  start.writeUInt16LE(padded.length, 8);
  fs.writeFileSync(file, Buffer.concat([start, Buffer.from(values.buffer)]));
}

function joined(pieces) {
  const made = new Float32Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let start = 0;
  for (const piece of pieces) {
    made.set(piece, start);
    start += piece.length;
  }
  return made;
}

function refuseMemory(most) {
  if (process.memoryUsage.rss() > most) throw new Error("It needs more memory than is free.");
}

async function read(order) {
  const program = await import(pathToFileURL(order.script));
  const model = await program.openModel(order.model);
  const { shape, values } = loadImages(order.images);
  const size = shape.slice(1).reduce((product, side) => product * side, 1);
  const some = (first, count) => values.subarray(first * size, (first + count) * size);
  const all = {};
  for (let first = 0; first < shape[0]; first += order.batch) {
    const count = Math.min(order.batch, shape[0] - first);
    const found = await program.outputs(program.facts, model, some(first, count), count);
    if (order.timed) {
      const shares = program.probabilities(found);
      found.probabilities = { shape: [count, shares.length / count], values: shares };
    }
    for (const [name, output] of Object.entries(found)) {
      all[name] ??= { sides: output.shape.slice(1), pieces: [] };
      all[name].pieces.push(Float32Array.from(output.values));
    }
    refuseMemory(order.memory);
  }
  for (const [name, { sides, pieces }] of Object.entries(all)) {
    saveNumbers(path.join(order.answers, `${name}.npy`), [shape[0], ...sides], joined(pieces));
  }
  const times = [];
  const ending = performance.now() + MOST_TIMED_MS;
  for (let number = 0; order.timed && number <= order.timed; number++) {
    if (number > 1 && performance.now() > ending) break;
    const one = some(number % shape[0], 1);
    const began = performance.now();
    await program.outputs(program.facts, model, one, 1);
    times.push(performance.now() - began);
  }
  const sorted = times.slice(1).sort((a, b) => a - b); // the first one prepares
  const milliseconds = sorted.length ? sorted[Math.floor(sorted.length / 2)] : 0;
  return { milliseconds, peak_bytes: process.resourceUsage().maxRSS * 1024 };
}

const print = process.stdout.write.bind(process.stdout);
console.log = console.error; // programs print what they like
try {
  const order = JSON.parse(fs.readFileSync(0, "utf8"));
  const found = await read(order);
  print(`${JSON.stringify(found)}\n`, () => process.exit(0));
} catch (error) {
  process.stderr.write(`${error}\n`, () => process.exit(1));
}
