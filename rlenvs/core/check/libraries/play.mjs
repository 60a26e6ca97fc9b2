// Play a tape (tape.py) by a WebAssembly module: node play.mjs LIBRARY FOLDER
import fs from "node:fs";
import zlib from "node:zlib";
import { layImage } from "../../../live/static/memory.js";

const [library, folder] = process.argv.slice(2);
const read = name => fs.readFileSync(`${folder}/${name}`);
const data = read("data");
const lines = read("tape").toString().split("\n").map(line => line.split(" "));
const addresses = lines.filter(([verb]) => verb === "move").map(([, place]) => Number(place));
const { exports } = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(library)), {});
const base = layImage(exports, read("image"), addresses);
const bytes = new Uint8Array(exports.memory.buffer);

const watched = [], said = [];
let code = 0n;
for (const [verb, ...rest] of lines) {
  const numbers = rest.map(Number);
  if (verb === "call") {
    const [record, ...others] = rest.slice(1).map(BigInt);
    code = exports[rest[0]](BigInt(base) + record, ...others);
  } else if (verb === "watch") {
    watched.push(numbers);
  } else if (verb === "write") {
    const [place, start, count] = numbers;
    bytes.set(data.subarray(start, start + count), base + place);
  } else if (verb === "look") {
    const hashes = watched.map(([place, count]) => zlib.crc32(bytes.subarray(base + place, base + place + count)));
    said.push([code, ...hashes.map(number => number.toString(16).padStart(8, "0"))].join(" "));
  }
}
console.log(said.join("\n"));
