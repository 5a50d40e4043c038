// The data of the report, as Python wrote them into the page.

export const data = JSON.parse(document.getElementById("data").textContent);
export const systems = data.systems;
export const kinds = data.kinds;
export const metrics = data.metrics;
export const mentionKinds = ["name", "nominal", "pronoun"];

// A sign for each kind of error, so that colour is never the only thing that tells them apart.
const SIGNS = {
  "span": "↔",
  "conflated": "⋃",
  "extra mention": "+",
  "extra entity": "⊞",
  "missing mention": "−",
  "missing entity": "⊟",
  "divided": "÷",
};
kinds.forEach((kind, number) => {
  kind.number = number;
  kind.bit = 1 << number;
  kind.sign = SIGNS[kind.name] ?? "!";
});

/** The metric that stands for all: the CoNLL average where it is there. */
export const headline = (metrics.find((one) => one.name === "conll") ?? metrics.find((one) => one.name !== "mentions") ?? metrics[0]).name;

export function metricTitle(name) {
  return metrics.find((one) => one.name === name)?.title ?? name;
}

/** Which kinds of errors a number of bits stands for. */
export function kindsOf(bits) {
  return kinds.filter((kind) => bits & kind.bit);
}

/** A rate as people write it: 0.5 is 50.00. */
export function percent(rate, digits = 2) {
  return rate === undefined || rate === null ? "–" : (100 * rate).toFixed(digits);
}

/** Millionths of F1 as points. */
export function costPoints(millionths) {
  const points = millionths / 10_000;
  return points >= 0.1 ? points.toFixed(2) : points.toFixed(3);
}

export function plural(count, noun) {
  const many = noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${count.toLocaleString("en")} ${count === 1 ? noun : many}`;
}
