const allowed = [
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
];
const flat = [
    'color',
    'background-color',
    'caret-color',
    'opacity',
    'text-shadow',
];
const selectors = {
    base: 'body',
    focus: 'body:focus-within',
    placeholder: '::placeholder',
    invalid: '[aria-invalid=true]',
};
const sheet = new CSSStyleSheet();
export function applyThemes({ around, themes }, kind) {
    if (!document.adoptedStyleSheets.includes(sheet))
        document.adoptedStyleSheets.push(sheet);
    while (sheet.cssRules.length > 0)
        sheet.deleteRule(0);
    for (const [part, selector] of Object.entries(selectors)) {
        const { style } = sheet.cssRules[sheet.insertRule(`${selector} {}`, sheet.cssRules.length)];
        const names = kind === 'text' && part === 'invalid' ? flat : allowed;
        const given = themes.map((theme) => theme?.[part]);
        for (const one of part === 'base' ? [withoutShorthand(around), ...given] : given)
            dress(style, one, names);
    }
    const scheme = schemeOf(getComputedStyle(document.body).color);
    document.documentElement.style.colorScheme = scheme;
    return scheme;
}
function dress(style, given, names) {
    for (const [name, value] of Object.entries(given ?? {})) {
        if (names.includes(name) && isHarmless(value))
            style.setProperty(name, value);
    }
}
function withoutShorthand({ font, ...style } = {}) {
    if (font === undefined)
        return style;
    const scratch = document.createElement('p').style;
    scratch.setProperty('font', font);
    const set = allowed.map((name) => [name, scratch.getPropertyValue(name)]);
    return { ...Object.fromEntries(set.filter(([, value]) => value !== '')), ...style };
}
export function watchHeight(tell) {
    new ResizeObserver(() => {
        const heightPx = Math.ceil(document.body.getBoundingClientRect().height);
        if (heightPx > 0)
            tell(heightPx);
    }).observe(document.body);
}
function isHarmless(value) {
    return typeof value === 'string' && value.length <= 200 && !/url|\\/i.test(value);
}
function schemeOf(color) {
    const canvas = new OffscreenCanvas(1, 1).getContext('2d');
    if (!canvas)
        return 'light';
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0] = canvas.getImageData(0, 0, 1, 1).data;
    return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? 'dark' : 'light';
}
