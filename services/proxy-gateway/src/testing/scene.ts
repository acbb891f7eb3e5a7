import { echoesPath, type Script, type ScriptedDestination, startScripted } from '@sluice/testing/raw';
import type { TestGateway } from './test-gateway.ts';

export type Way = 'held' | 'streamed';
export const ways: Way[] = ['held', 'streamed'];

export interface Scene {
  destination: ScriptedDestination;
  /** Each line has its end. */
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

export const contentTypeOf = (way: Way) => `Content-Type: ${way === 'held' ? 'text/plain' : 'image/png'}\r\n`;

export function statusesIn(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 ([2-9]\d\d) /g)].map(([, status]) => Number(status));
}
