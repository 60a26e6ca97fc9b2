// Play a tape (tape.py) by a WebAssembly module: node play.js LIBRARY FOLDER
const fs = require("fs");
const zlib = require("zlib");

const [library, folder] = process.argv.slice(2);
const read = name => fs.readFileSync(`${folder}/${name}`);
const image = read("image"), data = read("data");
const { memory, __heap_base, ...entries } = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(library)), {}).exports;
const base = Math.ceil(__heap_base.value / 64) * 64;
memory.grow(Math.max(0, Math.ceil((base + image.length - memory.buffer.byteLength) / 65536)));
const bytes = new Uint8Array(memory.buffer), words = new DataView(memory.buffer);
bytes.set(image, base);

const watched = [], said = [];
let code = 0n;
for (const line of read("tape").toString().split("\n")) {
  const [verb, ...rest] = line.split(" "), numbers = rest.map(Number);
  if (verb === "call") {
    const [record, ...others] = rest.slice(1).map(BigInt);
    code = entries[rest[0]](BigInt(base) + record, ...others);
  } else if (verb === "move") {
    const at = base + numbers[0];
    words.setBigInt64(at, words.getBigInt64(at, true) + BigInt(base), true);
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
