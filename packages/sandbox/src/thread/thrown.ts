import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten';
import type { Outcome } from './outcome.ts';

/** For an error that the guest's files could not report. Disposes the handle. */
export function readError(context: QuickJSContext, error: QuickJSHandle): Outcome {
  const [name, message, stack] = [
    read(context, error, 'name'),
    read(context, error, 'message'),
    read(context, error, 'stack'),
  ];
  // QuickJS throws null when it has no memory for an error.
  const isNull = context.sameValue(error, context.null);
  error.dispose();
  if (name === undefined) return { kind: 'stopped', by: isNull ? 'heapBytes' : 'crashed' };
  return { kind: 'thrown', failure: { kind: 'error', name, message: message ?? '', stack: stack ?? '' } };
}

function read(context: QuickJSContext, error: QuickJSHandle, name: string): string | undefined {
  return context
    .getProp(error, name)
    .consume((value) => (context.typeof(value) === 'string' ? context.getString(value) : undefined));
}
