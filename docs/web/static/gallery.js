/* The gallery: filters and search, and cards that play while the pointer or the focus is on them. */
"use strict";

(function () {
  function filters(form) {
    const cards = [...document.querySelectorAll("#gallery-cards .card")];
    const texts = cards.map((card) => ` ${rlenvsEnvironments[card.dataset.name].words} `);
    rlenvsFilter(form, (wanted, query) => {
      const found = rlenvsFind(query, texts);
      let shown = 0;
      cards.forEach((card, i) => {
        const fits = Object.entries(wanted).every(([name, value]) => !value || card.dataset[name].split("|").includes(value));
        card.hidden = !(fits && found[i]);
        shown += card.hidden ? 0 : 1;
      });
      const none = shown ? "" : ". Try another word, or fewer filters.";
      return { text: `${shown} of ${cards.length} environments${none}`, all: shown === cards.length };
    });
  }

  function plays(card) {
    const picture = card.querySelector(".card-picture");
    let end = null;
    const begin = () => { if (!end && card.dataset.src) end = rlenvsFilm.preview(picture, card.dataset.name, card.dataset.src); };
    const stop = () => { if (end) end(); end = null; };
    card.addEventListener("pointerenter", begin);
    card.addEventListener("pointerleave", stop);
    card.addEventListener("focus", begin);
    card.addEventListener("blur", stop);
  }

  document.addEventListener("DOMContentLoaded", () => {
    const form = document.getElementById("gallery-filters");
    if (form) filters(form);
    document.querySelectorAll(".card").forEach(plays);
  });
})();
