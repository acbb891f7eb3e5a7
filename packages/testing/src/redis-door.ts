import { type Door, openDoor } from './door.ts';
import { testRedisUrl } from './test-redis.ts';

export interface RedisDoor extends Door {
  url: string;
}

export async function openRedisDoor(stack: AsyncDisposableStack): Promise<RedisDoor> {
  const url = new URL(testRedisUrl());
  const door = await openDoor({ port: Number(url.port), host: url.hostname }, stack);
  url.host = `127.0.0.1:${door.port}`;
  return { ...door, url: url.href };
}
