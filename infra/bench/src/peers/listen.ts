import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Listens on a free port and prints it; the process ends with its standard input. */
export function listen(server: Server): void {
  server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
  process.stdin.on('end', () => process.exit()).resume();
}
