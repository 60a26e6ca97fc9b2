// What trained agents compute, as rlenvs/agents/network.py does it: observations in, actions out.

import { highest } from "./policies.js";

/** @typedef {{data: Float32Array | Float64Array, shape: number[]}} Tensor */

const LARGEST_HEADER = 1 << 20;
const LENGTH = 8; // bytes in front of the header, which tell its length
const GATES = 4; // of an LSTM: input, forget, cell, output
const WHITE = 255;

const sigmoid = (/** @type {number} */ x) => 0.5 * (Math.tanh(0.5 * x) + 1);
/** @type {Record<string, (x: number) => number>} */
const ACTIVATIONS = {
  identity: x => x,
  tanh: Math.tanh,
  relu: x => Math.max(x, 0),
  leaky_relu: x => (x > 0 ? x : 0.01 * x),
  elu: x => (x > 0 ? x : Math.expm1(x)),
  silu: x => x * sigmoid(x),
  sigmoid,
};

// --- files ---

/**
 * The arrays of a safetensors file.
 * @param {Uint8Array} bytes
 * @returns {Record<string, Tensor>}
 */
export function tensorsOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = bytes.length < LENGTH ? Infinity : Number(view.getBigUint64(0, true));
  if (length > Math.min(LARGEST_HEADER, bytes.length - LENGTH)) throw new Error("the weights are no safetensors file");
  const start = LENGTH + length, header = JSON.parse(new TextDecoder().decode(bytes.subarray(LENGTH, start)));
  delete header.__metadata__;
  /** @type {Record<string, Tensor>} */
  const found = {};
  for (const [name, { dtype, shape, data_offsets: [from, to] }] of Object.entries(/** @type {Record<string, any>} */ (header))) {
    const part = bytes.slice(start + from, start + to).buffer;
    const data = dtype === "F64" ? new Float64Array(part) : dtype === "F32" ? new Float32Array(part) : widened(new Uint16Array(part));
    if (data.length !== product(shape)) throw new Error(`the weights ${name} are cut off`);
    found[name] = { data, shape };
  }
  return found;
}

/** Numbers of 16 bits as 32. @param {Uint16Array} halves */
function widened(halves) {
  return Float32Array.from(halves, half => {
    const sign = half & 0x8000 ? -1 : 1, exponent = (half >> 10) & 31, fraction = half & 1023;
    return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024));
  });
}

const product = (/** @type {number[]} */ sides) => sides.reduce((count, side) => count * side, 1);

// --- arithmetic ---

/**
 * weight @ x + bias, float32.
 * @param {Tensor} weight (outputs, inputs)
 * @param {ArrayLike<number>} x
 * @param {Tensor | null} [bias]
 * @param {(x: number) => number} [activation]
 */
function dense(weight, x, bias = null, activation = ACTIVATIONS.identity) {
  const [outputs, inputs] = weight.shape, found = new Float32Array(outputs);
  for (let i = 0, at = 0; i < outputs; i++) {
    let total = bias ? bias.data[i] : 0;
    for (let j = 0; j < inputs; j++) total += weight.data[at++] * x[j];
    found[i] = activation(Math.fround(total));
  }
  return found;
}

/** Planes of numbers. @typedef {{data: Float32Array, height: number, width: number, channels: number}} Board */

/**
 * A convolution with zeros around.
 * @param {Board} board
 * @param {Tensor} weight (channels, inputs, size, size)
 * @param {Tensor} bias
 * @param {number} stride
 * @param {ArrayLike<number> | null} more added to every cell
 * @param {(x: number) => number} activation
 * @returns {Board}
 */
function convolve(board, weight, bias, stride, more, activation) {
  const [channels, inputs, size] = weight.shape, edge = (size - 1) / 2;
  const height = Math.ceil(board.height / stride), width = Math.ceil(board.width / stride);
  const data = new Float32Array(height * width * channels);
  for (let c = 0; c < channels; c++) {
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        let total = bias.data[c] + (more ? more[c] : 0);
        for (let i = 0; i < inputs; i++) {
          for (let dy = 0; dy < size; dy++) {
            const row = y * stride + dy - edge;
            if (row < 0 || row >= board.height) continue;
            for (let dx = 0; dx < size; dx++) {
              const column = x * stride + dx - edge;
              if (column < 0 || column >= board.width) continue;
              total += weight.data[((c * inputs + i) * size + dy) * size + dx] * board.data[(i * board.height + row) * board.width + column];
            }
          }
        }
        data[(c * height + y) * width + x] = activation(Math.fround(total));
      }
    }
  }
  return { data, height, width, channels };
}

