import { setTimeout as wait } from 'node:timers/promises';
import { hostilePrograms } from '@sluice/sandbox/hostile';
import type { HttpAnswer } from '@sluice/testing';
import { type Clients, startRepeating } from '../under-load/clients.ts';
import { addTo } from '../under-load/count.ts';
import type { World } from '../under-load/world.ts';

export interface HostileLoad extends Clients {
  /** How often each status came, or why there was none. */
  readonly answers: ReadonlyMap<string, number>;
  /** Answers that say that hostile code had its way. */
  readonly wrong: number;
}

/** One of each kind, and as many again of the kinds that hold a thread for longest. */
const programs = [
  'endless loop',
  'promise chain',
  'array that grows while it is read',
  'sparse array to text',
  'random order',
  'rejections that nobody handles',
] as const;

const pauseMs = 1500;
const patienceMs = 15_000;

/** A client that invokes Proxies whose transforms never want to end. */
export async function startHostileLoad(world: World): Promise<HostileLoad> {
  const random = world.random(5000);
  const keys: string[] = [];
  for (const name of programs) {
    const code = `module.exports = async (req) => { ${hostilePrograms[name]} }`;
    const proxy = { name: `Hostile: ${name}`, destination_url: 'https://example.com', request_transform: { code } };
    keys.push((await world.manage('POST', '/proxies', proxy)).key);
  }
  const answers = new Map<string, number>();
  let wrong = 0;
  const invoke = async () => {
    const { url } = random.pick(world.balancer.targets('proxy-gateway'));
    const headers = { 'svc-proxy-key': random.pick(keys) };
    const request = { method: 'POST', url: `${url}/proxy`, key: world.tokenKey, headers, timeoutMs: patienceMs };
    const answer = await world.http.send(request);
    addTo(answers, answer.detail);
    if (answer.status > 0 && !isRefusal(answer)) wrong += 1;
    await wait(random.between(0, 2 * pauseMs));
  };
  return {
    ...startRepeating(1, invoke),
    answers,
    get wrong() {
      return wrong;
    },
  };
}

/** An error of ours; a destination was never reached. */
function isRefusal({ status, body }: HttpAnswer): boolean {
  return status >= 400 && 'proxy_error' in JSON.parse(body);
}
