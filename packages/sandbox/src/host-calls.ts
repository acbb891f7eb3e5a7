import { randomUUID } from 'node:crypto';
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { asServiceError } from '@sluice/problems';
import type { HostAnswer, HostCall } from './thread/messages.ts';
import type { TransformTask } from './transform-task.ts';

type Host = NonNullable<TransformTask['host']>;

export interface HostCalls {
  /** @returns a key for the threads, which no other run can guess. */
  open(tenantId: string, host: Host): string;
  /** Begins what its run has sent. From then on no call under the key begins, and none is answered. */
  close(key: string): LeftBehind;
  listen(port: MessagePort): void;
}

export interface LeftBehind {
  /** Whether a call has begun. */
  hasActed: boolean;
  /** Resolves when the calls that have begun are over; undefined where they are. */
  calls: Promise<void> | undefined;
}

/** Calls of one Tenant that are under way at once, because all Tenants share the connections to Postgres. */
const mostUnderWay = 50;

interface Client {
  tenantId: string;
  host: Host;
  hasActed: boolean;
  underWay: number;
  /** Set once its run has ended. */
  onLastEnd?: () => void;
}

interface Line {
  underWay: number;
  waiting: { port: MessagePort; call: HostCall }[];
}

export function newHostCalls(): HostCalls {
  const clients = new Map<string, Client>();
  /** Of Tenants that have calls under way. */
  const lines = new Map<string, Line>();
  const ports = new Set<MessagePort>();

  function receive(port: MessagePort, call: HostCall): void {
    const client = clients.get(call.hostKey);
    if (!client) return;
    const { tenantId } = client;
    const line = lines.get(tenantId) ?? { underWay: 0, waiting: [] };
    lines.set(tenantId, line);
    if (line.underWay < mostUnderWay) void answer(port, call, { client, line });
    else line.waiting.push({ port, call });
  }

  async function answer(port: MessagePort, call: HostCall, { client, line }: { client: Client; line: Line }) {
    const { hostKey, id, operation, payloadJson } = call;
    client.hasActed = true;
    client.underWay += 1;
    line.underWay += 1;
    const result = await settle(client.host, operation, payloadJson);
    client.underWay -= 1;
    line.underWay -= 1;
    if (clients.has(hostKey)) port.postMessage({ hostKey, id, ...result } satisfies HostAnswer);
    else if (client.underWay === 0) client.onLastEnd?.();
    beginNext(client.tenantId, line);
  }

  function beginNext(tenantId: string, line: Line): void {
    const next = line.waiting.shift();
    const client = next && clients.get(next.call.hostKey);
    if (client) void answer(next.port, next.call, { client, line });
    else if (line.underWay === 0) lines.delete(tenantId);
  }

  return {
    open: (tenantId, host) => {
      const key = randomUUID();
      clients.set(key, { tenantId, host, hasActed: false, underWay: 0 });
      return key;
    },
    close: (key) => {
      // The end of a run comes another way than its calls, and may be here before them.
      for (const port of ports) for (let next = nextOn(port); next; next = nextOn(port)) receive(port, next);
      const client = clients.get(key);
      clients.delete(key);
      const line = client && lines.get(client.tenantId);
      if (line) line.waiting = line.waiting.filter(({ call }) => call.hostKey !== key);
      if (!client?.underWay) return { hasActed: client?.hasActed ?? false, calls: undefined };
      const calls = new Promise<void>((resolve) => {
        client.onLastEnd = resolve;
      });
      return { hasActed: true, calls };
    },
    listen: (port) => {
      ports.add(port);
      port.on('message', (call: HostCall) => receive(port, call));
      port.on('close', () => ports.delete(port));
      port.unref();
    },
  };
}

const nextOn = (port: MessagePort): HostCall | undefined => receiveMessageOnPort(port)?.message;

async function settle(host: Host, operation: string, payloadJson: string): Promise<{ ok: boolean; json: string }> {
  try {
    return { ok: true, json: await host(operation, payloadJson) };
  } catch (error) {
    const { detail, status, code } = asServiceError(error);
    return { ok: false, json: JSON.stringify({ message: detail, status, code }) };
  }
}
