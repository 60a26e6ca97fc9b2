/* A worker that computes the proof of an environment: it gets the address of world.json and the level. */

import { loadEnvironment } from "./environment.js";

onmessage = async ({ data }) => {
  try {
    const environment = await loadEnvironment(data.url, { level: data.level });
    postMessage(await environment.proof());
  } catch (reason) {
    postMessage({ error: String(reason) });
  }
};
