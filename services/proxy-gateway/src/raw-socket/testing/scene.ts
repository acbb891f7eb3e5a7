import type { TestGateway } from '../../testing/test-gateway.ts';
import { echoesPath, type Script, type ScriptedDestination, startScripted } from './scripted-destination.ts';

/** How a request reaches its destination: its body read into memory first, or as a stream. */
export type Way = 'held' | 'streamed';
export const ways: Way[] = ['held', 'streamed'];

/** A Proxy in front of a scripted destination. */
export interface Scene {
  destination: ScriptedDestination;
  /** The header lines with the keys of the caller, each with its line end. */
  keys: string;
}

const open: ScriptedDestination[] = [];

/** For `afterEach`. */
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

/** The final statuses that a client got, in order. */
export function statusesIn(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 ([2-9]\d\d) /g)].map(([, status]) => Number(status));
}
