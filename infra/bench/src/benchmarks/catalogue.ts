import type { Benchmark } from '../benchmark.ts';
import { detokenizingInvocation } from './p1-detokenizing-invocation.ts';
import { plainInvocation } from './p2-plain-invocation.ts';

/** All benchmarks, in the order in which they run. */
export const benchmarks: readonly Benchmark[] = [detokenizingInvocation, plainInvocation];
