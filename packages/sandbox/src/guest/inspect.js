/** `util.inspect` and `util.format`: as in Node.js for common values, but not with its line breaks at 72 columns. */

/** @typedef {{ depth?: number | null, breakLength?: number, showHidden?: boolean }} InspectOptions */

/** The longest line before `inspect` breaks it. */
let lineLength = 72;

/**
 * @param {unknown} value
 * @param {InspectOptions | boolean} [options] `showHidden` in the older form, which has the depth behind it
 * @param {number | null} [olderDepth]
 */
export function inspect(value, options = {}, olderDepth = 2) {
  const isOlder = typeof options !== 'object' || options === null;
  const { depth = 2, breakLength = 80 } = isOlder ? { depth: olderDepth } : options;
  const before = lineLength;
  lineLength = breakLength - 8;
  try {
    return show(value, depth ?? Number.POSITIVE_INFINITY, []);
  } finally {
    lineLength = before;
  }
}
inspect.defaultOptions = { depth: 2, breakLength: 80 };
inspect.custom = Symbol.for('nodejs.util.inspect.custom');

/**
 * printf-like (`%s %d %i %f %j %o %O %c %%`); further values follow, separated by spaces.
 * @param {...unknown} values
 */
export function format(...values) {
  return formatWithOptions({}, ...values);
}

/** @param {InspectOptions} options @param {...unknown} values */
export function formatWithOptions(options, ...values) {
  const [first, ...rest] = values;
  let text = '';
  let used = 0;
  if (typeof first === 'string') {
    text = first.replace(/%[sdifjoOc%]/g, (directive) => {
      if (directive === '%%') return '%';
      if (used >= rest.length) return directive;
      used += 1;
      return formatOne(directive, rest[used - 1]);
    });
  } else if (values.length > 0) text = inspect(first, options);
  for (const value of rest.slice(used)) text += ` ${typeof value === 'string' ? value : inspect(value, options)}`;
  return text;
}

/** @param {string} directive @param {unknown} value */
function formatOne(directive, value) {
  switch (directive) {
    case '%s':
      if (typeof value === 'string') return value;
      return typeof value === 'object' && value !== null ? inspect(value, { depth: 0 }) : inspect(value);
    case '%d':
      return typeof value === 'object' ? 'NaN' : String(Number(value));
    case '%i':
      return typeof value === 'object' ? 'NaN' : String(Number.parseInt(String(value), 10));
    case '%f':
      return typeof value === 'symbol' ? 'NaN' : String(Number.parseFloat(String(value)));
    case '%j':
      return String(JSON.stringify(value));
    case '%c':
      return '';
    default:
      return inspect(value, { depth: 4 });
  }
}

/**
 * @param {unknown} value
 * @param {number} depth How many levels may still be opened
 * @param {object[]} parents
 * @returns {string}
 */
function show(value, depth, parents) {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return showFunction(value);
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : String(value);
  if (parents.includes(value)) return '[Circular *1]';
  const own = showCustom(value, depth);
  if (own !== undefined) return own;
  if (value instanceof Error) return showError(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (value instanceof Promise) return 'Promise {}';
  if (depth < 0) return Array.isArray(value) ? '[Array]' : `[${className(value) ?? 'Object: null prototype'}]`;
  return showMembers(value, depth - 1, [...parents, value]);
}

/** @param {object} value @param {number} depth @param {object[]} parents */
function showMembers(value, depth, parents) {
  /** @param {unknown} member */
  const inner = (member) => show(member, depth, parents);
  const name = className(value);
  if (Array.isArray(value)) return enclose('', value.map(inner).concat(properties(value, inner, isNotIndex)), '[]');
  if (value instanceof Map) {
    return enclose(
      `Map(${value.size}) `,
      [...value].map(([key, member]) => `${inner(key)} => ${inner(member)}`),
      '{}',
    );
  }
  if (value instanceof Set) return enclose(`Set(${value.size}) `, [...value].map(inner), '{}');
  if (ArrayBuffer.isView(value) && 'length' in value) {
    return enclose(`${name}(${value.length}) `, Array.from(/** @type {Uint8Array} */ (value), inner), '[]');
  }
  const prefix = name === 'Object' ? '' : name === undefined ? '[Object: null prototype] ' : `${name} `;
  return enclose(
    prefix,
    properties(value, inner, () => true),
    '{}',
  );
}

/** @param {string} key */
const isNotIndex = (key) => !/^(0|[1-9]\d*)$/.test(key);

/** @param {object} value @param {(member: unknown) => string} inner @param {(key: string) => boolean} wanted */
function properties(value, inner, wanted) {
  return Reflect.ownKeys(value).flatMap((key) => {
    const descriptor = Object.getOwnPropertyDescriptor(value, key);
    if (!descriptor?.enumerable || (typeof key === 'string' && !wanted(key))) return [];
    const label = typeof key === 'symbol' ? `[${String(key)}]` : /^[A-Za-z_$][\w$]*$/.test(key) ? key : quoted(key);
    if (descriptor.get) return [`${label}: ${descriptor.set ? '[Getter/Setter]' : '[Getter]'}`];
    return [`${label}: ${descriptor.set ? '[Setter]' : inner(descriptor.value)}`];
  });
}

/** @param {string} prefix @param {string[]} items @param {string} brackets */
function enclose(prefix, items, brackets) {
  if (items.length === 0) return prefix + brackets;
  const line = items.join(', ');
  const [open, close] = [brackets[0], brackets[1]];
  if (line.length <= lineLength && !line.includes('\n')) return `${prefix}${open} ${line} ${close}`;
  return `${prefix}${open}\n  ${items.map((item) => item.replaceAll('\n', '\n  ')).join(',\n  ')}\n${close}`;
}

/** @param {object} value @param {number} depth */
function showCustom(value, depth) {
  const custom = Reflect.get(value, inspect.custom);
  if (typeof custom !== 'function') return undefined;
  const result = Reflect.apply(custom, value, [depth, {}, inspect]);
  return typeof result === 'string' ? result : inspect(result);
}

/** @param {Function} value */
function showFunction(value) {
  const isClass = /^class\b/.test(Function.prototype.toString.call(value));
  if (isClass) return `[class ${value.name || '(anonymous)'}]`;
  return value.name ? `[Function: ${value.name}]` : '[Function (anonymous)]';
}

/** @param {Error} error */
function showError(error) {
  const heading = `${error.name}: ${error.message}`;
  return error.stack ? `${heading}\n${error.stack.trimEnd()}` : `[${heading}]`;
}

/** @param {object} value */
function className(value) {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null ? undefined : String(prototype.constructor?.name ?? 'Object');
}

/** @param {string} text */
function quoted(text) {
  const json = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
  if (!text.includes("'")) return `'${json}'`;
  if (!text.includes('"')) return `"${json}"`;
  return text.includes('`') ? `'${json.replaceAll("'", "\\'")}'` : `\`${json}\``;
}
