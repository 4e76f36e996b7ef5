"use strict";
(() => {
  const source = document.getElementById("nomogram-data");
  if (!source) {
    return;
  }
  const model = JSON.parse(source.textContent);
  const k = model.classes.length;
  const { base, isOption, isMissing, adds, evaluate, softmax, possible, against } = nomogram(model);
  const UNKNOWN = -2; // an option that was never learned
  const SHOWN = 12; // terms of the waterfall
  const POINTS = 81; // of the line above a slider
  const LONG = 10; // characters for which a box is wide enough
  const CUT = 4; // log-odds at which that line is cut off
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // The row that is set

  const controls = all(".nomogram [data-column]");
  const row = model.columns.map((column) => column.start);
  const of = (i) => model.terms.filter((term) => term.columns.includes(i));
  const termsOf = model.columns.map((_, i) => of(i));
  const day = (x) => {
    const moment = new Date(Math.round(x * 86400000));
    const text = Number.isNaN(moment.getTime()) ? "" : moment.toISOString();
    return text.replace(/(T00:00)?(:00)?(\.000)?Z$/, "").replace("T", " ");
  };
  const days = (text) => {
    const parts = /^\s*([+-]?\d{4,6}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?\s*$/.exec(text);
    return parts ? Date.parse(`${parts[1]}T${parts[2] ?? "00:00"}Z`) / 86400000 : NaN;
  };
  const short = (i, x) => {
    const near = model.columns[i].width / 1000;
    const digits = [6, 8, 10, 12, 14].find((n) => Math.abs(Number(x.toPrecision(n)) - x) <= near) ?? 17;
    return String(Number(x.toPrecision(digits)));
  };
  const said = (i) => {
    const x = row[i];
    if (isMissing(i, x)) {
      return "missing";
    }
    if (isOption(i)) {
      return x === UNKNOWN ? "another value" : model.columns[i].options[x];
    }
    const { dates, unit } = model.columns[i];
    return dates ? day(x) : short(i, x) + (unit ? ` ${unit}` : "");
  };

  // Showing it

  const percent = (p) => {
    if (p > 0 && p < 0.000005) {
      return "< 0.001 %";
    }
    return `${(100 * p).toFixed(p > 0 && p < 0.0005 ? 3 : 1)} %`;
  };
  const signed = (x) => {
    if (!Number.isFinite(x) || Math.abs(x) >= -IMPOSSIBLE) {
      return x < 0 ? "rules it out" : "all others out";
    }
    const text = Math.abs(x).toFixed(2);
    return (text === "0.00" ? "" : x < 0 ? "\u2212" : "+") + text;
  };
  const make = (name, className, text) => {
    const element = document.createElement(name);
    element.className = className;
    if (text !== undefined) {
      element.textContent = text;
    }
    return element;
  };

  const lines = all(".classes tr[data-class]");
  const lineOf = new Map(lines.map((line) => [Number(line.dataset.class), line]));
  const [rest, narrow] = all(".classes .others"); // beside eight classes, and beside the four of a narrow screen
  const showClasses = (p) => {
    const order = p.map((_, c) => c).sort((a, b) => p[b] - p[a]);
    const some = lines.length > 8 ? order.slice(0, 8) : null;
    for (const line of lines) {
      const c = Number(line.dataset.class);
      line.dataset.probability = p[c];
      one(".fill", line).style.width = `${100 * p[c]}%`;
      one(".number", line).textContent = percent(p[c]);
      line.classList.toggle("top", c === order[0]);
      line.classList.toggle("lead", order.indexOf(c) < 4);
      line.hidden = some !== null && !some.includes(c);
    }
    if (some) {
      some.forEach((c) => rest.before(lineOf.get(c)));
    }
    const beyond = (shown) => percent(order.slice(shown).reduce((sum, c) => sum + p[c], 0));
    one(".number", rest).textContent = beyond(8);
    one(".number", narrow).textContent = beyond(4);
    return order[0];
  };

  const picker = one("#against");
  const list = one(".waterfall");
  const bar = (from, to, scale) => {
    const track = make("span", "lane");
    const fill = make("i", to < from ? "fill minus" : "fill plus");
    const [left, right] = [scale(Math.min(from, to)), scale(Math.max(from, to))];
    fill.style.left = `${left}%`;
    fill.style.width = `${Math.max(right - left, 0.4)}%`;
    const zero = make("i", "zero");
    zero.style.left = `${scale(0)}%`;
    track.append(zero, fill);
    track.setAttribute("aria-hidden", "true");
    return track;
  };
  const showWaterfall = (parts, c, others, scores) => {
    const drawn = (x) => Math.max(-60, Math.min(60, x)); // what rules a class out is not to scale
    const each = model.names.map((name, at) => ({ at, name, size: against(parts[at], c, others) }));
    each.sort((a, b) => Math.abs(b.size) - Math.abs(a.size));
    const steps = [{ name: "before any column", size: against(base, c, others) }, ...each.slice(0, SHOWN).map((step) => ({ ...step, name: titled(step.at) }))];
    const more = each.slice(SHOWN);
    if (more.length) {
      steps.push({ name: `${more.length} more`, size: more.reduce((sum, step) => sum + step.size, 0) });
    }
    let sum = 0;
    const ends = steps.map((step) => [sum, (sum += drawn(step.size))]);
    const [low, high] = [Math.min(0, ...ends.flat()), Math.max(0, ...ends.flat())];
    const scale = (x) => (100 * (x - low)) / (high - low || 1);
    const total = against(scores, c, others);
    const items = steps.map((step, at) => item(step.name, bar(...ends[at], scale), signed(step.size), ""));
    items.push(item("all together", bar(0, Number.isFinite(total) ? total : sum, scale), signed(total), "total"));
    list.replaceChildren(...items);
  };
  const item = (name, track, number, kind) => {
    const element = make("li", kind);
    element.append(make("span", "what", name), track, make("span", "number", number));
    return element;
  };
  const columnsOf = model.names.map((_, key) => {
    const term = model.terms.find((one) => one.keys.includes(key));
    return term.kind === "form" ? [term.columns[term.keys.indexOf(key)]] : term.columns;
  });
  const keyOf = model.columns.map((_, i) => columnsOf.findIndex((columns) => columns.length === 1 && columns[0] === i));
  const own = (i, parts, c, others) => (keyOf[i] < 0 ? 0 : against(parts[keyOf[i]], c, others));
  const titled = (key) => `${model.names[key]} = ${columnsOf[key].map(said).join(", ")}`;

  // The line above a slider: what the column adds from one end to the other, all on the same scale

  const strips = controls.filter((control) => one(".strip", control));
  const effect = (i, x, c, others) => {
    const tried = [...row];
    tried[i] = x;
    let sum = 0;
    for (const term of termsOf[i]) {
      for (const values of adds(term, tried)) {
        sum += against(values, c, others);
      }
    }
    return sum;
  };
  const showStrips = (c, parts, others) => {
    const found = strips.map((control) => {
      const i = Number(control.dataset.column);
      const { min, max } = one("input[type=range]", control);
      const places = Array.from({ length: POINTS }, (_, n) => Number(min) + (n / (POINTS - 1)) * (max - min));
      const now = own(i, parts, c, others) - effect(i, row[i], c, others); // only a change shows what columns share
      return { control, values: places.map((place) => effect(i, number(i, place), c, others) + now) };
    });
    const most = Math.min(CUT, Math.max(0.5, ...found.flatMap(({ values }) => values.map((y) => Math.abs(y) || 0))));
    for (const { control, values } of found) {
      const path = values.map((y, n) => {
        const height = Math.max(-1, Math.min(1, Number.isNaN(y) ? 0 : y / most));
        return `${((100 * n) / (POINTS - 1)).toFixed(2)} ${(12 - 11 * height).toFixed(2)}`;
      });
      one(".strip .effect", control).setAttribute("d", `M${path.join("L")}`);
    }
  };

  let wanted = 0;
  const status = one(".nomogram [role=status]");
  const show = () => {
    const { scores: sums, parts } = evaluate(row);
    const most = Math.max(...sums);
    const scores = sums.map((sum) => (Number.isFinite(most) ? sum - most : 0));
    const p = softmax(sums);
    const top = showClasses(p);
    const c = picker.value === "" ? top : Number(picker.value);
    const others = possible(scores, c);
    const name = model.classes[c];
    one(".of-class").textContent =
      k === 2 ? `the log-odds of ${name} against ${model.classes[1 - c]}` : `log p(${name}) less the mean of the others`;
    one("#ruled-out").hidden = most > IMPOSSIBLE;
    showWaterfall(parts, c, others, scores);
    for (const control of controls) {
      const i = Number(control.dataset.column);
      one(".adds", control).textContent = keyOf[i] < 0 ? "" : signed(own(i, parts, c, others));
    }
    clearTimeout(wanted);
    wanted = setTimeout(() => {
      status.textContent = `Most probable: ${model.classes[top]}, ${percent(p[top])}`;
      showStrips(c, parts, others);
    }, 60);
  };

  // Controls: what is typed counts to the last digit; the slider follows as near as it can

  const number = (i, at) => {
    const { stops } = model.columns[i]; // of a slider whose steps are not even: it counts them
    return stops ? stops[Math.round(at)] : at;
  };
  const place = (i, x) => {
    const { stops } = model.columns[i];
    return stops ? stops.reduce((best, stop, at) => (Math.abs(stop - x) < Math.abs(stops[best] - x) ? at : best), 0) : x;
  };
  const typed = (i, text) => (text.trim() === "" ? NaN : model.columns[i].dates ? days(text) : Number(text));

  const examples = one("#example");
  const byHand = () => examples && (examples.value = ""); // the row is no longer the one that was picked

  const set = (control, x) => {
    const i = Number(control.dataset.column);
    row[i] = x;
    if (isOption(i)) {
      one("select", control).value = String(x);
      return;
    }
    const gone = Number.isNaN(x);
    const [slider, box] = [one("input[type=range]", control), one(".box", control)];
    const hole = one("input[type=checkbox]", control);
    slider.disabled = gone;
    control.classList.toggle("gone", gone);
    if (hole) {
      hole.checked = gone;
    }
    if (!gone) {
      slider.value = place(i, x);
      slider.dataset.last = x;
      slider.setAttribute("aria-valuetext", said(i));
      if (typed(i, box.value) !== x) {
        box.value = model.columns[i].dates ? day(x) : x;
      }
      if (box.value.length > LONG) {
        control.classList.add("long");
      }
    } else {
      box.value = "";
    }
  };

  for (const control of controls) {
    const i = Number(control.dataset.column);
    const select = one("select", control);
    if (select) {
      select.addEventListener("change", () => {
        row[i] = Number(select.value);
        byHand();
        show();
      });
      continue;
    }
    const [slider, box] = [one("input[type=range]", control), one(".box", control)];
    const hole = one("input[type=checkbox]", control);
    const change = (x) => {
      set(control, x);
      byHand();
      show();
    };
    slider.addEventListener("input", () => change(number(i, Number(slider.value))));
    box.addEventListener("input", () => {
      const x = typed(i, box.value);
      const good = Number.isFinite(x) || (Boolean(hole) && box.value.trim() === "" && !box.validity.badInput);
      box.setAttribute("aria-invalid", String(!good));
      if (good) {
        change(x);
      }
    });
    box.addEventListener("blur", () => {
      if (box.getAttribute("aria-invalid") === "true") {
        box.setAttribute("aria-invalid", "false");
        set(control, row[i]);
      }
    });
    if (hole) {
      hole.addEventListener("change", () => change(hole.checked ? NaN : Number(slider.dataset.last ?? model.columns[i].start)));
    }
  }

  const setRow = (values) => {
    controls.forEach((control) => {
      const x = values[Number(control.dataset.column)];
      set(control, isOption(Number(control.dataset.column)) ? x : Number(x));
    });
    show();
  };
  one("#typical").addEventListener("click", () => {
    byHand();
    setRow(model.columns.map((column) => column.start));
  });
  if (examples) {
    examples.addEventListener("change", () => examples.value !== "" && setRow(model.rows[Number(examples.value)]));
  }
  const filter = one("#filter");
  filter.addEventListener("input", () => {
    const sought = filter.value.trim().toLowerCase();
    controls.forEach((control) => (control.hidden = !one("label", control).textContent.toLowerCase().includes(sought)));
    const folded = one(".nomogram .set .fold");
    if (folded) {
      const found = controls.filter((control) => folded.contains(control) && !control.hidden);
      folded.hidden = !found.length;
      folded.open = sought !== "" && found.length > 0;
    }
  });
  picker.addEventListener("change", show);
  setRow(row);
})();
