"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (selector, within = document) => within.querySelector(selector);

  // Choosers: the pane whose numbers are those picked

  for (const chooser of all(".chooser")) {
    const selects = all(".picks select", chooser);
    const show = () => {
      const wanted = selects.map((select) => select.value).join(" ");
      const panes = all(".pane", chooser);
      panes.forEach((pane) => (pane.hidden = pane.dataset.pick !== wanted));
      const shown = panes.find((pane) => !pane.hidden);
      one(".pane-missing", chooser).hidden = Boolean(shown);
      const figure = chooser.closest("figure");
      for (const button of figure ? all(".legend button", figure) : []) {
        button.hidden = !shown || !one(`g.series[data-series="${button.dataset.series}"]`, shown);
      }
    };
    for (const select of selects) {
      select.addEventListener("change", show);
    }
    show(); // a browser may bring earlier choices back when a page is loaded again
  }
})();
