import type { DisposableResult, QuickJSContext, QuickJSHandle } from 'quickjs-emscripten';

/** The name of the Tenant's code in stacks. */
const transformFile = 'transform.js';

/** It shares the line of the first statement, so that line numbers are those of the Tenant's code. */
const head = '(function (exports, require, module, __filename, __dirname) {';

const wrap = (code: string) => `${head}${code}\n})`;

/** Evaluates to the function that runs the code as the body of a CommonJS module. */
export function evaluateModule(context: QuickJSContext, code: string): DisposableResult<QuickJSHandle, QuickJSHandle> {
  return context.evalCode(wrap(code), transformFile, { type: 'global' });
}

/** Parses the code as the body of a CommonJS module, and does not run it. */
export function parseModule(context: QuickJSContext, code: string): DisposableResult<QuickJSHandle, QuickJSHandle> {
  return context.evalCode(wrap(code), transformFile, { type: 'global', compileOnly: true });
}

/** Parses the code without the function around it, so that `return` is an error. */
export function parseAlone(context: QuickJSContext, code: string): DisposableResult<QuickJSHandle, QuickJSHandle> {
  return context.evalCode(' '.repeat(head.length) + code, transformFile, { type: 'global', compileOnly: true });
}

/** A place in the Tenant's own code, counted from 1. */
export interface Place {
  line: number;
  column: number;
}

/** The first place in the Tenant's own code that a stack names; undefined when there is none. */
export function placeInCode(stack: string): Place | undefined {
  const match = /transform\.js:(\d+):(\d+)/.exec(stack);
  if (!match) return undefined;
  const [line, column] = [Number(match[1]), Number(match[2])];
  return { line, column: line === 1 ? Math.max(column - head.length, 1) : column };
}

/** A stack from which {@link placeInCode} reads this place. */
export function stackAt({ line, column }: Place): string {
  return `    at ${transformFile}:${line}:${line === 1 ? column + head.length : column}`;
}
