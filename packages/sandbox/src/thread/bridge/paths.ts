import { posix } from 'node:path';
import { text } from './parameters.ts';

/** Relative paths start at `/`, so that transforms do not see the working directory of the service. */
const methods: Record<string, (parameters: unknown[]) => unknown> = {
  basename: ([path, suffix]) =>
    posix.basename(text(path), suffix === undefined || suffix === null ? undefined : text(suffix)),
  dirname: ([path]) => posix.dirname(text(path)),
  extname: ([path]) => posix.extname(text(path)),
  format: ([parts]) => posix.format(Object(parts)),
  isAbsolute: ([path]) => posix.isAbsolute(text(path)),
  join: (parts) => posix.join(...parts.map(text)),
  normalize: ([path]) => posix.normalize(text(path)),
  parse: ([path]) => posix.parse(text(path)),
  relative: ([from, to]) => posix.relative(posix.resolve('/', text(from)), posix.resolve('/', text(to))),
  resolve: (parts) => posix.resolve('/', ...parts.map(text)),
};

export const pathOperations = {
  path: (method: unknown, parameters: unknown) => {
    const run = Object.hasOwn(methods, text(method)) ? methods[text(method)] : undefined;
    if (!run) throw new TypeError('Unknown path method');
    return run(Array.isArray(parameters) ? parameters : []);
  },
};
