import { ServiceError } from '@sluice/problems';
import { defaultTransformLimits } from '../../limits.ts';
import { openTransformPool, type TransformPool } from '../../pool.ts';
import { defaultSuspension, TransformSuspended } from '../../suspension.ts';
import { type GoodLoad, goodLoad } from './good-load.ts';
import { hostileModule, hostilePrograms } from './programs.ts';

export interface MixedLoadOptions {
  perSecond: number;
  seconds: number;
  threads: number;
  /** How many Tenants have hostile programs, in turns. With 0 none is run, and the good load is the same. */
  hostileTenants: number;
}

export interface MixedLoad {
  good: GoodLoad;
  hostile: number;
  refused: number;
}

/** One run in this many is hostile. */
const hostileEvery = 20;
const warmUpSeconds = 4;

/** Sends runs at a fixed pace, whether earlier ones have ended or not. Limits and suspension are the product's. */
export async function runMixedLoad(options: MixedLoadOptions): Promise<MixedLoad> {
  const { perSecond, seconds, threads, hostileTenants } = options;
  const limits = defaultTransformLimits;
  const pool = openTransformPool({
    limits,
    suspension: defaultSuspension,
    threads,
    queueLimit: 1_000,
    headerPrefix: 'SVC',
  });
  const hostile: Promise<'ran' | 'refused'>[] = [];
  try {
    await pool.ready();
    const warmUp = goodLoad(pool);
    await atPace(perSecond, warmUpSeconds, warmUp.send);
    await warmUp.end();
    const good = goodLoad(pool);
    await atPace(perSecond, seconds, (dueAt, index) => {
      if (index % hostileEvery !== 0) good.send(dueAt, index);
      else if (hostileTenants > 0) hostile.push(runHostile(pool, hostile.length, hostileTenants));
    });
    const figures = await good.end();
    await pool.close();
    const ends = await Promise.all(hostile);
    return { good: figures, hostile: ends.length, refused: ends.filter((end) => end === 'refused').length };
  } finally {
    await pool.close();
  }
}

/** Calls `send` when a run is due, or at once when it is late. */
async function atPace(perSecond: number, seconds: number, send: (dueAt: number, index: number) => void): Promise<void> {
  const startedAt = performance.now();
  for (let index = 0; index < perSecond * seconds; index += 1) {
    const dueAt = startedAt + (index * 1_000) / perSecond;
    const leftMs = dueAt - performance.now();
    if (leftMs > 0) await new Promise((resolve) => setTimeout(resolve, leftMs));
    send(dueAt, index);
  }
}

async function runHostile(pool: TransformPool, index: number, tenants: number): Promise<'ran' | 'refused'> {
  const programs = Object.entries(hostilePrograms);
  const [ownerId = '', statements = ''] = programs[index % programs.length] ?? [];
  try {
    await pool.run({
      tenantId: `hostile ${index % tenants}`,
      ownerId,
      kind: 'request',
      code: hostileModule(statements),
      argsJson: '{"body":{"name":"Ann"}}',
      configuration: async () => '{}',
      host: async (_, payloadJson) => payloadJson,
    });
    return 'ran';
  } catch (error) {
    if (!(error instanceof ServiceError)) return 'ran'; // It answered for itself.
    return error.code === 'unavailable' || error.cause instanceof TransformSuspended ? 'refused' : 'ran';
  }
}
