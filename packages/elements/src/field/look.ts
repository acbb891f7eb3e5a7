import type { Shown, Start } from '../protocol.ts';
import type { Style, StyleName, Theme } from '../types.ts';

const allowed: readonly string[] = [
  'color',
  'background-color',
  'font-family',
  'font-size',
  'font-weight',
  'font-style',
  'letter-spacing',
  'line-height',
  'text-align',
  'padding',
  'caret-color',
  'opacity',
  'text-shadow',
] satisfies StyleName[];

/** What `invalid` may set of a text. The page hears the height, so it must not depend on how the text is judged. */
const flat: readonly string[] = [
  'color',
  'background-color',
  'caret-color',
  'opacity',
  'text-shadow',
] satisfies StyleName[];

/** They follow `base`, so that they override it. */
const selectors = {
  base: 'body',
  focus: 'body:focus-within',
  placeholder: '::placeholder',
  invalid: '[aria-invalid=true]',
} as const satisfies Record<keyof Theme, string>;

const sheet = new CSSStyleSheet();

/** Later themes win. Ignores properties not listed, and values that are too long or contain a URL. @returns the colour scheme. */
export function applyThemes({ around, themes }: Shown, kind: Start['kind']): 'light' | 'dark' {
  if (!document.adoptedStyleSheets.includes(sheet)) document.adoptedStyleSheets.push(sheet);
  while (sheet.cssRules.length > 0) sheet.deleteRule(0);
  for (const [part, selector] of Object.entries(selectors)) {
    const { style } = sheet.cssRules[sheet.insertRule(`${selector} {}`, sheet.cssRules.length)] as CSSStyleRule;
    const names = kind === 'text' && part === 'invalid' ? flat : allowed;
    const given = themes.map((theme) => theme?.[part as keyof Theme]);
    for (const one of part === 'base' ? [withoutShorthand(around), ...given] : given) dress(style, one, names);
  }
  const scheme = schemeOf(getComputedStyle(document.body).color);
  document.documentElement.style.colorScheme = scheme;
  return scheme;
}

function dress(style: CSSStyleDeclaration, given: Style | undefined, names: readonly string[]) {
  for (const [name, value] of Object.entries(given ?? {})) {
    if (names.includes(name) && isHarmless(value)) style.setProperty(name, value);
  }
}

/** `elements.js` 0.1.0 gives the shorthand `font`, which is judged by what it sets. */
function withoutShorthand({ font, ...style }: Shown['around'] = {}): Style {
  if (font === undefined) return style;
  const scratch = document.createElement('p').style;
  scratch.setProperty('font', font);
  const set = allowed.map((name) => [name, scratch.getPropertyValue(name)] as const);
  return { ...Object.fromEntries(set.filter(([, value]) => value !== '')), ...style };
}

/** Reports the height in CSS pixels, now and after each change, but not while the page hides the frame. */
export function watchHeight(tell: (heightPx: number) => void) {
  new ResizeObserver(() => {
    const heightPx = Math.ceil(document.body.getBoundingClientRect().height);
    if (heightPx > 0) tell(heightPx);
  }).observe(document.body);
}

function isHarmless(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 200 && !/url|\\/i.test(value);
}

/** Light text means a dark page, even if the person's system prefers a light one. */
function schemeOf(color: string): 'light' | 'dark' {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d');
  if (!canvas) return 'light';
  canvas.fillStyle = color;
  canvas.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0] = canvas.getImageData(0, 0, 1, 1).data;
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? 'dark' : 'light';
}