// --- networks ---

/** One agent's memory: of an LSTM hidden and cell states by layer, or the observations before. @typedef {{hidden: Float32Array[], cell: Float32Array[], before: Float32Array[]}} Memory */

export class Network {
  /**
   * @param {any} architecture see rlenvs/agents/architecture.py
   * @param {Record<string, Tensor>} tensors
   */
  constructor(architecture, tensors) {
    this.architecture = architecture;
    this.tensors = tensors;
    this.counts = architecture.action.counts ?? [architecture.action.choices ?? 0];
    this.masked = architecture.action.masked ?? false;
    this.frames = architecture.frames ?? 1;
    this.board = architecture.convolutions ? architecture.observation.findIndex((/** @type {any} */ part) => part.shape.length === 3) : -1;
  }

  /** What an agent remembers at the start of an episode. @returns {Memory} */
  start() {
    const { layers, units } = this.architecture.memory ?? { layers: 0, units: 0 };
    const zeros = () => Array.from({ length: layers }, () => new Float32Array(units));
    return { hidden: zeros(), cell: zeros(), before: [] };
  }

  /**
   * The action of one agent, without exploration: a choice for each number, or the numbers.
   * @param {any} observation numbers, or a table of numbers by name of the part
   * @param {Memory} memory is changed
   * @param {ArrayLike<number> | null} mask
   * @param {number} kind of agent, where the network knows several
   * @param {(() => number) | null} noise added to the rating of each choice
   */
  act(observation, memory, mask, kind, noise) {
    const { action, layers } = this.architecture;
    const { numbers, board } = this.see(observation, memory, kind);
    const seen = board && this.look(numbers, board), ratings = seen ? seen.ratings : new Float32Array(0);
    let features = seen ? seen.features : numbers;
    if (this.architecture.memory) features = this.remember(features, memory);
    layers.forEach((/** @type {any} */ layer, /** @type {number} */ k) => {
      features = dense(this.tensors[`layers.${k}.weight`], features, this.tensors[`layers.${k}.bias`], ACTIVATIONS[layer.activation]);
    });
    if (action.kind === "numbers") return this.bounded(features);
    const outputs = Array.from(layers.length ? [...features, ...ratings] : ratings, rating => rating + (noise ? noise() : 0));
    const allowed = outputs.map((rating, j) => (mask && !mask[j] ? -Infinity : rating));
    return highest(allowed, this.counts);
  }

  /**
   * The parts of an observation, normalized: numbers side by side, and what convolutions look at.
   * @param {any} observation
   * @param {Memory} memory
   * @param {number} kind
   * @returns {{numbers: Float32Array, board: Board | null}}
   */
  see(observation, memory, kind) {
    /** @type {Float32Array[]} */
    const flat = [];
    let board = null;
    this.architecture.observation.forEach((/** @type {any} */ part, /** @type {number} */ j) => {
      const given = part.name === null ? observation : observation[part.name];
      let numbers = part.choices ? oneHot(given, part.choices) : Float32Array.from(given.data ?? given);
      if (this.architecture.kinds) numbers = this.inBlocks(numbers, kind);
      if (this.frames > 1) numbers = this.recall(numbers, memory);
      if (part.normalised) numbers = this.scaled(numbers, j);
      if (part.image) numbers = numbers.map(value => value / WHITE);
      if (j === this.board) board = this.boardOf(numbers, part);
      else flat.push(numbers);
    });
    return { numbers: joined(flat), board };
  }

  /** @param {Float32Array} numbers @param {number} kind */
  inBlocks(numbers, kind) {
    const { kinds, observation } = this.architecture, size = observation[0].shape[0];
    const blocks = new Float32Array(kinds.length * (size + 1));
    blocks.set(numbers, kind * (size + 1));
    blocks[kind * (size + 1) + size] = 1;
    return blocks;
  }

  /** The last observations side by side, the present one last. @param {Float32Array} numbers @param {Memory} memory */
  recall(numbers, memory) {
    const before = memory.before.length ? memory.before : Array(this.frames - 1).fill(numbers);
    memory.before = [...before.slice(1), numbers];
    return joined([...before, numbers]);
  }

