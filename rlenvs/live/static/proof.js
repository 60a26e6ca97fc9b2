/* A worker that computes the proof of an environment: it gets the address of world.json. */

import { loadEnvironment } from "./environment.js";

onmessage = async ({ data }) => {
  try {
    const environment = await loadEnvironment(new URL(data), {});
    postMessage(await environment.proof());
  } catch (reason) {
    postMessage({ error: String(reason) });
  }
};
