// Colours of entities: ten hues that colour-blind people can tell apart, then other lines below.

export const HUES = 10;
const LINES = ["solid", "dashed", "dotted", "double"];

/** The colour of an entity as CSS; entities of one mention have none. */
export function hue(colour) {
  return colour < 0 ? "var(--entity-none)" : `var(--entity-${colour % HUES})`;
}

/** The line under an entity: where hues repeat, lines differ. */
export function line(colour) {
  return colour < 0 ? "solid" : LINES[Math.floor(colour / HUES) % LINES.length];
}

/** The value of a CSS variable now, in light or dark mode. */
export function themed(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Colours of responses in charts. */
export function systemColours(count) {
  return Array.from({ length: count }, (_, place) => themed(`--entity-${place % HUES}`));
}
