import { randomUUID } from 'node:crypto';
import type { MessagePort } from 'node:worker_threads';
import { asServiceError } from '@sluice/problems';
import type { HostAnswer, HostCall } from './thread/messages.ts';
import type { TransformTask } from './transform-task.ts';

type Host = NonNullable<TransformTask['host']>;

export interface HostCalls {
  /** @returns a key for the threads, which no other run can guess. */
  open(host: Host): string;
  /** From now on no call under the key is answered. @returns whether there was one. */
  close(key: string): boolean;
  listen(port: MessagePort): void;
}

export function newHostCalls(): HostCalls {
  const hosts = new Map<string, { host: Host; isCalled: boolean }>();

  async function answer(port: MessagePort, { hostKey, id, operation, payloadJson }: HostCall): Promise<void> {
    const open = hosts.get(hostKey);
    if (!open) return;
    open.isCalled = true;
    const result = await settle(open.host, operation, payloadJson);
    if (hosts.has(hostKey)) port.postMessage({ hostKey, id, ...result } satisfies HostAnswer);
  }

  return {
    open: (host) => {
      const key = randomUUID();
      hosts.set(key, { host, isCalled: false });
      return key;
    },
    close: (key) => {
      const isCalled = hosts.get(key)?.isCalled ?? false;
      hosts.delete(key);
      return isCalled;
    },
    listen: (port) => {
      port.on('message', (call: HostCall) => void answer(port, call));
      port.unref();
    },
  };
}

async function settle(host: Host, operation: string, payloadJson: string): Promise<{ ok: boolean; json: string }> {
  try {
    return { ok: true, json: await host(operation, payloadJson) };
  } catch (error) {
    const { detail, status, code } = asServiceError(error);
    return { ok: false, json: JSON.stringify({ message: detail, status, code }) };
  }
}
