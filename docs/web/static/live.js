/* Environments become live where a server gives the page; from a file, and without WebAssembly, their films are shown. */
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const found = document.querySelectorAll(".live[data-world]");
  if (!found.length || !location.protocol.startsWith("http") || !window.WebAssembly) return;
  for (const film of document.querySelectorAll(".live > .film")) film.hidden = true; // before it is loaded
  import("./live/static/page.js").catch(() => {
    for (const film of document.querySelectorAll(".live > .film")) film.hidden = false;
  });
});
