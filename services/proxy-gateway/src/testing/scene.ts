import { echoesPath, type Script, type ScriptedDestination, startScripted } from '@sluice/testing/raw';
import type { TestGateway } from './test-gateway.ts';

/** How the body reaches its destination: held in memory first, or streamed. */
export type Way = 'held' | 'streamed';
export const ways: Way[] = ['held', 'streamed'];

export interface Scene {
  destination: ScriptedDestination;
  /** The header lines with the caller's keys, each with its line end. */
  keys: string;
}

const open: ScriptedDestination[] = [];

export async function closeScenes(): Promise<void> {
  for (const destination of open.splice(0)) await destination.close();
}

export async function openScene({ tenant }: TestGateway, script: Script = echoesPath): Promise<Scene> {
  const destination = await startScripted(script);
  open.push(destination);
  const application = await tenant.application();
  const proxy = await tenant.proxy({ destination: destination.url });
  return { destination, keys: `SVC-API-KEY: ${application.key}\r\nSVC-PROXY-KEY: ${proxy.key}\r\n` };
}

/** The header line that makes a body take this way. */
export const contentTypeOf = (way: Way) => `Content-Type: ${way === 'held' ? 'text/plain' : 'image/png'}\r\n`;

/** The final statuses that a client received, in order. */
export function statusesIn(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 ([2-9]\d\d) /g)].map(([, status]) => Number(status));
}
