import type { DisposableResult, QuickJSContext, QuickJSHandle } from 'quickjs-emscripten';

const transformFile = 'transform.js';

/** On the line of the first statement, so that line numbers are those of the Tenant's code. */
const head = '(function (exports, require, module, __filename, __dirname) {';

const wrap = (code: string) => `${head}${code}\n})`;

export function evaluateModule(context: QuickJSContext, code: string): DisposableResult<QuickJSHandle, QuickJSHandle> {
  return context.evalCode(wrap(code), transformFile, { type: 'global' });
}

export function parseModule(context: QuickJSContext, code: string): DisposableResult<QuickJSHandle, QuickJSHandle> {
  return context.evalCode(wrap(code), transformFile, { type: 'global', compileOnly: true });
}

/** Without the function around it `return` is an error. */
export function parseAlone(context: QuickJSContext, code: string): DisposableResult<QuickJSHandle, QuickJSHandle> {
  return context.evalCode(' '.repeat(head.length) + code, transformFile, { type: 'global', compileOnly: true });
}

export interface Place {
  line: number;
  column: number;
}

export function placeInCode(stack: string): Place | undefined {
  const match = /transform\.js:(\d+):(\d+)/.exec(stack);
  if (!match) return undefined;
  const [line, column] = [Number(match[1]), Number(match[2])];
  return { line, column: line === 1 ? Math.max(column - head.length, 1) : column };
}

export function stackAt({ line, column }: Place): string {
  return `    at ${transformFile}:${line}:${line === 1 ? column + head.length : column}`;
}
