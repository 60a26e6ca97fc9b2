/* An element with the class "live" and data-world="where/world.json/is" becomes a live environment. What it contains
   already, such as a film, is what is shown at a press of a button, or where the environment cannot be loaded. */

import { make } from "./dom.js";
import { MARK } from "./links.js";
import { open } from "./live.js";

/**
 * Make an element's environment live.
 * @param {HTMLElement} element
 */
export async function mount(element) {
  const instead = /** @type {HTMLElement[]} */ ([...element.children]), url = new URL(element.dataset.world || "", document.baseURI);
  const stage = make("div", { class: "live-stage" }, make("p", { class: "live-said" }, "Loading…"));
  for (const each of instead) each.hidden = true;
  element.prepend(stage);
  stage.addEventListener("live", (event) => Object.assign(element, { live: /** @type {CustomEvent} */ (event).detail }));
  try {
    const live = await opened(stage, url);
    Object.assign(element, { live });
    element.dataset.state = "ready";
    if (instead.length) element.prepend(tabs(stage, instead, () => /** @type {any} */ (element).live.pause()));
  } catch (reason) {
    element.dataset.state = "failed";
    const told = reason instanceof Error ? reason.message : String(reason);
    stage.replaceChildren(make("p", {}, `The environment cannot be played here: ${told}`));
    stage.classList.add("live-failed");
    for (const each of instead) each.hidden = false;
  }
}

/**
 * The environment that the address asks for; where its link is damaged, an episode from the start.
 * @param {HTMLElement} stage
 * @param {URL} url
 */
async function opened(stage, url) {
  const asked = wanted();
  try {
    return await open(stage, url, asked);
  } catch (reason) {
    if (!asked.link) throw reason;
    const live = await open(stage, url, { ...asked, link: undefined });
    live.say(`The link cannot be opened: ${reason instanceof Error ? reason.message : reason}`);
    return live;
  }
}

/** What the address asks for. */
function wanted() {
  const query = new URLSearchParams(location.search);
  return {
    level: query.get("level") || "",
    seed: Math.max(0, Math.floor(Number(query.get("seed"))) || 0),
    who: query.get("who") || "",
    link: location.hash.startsWith(MARK) ? location.hash : undefined,
  };
}

/**
 * Buttons that choose between the live environment and what else there is.
 * @param {HTMLElement} stage
 * @param {HTMLElement[]} instead
 * @param {() => void} leave
 */
function tabs(stage, instead, leave) {
  const buttons = ["Live", "Film"].map((label, i) => {
    const button = make("button", { type: "button" }, label);
    button.addEventListener("click", () => show(i === 0));
    return button;
  });
  const show = (/** @type {boolean} */ live) => {
    stage.hidden = !live;
    for (const each of instead) each.hidden = live;
    for (const [i, button] of buttons.entries()) button.setAttribute("aria-pressed", String((i === 0) === live));
    if (!live) leave();
  };
  show(true);
  return make("div", { class: "live-tabs", role: "group", "aria-label": "What is shown" }, ...buttons);
}

const near = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    near.unobserve(target);
    void mount(/** @type {HTMLElement} */ (target));
  }
}, { rootMargin: "300px" });
for (const element of document.querySelectorAll(".live[data-world]")) near.observe(element);
