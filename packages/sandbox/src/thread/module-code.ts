import type { DisposableResult, QuickJSContext, QuickJSHandle } from 'quickjs-emscripten';

/** The name in stacks of the Tenant's own code. */
const transformFile = 'transform.js';

/** On the line of the first statement, so that lines are the Tenant's own. */
const head = '(function (exports, require, module, __filename, __dirname) {';

const wrap = (code: string) => `${head}${code}\n})`;

/** The function that runs the code as the body of a CommonJS module. */
export function evaluateModule(context: QuickJSContext, code: string): DisposableResult<QuickJSHandle, QuickJSHandle> {
  return context.evalCode(wrap(code), transformFile, { type: 'global' });
}

/** Only parses. */
export function parseModule(context: QuickJSContext, code: string): DisposableResult<QuickJSHandle, QuickJSHandle> {
  return context.evalCode(wrap(code), transformFile, { type: 'global', compileOnly: true });
}

/** Only parses, without the function around it: `return` is then an error. */
export function parseAlone(context: QuickJSContext, code: string): DisposableResult<QuickJSHandle, QuickJSHandle> {
  return context.evalCode(' '.repeat(head.length) + code, transformFile, { type: 'global', compileOnly: true });
}

/** In the Tenant's own code, from 1. */
export interface Place {
  line: number;
  column: number;
}

/** A place that a stack names, in the Tenant's own code; undefined when the stack never reaches it. */
export function placeInCode(stack: string): Place | undefined {
  const match = /transform\.js:(\d+):(\d+)/.exec(stack);
  if (!match) return undefined;
  const [line, column] = [Number(match[1]), Number(match[2])];
  return { line, column: line === 1 ? Math.max(column - head.length, 1) : column };
}

/** The stack of which {@link placeInCode} reads that place. */
export function stackAt({ line, column }: Place): string {
  return `    at ${transformFile}:${line}:${line === 1 ? column + head.length : column}`;
}
