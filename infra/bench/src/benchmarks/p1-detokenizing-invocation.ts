import type { Benchmark } from '../benchmark.ts';
import { bodySize } from '../invocation/body.ts';
import { detokenizingWorkload } from '../invocation/detokenizing-workload.ts';
import { measureInvocation } from '../invocation/measure-invocation.ts';

export const detokenizingInvocation: Benchmark = {
  id: 'P1',
  work: `authenticated POST of ${bodySize} bytes of JSON, 2 tokens detokenized, warm`,
  goal: 'at least 1.6 × bare http-proxy and 0.75 × bare undici dispatch',
  peerName: 'http-proxy 1.18.1, undici dispatch',
  run: (context) =>
    measureInvocation(context, {
      ...detokenizingWorkload,
      goals: { httpProxy: { atLeast: 1.6 }, undici: { atLeast: 0.75 } },
    }),
};
