import type { Benchmark } from '../benchmark.ts';
import { bodySize } from '../invocation/body.ts';
import { measureInvocation } from '../invocation/measure-invocation.ts';
import { transformingWorkload } from '../invocation/transforming-workload.ts';
import { measureCalls } from '../transforms/measure-calls.ts';

export const transformingInvocation: Benchmark = {
  id: 'P3',
  work: `authenticated POST of ${bodySize} bytes of JSON, 2 tokens detokenized, a request transform, warm`,
  goal: 'at least 1.0 × bare http-proxy',
  peerName: 'http-proxy 1.18.1, undici dispatch',
  async run(context) {
    const outcome = await measureInvocation(context, { ...transformingWorkload, goals: { httpProxy: { atLeast: 1 } } });
    const notes = await measureCalls(context);
    return { ...outcome, notes: [...outcome.notes, ...notes] };
  },
};
