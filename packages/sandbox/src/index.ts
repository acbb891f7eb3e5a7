export { CustomHttpResponse } from './custom-http-response.ts';
export { TransformStopped } from './failure.ts';
export { defaultTransformLimits, type TransformLimits } from './limits.ts';
export { compileTransform, openTransformPool, type TransformPool, type TransformPoolOptions } from './pool.ts';
export type { CompileError, ConsoleEntry, TransformResult, TransformTask } from './transform-task.ts';
