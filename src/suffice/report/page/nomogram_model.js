"use strict";

// A model as a sum of terms, from what a page holds of it: how rows are evaluated

const IMPOSSIBLE = -1e6; // a term below this rules its class out and is excluded from means over classes

const nomogram = (model) => {
  const k = model.classes.length;
  const MISSING = -1; // of an option; a missing number is NaN

  // Numbers that JSON has no word for come as text

  const numbers = (value) => (Array.isArray(value) ? value.map(numbers) : Number(value));
  for (const term of model.terms) {
    for (const name of ["values", "origin", "mean", "precision", "constant", "coef", "centre"]) {
      if (name in term) {
        term[name] = numbers(term[name]);
      }
    }
    term.reads.forEach((read) => "bounds" in read && (read.bounds = numbers(read.bounds)));
  }
  const base = numbers(model.base);
  const nothing = new Array(k).fill(0);
  const isOption = (i) => "options" in model.columns[i];
  const isMissing = (i, x) => (isOption(i) ? x === MISSING : Number.isNaN(x));

  const cell = (read, x) => {
    if (!("bounds" in read)) {
      return x >= 0 ? read.cells[x] : -1;
    }
    if (Number.isNaN(x)) {
      return -1;
    }
    let [low, high] = [0, read.bounds.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      [low, high] = read.bounds[middle] <= x ? [middle + 1, high] : [low, middle];
    }
    return low;
  };

  // What a term adds to each class: a list for each of its keys

  const kinds = {
    cells: (t, [x]) => {
      const at = cell(t.reads[0], x);
      return [at < 0 ? nothing : t.values[at]];
    },
    map: (t, xs) => {
      const cells = xs.map((x, side) => cell(t.reads[side], x));
      return [cells.some((at) => at < 0) ? nothing : cells.reduce((values, at) => values[at], t.values)];
    },
    gap: (t, [x]) => [t.values[isMissing(t.columns[0], x) ? 1 : 0]],
    level: (t) => [t.values],
    slope: (t, [x]) => [Number.isNaN(x) ? nothing : t.coef.map((b, c) => (x - t.centre) * b + t.constant[c])],
    square: (t, [x]) => [
      Number.isNaN(x)
        ? nothing
        : t.mean.map((m, c) => t.constant[c] - 0.5 * t.precision[c] * (x - t.origin[c] - m) ** 2),
    ],
    form: (t, xs) => {
      const gaps = t.mean.map((mean, c) => mean.map((m, j) => xs[j] - t.origin[c][j] - m));
      const pull = (c, j) => t.precision[c][j].reduce((sum, p, l) => sum + p * gaps[c][l], 0);
      return xs.map((_, j) => gaps.map((gap, c) => -0.5 * gap[j] * pull(c, j)));
    },
  };
  const adds = (term, row) => kinds[term.kind](term, term.columns.map((i) => row[i]));

  const evaluate = (row) => {
    const sums = [...nothing];
    const parts = model.names.map(() => [...nothing]);
    for (const term of model.terms) {
      adds(term, row).forEach((values, at) => {
        values.forEach((value, c) => {
          sums[c] += value;
          parts[term.keys[at]][c] += value;
        });
      });
    }
    return { scores: sums.map((sum, c) => base[c] + sum), parts };
  };

  const softmax = (scores) => {
    const top = Math.max(...scores);
    const weights = scores.map((score) => (Number.isFinite(top) ? Math.exp(score - top) : 1));
    const total = weights.reduce((a, b) => a + b, 0);
    return weights.map((weight) => weight / total);
  };

  // What values by class say for one class against the mean of some others: those that the whole row leaves possible

  const possible = (scores, c) => {
    const others = scores.map((_, other) => other).filter((other) => other !== c);
    const left = others.filter((other) => scores[other] > IMPOSSIBLE);
    return left.length ? left : others;
  };
  const against = (values, c, others) => {
    const left = others.filter((other) => values[other] > IMPOSSIBLE);
    if (values[c] <= IMPOSSIBLE) {
      return left.length ? -Infinity : 0;
    }
    if (left.length < others.length) {
      return Infinity;
    }
    return left.length ? values[c] - left.reduce((sum, other) => sum + values[other], 0) / left.length : 0;
  };

  return { base, isOption, isMissing, adds, evaluate, softmax, possible, against };
};
