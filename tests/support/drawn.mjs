/* Draws recorded states with translated code and compares the frames: node drawn.mjs CASE.json DRAW.js STATIC */
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [casePath, drawPath, folder] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(path).href);
const told = JSON.parse(readFileSync(casePath, "utf8"));
const { recordOf } = await load(`${folder}/records.js`);
const { Canvas } = await load(`${folder}/canvas.js`);
const { draw } = await load(drawPath);

const memory = (text) => Uint8Array.from(Buffer.from(text, "base64")).buffer;
const order = (frame) => ({ scene: frame.scene, ground: frame.ground, shapes: frame.shapes, head: frame.head,
  captions: frame.captions, legend: frame.legend });
const result = { equal: 0, frames: told.frames.length, difference: "", milliseconds: 0 };
const canvas = new Canvas();
let params = null;

function drawn(state, head) {
  canvas.clear();
  draw(canvas, params, state);
  canvas.head(head);
  return order(canvas.frame());
}

function differing(mine, wanted) {
  for (const key of Object.keys(wanted)) {
    const [a, b] = [JSON.stringify(mine[key]), JSON.stringify(wanted[key])];
    if (a === b) continue;
    if (key !== "shapes") return `${key}: ${a} instead of ${b}`;
    const i = wanted.shapes.findIndex((shape, n) => JSON.stringify(shape) !== JSON.stringify(mine.shapes[n]));
    const place = i < 0 ? wanted.shapes.length : i;
    return `shape ${place} of ${wanted.shapes.length}: ${JSON.stringify(mine.shapes[place])} instead of ${
      JSON.stringify(wanted.shapes[place])}`;
  }
  return "";
}

function used(start) {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

const states = [];
for (const [number, frame] of told.frames.entries()) {
  if (frame.params) params = recordOf(memory(frame.params), 0, told.params);
  const state = recordOf(memory(frame.state), 0, told.state);
  states.push([params, state]);
  try {
    const difference = differing(drawn(state, frame.image.head), frame.image);
    if (!difference) result.equal++;
    else if (!result.difference) result.difference = `frame ${number}: ${difference}`;
  } catch (reason) {
    result.difference = `frame ${number}: ${reason.stack.split("\n").slice(0, 12).join(" | ")}`;
    break;
  }
}
if (told.timed && !result.difference) {
  const rounds = Math.max(1, Math.ceil(told.timed / states.length));
  const play = () => {
    for (let round = 0; round < rounds; round++) for (const [p, state] of states) { params = p; drawn(state, null); }
  };
  play();
  // the processor's time, since others may use the machine too
  const start = process.cpuUsage();
  play();
  result.milliseconds = used(start) / (rounds * states.length);
}
console.log(JSON.stringify(result));
