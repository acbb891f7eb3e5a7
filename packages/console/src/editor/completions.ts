import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';

/** The completions after each name and a dot in code of Proxies and Reactors; those of `''` need no dot. */
export type Names = Readonly<Record<string, readonly Completion[]>>;

const property = (label: string, info: string): Completion => ({ label, info, type: 'property' });
const method = (label: string, info: string): Completion => ({ label, info, type: 'function' });
const variable = (label: string): Completion => ({ label, type: 'variable' });

const client: Names = {
  svc: [
    {
      label: 'tokens',
      type: 'namespace',
      info: 'Creates, retrieves, updates or deletes one token, with the rights of the Application',
    },
    method('tokenize', 'Returns the value with tokens in place of data, like POST /tokenize'),
    method('detokenize', 'Returns the value with data in place of each {{ token id }}'),
  ],
  'svc.tokens': [
    method('create', 'Returns the new token, like POST /tokens'),
    method('retrieve', 'Returns the token, with its data as far as the rules allow'),
    method('update', 'Returns the changed token, like PATCH /tokens/{id}'),
    method('delete', 'Returns nothing'),
  ],
};

const globals = [
  ...['Buffer', 'URL', 'URLSearchParams', 'TextEncoder', 'TextDecoder', 'AbortController', 'AbortSignal', 'Intl'],
  ...['console', 'crypto', 'performance', 'process', 'module', 'exports', 'require', 'atob', 'btoa', 'structuredClone'],
  ...['queueMicrotask', 'setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval'],
  ...['JSON', 'Math', 'Object', 'Array', 'Promise', 'Date', 'Map', 'Set', 'Error', 'async', 'await', 'return', 'const'],
].map(variable);

const modules = [
  ...['assert', 'buffer', 'crypto', 'events', 'path', 'querystring', 'stream', 'string_decoder', 'url', 'util'],
  ...['uuid', 'zlib', 'svc-errors'],
].map((label): Completion => ({ label, type: 'module' }));

const ofConsole = ['log', 'info', 'warn', 'error', 'debug'].map((name) =>
  method(name, 'Writes a line that is shown with the run'),
);

const request = [
  property('body', 'Parsed if it is JSON or a form. {} if it is empty'),
  property('headers', 'With names in lower case'),
  property('method', 'GET, POST…'),
  property('path', 'The path after the address of the Proxy'),
  property('query', 'Begins with ?'),
];

/** For a transform, whose configuration has these members. */
export function transformNames(kind: 'request' | 'response', configuration: readonly string[]): Names {
  return {
    ...client,
    '': [property('req', 'What the code is called with'), ...globals],
    req: [
      property('args', kind === 'request' ? 'The request' : "The destination's answer"),
      property('configuration', 'Static values of the Proxy'),
      property('svc', "A client with the rights of the Proxy's Application"),
    ],
    args: kind === 'request' ? request : request.slice(0, 2),
    configuration: configuration.map((name) => property(name, 'Of the configuration')),
    console: ofConsole,
  };
}

/** For a Reactor, which also has `fetch`. */
export function reactorNames(configuration: readonly string[]): Names {
  return {
    ...client,
    '': [
      property('req', 'What the code is called with'),
      method('fetch', 'Calls another service, at most 20 times in one run'),
      ...globals,
    ],
    req: [
      property('args', 'What the caller sent'),
      property('configuration', 'Static values of the Reactor'),
      property('svc', "A client with the rights of the Reactor's Application"),
    ],
    configuration: configuration.map((name) => property(name, 'Of the configuration')),
    console: ofConsole,
  };
}

/** Completes by the name before the last dot, so `req.args.` and `args.` offer the same. */
export function completeFrom(names: Names) {
  return (context: CompletionContext): CompletionResult | null => {
    const module = context.matchBefore(/require\(['"][\w-]*/);
    if (module) return { from: module.from + module.text.search(/['"]/) + 1, options: modules, validFor: /^[\w-]*$/ };
    const word = context.matchBefore(/[\w$.]+/);
    if (!word && !context.explicit) return null;
    const parts = (word?.text ?? '').split('.');
    const typed = parts.pop() ?? '';
    const path = parts.join('.').replace(/^req\.(?=.)/, '');
    const options = names[path];
    return options ? { from: context.pos - typed.length, options, validFor: /^[\w$]*$/ } : null;
  };
}
