import type { Benchmark } from '../benchmark.ts';
import { bodySize } from '../invocation/body.ts';
import { measureInvocation } from '../invocation/measure-invocation.ts';
import { plainWorkload } from '../invocation/plain-workload.ts';

export const plainInvocation: Benchmark = {
  id: 'P2',
  work: `authenticated POST of ${bodySize} bytes of JSON, no expression, no transform`,
  goal: 'at least 1.7 × bare http-proxy',
  peerName: 'http-proxy 1.18.1',
  run: (context) => measureInvocation(context, { ...plainWorkload, goals: { httpProxy: { atLeast: 1.7 } } }),
};