  /** @param {Float32Array} numbers @param {number} part */
  scaled(numbers, part) {
    const { epsilon, clip } = this.architecture.normalisation;
    const [mean, variance] = ["mean", "var"].map(name => this.tensors[`normalisation.${part}.${name}`].data);
    return numbers.map((value, j) => Math.min(Math.max((value - mean[j]) / Math.sqrt(variance[j] + epsilon), -clip), clip));
  }

  /**
   * Planes of a part, and behind them two that tell each cell its row and column, from -1 to 1.
   * @param {Float32Array} numbers
   * @param {any} part
   * @returns {Board}
   */
  boardOf(numbers, part) {
    const [height, width] = part.image ? part.shape : part.shape.slice(1), cells = height * width;
    const channels = part.image ? part.shape[2] : part.shape[0], data = new Float32Array((channels + 2) * cells);
    const place = (/** @type {number} */ n, /** @type {number} */ count) => (count > 1 ? -1 + (2 * n) / (count - 1) : -1);
    for (let n = 0; n < cells; n++) {
      for (let c = 0; c < channels; c++) data[c * cells + n] = part.image ? numbers[n * channels + c] : numbers[c * cells + n];
      data[channels * cells + n] = place(Math.floor(n / width), height);
      data[(channels + 1) * cells + n] = place(n % width, width);
    }
    return { data, height, width, channels: channels + 2 };
  }

  /**
   * The convolutions: what the layers see, and how the choices of the planes are rated.
   * @param {Float32Array} numbers
   * @param {Board} board
   */
  look(numbers, board) {
    const { channels, stride, activation, planes } = this.architecture.convolutions;
    channels.forEach((/** @type {number} */ _, /** @type {number} */ k) => {
      const [weight, bias] = ["weight", "bias"].map(name => this.tensors[`convolutions.${k}.${name}`]);
      const more = k === 0 && numbers.length ? dense(this.tensors["convolutions.numbers"], numbers) : null;
      board = convolve(board, weight, bias, stride, more, ACTIVATIONS[activation]);
    });
    if (!planes) return { features: joined([board.data, numbers]), ratings: new Float32Array(0) };
    const cells = board.height * board.width, weight = this.tensors["planes.weight"];
    const kernel = { data: weight.data, shape: [...weight.shape, 1, 1] };
    const rated = convolve(board, kernel, this.tensors["planes.bias"], 1, null, ACTIVATIONS.identity);
    const means = Float32Array.from({ length: board.channels }, (_, c) => {
      return board.data.subarray(c * cells, (c + 1) * cells).reduce((total, value) => total + value, 0) / cells;
    });
    return { features: joined([means, numbers]), ratings: rated.data };
  }

  /** A step of the LSTM, layer by layer. @param {Float32Array} features @param {Memory} memory */
  remember(features, memory) {
    const { layers, units } = this.architecture.memory;
    for (let k = 0; k < layers; k++) {
      const [input, hidden, bias] = ["input", "hidden", "bias"].map(name => this.tensors[`memory.${k}.${name}`]);
      const fromHidden = dense(hidden, memory.hidden[k]), gates = dense(input, features, bias).map((value, j) => value + fromHidden[j]);
      const gate = (/** @type {number} */ which, /** @type {number} */ j) => gates[which * units + j];
      memory.cell[k] = memory.cell[k].map((cell, j) => sigmoid(gate(1, j)) * cell + sigmoid(gate(0, j)) * Math.tanh(gate(2, j)));
      memory.hidden[k] = memory.cell[k].map((cell, j) => sigmoid(gate(GATES - 1, j)) * Math.tanh(cell));
      features = memory.hidden[k];
    }
    return features;
  }

  /** Numbers within the bounds of the action. @param {Float32Array} outputs */
  bounded(outputs) {
    const { low, high, squashed, limit } = this.architecture.action;
    return Array.from(outputs, (value, j) => {
      if (!squashed) return Math.fround(Math.min(Math.max(value, low[j]), high[j]));
      const limited = limit === null ? value : Math.min(Math.max(value, -limit), limit);
      return Math.fround(low[j] + 0.5 * (Math.tanh(limited) + 1) * (high[j] - low[j]));
    });
  }
}

/** @param {number} number @param {number} choices */
const oneHot = (number, choices) => Float32Array.from({ length: choices }, (_, j) => Number(j === number));

/** @param {Float32Array[]} parts */
function joined(parts) {
  const found = new Float32Array(parts.reduce((count, part) => count + part.length, 0));
  let at = 0;
  for (const part of parts) {
    found.set(part, at);
    at += part.length;
  }
  return found;
}
