// The search of the API reference. It is at the console's host only, reads the page itself, and sends nothing.

const mostShown = 12;

const create = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

const textIn = (element, selector) => element.querySelector(selector)?.textContent ?? '';

/** Titles and paths of operations, objects and chapters, and the first place of each member in them. */
function readIndex() {
  const entries = [];
  for (const section of document.querySelectorAll('main section[id]')) {
    const title = textIn(section, 'h2, h3');
    const routes = [...section.querySelectorAll(':scope > .about > .routes > .route')].map((route) => ({
      method: textIn(route, 'b'),
      path: textIn(route, 'code'),
    }));
    const id = section.id.replace('object-', '');
    const paths = routes.map(({ method, path }) => `${method} ${path}`).join(' ');
    entries.push({ section, title, routes, text: `${title} ${paths} ${id}`.toLowerCase() });
    if (section.matches('.chapter')) continue;
    const members = new Map();
    for (const code of section.querySelectorAll('.members > div > dt > code')) {
      if (!members.has(code.textContent)) members.set(code.textContent, code);
    }
    for (const [member, code] of members) {
      entries.push({ section, title, member, code, text: `${member} ${title}`.toLowerCase() });
    }
  }
  return entries;
}

/** The lower, the better; undefined if a word of the query is nowhere. */
function rankOf({ member, text }, words) {
  if (!words.every((word) => text.includes(word))) return undefined;
  const [first = ''] = words;
  if (member === undefined) return text.startsWith(first) ? 0 : text.includes(` ${first}`) ? 1 : 2;
  const name = member.toLowerCase();
  if (!words.some((word) => name.includes(word))) return undefined;
  return name === first ? 3 : name.startsWith(first) ? 4 : 5;
}

function find(index, words) {
  return index
    .map((entry) => ({ entry, rank: rankOf(entry, words) }))
    .filter(({ rank }) => rank !== undefined)
    .sort((a, b) => a.rank - b.rank)
    .map(({ entry }) => entry);
}

function contentOf({ section, title, routes = [], member }, words) {
  if (member !== undefined) return [create('code', {}, member), create('span', { className: 'where' }, `in ${title}`)];
  const route = routes.find(({ path }) => words.some((word) => path.includes(word))) ?? routes[0];
  if (route) {
    const method = create('b', { className: `method ${route.method.toLowerCase()}` }, route.method);
    return [method, create('span', {}, title), create('code', { className: 'where' }, route.path)];
  }
  const kind = section.matches('.object') ? 'Object' : 'Chapter';
  return [create('span', {}, title), create('span', { className: 'where' }, kind)];
}

/** Shows the place, and continues there with the keyboard. */
function goTo({ section, code }) {
  location.hash = section.id;
  for (const marked of document.querySelectorAll('.hit')) marked.classList.remove('hit');
  if (!code) return void section.querySelector('h2 a, h3 a')?.focus();
  for (let details = code.closest('details'); details; details = details.parentElement.closest('details')) {
    details.open = true;
  }
  const row = code.closest('div');
  row.classList.add('hit');
  row.tabIndex = -1;
  row.focus();
}

const input = create('input', { type: 'search', placeholder: 'Search', autocomplete: 'off', spellcheck: false });
const list = create('ul', { id: 'found', role: 'listbox', ariaLabel: 'Results' });
const status = create('p', { role: 'status' });
const popup = create('div', { className: 'found', hidden: true }, list, status);
const search = create(
  'div',
  { className: 'search', role: 'search' },
  input,
  create('kbd', { ariaHidden: 'true' }, '/'),
  popup,
);
Object.assign(input, { role: 'combobox', ariaLabel: 'Search titles, paths and members', ariaExpanded: 'false' });
Object.assign(input, { ariaAutoComplete: 'list', ariaKeyShortcuts: '/' });
input.setAttribute('aria-controls', list.id);

let index;
let shown = [];
let active = 0;

function select(position) {
  active = position;
  for (const [at, option] of [...list.children].entries()) option.ariaSelected = String(at === active);
  const option = list.children[active];
  if (option) input.setAttribute('aria-activedescendant', option.id);
  else input.removeAttribute('aria-activedescendant');
  option?.scrollIntoView({ block: 'nearest' });
}

function sayHowMany(count) {
  if (count === 0) return `Nothing matches “${input.value.trim()}”. The search looks in titles, paths and members.`;
  if (count > mostShown) return `The first ${mostShown} of ${count} results. Type more to see fewer.`;
  return count === 1 ? '1 result' : `${count} results`;
}

function show() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const isAsked = words.length > 0;
  popup.hidden = !isAsked;
  input.ariaExpanded = String(isAsked);
  if (!isAsked) return select(-1);
  index ??= readIndex();
  const found = find(index, words);
  shown = found.slice(0, mostShown);
  const options = shown.map((entry, at) => {
    const option = create('li', { id: `found-${at}`, role: 'option' }, ...contentOf(entry, words));
    option.addEventListener('click', () => choose(at));
    return option;
  });
  list.replaceChildren(...options);
  list.hidden = options.length === 0;
  status.textContent = sayHowMany(found.length);
  select(options.length > 0 ? 0 : -1);
}

function close() {
  popup.hidden = true;
  input.ariaExpanded = 'false';
  input.removeAttribute('aria-activedescendant');
}

function choose(at) {
  const entry = shown[at];
  if (!entry) return;
  close();
  goTo(entry);
}

const keys = {
  ArrowDown: () => select((active + 1) % shown.length),
  ArrowUp: () => select((active + shown.length - 1) % shown.length),
  Enter: () => choose(active),
};

input.addEventListener('input', show);
input.addEventListener('focus', show);
input.addEventListener('blur', close);
input.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    if (input.value === '') input.blur();
    input.value = '';
    return show();
  }
  if (popup.hidden || list.hidden || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
// The field keeps the focus, so that the list is still there when the button of the mouse comes up.
popup.addEventListener('pointerdown', (event) => event.preventDefault());
popup.addEventListener('mousedown', (event) => event.preventDefault());

document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.target === input) return;
  event.preventDefault();
  input.focus();
  input.select();
});

document.querySelector('body > header .version').after(search);
