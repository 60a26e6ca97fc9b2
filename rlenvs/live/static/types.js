// What several modules know of each other, for the type checker alone.

/** The type of a field's numbers ("f8", "i4", "b1", ...), its offset in the record, its shape. @typedef {[string, number, number[]]} Place */

/**
 * Where an array of a batch lies; the type of its numbers, or the fields of its records.
 * @typedef {{place: number, bytes: number, shape: number[], type?: string, fields?: Record<string, Place>}} Rows
 */

/** An action: of the only agent, a choice or numbers; of several, one of these for each. @typedef {number | number[] | (number | number[])[]} Action */

/** @typedef {{data: Uint8Array, width: number, height: number, channels: number}} Pixels */

/** @typedef {{name: string, unit: string, doc: string, low: number, high: number, default: number, live: boolean}} Param */

/**
 * How a person acts, see rlenvs/live/controls.py, and how steps take actions.
 * @typedef {object} Controls
 * @property {"continuous" | "discrete" | "multi" | "flat"} kind
 * @property {number[]} choices
 * @property {string[][]} labels
 * @property {string[]} numbers
 * @property {(number | null)[]} low
 * @property {(number | null)[]} high
 * @property {number | number[]} idle
 * @property {{none: number | number[] | null, held: [string[], number | number[]][], help: [string, string][]} | null} keys
 * @property {number} count
 * @property {boolean} single
 * @property {number[]} parts
 * @property {number[][]} own
 * @property {number[]} lows
 * @property {number[]} highs
 * @property {number[][]} nothing
 */

/**
 * @typedef {object} Network
 * @property {string} name
 * @property {string} label
 * @property {string} file
 * @property {any} architecture see rlenvs/agents/architecture.py
 * @property {boolean} drawn whether choices are drawn
 * @property {number | null} mean
 */

/**
 * world.json at a level, see rlenvs/live/describe.py.
 * @typedef {object} Description
 * @property {string} id
 * @property {string} level
 * @property {string} summary
 * @property {number} seconds
 * @property {number} horizon
 * @property {number} endless
 * @property {number} agents
 * @property {boolean} several
 * @property {string[]} agent_names
 * @property {number[]} teams
 * @property {boolean} turns
 * @property {boolean} masked
 * @property {boolean} incremental
 * @property {boolean} pointed whether choices lie at places of the picture
 * @property {Controls} action
 * @property {{shape: number[], images: Record<string, number[]>, alone: string, discrete: boolean}} observation
 * @property {Param[]} params
 * @property {Record<string, number>} values
 * @property {{least: string, most: string, factor: number, doc: string}[]} constraints
 * @property {Record<string, any>} options
 * @property {{name: string, weight: number, doc: string}[]} terms
 * @property {{name: string, limit: number, doc: string}[]} costs
 * @property {string | null} limit
 * @property {boolean} expert
 * @property {string[]} players
 * @property {{who: string, label: string, mean: number}[]} scores
 * @property {string} fingerprint
 * @property {string[]} hashed
 * @property {number} record
 * @property {number[]} addresses
 * @property {Record<string, Rows>} arrays
 * @property {Record<string, [number, number]>} state_ranges
 * @property {boolean} guarded
 * @property {string} module
 * @property {string} image
 * @property {number} image_bytes
 * @property {Network[]} networks
 * @property {{seed: number, steps: number, policy: string, hash: string}} proof
 * @property {Record<string, Partial<Description>>} levels
 */

/**
 * What a step gave: of the first agent, and `rewards`, `agent_costs` of each; terms times their weights.
 * @typedef {object} Outcome
 * @property {number} reward
 * @property {number[]} rewards
 * @property {number} cost
 * @property {number[]} agent_costs
 * @property {Record<string, number>} terms
 * @property {Record<string, number>} costs
 * @property {boolean} terminated whether the episode is over, by the world itself
 * @property {boolean} truncated whether it is over, by the time limit
 * @property {boolean} over
 * @property {boolean} success
 * @property {number} failed why the episode was broken off, 0 where it was not
 * @property {any} mask
 * @property {any} observation
 */

export {};
