import { type Door, openDoor } from './door.ts';
import { testRedisUrl } from './test-redis.ts';

export interface RedisDoor extends Door {
  /** Redis behind the door. */
  url: string;
}

/** A way to the test's Redis that can be shut and opened again, so that Redis is away for one test only. Begins open. */
export async function openRedisDoor(stack: AsyncDisposableStack): Promise<RedisDoor> {
  const url = new URL(testRedisUrl());
  const door = await openDoor({ port: Number(url.port), host: url.hostname }, stack);
  url.host = `127.0.0.1:${door.port}`;
  return { ...door, url: url.href };
}
