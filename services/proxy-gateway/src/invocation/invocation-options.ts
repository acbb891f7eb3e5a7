import type { Context } from '../context.ts';
import type { InvocationRecord } from '../observation/record.ts';

/** What all steps of one invocation share. */
export interface InvocationOptions {
  context: Context;
  traceId: string;
  record: InvocationRecord;
}
